"""Vectors that all classes share, beside a learner for each class or pair of classes, in the same
bytes: the developers' sets with all their classes, one pass over at most 6,000 rows, scaled as they
come. Of two classes, the learner itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import Split, left_out
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.rivals.streams import DEVELOPERS, THREE_WAVES, of_developers
from edgesvm import (
    FourierSVM,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    SharedTwinSVM,
    Standardized,
    TwinDictionarySVM,
)
from edgesvm.errors import MemoryBudgetError
from edgesvm.learner import Learner

BUDGETS = {"16 KiB": 16 << 10, "64 KiB": 64 << 10}


def by_class(many: type[Learner], part: type[Learner]) -> Callable[[int], Learner]:
    """Of two classes, one learner is enough."""
    return lambda K: part() if K == 2 else many(learner=part(), n_classes=K)


LEARNERS: dict[str, Callable[[int], Learner]] = {
    "SharedTwinSVM": lambda K: SharedTwinSVM(n_classes=K),
    "TwinDictionarySVM, OneVsRest": by_class(OneVsRest, TwinDictionarySVM),
    "TwinDictionarySVM, OneVsOne": by_class(OneVsOne, TwinDictionarySVM),
    "KernelStreamSVM, OneVsRest": by_class(OneVsRest, KernelStreamSVM),
    "KernelStreamSVM, OneVsOne": by_class(OneVsOne, KernelStreamSVM),
    "FourierSVM": lambda K: FourierSVM(n_classes=K),
}


def right(learner: Learner, budget: int, split: Split) -> float:
    """Per cent; NaN where the smallest does not fit."""
    X, y, X_test, y_test = split
    try:
        with warnings.catch_warnings(action="ignore"):  # that parts are too small
            fitting = Standardized(learner=learner).fitted_into(budget, X.shape[1])
    except MemoryBudgetError:
        return np.nan
    return 100 * float(fitting.partial_fit(X, y).score(X_test, y_test))


def table(budget: str, found: dict[str, tuple[int, np.ndarray]]) -> Table:
    """A row a set, then means: of sets of more classes, and of those that all learners fit."""
    rows = [[name, K, *map(cell, scores)] for name, (K, scores) in found.items()]
    scores, K = np.array([scores for _, scores in found.values()]), [K for K, _ in found.values()]
    many, all_fit = np.array(K) > 2, ~np.isnan(scores).any(axis=1)
    for title, some in (
        ("more than two classes", many),
        ("the same, those that all fit", many & all_fit),
        ("two classes", ~many),
    ):
        means = [mean(scores[some, k]) for k in range(len(LEARNERS))]
        rows.append([f"mean: {title}", int(some.sum()), *means])
    note = "In the last rows: the number of sets. -: not even the smallest fits all of them."
    return Table(budget, ["data", "classes", *LEARNERS], rows, note)


def cell(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def mean(values: np.ndarray) -> str:
    return cell(float(values.mean())) if len(values) else "-"


def main() -> None:
    args = parsed(arguments(__doc__, orders=2))
    tasks = [THREE_WAVES] if args.quick else of_developers()
    args.orders = 1 if args.quick else args.orders
    tables, figures = [], {}
    for budget, n_bytes in BUDGETS.items():
        found = {}
        for task in tasks:
            splits = [task.split(order) for order in range(args.orders)]
            K = len(np.unique(splits[0][1]))
            scores = [[right(make(K), n_bytes, s) for s in splits] for make in LEARNERS.values()]
            found[task.name.split(",")[0]] = K, np.mean(scores, axis=1)
            progress(f"{budget} {task.name}")
        tables.append(table(budget, found))
        figures[budget] = {name: dict(zip(LEARNERS, s, strict=True)) for name, (_, s) in found.items()}
    about = [
        f"Per cent right of the test rows, mean of {args.orders} random orders; every learner has"
        " its defaults and as many vectors or directions as fit, behind `Standardized`."
    ]
    title = "Vectors that all classes share"
    skipped = left_out(DEVELOPERS, args.quick)
    publish(Report("rivals/shared", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
