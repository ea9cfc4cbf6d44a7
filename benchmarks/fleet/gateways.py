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
from benchmarks.common.report import Report, Table, figures_of, publish
from edgesvm import RBF, Standardized, StreamSVM, TwinVectorMachine
from edgesvm.fleet import merged, start
from edgesvm.learners import AdaGradSVM, FourierSVM

GATEWAYS, DAYS, ROWS_A_DAY, WIDTH = 500, 4, 100, 6
TESTED = 40  # rows of each gateway, after the last day
BUDGET = "32KiB"
NEW, OWN_ROWS = 200, (0, 10, 25, 50, 100, 200, 400)  # gateways that come later, rows they learn
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
    twins = TwinVectorMachine(max_twins=30, kernel=RBF(0.1))
    return {
        "FourierSVM": FourierSVM(),
        "AdaGradSVM": AdaGradSVM(),
        "StreamSVM": StreamSVM(),
        "TwinVectorMachine(max_twins=30)": twins,
        f"the same, merged into {BUDGET}": twins,
    }


def percent(hits: Any) -> float:
    return round(100 * float(np.mean(hits)), 1)


def fleet_of(
    inner: Any, days: list[list[Any]], budget: str | None
) -> tuple[list[Any], Any, list[Any], int]:
    """Each gateway's own model of all its days, the fleet's, what each gateway has made of that in
    its last day, and the bytes of models sent.

    The first day gives the start; then the gateways learn a day, and what they learned is merged,
    in rounds if the learner has them, else once at the end.
    """
    first, n = days[0], len(days[0])
    begun: Any = start([Standardized(learner=inner).partial_fit(*rows) for rows in first])
    own = [copy.deepcopy(begun) for _ in range(n)]
    for day in days:
        for model, rows in zip(own, day, strict=True):
            model.partial_fit(*rows)
    if isinstance(inner, TwinVectorMachine):
        model = merged(own, budget=budget)
        home = [copy.deepcopy(model).partial_fit(*rows) for rows in days[-1]]
        return own, model, home, n * (3 * begun.nbytes + model.nbytes)
    model = begun
    for day in days:
        parts = [copy.deepcopy(model).partial_fit(*rows) for rows in day]
        model = merged(parts, since=model)
    return own, model, parts, n * (2 + 2 * len(days)) * begun.nbytes


def grown(begun: Any, new: list[tuple[Any, Any]]) -> list[float | None]:
    """Mean accuracy of new gateways that go on from a model, by the rows they have learned."""
    found: list[float | None] = []
    models = [copy.deepcopy(begun) for _ in new]
    for least, most in zip((0, *OWN_ROWS), OWN_ROWS, strict=False):
        for model, ((X, y), _) in zip(models, new, strict=True):
            model.partial_fit(X[least:most], y[least:most])
        knows = models[0].is_fitted
        found.append(
            percent([m.score(*test) for m, (_, test) in zip(models, new, strict=True)])
            if knows
            else None
        )
    return found


def measured(
    inner: Any,
    days: list[list[Any]],
    tests: list[Any],
    new: list[tuple[Any, Any]],
    budget: str | None,
) -> dict[str, Any]:
    own, model, home, sent = fleet_of(inner, days, budget)
    X, y = (np.concatenate([rows[k] for day in days for rows in day]) for k in (0, 1))
    at = np.random.default_rng(0).permutation(len(X))
    one = Standardized(learner=inner).partial_fit(X[at], y[at])
    first = len(days[0][0][0])
    each = {
        "own": [m.score(*test) for m, test in zip(own, tests, strict=True)],
        "merged": [model.score(*test) for test in tests],
        "at home": [m.score(*test) for m, test in zip(home, tests, strict=True)],
        "all": [one.score(*test) for test in tests],
        "abroad": [m.score(*tests[(k + 1) % len(tests)]) for k, m in enumerate(own)],
        "own, first day": [
            Standardized(learner=inner).partial_fit(X_1[:first], y_1[:first]).score(*test)
            for (X_1, y_1), test in zip(days[0], tests, strict=True)
        ],
    }
    return {
        "each": each,
        "sent": sent,
        "model": model.nbytes,
        "from fleet": grown(model, new),
        "from none": grown(Standardized(learner=inner).allocate(WIDTH), new),
    }


def drawn(found: dict[str, Any], before: float, out: Path) -> list[tuple[str, str]]:
    """Caption and path from the report; nothing where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return []
    folder = figures_of(out)
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    canvas, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), constrained_layout=True)
    each = found["FourierSVM"]["each"]
    share = np.linspace(0, 100, len(each["own"]))
    for answer, (style, said) in ANSWERS.items():
        left.plot(share, 100 * np.sort(each[answer]), style, label=said)
    left.set_title("FourierSVM: the gateways of the fleet", fontsize=10)
    left.set_xlabel("gateways, %, the worst first")
    left.set_ylabel("right on the rows that come next, %")
    left.legend(fontsize=9, frameon=False, loc="lower right")
    for k, (name, one) in enumerate(found.items()):
        named = name.split("(")[0].replace("the same", "twins")
        right.plot(OWN_ROWS, one["from fleet"], f"C{k}o-", markersize=3, label=named)
        right.plot(OWN_ROWS, one["from none"], f"C{k}o--", markersize=3)
    right.axhline(before, color="grey", linestyle=":", label="the label before")
    right.set_title("A new gateway: from the merged model (—), from none (- -)", fontsize=10)
    right.set_xlabel("rows of its own that it has learned")
    right.set_xscale("symlog", linthresh=10)
    right.set_xlim(-1, 450)
    right.set_xticks(OWN_ROWS, [str(n) for n in OWN_ROWS])
    right.legend(fontsize=8, frameon=False, ncols=2, loc="lower right")
    for axis, least in ((left, 30), (right, 45)):
        axis.grid(alpha=0.3)
        axis.set_ylim(least, 101 if axis is left else 90)
    canvas.savefig(folder / "fleet_gateways.png", dpi=120)
    plt.close(canvas)
    caption = (
        "Accuracy of each gateway, sorted: its own model, the merged one, one of all rows; and of"
        " new gateways, from the merged model or from none"
    )
    return [(caption, os.path.relpath(folder / "fleet_gateways.png", out))]


def main() -> None:
    args = parsed(arguments(__doc__))
    warnings.simplefilter("ignore")
    n = 12 if args.quick else GATEWAYS
    rng = np.random.default_rng(7)
    fleet = [Gateway(rng) for _ in range(n)]
    days = [[g.rows(d / DAYS, (d + 1) / DAYS, ROWS_A_DAY) for g in fleet] for d in range(DAYS)]
    tests = [g.rows(1.0, 1.0 + 1.0 / DAYS, TESTED) for g in fleet]
    new = [
        (g.rows(0.0, 1.0, OWN_ROWS[-1]), g.rows(1.0, 1.0 + 1.0 / DAYS, TESTED))
        for g in (Gateway(rng) for _ in range(n if args.quick else NEW))
    ]
    y_test = np.concatenate([y for _, y in tests])
    larger = percent(y_test == (np.mean(y_test) > 0.5))
    before = percent([y[k] == y[k - 1] for _, y in tests for k in range(1, TESTED)])
    raw = n * DAYS * ROWS_A_DAY * (4 * WIDTH + 1)
    found = {}
    for name, inner in learners().items():
        progress(f"gateways: {name}")
        found[name] = measured(inner, days, tests, new, BUDGET if BUDGET in name else None)
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
    later = [
        [f"{name}, from {whence}", *one[key]]
        for name, one in found.items()
        for whence, key in (("the merged model", "from fleet"), ("a new one", "from none"))
    ]
    of_new = Table(
        f"{len(new)} new gateways, by the rows of their own that they have learned: right, %",
        ["", *map(str, OWN_ROWS)],
        later,
    )
    pictures = drawn(found, before, args.out)
    publish(Report("fleet/gateways", title, [table, of_new], about, found, [], pictures), args.out)


if __name__ == "__main__":
    main()
