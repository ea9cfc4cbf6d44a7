"""A simulated fleet: every gateway has its own operating point and its own drift. Its own model,
the merged one and one that learned the rows of all, on rows that come next; and the bytes sent.
"""

from __future__ import annotations

import copy
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import FOLDER, RESULTS, Report, Table, publish
from edgesvm import RBF, Standardized, StreamSVM, TwinVectorMachine
from edgesvm.fleet import merged, start
from edgesvm.learners import AdaGradSVM, FourierSVM

GATEWAYS, DAYS, ROWS_A_DAY, WIDTH = 500, 4, 100, 6
TESTED = 20  # rows of each gateway, after the last day
SCALES = 10.0 ** np.arange(-2, WIDTH - 2)  # of the features, as of lux and humidity
ANSWERS = {
    "own": ("C0-", "its own model"),
    "merged": ("C1-", "the merged model"),
    "at home": ("C2-", "merged, then its own last day"),
    "all": ("k--", "one model of all rows"),
}


class Gateway:
    """Rows of one gateway around an operating point that moves."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._at = rng.normal(0, 1, WIDTH)
        self._drift = rng.normal(0, 0.7, WIDTH)

    def rows(self, first: float, last: float, n: int) -> tuple[np.ndarray, np.ndarray]:
        """n rows between two times, of which the days begin at 0 and end at 1."""
        t = np.linspace(first, last, n)[:, None]
        z = self._at + self._drift * t + self._rng.standard_normal((n, WIDTH))
        level = (z[:, 0] + z[:, 1] * z[:, 2] > 0.5).astype(int)
        stays = self._rng.random(n) < 0.5  # a state lasts, so that the label before says something
        y = level.copy()
        for k in range(1, n):
            if stays[k] and abs(z[k, 0] + z[k, 1] * z[k, 2] - 0.5) < 0.5:
                y[k] = y[k - 1]
        y ^= self._rng.random(n) < 0.03
        return (z * SCALES).astype(np.float32), y == 1


def learners() -> dict[str, Any]:
    return {
        "FourierSVM": FourierSVM(),
        "AdaGradSVM": AdaGradSVM(),
        "StreamSVM": StreamSVM(),
        "TwinVectorMachine(max_twins=30)": TwinVectorMachine(max_twins=30, kernel=RBF(0.1)),
    }


def percent(hits: Any) -> float:
    return round(100 * float(np.mean(hits)), 1)


def fleet_of(inner: Any, days: list[list[Any]]) -> tuple[list[Any], Any, list[Any], int]:
    """Each gateway's own model of all its days, the fleet's, what each gateway has made of that in
    its last day, and the bytes of models sent.

    The first day gives the start; then the gateways learn a day, and what they learned is merged,
    in rounds if the learner has them, else once at the end.
    """
    first, n = days[0], len(days[0])
    begun: Any = start([Standardized(learner=inner).fit(*rows) for rows in first])
    own = [copy.deepcopy(begun) for _ in range(n)]
    for day in days:
        for model, rows in zip(own, day, strict=True):
            model.partial_fit(*rows)
    if isinstance(inner, TwinVectorMachine):
        model = merged(own)
        home = [copy.deepcopy(model).partial_fit(*rows) for rows in days[-1]]
        return own, model, home, n * 4 * begun.nbytes
    model = begun
    for day in days:
        parts = [copy.deepcopy(model).partial_fit(*rows) for rows in day]
        model = merged(parts, since=model)
    return own, model, parts, n * (2 + 2 * len(days)) * begun.nbytes


def measured(inner: Any, days: list[list[Any]], tests: list[Any]) -> dict[str, Any]:
    own, model, home, sent = fleet_of(inner, days)
    X, y = (np.concatenate([rows[k] for day in days for rows in day]) for k in (0, 1))
    at = np.random.default_rng(0).permutation(len(X))
    one = Standardized(learner=inner).fit(X[at], y[at])
    first = len(days[0][0][0])
    each = {
        "own": [m.score(*test) for m, test in zip(own, tests, strict=True)],
        "merged": [model.score(*test) for test in tests],
        "at home": [m.score(*test) for m, test in zip(home, tests, strict=True)],
        "all": [one.score(*test) for test in tests],
        "abroad": [m.score(*tests[(k + 1) % len(tests)]) for k, m in enumerate(own)],
        "own, first day": [
            Standardized(learner=inner).fit(X_1[:first], y_1[:first]).score(*test)
            for (X_1, y_1), test in zip(days[0], tests, strict=True)
        ],
    }
    return {"each": each, "sent": sent, "model": model.nbytes}


def drawn(found: dict[str, Any], raw: int, out: Path) -> list[tuple[str, str]]:
    """Caption and path from the report; nothing where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return []
    folder = FOLDER / "figures" if out == RESULTS else out
    folder.mkdir(parents=True, exist_ok=True)
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(found)
    canvas, axes = plt.subplots(
        1, len(names), figsize=(2.9 * len(names), 3.5), sharey=True, constrained_layout=True
    )
    share = np.linspace(0, 100, len(next(iter(found.values()))["each"]["own"]))
    for axis, name in zip(axes, names, strict=True):
        one = found[name]
        for answer, (style, said) in ANSWERS.items():
            label = f"{said}: {percent(one['each'][answer])} %"
            axis.plot(share, 100 * np.sort(one["each"][answer]), style, label=label)
        axis.set_title(f"{name.split('(')[0]}\n{one['sent'] / raw:.2g} of the rows' bytes sent")
        axis.title.set_fontsize(10)
        axis.legend(fontsize=8, frameon=False, loc="lower right")
        axis.set_xlabel("gateways, %, the worst first")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("right on the rows that come next, %")
    axes[0].set_ylim(30, 101)
    canvas.savefig(folder / "fleet_gateways.png", dpi=120)
    plt.close(canvas)
    caption = "Accuracy of each gateway, sorted: its own model, the merged one, one of all rows"
    return [(caption, os.path.relpath(folder / "fleet_gateways.png", out))]


def main() -> None:
    args = parsed(arguments(__doc__))
    warnings.simplefilter("ignore")
    n = 12 if args.quick else GATEWAYS
    rng = np.random.default_rng(7)
    fleet = [Gateway(rng) for _ in range(n)]
    days = [[g.rows(d / DAYS, (d + 1) / DAYS, ROWS_A_DAY) for g in fleet] for d in range(DAYS)]
    tests = [g.rows(1.0, 1.0 + 1.0 / DAYS, TESTED) for g in fleet]
    y_test = np.concatenate([y for _, y in tests])
    larger = percent(y_test == (np.mean(y_test) > 0.5))
    before = percent([y[k] == y[k - 1] for _, y in tests for k in range(1, TESTED)])
    raw = n * DAYS * ROWS_A_DAY * (4 * WIDTH + 1)
    found = {}
    for name, inner in learners().items():
        progress(f"gateways: {name}")
        found[name] = measured(inner, days, tests)
    rows = [
        [
            name,
            *(percent(one["each"][k]) for k in ("own, first day", "own", "abroad")),
            *(percent(one["each"][k]) for k in ("merged", "at home", "all")),
            percent(np.array(one["each"]["at home"]) >= np.array(one["each"]["own"])),
            *(f"{one['model']:,}", f"{one['sent']:,}"),
        ]
        for name, one in found.items()
    ]
    columns = [
        *("learner", "own, of the first day, %", "own, %", "own, at the next gateway, %"),
        *("merged, %", "merged, then its own last day, %", "one of all rows, %"),
        "gateways where that day makes it no worse than its own, %",
        *("bytes of a model", "bytes sent in all"),
    ]
    about = [
        f"{n} gateways learn {DAYS} days of {ROWS_A_DAY} rows, {WIDTH} features whose scales are"
        f" {SCALES[0]:g} to {SCALES[-1]:g}; then {TESTED} rows of each are predicted. The label is"
        " x1 + x2 x3 > 0.5 around an operating point of the gateway's own, which drifts in its own"
        " direction; 3 % of the labels are wrong, and near the limit every second one is the label"
        " before.",
        f"The larger class is right for {larger} % of the test rows, the label before for"
        f" {before} %. All rows are {raw:,} bytes.",
        "All behind Standardized. The first day's statistics make a start (`fleet.start`); then the"
        " days are learned from it, merged each day (`since`), twins once at the end. Bytes sent:"
        " the first day's model and the start, then each day's model up and the merged one down;"
        " of twins, the last model up and the merged one down, after which they learn the last day"
        " again.",
    ]
    title = f"A fleet of {n} gateways, each with its own drift"
    table = Table("Right on the rows that come next", columns, rows)
    pictures = drawn(found, raw, args.out)
    publish(Report("fleet/gateways", title, [table], about, found, [], pictures), args.out)


if __name__ == "__main__":
    main()
