"""Which step for the sigmoid of `Calibrated`: its recursions in plain Python, with other numbers.

They run on the honest scores of five learners, on 24 sets, with all rows and with the smaller class
thinned to 2 %. Each setting changes one number of those in `edgesvm/calibration/constants.py`, or
the kind of step; "hindsight" is the one sigmoid that is best for the whole stream, which nobody
knows on the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.calibration.platt import LEARNERS, MOST_ROWS, first_rows, thinned
from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import QUICK
from benchmarks.common.every import EVERY, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm.calibration import constants
from edgesvm.evaluation import Forecasts

MOST_LOSS = -math.log(Forecasts.LEAST)
OURS: dict[str, Any] = {
    "first": constants.FIRST_SLOPE,
    "prior": constants.PRIOR,
    "recent": constants.RECENT,
    "sized_by": constants.SIZED_BY,
    "most": constants.MOST_RELATIVE,
    "balanced_start": False,
    "smoothed": False,
    "adagrad": 0.0,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "100 recent": {"recent": 100.0},
    "300 recent": {"recent": 300.0},
    "1,000 recent": {"recent": 1_000.0},
    "3,000 recent": {"recent": 3_000.0},
    "all": {"recent": math.inf},
    "prior 0.1": {"prior": 0.1},
    "prior 10": {"prior": 10.0},
    "a begins at 0": {"first": 0.0},
    "a begins at 1": {"first": 1.0},
    "b begins at 0": {"balanced_start": True},
    "Platt's smoothed targets": {"smoothed": True},
    "scores to 2 means": {"most": 2.0},
    "scores to 10 means": {"most": 10.0},
    "mean of 20": {"sized_by": 20.0},
    "mean of 200": {"sized_by": 200.0},
    "mean of 1,000": {"sized_by": 1_000.0},
    "AdaGrad, rate 0.5": {"adagrad": 0.5},
    "AdaGrad, rate 1": {"adagrad": 1.0},
}


def honest_scores(learner: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The decision value of each row before it is learned; 0 of the first."""
    learner.allocate(X.shape[1], classes=[False, True])
    f = np.zeros(len(X))
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        f[i] = learner.decision_one(x) if i else 0.0
        learner.learn_one(x, label)
    return f


class Sigmoid:
    """a, b and what their steps need, under a setting."""

    def __init__(self, setting: dict[str, Any], counts: list[int]) -> None:
        self.s = setting
        self.a, self.b = setting["first"], 0.0
        if not setting["balanced_start"]:
            self.b = math.log(counts[1] / counts[0])
        self.aa = self.ab = self.bb = 0.0
        self.squares = [1e-8, 1e-8]

    def learn(self, g: float, hit: int, counts: list[int]) -> None:
        g = max(-self.s["most"], min(self.s["most"], g))
        p = 1.0 / (1.0 + math.exp(-max(-700.0, self.a * g + self.b)))
        target = float(hit)
        if self.s["smoothed"]:
            target = (counts[1] + 1) / (counts[1] + 2) if hit else 1 / (counts[0] + 2)
        if self.s["adagrad"]:
            self.descend(g, target - p)
        else:
            self.newton(g, target - p, p * (1.0 - p))
        self.a = max(self.a, 0.0)

    def newton(self, g: float, r: float, h: float) -> None:
        keep, prior = 1.0 - 1.0 / self.s["recent"], self.s["prior"]
        self.aa = keep * self.aa + h * g * g
        self.ab = keep * self.ab + h * g
        self.bb = keep * self.bb + h
        aa, bb = self.aa + prior, self.bb + prior
        det = aa * bb - self.ab**2
        self.a += (bb * g - self.ab) * r / det
        self.b += (aa - self.ab * g) * r / det

    def descend(self, g: float, r: float) -> None:
        self.squares[0] += (r * g) ** 2
        self.squares[1] += r * r
        self.a += self.s["adagrad"] * r * g / math.sqrt(self.squares[0])
        self.b += self.s["adagrad"] * r / math.sqrt(self.squares[1])


def log_loss(f: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> float:
    """Of the probabilities on the way, from the sample on that has both classes before it."""
    counts, size, losses = [0, 0], 0.0, []
    sigmoid: Sigmoid | None = None
    for i, (score, label) in enumerate(zip(f.tolist(), y.tolist(), strict=True)):
        if sigmoid is not None:
            z = sigmoid.a * (score / size if size else 0.0) + sigmoid.b
            losses.append(min(float(np.logaddexp(0.0, -z if label else z)), MOST_LOSS))
        if i:
            size += (abs(score) - size) / min(i, setting["sized_by"])
        if sigmoid is not None:
            sigmoid.learn(score / size if size else 0.0, label, counts)
        counts[label] += 1
        if sigmoid is None and all(counts):
            sigmoid = Sigmoid(setting, counts)
    return float(np.mean(losses))


def in_hindsight(f: np.ndarray, y: np.ndarray) -> float:
    """Log loss of the one sigmoid that is best for all."""
    g = np.stack([f / max(np.abs(f).mean(), 1e-300), np.ones(len(f))], axis=1)
    ab, sign = np.zeros(2), np.where(y, 1.0, -1.0)

    def loss(ab: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -sign * (g @ ab)).mean())

    for _ in range(50):
        p = np.exp(-np.logaddexp(0.0, -(g @ ab)))
        matrix = (g * (p * (1 - p))[:, None]).T @ g + 1e-4 * np.eye(2)
        step = np.linalg.solve(matrix, g.T @ (y - p))
        while np.abs(step).max() > 1e-9 and loss(ab + step) > loss(ab):
            step /= 2
        ab = ab + step
    return loss(ab)


def mean(values: Iterable[float]) -> str:
    return f"{np.mean(list(values)):.4f}"


def main() -> None:
    args = parsed(arguments(__doc__))
    skipped = [] if args.quick else absent()
    gone = {line.split()[3].removesuffix(".npz") for line in skipped}
    tasks = [QUICK] if args.quick else [t for t in EVERY if t.name not in gone]
    losses: dict[str, dict[str, list[float]]] = {
        name: {"all rows": [], "2 %": []} for name in [*SETTINGS, "hindsight"]
    }
    for task in tasks:
        for kind, rows in (("all rows", first_rows), ("2 %", thinned)):
            X, y = rows(task, 600 if args.quick else MOST_ROWS)
            for name, make in LEARNERS.items():
                progress(f"{task.name}, {kind}: {name}")
                f = honest_scores(make(None), X, y)
                for setting, changed in SETTINGS.items():
                    losses[setting][kind].append(log_loss(f, y, OURS | changed))
                losses["hindsight"][kind].append(in_hindsight(f, y))
    rows = [[name, mean(of["all rows"]), mean(of["2 %"])] for name, of in losses.items()]
    about = [
        f"Log loss of probabilities on the way, mean of {len(losses['hindsight']['2 %'])} streams"
        f" each. As it is: {', '.join(f'{k} {v}' for k, v in OURS.items() if k in NAMED)}."
    ]
    table = Table("", ["setting", "all rows", "2 % of a class"], rows)
    title = "Steps of the sigmoid of Calibrated"
    publish(Report("calibration/steps", title, [table], about, losses, skipped), args.out)


NAMED = ("first", "prior", "recent", "sized_by", "most")

if __name__ == "__main__":
    main()
