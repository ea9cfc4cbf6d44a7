"""The default learner and what a user would take instead, at equal bytes: rows at random, class
after class, and in the order of their source; right while labels come, and once they stop.

Raw rows of all classes, at most 6,000 to learn and 3,000 to test, mean of the orders; defaults, as
large as fits. Random features + SGD has two features for each direction of FourierSVM in the same
bytes; averaged SGD, random forest and SVC have no limit. Others' rows are scaled by the mean and
deviation of those learned. Once labels stop, class after class is told by balanced accuracy, 1 /
classes by chance. "While labels come" is of ours alone: the others learn in one call. In brackets:
the sets that one fits, where these are not all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import RandomFeaturesSGD
from benchmarks.rivals.streams import GENERATED, IN_ORDER, ORDERS, SETS, stream, there
from edgesvm import ByteSVM, FourierSVM, Standardized
from edgesvm.errors import MemoryBudgetError

BUDGETS = {f"{k} KiB": k << 10 for k in (1, 2, 4, 16, 64)}
LARGER = "larger class"


def byte_svm(budget: int, n_features: int, _: int) -> Any:
    return ByteSVM.within(budget, n_features=n_features)


def fourier_svm(budget: int, n_features: int, n_classes: int) -> Any:
    learner = FourierSVM(n_classes=n_classes)
    return Standardized.within(budget, n_features=n_features, learner=learner)


def random_features(budget: int, n_features: int, n_classes: int) -> Any:
    size = 2 * fourier_svm(budget, n_features, n_classes).learner.n_directions
    return RandomFeaturesSGD(size, n_features)


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


Make = Callable[[int, int, int], Any]
OURS: dict[str, Make] = {"ByteSVM": byte_svm, "FourierSVM": fourier_svm}
OTHERS: dict[str, Callable[[], Any]] = {
    "SGD, averaged": lambda: scaled(SGDClassifier(average=True, shuffle=False, random_state=0)),
    "random forest": lambda: RandomForestClassifier(random_state=0),
    "SVC, C = 10": lambda: scaled(SVC(C=10.0)),
}
FEATURES = "random features + SGD"


def of_ours(learner: Any, data: Any) -> tuple[float, np.ndarray]:
    """Share right while labels come; predictions once they stop."""
    X, y, X_test, _ = data
    hits = 0
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        hits += i > 0 and learner.predict_one(x) == label
        learner.learn_one(x, label)
    return hits / (len(X) - 1), learner.predict(X_test)


def outcome(name: str, budget: int, data: Any) -> dict[str, float]:
    """Shares right; none where the learner does not fit."""
    X, y, X_test, y_test = data
    before, classes = np.nan, np.unique(y)
    try:
        if name in OURS:
            before, said = of_ours(OURS[name](budget, X.shape[1], len(classes)), data)
        elif name == FEATURES:
            model = random_features(budget, X.shape[1], len(classes))
            said = model.partial_fit(X, y, classes).predict(X_test)
        elif name == LARGER:
            labels, counts = np.unique(y, return_counts=True)
            said = np.full(len(y_test), labels[counts.argmax()])
        else:
            said = OTHERS[name]().fit(X, y).predict(X_test)
    except MemoryBudgetError:
        return {}
    known = np.isin(y_test, classes)  # a class that was never learned is nobody's fault
    right = {
        "after": accuracy_score(y_test[known], said[known]),
        "balanced": balanced_accuracy_score(y_test[known], said[known]),
    }
    return right if np.isnan(before) else right | {"before": before}


def budgets_of(name: str) -> dict[str, int]:
    return BUDGETS if name in OURS or name == FEATURES else {"no limit": 0}


class Figures:
    """Percentages, means over the seeds."""

    def __init__(self, cells: Cells, sets: list[str], names: list[str], seeds: int) -> None:
        self.cells, self.sets, self.names, self.seeds = cells, sets, names, seeds

    def of(self, name: str, order: str, who: str, budget: str, what: str) -> float:
        """NaN where it does not fit."""
        seeds = 1 if order == "source" else self.seeds
        found = [self.cells[name, order, s, who, budget].get(what, np.nan) for s in range(seeds)]
        return 100 * float(np.mean(found))

    def cell(self, names: list[str], order: str, who: str, budget: str) -> str:
        """Right while labels come / once they stop, means over sets."""
        last = "balanced" if order == "class after class" else "after"
        before, after = (
            np.array([self.of(name, order, who, budget, what) for name in names])
            for what in ("before", last)
        )
        fits = ~np.isnan(after)
        if not fits.any():
            return "does not fit"
        shown = f"{after[fits].mean():.1f}" + f" ({fits.sum()})" * (not fits.all())
        return shown if np.isnan(before).all() else f"{np.nanmean(before):.1f} / {shown}"

    def means(self, order: str) -> Table:
        names = of_order(self.sets, order)
        rows = []
        for who in self.names:
            by_budget = {b: self.cell(names, order, who, b) for b in budgets_of(who)}
            rows.append([who, *(by_budget.get(b, "") for b in [*BUDGETS, "no limit"])])
        title = f"{order.capitalize()}: mean of {len(names)} sets"
        return Table(title, ["", *BUDGETS, "no limit"], rows)


def of_order(sets: list[str], order: str) -> list[str]:
    return [name for name in sets if order != "source" or name in (*IN_ORDER, GENERATED)]


def measure(cells: Cells, sets: list[str], names: list[str], seeds: int) -> None:
    for order in ORDERS:
        for name in of_order(sets, order):
            for seed in range(1 if order == "source" else seeds):
                data = stream(name, order, seed)
                for who in names:
                    for budget, n_bytes in budgets_of(who).items():
                        key = (name, order, seed, who, budget)
                        if key not in cells:
                            progress(", ".join(map(str, key)))
                            cells[key] = outcome(who, n_bytes, data)


def main() -> None:
    parser = arguments(__doc__, orders=2)
    parser.add_argument("--learners", nargs="+", help="only those with one of these words")
    parser.add_argument("--sets", nargs="+", help="only these")
    args = parsed(parser)
    sets = [GENERATED] if args.quick else [s for s in there() if not args.sets or s in args.sets]
    names = [LARGER, *OURS, FEATURES, *OTHERS]
    if args.learners:
        names = [name for name in names if any(word in name for word in args.learners)]
    path = args.cells / "rivals_table.jsonl"
    if args.quick:
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    measure(cells, sets, names, args.orders)
    figures = Figures(cells, sets, names, args.orders)
    tables = list(map(figures.means, ORDERS))
    raw: Any = [[*key, cells[key]] for key in cells]
    skipped = [f"{name}: not there" for name in SETS if name not in sets and not args.sets]
    title = "The default learner and rivals at equal bytes"
    publish(Report("rivals/table", title, tables, [__doc__ or ""], raw, skipped), args.out)


if __name__ == "__main__":
    main()
