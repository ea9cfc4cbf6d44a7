"""The default learner's marks beside those of the last release and of rivals.

Rows as in rivals/table, but 2,000 to test; parameters are the defaults. ByteSVM's model has the
bytes named, FourierSVM with its scaler all that ByteSVM takes. Averaged SGD and SVC, C = 10, have
no limit, and rows scaled by all those to learn. All but SVC pass once over the rows in order.
Figures are means of seeds; balanced accuracy is 1 / classes by chance; in brackets the sets that
fit, where these are not all. Still bad: class after class where classes are many or rows wide for
the bytes (a9a, w3a, mnist_0189, covertype_10k), and few labels beside SVC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import edgesvm
from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import Split, all_rows, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, commit, publish
from benchmarks.drift.forgetting import IN_TIME, answers, moving
from benchmarks.rivals.streams import GENERATED, SETS, integers, rows, stream, there
from edgesvm import ByteSVM, FourierSVM, Standardized
from edgesvm.data import Checkerboard, Gauss
from edgesvm.errors import MemoryBudgetError

BYTE, FOURIER, SGD, BATCH, BEFORE = "ByteSVM", "FourierSVM", "SGD", "SVC", "ByteSVM before"
RIVALS = (BYTE, FOURIER, SGD, BATCH)
NO_LIMIT = "no limit"
MOST_TESTED, PAUSE, HEAVY = 2000, 1000, 255.0
TWO_CLASSES = ("banana", "ijcnn1", "elec2", "covertype_10k", "a9a", "pendigits", "letter")
TWO_CLASSES += ("waveform", "satimage", "occupancy", "gas_drift_minmax10", "usps")
CLOUDS, BOARD, COUNTS = "two Gaussians", "checkerboard", ("0", "1", "10")
MOVING = ("rotating boundary", "SEA", "classes exchanged")
WEIGHED = "StreamSVM KernelStreamSVM AdaGradSVM FourierSVM ByteSVM ReservoirSVM IncrementalSVM"
WEIGHED += " WindowedSVM IncrementalDecrementalSVM SimpleSVM TwinVectorMachine SharedTwinSVM"
WEIGHED += " Perceptron PassiveAggressive Pegasos KernelPerceptron Forgetron LASVM"


# -- learners --------------------------------------------------------------------------------------


class OnePass:
    """Averaged SGD in one pass, behind a scaler of all rows to learn."""

    def __init__(self, X: np.ndarray, classes: np.ndarray, seed: int) -> None:
        self.scale = StandardScaler().fit(X).transform
        self.sgd, self.classes = SGDClassifier(average=True, random_state=seed), classes
        self.sgd.set_params(shuffle=False)

    def partial_fit(
        self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> OnePass:
        self.sgd.partial_fit(self.scale(X), y, self.classes, sample_weight)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.sgd.predict(self.scale(X))


def made(who: str, kib: str, shape: tuple[int, int], seed: int, weight: Any = None) -> Any:
    """One of ours, for so many features and classes."""
    n_features, n_classes = shape
    n_bytes = int(kib.removesuffix(" KiB")) << 10
    byte = ByteSVM(n_bytes=n_bytes, seed=seed, class_weight=weight)
    if who == BYTE:
        return byte
    fourier = FourierSVM(n_classes=n_classes, seed=seed, class_weight=weight)
    total = byte.plan(n_features).total
    return Standardized.within(total, n_features=n_features, learner=fourier)


def learned(who: str, kib: str, data: Split, seed: int, weight: Any = None) -> Any:
    X, y, *_ = data
    classes, counts = np.unique(y, return_counts=True)
    if who == BATCH:
        return make_pipeline(StandardScaler(), SVC(C=10.0, class_weight=weight)).fit(X, y)
    if who == SGD:
        by_class = len(y) / len(classes) / counts if weight else np.ones(len(classes))
        model = OnePass(X, classes, seed)
        return model.partial_fit(X, y, by_class[np.searchsorted(classes, y)])
    return made(who, kib, (X.shape[1], len(classes)), seed, weight).partial_fit(X, y)


def shares(model: Any, data: Split) -> dict[str, float]:
    """Right, of the classes that were learned."""
    _, y, X_test, y_test = data
    known = np.isin(y_test, np.unique(y))
    said, y_test = model.predict(X_test[known]), y_test[known]
    balanced = balanced_accuracy_score(y_test, said)
    return {"right": float(np.mean(said == y_test)), "balanced": float(balanced)}


# -- marks: (set, seed, who, KiB) to figures -------------------------------------------------------


@lru_cache(maxsize=4)
def split(name: str, order: str, seed: int) -> Split:
    X, y, X_test, y_test = stream(name, order, seed)
    return X, y, X_test[:MOST_TESTED], y_test[:MOST_TESTED]


def in_order(order: str, name: str, seed: int, who: str, kib: str) -> dict[str, float]:
    data = split(name, order, seed)
    return shares(learned(who, kib, data, seed), data)


def of_few(name: str, seed: int, who: str, kib: str) -> dict[str, float]:
    X, y, X_test, y_test = split(name, "random", seed)
    found = {}
    for n in (50, 100, 300):
        data = X[:n], y[:n], X_test, y_test
        one = (y[:n] == y[0]).all()  # class so far: nobody can say another
        said = y[0] if one else learned(who, kib, data, seed).predict(X_test)
        found[f"{n}"] = float(np.mean(said == y_test))
    return found


@lru_cache(maxsize=4)
def rare(name: str, seed: int, q: int) -> Split:
    """Two classes, of which 1 is q times as rare to learn and as it comes, or as frequent, to
    test: the smallest third of the classes.
    """
    rng = np.random.default_rng(seed)
    if name == CLOUDS:
        y, y_test = (rng.random(20_000) < 1 / (q + 1)).astype(int), np.arange(MOST_TESTED) % 2
        X, X_test = (rng.standard_normal((len(k), 2)) + 8**0.5 * k[:, None] for k in (y, y_test))
        return X.astype(np.float32), y, X_test.astype(np.float32), y_test
    X, y, X_test, y_test = stream(name, "random", 0, 20_000)
    labels, counts = np.unique(y, return_counts=True)
    small = labels[counts.argsort()[: max(1, len(labels) // 3)]]
    y, y_test = (np.isin(k, small).astype(int) for k in (y, y_test[:MOST_TESTED]))
    often, seldom = np.flatnonzero(y == 0), rng.permutation(np.flatnonzero(y))
    kept = rng.permutation(np.r_[often, seldom[: max(len(often) // q, 5)]])
    return X[kept], y[kept], X_test[:MOST_TESTED], y_test


def of_rare(name: str, seed: int, who: str, kib: str) -> dict[str, float]:
    found = {}
    for q in (50, 100):
        data = rare(name, seed, q)
        found[f"1:{q}"] = shares(learned(who, kib, data, seed, "balanced"), data)["balanced"]
    return found


def of_long(most: int, _: str, seed: int, who: str, kib: str) -> dict[str, float]:
    board, model, found = Checkerboard(seed, flip=0.15), made(who, kib, (2, 2), seed), {}
    X_test, y_test = Checkerboard(1000 + seed).read(4000)
    ends = [10**5, 3 * 10**5, 10**6, 4 * 10**6]
    for n in [end for end in ends if end <= most] or [most]:
        while model.n_seen_ < n if model.is_fitted else True:
            model.partial_fit(*board.read(min(n, 10**5)))
        found[f"{n:,}"] = float(np.mean(model.predict(X_test) == y_test))
    return found


def moved(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name not in IN_TIME:
        return moving(12_000)[name](seed)
    X, y = all_rows(name)
    return rows(X), integers(y)


def of_moving(name: str, seed: int, who: str, kib: str) -> dict[str, float]:
    """Each row is predicted, then learned; SGD does so by ten."""
    X, y = moved(name, seed)
    X, y = np.ascontiguousarray(X, np.float32), y.astype(int)
    classes = np.unique(y)
    if who != SGD:
        right = answers(made(who, kib, (X.shape[1], len(classes)), seed), X, y, None)
        return {"right": float(right.mean())}
    model, hits = OnePass(X, classes, seed), 0
    for k in range(0, len(X), 10):
        hits += k > 0 and np.sum(model.predict(X[k : k + 10]) == y[k : k + 10])
        model.partial_fit(X[k : k + 10], y[k : k + 10])
    return {"right": float(hits) / len(X)}


def of_weights(_: str, seed: int, who: str, __: str) -> dict[str, float]:
    """Right 1,000 rows after none, one and ten wrong labels of weight 255, which follow 1,000."""
    source = Gauss(seed)
    X, y = source.read(2 * PAUSE + 10)
    X_test, y_test = source.read(MOST_TESTED)
    found = {}
    for n in map(int, COUNTS):
        labels, weights = y.copy(), np.ones(len(y))
        labels[PAUSE : PAUSE + n] *= -1
        weights[PAUSE : PAUSE + n] = HEAVY
        if who == SGD:
            model: Any = OnePass(X, np.unique(y), seed)
        else:
            model = getattr(edgesvm, who).within("16KiB", X.shape[1])
        model.partial_fit(X, labels, sample_weight=weights)
        found[f"{n}"] = float(np.mean(model.predict(X_test) == y_test))
    return found


Key = tuple[str, str, int, str, str]  # mark, set, seed, who, KiB
Measure = Callable[[str, int, str, str], dict[str, float]]


class Study:
    """Which sets, seeds, learners and bytes a mark has, and what was found."""

    def __init__(self, cells: Cells, before: Cells | None, quick: bool, longest: int) -> None:
        self.cells, self.before, self.quick = cells, before, quick
        sets = [GENERATED] if quick else there()
        pairs = sets if quick else [name for name in TWO_CLASSES if name in sets]
        ours = [BYTE, FOURIER]
        moves = [*([] if quick else [k for k in IN_TIME if not missing(k)]), *MOVING]
        by_class, at_random = (partial(in_order, k) for k in ("class after class", "random"))
        weighed = [*WEIGHED.split(), SGD]
        # mark: figures, sets, seeds, learners, KiB
        self.marks: dict[str, tuple[Measure, list[str], int, Any, tuple[int, ...]]] = {
            "random": (at_random, sets, 2, RIVALS, (1, 2, 4, 16, 64)),
            "class": (by_class, sets, 2, RIVALS, (4, 16, 64)),
            "few": (of_few, sets, 3, RIVALS, (4, 16)),
            "rare": (of_rare, pairs, 2, RIVALS, (2, 16)),
            "clouds": (of_rare, [CLOUDS], 2, RIVALS, (4,)),
            "weights": (of_weights, ["Gauss"], 4, weighed, ()),
            "long": (partial(of_long, longest), [BOARD], 1, ours, (2, 16)),
            "moving": (of_moving, moves, 2, RIVALS[:3], (2, 16)),
        }

    def keys(self, mark: str) -> Iterator[Key]:
        _, sets, seeds, learners, sizes = self.marks[mark]
        for name in sets:
            for seed in range(1 if self.quick or name in IN_TIME else seeds):
                for who in learners:
                    limited = who in (BYTE, FOURIER) and sizes
                    for kib in named(sizes) if limited else [NO_LIMIT]:
                        yield mark, name, seed, who, kib

    def measure(self, learners: list[str] | None) -> None:
        for mark, (figures, *_) in self.marks.items():
            for key in self.keys(mark):
                if key in self.cells or (learners and key[3] not in learners):
                    continue
                progress(", ".join(map(str, key)))
                try:
                    self.cells[key] = figures(*key[1:])
                except MemoryBudgetError:
                    self.cells[key] = {}

    def of(self, mark: str, name: str, who: str, kib: str, what: str) -> float:
        """Mean of the seeds; NaN where it does not fit or was not measured."""
        cells = self.before if who == BEFORE else self.cells
        who = BYTE if who == BEFORE else who
        if cells is None:
            return np.nan
        keys = [k for k in self.keys(mark) if k[1] == name and k[3:] == (who, kib) and k in cells]
        return float(np.mean([cells[k].get(what, np.nan) for k in keys])) if keys else np.nan

    def over(self, mark: str, who: str, kib: str, what: str) -> np.ndarray:
        return np.array([self.of(mark, k, who, kib, what) for k in self.marks[mark][1]])

    def means(self, title: str, mark: str, *whats: str, least: bool = False) -> Table:
        """A row a learner, a column a size and figure."""
        _, sets, _, learners, sizes = self.marks[mark]
        columns = [(k, what) for k in (*named(sizes), NO_LIMIT) for what in whats]
        found = {
            who: [100 * self.over(mark, who, *column) for column in columns]
            for who in (BEFORE, *learners)
        }
        lines = [[who, *map(shown, values)] for who, values in found.items()]
        if least and self.before:
            changes = [now - past for now, past in zip(found[BYTE], found[BEFORE], strict=True)]
            lines.insert(2, ["least change", *(least_of(sets, change) for change in changes)])
        heads = [f"{kib}: {what}" if len(whats) > 1 else kib for kib, what in columns]
        return Table(title, ["", *heads], [line for line in lines if any(line[1:])])

    def by_set(self, title: str, columns: dict[str, tuple[str, str, str, str]]) -> Table:
        """A row a set; a column is (mark, who, KiB, figure) by its head."""
        cells = [(c[0], c[1:]) for c in columns.values()]
        lines = [
            [name, *(shown(100 * np.array([self.of(mark, name, *c)])) for mark, c in cells)]
            for name in self.marks[cells[0][0]][1]
        ]
        return Table(title, ["", *columns], lines)

    def weights(self) -> Table:
        table = self.means("", "weights", *COUNTS)
        title = "Gauss, 16 KiB: % right 1,000 rows after so many wrong labels of weight 255"
        return Table(title, ["", *COUNTS], table.rows)

    def tables(self) -> list[Table]:
        n_sets, n_pairs = len(self.marks["random"][1]), len(self.marks["rare"][1])
        ends = next(self.cells[k] for k in self.keys("long") if k in self.cells)
        classes = {f"in classes, {k}": ("class", BYTE, k, "balanced") for k in named((4, 16, 64))}
        sets = {
            "random, 16 KiB: before": ("random", BEFORE, "16 KiB", "right"),
            "now": ("random", BYTE, "16 KiB", "right"),
            **classes,
        }
        moves = {
            f"{who}, {k}": ("moving", who, k, "right")
            for k in named((2, 16))
            for who in (BEFORE, BYTE, FOURIER)
        }
        moves[SGD] = ("moving", SGD, NO_LIMIT, "right")
        board = "Checkerboard, 15 % wrong labels: % right of clean rows, after so many"
        return [
            self.means(f"Random: % right, {n_sets} sets", "random", "right", least=True),
            self.means(f"Class after class: balanced, {n_sets} sets", "class", "balanced"),
            self.by_set("By set", sets),
            self.means(f"First labels: % right, {n_sets} sets", "few", "50", "100", "300"),
            self.means(f"Rare classes: balanced, {n_pairs} sets", "rare", "1:50", "1:100"),
            self.means("Two Gaussians, 4 apart, 1:100: balanced", "clouds", "1:100"),
            self.weights(),
            self.means(board, "long", *ends),
            self.by_set("Streams that move: % right before each row is learned", moves),
        ]


def named(sizes: Iterable[int]) -> list[str]:
    return [f"{k} KiB" for k in sizes]


def least_of(sets: list[str], change: np.ndarray) -> str:
    if np.isnan(change).all():
        return ""
    worst = int(np.nanargmin(change))
    return f"{change[worst]:+.1f} {sets[worst]}"


def shown(values: np.ndarray) -> str:
    fits = ~np.isnan(values)
    if not fits.any():
        return ""
    return f"{values[fits].mean():.1f}" + f" ({fits.sum()})" * (not fits.all())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--learners", nargs="+", help="only these")
    parser.add_argument("--before", type=Path, help="rivals_marks.jsonl of an older build")
    parser.add_argument("--longest", type=int, default=10**6, help="rows of the checkerboard")
    args = parsed(parser)
    path = args.cells / "rivals_marks.jsonl"
    if args.quick:
        path.unlink(missing_ok=True)
    cells, about = Cells(path, build_id()), [(__doc__ or "").partition("\n\n")[2]]
    before = Cells(args.before, "", any_build=True) if args.before else None
    if before:
        at = before["commit",]["is"]
        about.append(f"Before: with `--learners ByteSVM` at commit {at}.")
    study = Study(cells, before, args.quick, 2000 if args.quick else args.longest)
    cells["commit",] = {"is": commit()}
    study.measure(args.learners)
    skipped = [f"{k}: not there" for k in (*SETS, IN_TIME[1]) if missing(k)]
    raw: Any = [[*key, cells[key]] for key in cells]
    title = "The default learner: before, now and rivals"
    publish(Report("rivals/marks", title, study.tables(), about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
