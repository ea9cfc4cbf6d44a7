"""Core and ball vector machines with the paper's tolerance, a share of the radius, and with ours, a
share of the margin, against LIBSVM on two-class problems.

At most 13,000 rows in a random order, 70 % to learn, standardised; RBF(1 / n_features), C = 1 and
10. Three ways: `fit` with room for every row, `fit` with room for 1,000 core vectors, and one pass
over a stream with room for 1,000. Each cell is kept as it is done; the same command goes on after
an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import since
from benchmarks.common.data import QUICK, Split, all_rows, left_out, missing, standardised
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from edgesvm import BallVectorMachine, CoreVectorMachine

MOST_ROWS, ROOM = 13_000, 1_000
PENALTIES = (1.0, 10.0)
EPSILON = 1e-4
LEARNERS = {"BVM": BallVectorMachine, "CVM": CoreVectorMachine}
TOLERANCES = {"epsilon": {"margin_tol": None}, "margin": {}}
WAYS = ("fit", "fit, 1,000", "stream, 1,000")
# file: the labels of the second class
SETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "banana": lambda y: y > 0,
    "pima": lambda y: y > 0,
    "bearing_cwru": lambda y: y < 5,
    "waveform": lambda y: y == 0,
    "robot_wall24": lambda y: y == 0,
    "wisdm_windows": lambda y: y == np.bincount(y).argmax(),
    "satimage": lambda y: y == 1,
    "optdigits": lambda y: y % 2 == 0,
    "gas_drift_8batches": lambda y: y <= 2,
    "pendigits": lambda y: y % 2 == 0,
    "covertype_10k": lambda y: y == 2,
    "elec2": lambda y: y > 0,
    "occupancy": lambda y: y > 0,
    "shuttle": lambda y: y == 1,
    "chest_accel": lambda y: y == 1,
    "ijcnn1": lambda y: y > 0,
    "letter": lambda y: y <= 13,
    "kdd99_10pct": lambda y: y > 0,
    "usps": lambda y: y % 2 == 0,
    "a9a": lambda y: y > 0,
    "w8a": lambda y: y > 0,
}


def split_of(name: str) -> Split:
    X, y = all_rows(name)
    order = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    X, y = X[order].astype(np.float64), SETS[name](y)[order]
    n = int(0.7 * len(X))
    X, X_test = standardised(X[:n], X[n:])
    return X, y[:n], X_test, y[n:]


def measure_svc(split: Split, C: float) -> dict[str, Any]:
    X, y, X_test, y_test = split
    model = SVC(C=C, gamma=1.0 / X.shape[1])
    begin = process_time()
    model.fit(X, y)
    return {
        "seconds": since(begin),
        "accuracy": 100 * float(model.score(X_test, y_test)),
        "larger class": 100 * float(max(y_test.mean(), 1 - y_test.mean())),
        "core": int(model.n_support_.sum()),
        "rows": len(X),
        "features": X.shape[1],
    }


def measure(split: Split, C: float, how: str, tolerance: str, way: str) -> dict[str, Any]:
    X, y, X_test, y_test = split
    params = {"max_core": len(X) if way == "fit" else ROOM, **TOLERANCES[tolerance]}
    model = LEARNERS[how](epsilon=EPSILON, C=C, **params)
    model.allocate(X.shape[1], classes=[False, True])
    begin = process_time()
    model.partial_fit(X, y) if way.startswith("stream") else model.fit(X, y)
    return {
        "seconds": since(begin),
        "accuracy": 100 * float(model.score(X_test, y_test)),
        "core": model.n_core_,
        "margin": model.margin_,
        "enclosed": model.enclosed_,
        "converged": model.converged_,
        "iterations": model.n_iter_,
    }


def fill(cells: dict[str, Cells], splits: Iterable[tuple[str, Callable[[], Split]]]) -> None:
    for name, load in splits:
        split = None
        for C in PENALTIES:
            wanted = [(way, how, tol) for way in WAYS for how in LEARNERS for tol in TOLERANCES]
            for key in [("SVC",), *wanted]:
                of = cells["SVC" if key == ("SVC",) else "ours"]
                if (name, C, *key) in of:
                    continue
                split = split or load()
                result = (
                    measure_svc(split, C)
                    if key == ("SVC",)
                    else measure(split, C, key[1], key[2], key[0])
                )
                of[(name, C, *key)] = result
                say(f"{name} {C:g} {' '.join(key)}: {result['accuracy']:.2f}")


def table(way: str, C: float, names: list[str], cells: dict[str, Cells]) -> Table:
    columns = ["data", "rows", "larger class %", "SVC %", "s", "SVs"]
    which = [(how, tolerance) for how in LEARNERS for tolerance in TOLERANCES]
    for how, tolerance in which:
        columns += [f"{how}, {tolerance} %", "s", "core"]
    rows, means = [], []
    for name in names:
        svc = cells["SVC"][name, C, "SVC"]
        found = [svc, *(cells["ours"][(name, C, way, *key)] for key in which)]
        means.append([[each[what] for what in ("accuracy", "seconds", "core")] for each in found])
        row = [name, f"{svc['rows']:,} x {svc['features']}", f"{svc['larger class']:.1f}"]
        for k, each in enumerate(found):
            star = "" if k == 0 or each["converged"] else " *"
            row += [f"{each['accuracy']:.2f}{star}", f"{each['seconds']:.2f}", f"{each['core']:,}"]
        rows.append(row)
    mean = np.mean(means, axis=0)
    rows.append(["mean", "", "", *(text for m in mean for text in shown(m))])
    return Table(f"{way}, C = {C:g}", columns, rows, worst(way, C, names, which, cells))


def shown(mean: np.ndarray) -> list[str]:
    return [f"{mean[0]:.2f}", f"{mean[1]:.2f}", f"{mean[2]:,.0f}"]


def worst(
    way: str, C: float, names: list[str], which: list[tuple[str, str]], cells: dict[str, Cells]
) -> str:
    """The largest loss to SVC; how many converged, and how many that did not were enclosed."""
    lines = []
    for key in which:
        found = {name: cells["ours"][(name, C, way, *key)] for name in names}
        lost = {n: cells["SVC"][n, C, "SVC"]["accuracy"] - r["accuracy"] for n, r in found.items()}
        name = max(lost, key=lost.__getitem__)
        least = (2.0 + 1.0 / C) * EPSILON
        below = [r for r in found.values() if r["margin"] < least]
        n_converged = sum(r["converged"] for r in found.values())
        line = f"- {', '.join(key)}: at most {lost[name]:.2f} points below SVC ({name}); "
        line += f"{n_converged} of {len(names)} converged"
        if key[1] == "epsilon":
            line += f"; {len(below)} have a margin below what epsilon allows, of them "
            line += f"{sum(r['enclosed'] for r in below)} enclosed and "
            line += f"{sum(r['converged'] for r in below)} called converged"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=list(SETS), default=list(SETS))
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    args = parsed(parser)
    ours = build_id()
    cells = {
        "ours": Cells(args.cells / "enclosing_margin.jsonl", ours, any_build=args.done),
        "SVC": Cells(args.cells / "enclosing_margin_svc.jsonl", "", any_build=True),
    }
    names = [QUICK.name] if args.quick else [n for n in args.sets if missing(n) is None]
    if args.quick:
        fill(cells, [(QUICK.name, lambda: QUICK.split(0))])
    elif not args.done:
        fill(cells, [(name, lambda name=name: split_of(name)) for name in names])
    tables = []
    for way in WAYS:
        for C in PENALTIES:
            wanted = [(C, way, how, tol) for how in LEARNERS for tol in TOLERANCES]
            done = [n for n in names if all((n, *key) in cells["ours"] for key in wanted)]
            tables += [table(way, C, done, cells)] if done else []
    about = [
        f"epsilon: `margin_tol=None`, epsilon = {EPSILON:g}, as before. margin: the default. "
        "Seconds of the processor, of a fit with its checks. \\*: `converged_` is False, which it "
        "always is after a stream. SVC: scikit-learn's, with its default tolerance and cache.",
    ]
    figures = {" / ".join(map(str, key)): each[key] for each in cells.values() for key in each}
    title = "Core and ball vector machines: a tolerance relative to the margin"
    skipped = left_out(SETS, args.quick)
    publish(Report("enclosing/margin", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
