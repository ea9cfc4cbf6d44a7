"""What is right once labels stop, where the rows keep the order of their source: the first rows are
learned in order, later ones are tested. The same rows shuffled are beside it.

Raw rows, all classes. At most `--rows` are learned, 70 % of a set, and as many of the next are
tested. scikit-learn's random features with averaged SGD stand beside ours: one pass, scaled by what
was seen so far, with two features for each direction that the first of ours has in those bytes.
"Falls" is what is lost by a larger budget.

kdd99_10pct is left out: the rows that would be tested are 98 % of one class, and the others mostly
of classes not seen before.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import Split, left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import RandomFeaturesSGD
from benchmarks.rivals.contestants import OF_MANY, allocated, n_directions
from benchmarks.rivals.streams import THREE_WAVES, integers, rows
from benchmarks.rivals.table import BUDGETS
from edgesvm.errors import MemoryBudgetError

SETS = {  # and what their order is
    "ijcnn1": "time",
    "elec2": "time",
    "occupancy": "time",
    "robot_wall24": "time",
    "gas_drift_8batches": "batches in time, runs of one gas",
    "gas_drift_minmax10": "batches in time, runs of one gas",
    "wisdm_windows": "runs of one user and activity",
    "covertype_10k": "source",
    "shuttle": "source",
}
SHARE_LEARNED = 0.7
ORDERS = ("in order", "shuffled")
LARGER, SGD = "larger class", "random features + SGD"
NAMES = (*OF_MANY, SGD, LARGER)


def in_order(name: str, most: int) -> Split:
    """The first rows of a set, and those after them. Of one with a test part, of its rows to learn
    alone.
    """
    if name == THREE_WAVES.name:
        return THREE_WAVES.split(0)
    file = read(name)
    part = "" if "X" in file else "_train"
    n = min(most, int(SHARE_LEARNED * len(file[f"y{part}"])))
    X, y = rows(file[f"X{part}"][: n + most]), integers(file[f"y{part}"][: n + most])
    return X[:n], y[:n], X[n:], y[n:]


def shuffled(split: Split, seed: int) -> Split:
    """The same rows, each learned or tested at random."""
    X, y, X_test, y_test = split
    turn = np.random.default_rng(seed).permutation(len(X) + len(X_test))
    X_all, y_all = np.concatenate([X, X_test])[turn], np.concatenate([y, y_test])[turn]
    return X_all[: len(X)], y_all[: len(X)], X_all[len(X) :], y_all[len(X) :]


def measured(split: Split, budget: int) -> dict[str, float]:
    """Percent right of each that fits, and bytes and directions of ours."""
    X, y, X_test, y_test = split
    labels, counts = np.unique(y, return_counts=True)
    found = {LARGER: 100 * float((y_test == labels[counts.argmax()]).mean())}
    directions = 0
    for name in OF_MANY:
        try:
            learner = allocated(name, budget, X.shape[1], n_classes=max(len(labels), 2))
        except MemoryBudgetError:
            continue
        directions = directions or n_directions(learner)
        learner.partial_fit(X, y)
        found[name] = 100 * float((learner.predict(X_test) == y_test).mean())
        found[f"{name}, bytes"] = learner.nbytes
        found[f"{name}, directions"] = n_directions(learner)
    if directions:
        model = RandomFeaturesSGD(2 * directions, X.shape[1]).partial_fit(X, y, labels)
        found[SGD] = 100 * float((model.predict(X_test) == y_test).mean())
    return found


class Figures:
    """Means over the seeds."""

    def __init__(self, cells: Cells, sets: list[str], seeds: int, most: int) -> None:
        self.cells, self.sets, self.seeds, self.most = cells, sets, seeds, most

    def of(self, name: str, order: str, budget: str, who: str) -> float:
        """NaN where it does not fit."""
        n = self.seeds if order == "shuffled" else 1
        found = [self.cells[name, order, s, self.most, budget].get(who, np.nan) for s in range(n)]
        return float(np.mean(found))

    def row(self, name: str, order: str, who: str) -> np.ndarray:
        """(budgets,)"""
        return np.array([self.of(name, order, budget, who) for budget in BUDGETS])

    def table(self, order: str) -> Table:
        body: list[list[str]] = []
        for name in self.sets:
            for who in NAMES:
                found = self.row(name, order, who)
                body.append([name, who, *map(percent, found), fall(found)])
        right = np.array([[self.row(name, order, who) for who in NAMES] for name in self.sets])
        known = ~np.isnan(right).any(axis=1)  # (sets, budgets)
        for k, who in enumerate(NAMES):
            means = [right[known[:, j], k, j] for j in range(len(BUDGETS))]
            shown = [f"{percent(m.mean() if len(m) else np.nan)} ({len(m)})" for m in means]
            body.append(["mean", who, *shown, ""])
        note = "Means are over the sets on which all have a figure, as many as in brackets."
        columns = ["data", "learner", *BUDGETS, "falls, most"]
        return Table(f"{order.capitalize()}: % right once labels stop", columns, body, note)


def percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def fall(right: np.ndarray) -> str:
    """The most that a larger budget loses, and from where to where."""
    pairs = [(a, b) for a, b in combinations(range(len(right)), 2) if right[a] > right[b]]
    if not pairs:
        return "no"
    a, b = max(pairs, key=lambda pair: right[pair[0]] - right[pair[1]])
    budgets = list(BUDGETS)
    return f"{right[a] - right[b]:.1f}, {budgets[a]} to {budgets[b]}"


def about_sets(sets: list[str], most: int) -> Table:
    body: list[list[str | int]] = []
    for name in sets:
        X, y, _, y_test = in_order(name, most)
        unseen = float((~np.isin(y_test, y)).mean())
        body.append([name, SETS.get(name, "none"), len(y), len(y_test), X.shape[1]])
        body[-1] += [len(np.unique(y)), f"{100 * unseen:.1f}"]
    columns = ["data", "order", "learned", "tested", "features", "classes learned"]
    return Table("Rows", [*columns, "tested rows of a class not learned, %"], body)


def main() -> None:
    parser = arguments(__doc__, orders=3)
    parser.add_argument("--rows", type=int, default=20_000, help="most rows to learn, and to test")
    parser.add_argument("--sets", nargs="+", help="only these")
    args = parsed(parser)
    sets = [name for name in SETS if not args.sets or name in args.sets]
    skipped = left_out(sets, args.quick)
    sets = [THREE_WAVES.name] if args.quick else [name for name in sets if not missing(name)]
    path = args.cells / "rivals_ordered.jsonl"
    if args.quick:
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    for name in sets:
        split = in_order(name, args.rows)
        for order, seed in [("in order", 0), *(("shuffled", s) for s in range(args.orders))]:
            turned = shuffled(split, seed) if order == "shuffled" else split
            for budget, n_bytes in BUDGETS.items():
                key = (name, order, seed, args.rows, budget)
                if key not in cells:
                    progress(f"{name}, {order} {seed}, {budget}")
                    cells[key] = measured(turned, n_bytes)
    figures = Figures(cells, sets, args.orders, args.rows)
    tables = [about_sets(sets, args.rows), *map(figures.table, ORDERS)]
    about = [(__doc__ or "").strip(), f"Shuffled: mean of {args.orders} orders."]
    raw: Any = [[*key, cells[key]] for key in cells]
    title = "Rows in the order of their source, from 1 to 64 KiB"
    publish(Report("rivals/ordered", title, tables, about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
