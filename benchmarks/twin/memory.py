"""Kernel machines at equal bytes: twin vector machines against scikit-learn's Nystroem map with
averaged SGD, untuned, and its SVC; and the bytes of a twin vector machine.

Nystroem: vectors drawn from the first 2,000 rows, which it has to hold until then (not counted);
alpha 1e-5, one pass in chunks of 1,000. Its bytes are the vectors, the normalization, the weights
and their average; it works in float32, so it is counted in float32, and shown in float64 too. SVC
of equal bytes: on as many of the first rows as give support vectors for so many bytes (its solver's
bytes are not counted); and on all rows, as the ceiling.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import sklearn
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import since, timed
from benchmarks.common.data import Split, generated
from benchmarks.common.progress import progress, say
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import NystroemSGD, vectors_within
from benchmarks.common.scores import mean_deviation, yes
from edgesvm import RBF, TwinVectorMachine
from edgesvm.budget import format_bytes, parse_bytes
from edgesvm.data import Checkerboard, Gauss, Waveform

BUDGETS = ("16KiB", "40KiB", "80KiB", "160KiB")
GOAL = "80KiB"
BOARD, WAVES, CLOUDS = RBF(1 / 0.74), RBF(1 / 21), RBF(0.5)
# name: loader, kernel, C of SVC
PROBLEMS: dict[str, tuple[Callable[[np.random.Generator], Split], RBF, float]] = {
    "N-Checkerboard 10k": (generated(Checkerboard, 10_000, flip=0.15), BOARD, 1.0),
    "N-Checkerboard 100k": (generated(Checkerboard, 100_000, flip=0.15), BOARD, 1.0),
    "Checkerboard 10k": (generated(Checkerboard, 10_000), BOARD, 100.0),
    "Checkerboard 100k": (generated(Checkerboard, 100_000), BOARD, 100.0),
    "Waveform 10k": (generated(Waveform, 10_000), WAVES, 1.0),
    "Gauss 10k": (generated(Gauss, 10_000), CLOUDS, 1.0),
}
OURS: dict[str, dict[str, Any]] = {
    "TVM, C = 100": {"C": 100.0},
    "TVM, C = 1000": {"C": 1000.0},
    "TVM, C = 300, max_margin = 30": {"C": 300.0, "max_margin": 30},
    "TVM, C = 1000, max_margin = 30": {"C": 1000.0, "max_margin": 30},
}
QUICK = {"Checkerboard 2k": (generated(Checkerboard, 2_000, 500), BOARD, 100.0)}
EVERYTHING = "SVC on all rows"
WARM, CHUNK, ALPHA = 2000, 1000, 1e-5


def per_call(call: Callable[[int], object], n: int) -> float:
    """Median microseconds of call(0), call(1), ..."""
    return 1e6 * median(timed(partial(call, k), perf_counter) for k in range(n))


def outcome(
    learner: Any,
    data: Split,
    learn_s: float,
    learn_one: Callable[[int], object] | None,
    **more: Any,
) -> dict[str, Any]:
    """Accuracy, and microseconds a row of learning and predicting, in batches and one by one."""
    X, _, X_test, y_test = data
    begin = process_time()
    hits = learner.predict(X_test) == y_test
    predict_s = since(begin)
    one = getattr(learner, "predict_one", None)
    predict_one = (lambda k: one(X_test[k])) if one else lambda k: learner.predict(X_test[k, None])
    return {
        "accuracy": 100 * float(hits.mean()),
        "learn_us": 1e6 * learn_s / len(X),
        "learn_one_us": None if learn_one is None else per_call(learn_one, 300),
        "predict_us": 1e6 * predict_s / len(X_test),
        "predict_one_us": per_call(predict_one, 300),
        **more,
    }


def twins(budget: int, kernel: RBF, params: dict[str, Any], data: Split) -> dict[str, Any]:
    X, y = data[:2]
    learner = TwinVectorMachine.within(budget, X.shape[1], kernel=kernel, **params)
    begin = process_time()
    learner.partial_fit(X, y, classes=[False, True])
    seconds = since(begin)
    again = TwinVectorMachine.within(budget, X.shape[1], kernel=kernel, **params)
    again.partial_fit(X[:-300], y[:-300], classes=[False, True])
    labels = y.tolist()
    return outcome(
        learner,
        data,
        seconds,
        lambda k: again.learn_one(X[k - 300], labels[k - 300]),
        bytes=learner.nbytes,
        size=learner.max_twins,
        kt_residual=float(learner.kt_residual()),
    )


def nystroem(budget: int, kernel: RBF, dtype: str, seed: int, data: Split) -> dict[str, Any]:
    X, y, X_test, y_test = (a.astype(dtype) if a.dtype.kind == "f" else a for a in data)
    size = min(vectors_within(budget, X.shape[1], X.dtype.itemsize), WARM)
    learner = NystroemSGD(size, alpha=ALPHA, gamma=kernel.gamma, warm=WARM, chunk=CHUNK, seed=seed)
    classes = [False, True]
    begin = process_time()
    learner.partial_fit(X, y, classes)
    seconds = since(begin)
    scored = outcome(
        learner, (X, y, X_test, y_test), seconds, None, bytes=learner.nbytes, size=size
    )
    scored["learn_one_us"] = per_call(
        lambda k: learner.partial_fit(X[k, None], y[k, None], classes), 300
    )
    return scored


def svc_bytes(model: SVC) -> int:
    return model.support_vectors_.nbytes + model.dual_coef_.nbytes + model.intercept_.nbytes


def svc(budget: int | None, kernel: RBF, C: float, data: Split) -> dict[str, Any]:
    """On all rows, or on the first ones whose support vectors fit."""
    X, y, X_test, y_test = (a.astype(float) if a.dtype.kind == "f" else a for a in data)

    def on_first(n: int) -> SVC:
        return SVC(kernel="rbf", gamma=kernel.gamma, C=C).fit(X[:n], y[:n])

    least, most = 50, len(X)
    if budget is not None:
        while least + max(least // 50, 1) < most:  # to 2 per cent
            n = min((least + most) // 2, 2 * least)  # never far too many: cost is quadratic
            if svc_bytes(on_first(n)) <= budget:
                least = n
            else:
                most = n
    n = most if budget is None else least
    begin = process_time()
    model = on_first(n)
    seconds = since(begin)
    return outcome(
        model, (X[:n], y[:n], X_test, y_test), seconds, None, bytes=svc_bytes(model), size=n
    )


def contestants(
    name: str, budget: str, seed: int = 0
) -> dict[str, Callable[[Split], dict[str, Any]]]:
    _, kernel, C = (PROBLEMS | QUICK)[name]
    n_bytes = parse_bytes(budget)
    return {
        **{who: partial(twins, n_bytes, kernel, params) for who, params in OURS.items()},
        **{
            f"Nystroem + averaged SGD, {dtype}": partial(nystroem, n_bytes, kernel, dtype, seed)
            for dtype in ("float32", "float64")
        },
        "SVC of equal bytes": partial(svc, n_bytes, kernel, C),
    }


def run(args: argparse.Namespace, ours: Cells, theirs: Cells) -> None:
    for seed in range(args.orders):
        for name in args.sets:
            load, kernel, C = (PROBLEMS | QUICK)[name]
            data = load(np.random.default_rng(seed))
            for budget in args.budgets:
                for who, measure in contestants(name, budget, seed).items():
                    cells = ours if who.startswith("TVM") else theirs
                    fill(cells, (name, budget, who, seed), measure, data)
            if seed < args.svc_orders:
                fill(theirs, (name, "", EVERYTHING, seed), partial(svc, None, kernel, C), data)


def fill(cells: Cells, key: tuple, measure: Callable[[Split], dict[str, Any]], data: Split) -> None:
    if key in cells:
        return
    progress(" ".join(map(str, key)))
    cells[key] = measure(data)
    say(f"{' '.join(map(str, key))}: {cells[key]['accuracy']:.2f} %")


def collected(
    name: str, budget: str, who: str, args: argparse.Namespace, *kept: Cells
) -> list[dict]:
    keys = [(name, budget, who, seed) for seed in range(args.orders)]
    return [cells[key] for cells in kept for key in keys if key in cells]


def line(label: str, results: list[dict[str, Any]]) -> list[str]:
    def middle(what: str) -> str:
        values = [r[what] for r in results if r[what] is not None]
        return f"{median(values):.2f}" if values else "-"

    return [
        label,
        mean_deviation([r["accuracy"] for r in results], 0),
        f"{median(r['bytes'] for r in results):,.0f}",
        f"{median(r['size'] for r in results):,.0f}",
        middle("learn_us"),
        middle("learn_one_us"),
        middle("predict_us"),
        middle("predict_one_us"),
    ]


COLUMNS = ["learner", "accuracy %", "bytes", "twins / vectors / rows", "learn µs a row"]
COLUMNS += ["one by one", "predict µs a row", "one by one"]


def tables(args: argparse.Namespace, *kept: Cells) -> list[Table]:
    parts = []
    for name in args.sets:
        rows = []
        for budget in args.budgets:
            for who in contestants(name, budget):
                results = collected(name, budget, who, args, *kept)
                if results:
                    rows.append(line(f"{budget}: {who}", results))
        results = collected(name, "", EVERYTHING, args, *kept)
        if results:
            rows.append(line(EVERYTHING, results))
        parts.append(Table(name, COLUMNS, rows))
    return parts


def verdict(args: argparse.Namespace, *kept: Cells) -> Table:
    """Each of ours, the same on all sets, against each rival at the budget of the goal."""
    budget = GOAL if GOAL in args.budgets else args.budgets[-1]
    mine = list(OURS)
    rivals = ["Nystroem + averaged SGD, float32", "Nystroem + averaged SGD, float64"]
    rivals += ["SVC of equal bytes", EVERYTHING]
    rows = []
    for name in args.sets:
        means = {}
        for who in mine + rivals:
            at = "" if who == EVERYTHING else budget
            results = collected(name, at, who, args, *kept)
            means[who] = np.mean([r["accuracy"] for r in results]) if results else np.nan
        best = max(means[who] for who in rivals[:3])
        rows.append(
            [
                name,
                *("-" if np.isnan(means[who]) else f"{means[who]:.2f}" for who in mine + rivals),
                *("-" if np.isnan(means[who]) else f"{means[who] - best:+.2f}" for who in mine),
            ]
        )
    columns = ["data", *mine, *rivals, *(f"{who}: ahead by" for who in mine)]
    note = "Ahead of the best of the three rivals of equal bytes."
    return Table(f"At {budget}", columns, rows, note)


def formula() -> Table:
    """The plan of B = 100 twins of 16 float32 features, and totals of others."""
    plan = TwinVectorMachine(max_twins=100).plan(16)
    sizes, widths = (20, 50, 100, 200, 500), (2, 16, 123, 256)
    rows = [
        [f"B = {b}", *(f"{TwinVectorMachine(max_twins=b).plan(d).total:,}" for d in widths)]
        for b in sizes
    ]
    note = (
        f"B = 100, D = 16, float32: {format_bytes(plan.total)}; at most 140 KiB: "
        f"{yes(plan.total <= parse_bytes('140KiB'))}.\n\n```\n{plan}\n```"
    )
    return Table("Bytes", ["twins", *(f"D = {d}" for d in widths)], rows, note)


def main() -> None:
    parser = arguments(__doc__, orders=5)
    parser.add_argument("--svc-orders", type=int, default=1, help="SVC on all rows (default 1)")
    parser.add_argument("--budgets", nargs="+", default=list(BUDGETS), metavar="BYTES")
    parser.add_argument("--sets", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    args = parsed(parser)
    if args.quick:
        args.orders, args.budgets, args.sets = 1, ["16KiB"], list(QUICK)
    ours = Cells(args.cells / "twin_memory.jsonl", build_id())
    rivals = args.cells / "twin_memory_rivals.jsonl"
    theirs = Cells(rivals, f"scikit-learn {sklearn.__version__}")
    if not args.done:
        run(args, ours, theirs)
    about = [
        f"Mean and deviation over {args.orders} draws of the data, or as many as the brackets "
        "say; clean rows to test on; inputs standardised; SVC's C = 1, on the clean board 100. "
        "Nothing is tuned. Seconds are of the processor, but one by one they are medians of 300 "
        "calls on the wall clock.",
        "Does not show: tuned rivals, the 2,000 rows that Nystroem holds until its vectors are "
        "drawn, what SVC's solver holds.",
    ]
    figures = {
        f"{name} | {budget} | {who}": collected(name, budget, who, args, ours, theirs)
        for name in args.sets
        for budget in args.budgets
        for who in contestants(name, budget)
    }
    title = "Kernel machines at equal bytes"
    found = [verdict(args, ours, theirs), *tables(args, ours, theirs), formula()]
    publish(Report("twin/memory", title, found, about, figures), args.out)


if __name__ == "__main__":
    main()
