"""Models of parts of the rows, merged, against one model of all: what merging costs.

The rows are dealt out to 2, 8 and 64 learners, at random ("i.i.d.") or sorted by their first
feature, so that no learner knows what the others see. And a fleet of gateways, each with its own
slice and its own drift.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import load_ijcnn, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, StreamSVM, TwinVectorMachine
from edgesvm.data import Checkerboard
from edgesvm.fleet import MergeError, merged
from edgesvm.learners import AdaGradSVM, BallVectorMachine, FourierSVM

GATEWAYS, ROWS_EACH, WIDTH = 100, 200, 6


def learners(gamma: float) -> dict[str, Any]:
    kernel = RBF(gamma)
    return {
        "TwinVectorMachine(max_twins=100)": TwinVectorMachine(max_twins=100, kernel=kernel),
        "BallVectorMachine(max_core=200)": BallVectorMachine(max_core=200, kernel=kernel),
        "FourierSVM": FourierSVM(),
        "AdaGradSVM": AdaGradSVM(),
        "StreamSVM": StreamSVM(),
    }


def percent(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    return round(100 * model.score(X, y), 1)


def of_merged(own: list[Any], X: np.ndarray, y: np.ndarray) -> float | None:
    """None if they cannot be merged in the same memory."""
    try:
        return percent(merged(own), X, y)
    except MergeError:
        return None


def checkerboard(n: int) -> Any:
    X, y = Checkerboard(seed=1).read(n + 5_000)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.05, 1 - np.sign(y), np.sign(y))
    y = y > 0
    return X[:n], y[:n], X[n:], y[n:]


def ijcnn(n: int) -> Any:
    split = load_ijcnn(np.random.default_rng(0))
    X, y, X_test, y_test = split
    at = np.random.default_rng(0).permutation(len(X))[:n]
    return X[at], y[at], X_test[:5_000], y_test[:5_000]


def row(learner: Any, name: str, data: Any, parts: tuple[int, ...]) -> list[Any]:
    X, y, X_test, y_test = data
    one = learner._like_new().fit(X, y)
    cells = [name, percent(one, X_test, y_test)]
    for order in (np.arange(len(X)), np.argsort(X[:, 0], kind="stable")):
        for n in parts:
            pieces = [np.random.default_rng(n).permutation(p) for p in np.array_split(order, n)]
            own = [learner._like_new().fit(X[at], y[at]) for at in pieces]
            cells.append(of_merged(own, X_test, y_test))
    return cells


def gateway(rng: np.random.Generator, offset: np.ndarray, drift: np.ndarray, n: int) -> Any:
    """Rows of one gateway: its own operating point, which moves along its own drift."""
    t = np.linspace(0, 1, n)[:, None]
    X = offset + drift * t + rng.standard_normal((n, WIDTH))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0.5
    return X.astype(np.float32), y ^ (rng.random(n) < 0.03)


def gateways(quick: bool) -> list[list[Any]]:
    rng = np.random.default_rng(7)
    n = 8 if quick else GATEWAYS
    places = [(rng.normal(0, 1, WIDTH), rng.normal(0, 0.7, WIDTH)) for _ in range(n)]
    data = [gateway(rng, *place, ROWS_EACH) for place in places]
    tests = [gateway(rng, *place, 20) for place in places]
    X, y, X_test, y_test = (
        np.concatenate([of[k] for of in group]) for group in (data, tests) for k in (0, 1)
    )
    found = []
    for name, learner in learners(0.1).items():
        progress(f"gateways: {name}")
        own = [learner._like_new().fit(*of) for of in data]
        at_home = np.mean([100 * m.score(*test) for m, test in zip(own, tests, strict=True)])
        abroad = np.mean([100 * m.score(X_test, y_test) for m in own[:50]])
        mixed = rng.permutation(len(X))
        one = learner._like_new().fit(X[mixed], y[mixed])
        together = of_merged(own, X_test, y_test)
        found.append(
            [
                *(name, round(at_home, 1), round(abroad, 1), together),
                *(percent(one, X_test, y_test), f"{n * own[0].nbytes:,}"),
                f"{X.nbytes + len(y):,}",
            ]
        )
    return found


def main() -> None:
    args = parsed(arguments(__doc__))
    warnings.simplefilter("ignore")  # that a core set is full
    n = 600 if args.quick else 5_000
    parts = (2, 4) if args.quick else (2, 8, 64)
    sets = {"N-Checkerboard": (checkerboard(n), 1.0)}
    skipped = []
    if not args.quick:
        if why := missing("ijcnn1"):
            skipped.append(why)
        else:
            sets["ijcnn1"] = (ijcnn(n), 1.0)
    orders = [f"{n_parts}, {how}" for how in ("i.i.d.", "sorted") for n_parts in parts]
    tables = []
    for name, (data, gamma) in sets.items():
        found = []
        for kind, learner in learners(gamma).items():
            progress(f"{name}: {kind}")
            found.append(row(learner, kind, data, parts))
        tables.append(Table(f"{name}, {n:,} rows: accuracy, %", ["learner", "one", *orders], found))
    tables.append(
        Table(
            f"{8 if args.quick else GATEWAYS} gateways of {ROWS_EACH} rows, {WIDTH} features, each"
            " with its own operating point and drift",
            [
                *("learner", "own, on its own rows, %", "own, on all gateways', %", "merged, %"),
                *("one of all rows, %", "bytes of models", "bytes of rows"),
            ],
            gateways(args.quick),
            "Test rows are of all gateways, 20 each.",
        )
    )
    about = ["Accuracy on test rows of one learner of all rows, and of n that were merged."]
    title = "Merged models against one of all rows"
    publish(Report("fleet/parts", title, tables, about, tables[0].rows, skipped), args.out)


if __name__ == "__main__":
    main()
