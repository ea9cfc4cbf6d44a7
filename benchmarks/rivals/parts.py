"""How many vectors a part of OneVsOne and OneVsRest must hold to be of use: learners of every
capacity, one pass over three data sets of 6 and 10 classes. Where the warning of parts that are too
small comes from (`learners/multiclass.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import Split, left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import (
    LASVM,
    BallVectorMachine,
    Forgetron,
    FourierSVM,
    IncrementalDecrementalSVM,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    SimpleSVM,
    Standardized,
    TwinDictionarySVM,
    TwinVectorMachine,
)
from edgesvm.learner import Learner

FILES = ["pendigits", "satimage", "optdigits"]
KINDS: list[type[Learner]] = [
    TwinVectorMachine,
    TwinDictionarySVM,
    KernelStreamSVM,
    Forgetron,
    KernelPerceptron,
    LASVM,
    SimpleSVM,
    IncrementalDecrementalSVM,
    BallVectorMachine,
]
CAPACITIES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
MOST_ROWS, MOST_TESTED = 3000, 1000


def rows_of(name: str, rng: np.random.Generator) -> Split:
    file = read(name)
    X, y, X_test, y_test = (file[f"{key}_{part}"] for part in ("train", "test") for key in "Xy")
    some, aside = rng.permutation(len(X))[:MOST_ROWS], rng.permutation(len(X_test))[:MOST_TESTED]
    return X[some].astype(np.float32), y[some], X_test[aside].astype(np.float32), y_test[aside]


def generated(rng: np.random.Generator) -> Split:
    y = rng.integers(0, 4, 400)
    X = (rng.standard_normal((400, 3)) + 4 * np.eye(4, 3)[y]).astype(np.float32)
    return X[:300], y[:300], X[300:], y[300:]


def right(learner: Learner, split: Split) -> float:
    X, y, X_test, y_test = split
    return float(Standardized(learner=learner).partial_fit(X, y).score(X_test, y_test))


def ends_of(split: Split) -> tuple[float, float]:
    """The share of the largest class, and how often the default learner is right."""
    chance = float((split[3] == np.bincount(split[1]).argmax()).mean())
    return chance, right(FourierSVM(n_classes=len(np.unique(split[1]))), split)


def way(part: Learner, many: Any, splits: dict[str, Split], ends: dict[str, tuple]) -> float:
    """How far it is from the largest class, 0, to the default learner, 1; a mean."""
    each = []
    for name, split in splits.items():
        own = right(many(learner=part, n_classes=len(np.unique(split[1]))), split)
        each.append((own - ends[name][0]) / (ends[name][1] - ends[name][0]))
    return float(np.mean(each))


def main() -> None:
    args = parsed(arguments(__doc__, seed=0))
    names = [] if args.quick else [name for name in FILES if missing(name) is None]
    splits = {name: rows_of(name, np.random.default_rng(args.seed)) for name in names}
    if args.quick:
        splits["generated"] = generated(np.random.default_rng(args.seed))
    ends = {name: ends_of(split) for name, split in splits.items()}
    rows, figures = [], {}
    for kind in KINDS[:2] if args.quick else KINDS:
        for many in (OneVsOne, OneVsRest):
            found = {
                capacity: way(kind(**{kind._capacity: capacity}), many, splits, ends)
                for capacity in CAPACITIES
                if capacity >= kind()._capacity_range(1)[0]
            }
            figures[f"{many.__name__} of {kind.__name__}"] = found
            cells = [f"{100 * found[c]:.0f}" if c in found else None for c in CAPACITIES]
            rows.append([kind.__name__, many.__name__, *cells])
            progress(f"{kind.__name__}, {many.__name__}")
    columns = ["learner", "of many", *map(str, CAPACITIES)]
    about = (
        "By capacity of a part, in %: 0, as many are right as the largest class has; 100, as with"
        f" FourierSVM, the default learner. A mean over {', '.join(splits)}; up to {MOST_ROWS:,}"
        f" rows in a random order, each learned once, and {MOST_TESTED:,} tested."
    )
    title = "Parts of OneVsOne and OneVsRest that hold few vectors"
    skipped = left_out(FILES, args.quick)
    publish(
        Report("rivals/parts", title, [Table("", columns, rows)], [about], figures, skipped),
        args.out,
    )


if __name__ == "__main__":
    main()
