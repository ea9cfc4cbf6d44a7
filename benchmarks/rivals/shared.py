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


def largest_class(split: Split) -> float:
    labels, counts = np.unique(split[1], return_counts=True)
    return 100 * float((split[3] == labels[counts.argmax()]).mean())


def table(budget: str, K: list[int], names: list[str], found: np.ndarray) -> Table:
    """A row a set; the last of `found` is the largest class, the answer of what does not fit."""
    shown = [["-" if np.isnan(f) else f"{f:.1f}" for f in scores] for scores in found]
    rows = [[name, k, *cells] for name, k, cells in zip(names, K, shown, strict=True)]
    answered, many = np.where(np.isnan(found), found[:, -1:], found), np.array(K) > 2
    for title, some in (("more than two classes", many), ("two classes", ~many)):
        if some.any():
            rows.append([f"mean: {title}", "", *(f"{f:.1f}" for f in answered[some].mean(axis=0))])
    note = "-: not even the smallest fits; in the means it answers with the largest class."
    return Table(budget, ["data", "classes", *LEARNERS, "largest class"], rows, note)


def main() -> None:
    args = parsed(arguments(__doc__, orders=2))
    tasks = [THREE_WAVES] if args.quick else of_developers()
    orders = range(1 if args.quick else args.orders)
    names = [task.name.split(",")[0] for task in tasks]
    found = np.zeros((len(BUDGETS), len(tasks), len(LEARNERS) + 1))
    K = []
    for t, task in enumerate(tasks):
        splits = [task.split(order) for order in orders]
        K.append(len(np.unique(splits[0][1])))
        for b, budget in enumerate(BUDGETS.values()):
            for k, make in enumerate(LEARNERS.values()):
                found[b, t, k] = np.mean([right(make(K[t]), budget, split) for split in splits])
            found[b, t, -1] = largest_class(splits[0])
        progress(task.name)
    tables = [table(budget, K, names, found[b]) for b, budget in enumerate(BUDGETS)]
    about = [
        f"Per cent right of the test rows, mean of {len(orders)} random orders; every learner has"
        " its defaults and as many vectors or directions as fit, behind `Standardized`."
    ]
    title = "Vectors that all classes share"
    skipped = left_out(DEVELOPERS, args.quick)
    publish(Report("rivals/shared", title, tables, about, found.tolist(), skipped), args.out)


if __name__ == "__main__":
    main()
