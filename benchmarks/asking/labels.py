"""How many labels a person must give: rows in the order of their source, of which some are asked
about, each predicted before it is learned.

The learner is FourierSVM in 16 KiB, and in one table ByteSVM. Every rule has the same budget, a
share of the rows; a label is known at once, or only one question later. "Margin" is `Asker`;
without its random share, and with margins divided by the distance to the rows asked before (in
units of the usual one, 16 rows kept), are beside it. scikit-activeml's rules see the softmax of
the decision values, in units of the usual margin, as probabilities; river's EntropySampler has no
budget, and is held to it as the others are: it asks while it is within its share. Accuracy is of
the second half of the rows, by prequential predictions; "all" is with every label.
"""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, figures_of, publish
from benchmarks.rivals.contestants import allocated
from benchmarks.rivals.streams import THREE_WAVES, integers, rows
from edgesvm import asking
from edgesvm.asking import AT_RANDOM, Asker

SETS = (
    *("elec2", "occupancy", "robot_wall24", "gas_drift_8batches", "wisdm_windows"),
    *("covertype_10k", "shuttle", "pendigits", "satimage", "bearing_cwru"),
)
MIXED = ("pendigits", "satimage")  # sorted in their files: in a random order here
SHARES = (0.01, 0.03, 0.1, 0.3)
BUDGET, MOST, KEPT, WITHIN = 16384, 5000, 16, 2.0

Asks = Callable[[np.ndarray, np.ndarray | None], int]  # a row and its decision values: 0, or flags


def margin(values: np.ndarray) -> float:
    if len(values) == 1:
        return abs(float(values[0]))
    first, second = np.sort(values)[:-3:-1]
    return float(first - second)


def at_random(share: float, seed: int, _: int) -> Asks:
    rng = np.random.default_rng(seed)
    return lambda x, values: int(rng.random() < share)


def by_margin(share: float, seed: int, _: int) -> Asks:
    rows_so_far = iter(range(1 << 60))
    asker = Asker(share, seed=seed, clock=lambda: float(next(rows_so_far)))
    return lambda x, values: asker.asks(lambda: 0.0 if values is None else margin(values))


def only_margin(share: float, seed: int, n: int) -> Asks:
    asks = by_margin(share, seed, n)

    def asked(x: np.ndarray, values: np.ndarray | None) -> int:
        kept = asking.FIRST, asking.RANDOM_SHARE
        asking.FIRST, asking.RANDOM_SHARE = 1e-9, 0.0
        try:
            return asks(x, values)
        finally:
            asking.FIRST, asking.RANDOM_SHARE = kept

    return asked


class FarToo:
    """The margin, divided by how far the row is from the last ones asked about."""

    def __init__(self, share: float, seed: int, n_features: int) -> None:
        rows_so_far = iter(range(1 << 60))
        self.asker = Asker(share, seed=seed, clock=lambda: float(next(rows_so_far)))
        self.asked: deque[np.ndarray] = deque(maxlen=KEPT)
        self.n, self.usual = 0, 0.0
        self.mean, self.variance = np.zeros(n_features), np.ones(n_features)

    def __call__(self, x: np.ndarray, values: np.ndarray | None) -> int:
        self.n += 1
        share, far = 1 / min(self.n, 1000), x - self.mean
        self.mean += share * far
        self.variance += share * (far * far - self.variance)
        distance = 1.0
        if self.asked:
            z = (np.array(self.asked) - x) / np.sqrt(self.variance + 1e-12)
            distance = float(np.sqrt((z * z).mean(axis=1)).min())
            self.usual += max(share, 0.02) * (distance - self.usual)
            distance = distance / self.usual + 1e-3 if self.usual else 1.0
        flags = self.asker.asks(lambda: 0.0 if values is None else margin(values) / distance)
        if flags:
            self.asked.append(x)
        return flags


class Probabilities:
    """Softmax of decision values, in units of the usual margin."""

    def __init__(self) -> None:
        self.n, self.usual = 0, 0.0

    def __call__(self, values: np.ndarray) -> np.ndarray:
        self.n += 1
        self.usual += max(1 / self.n, 0.01) * (margin(values) - self.usual)
        values = np.array([0.0, values[0]]) if len(values) == 1 else values
        e = np.exp((values - values.max()) / max(self.usual, 1e-12))
        return e / e.sum()


def of_river(share: float, seed: int, _: int) -> Asks:
    from river.active import EntropySampler

    sampler: Any = EntropySampler(classifier=None, seed=seed)
    asked = seen = 0
    probabilities = Probabilities()

    def asks(x: np.ndarray, values: np.ndarray | None) -> int:
        nonlocal asked, seen
        seen += 1
        within = asked < share * seen
        wants = values is None or sampler._ask_for_label(
            None, dict(enumerate(probabilities(values)))
        )
        asked += within and wants
        return int(within and wants)

    return asks


def of_activeml(kind: str) -> Callable[[float, int, int], Asks]:
    def make(share: float, seed: int, _: int) -> Asks:
        from skactiveml import stream
        from skactiveml.base import SkactivemlClassifier

        class Told(SkactivemlClassifier):  # probabilities that somebody else has
            def __init__(
                self, classes: Any = None, missing_label: Any = np.nan, cost_matrix: Any = None,
                random_state: Any = None,
            ) -> None:  # fmt: skip
                super().__init__(
                    classes=classes, missing_label=missing_label, cost_matrix=cost_matrix,
                    random_state=random_state,
                )  # fmt: skip

            def fit(self, X: Any, y: Any, **more: Any) -> Told:
                return self

            def predict_proba(self, X: Any) -> np.ndarray:
                return self.told[None]

        classifier, rule = (
            Told(classes=[0, 1]),
            getattr(stream, kind)(budget=share, random_state=seed),
        )
        probabilities = Probabilities()

        def asks(x: np.ndarray, values: np.ndarray | None) -> int:
            n = 2 if values is None else max(len(values), 2)
            classifier.told = np.full(n, 1 / n) if values is None else probabilities(values)
            classifier.classes = classifier.classes_ = np.arange(n)
            chosen, use = rule.query(candidates=x[None], clf=classifier, return_utilities=True)
            rule.update(
                candidates=x[None],
                queried_indices=chosen,
                budget_manager_param_dict={"utilities": use},
            )
            return len(chosen)

        return asks

    return make


BYTE = "ByteSVM, "
ACTIVEML = ("VariableUncertainty", "Split", "StreamDensityBasedAL")
RULES: dict[str, Callable[[float, int, int], Asks]] = {
    "random": at_random,
    "margin": by_margin,
    "margin, none at random": only_margin,
    "margin and distance": FarToo,
    "river EntropySampler": of_river,
    **{kind: of_activeml(kind) for kind in ACTIVEML},
}
OURS = ("random", "margin", "margin, none at random", "margin and distance")
BOTH = ("random", "margin")  # also with labels that come later, and with ByteSVM


def stream(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == THREE_WAVES.name:
        X, y, _, _ = THREE_WAVES.split(0)
        return X, y
    file = read(name)
    part = "" if "X" in file else "_train"
    X, y = rows(file[f"X{part}"]), integers(file[f"y{part}"])
    if name in MIXED:
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
    _, y = np.unique(y[:MOST], return_inverse=True)
    return X[:MOST], y


def measured(
    X: np.ndarray, y: np.ndarray, asks: Asks, delay: int, kind: str = "fourier"
) -> dict[str, float]:
    """Percent right in the second half, share of rows asked about, and the accuracy at questions,
    at those drawn at random, and at all rows."""
    classes = list(range(max(int(y.max()) + 1, 2)))
    learner = allocated(kind, BUDGET, X.shape[1], n_classes=len(classes))
    learner.allocate(X.shape[1], classes=classes)
    right, flags = np.zeros(len(X), bool), np.zeros(len(X), np.int64)
    waiting: deque[int] = deque()
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        while waiting and waiting[0] + delay <= i:
            j = waiting.popleft()
            learner.learn_one(X[j], int(y[j]))
        values = np.atleast_1d(learner.decision_one(x)) if learner.is_fitted else None
        right[i] = values is not None and learner.predict_one(x) == label
        flags[i] = asks(x, values)
        if flags[i]:
            waiting.append(i)
            if not delay:
                learner.learn_one(x, label)
                waiting.pop()
    half, asked, drawn = len(X) // 2, flags != 0, flags & AT_RANDOM != 0

    def percent(some: np.ndarray) -> float:
        return 100 * float(some.mean()) if len(some) else float("nan")

    return {
        "accuracy": percent(right[half:]),
        "share": float(asked.mean()),
        "all": percent(right),
        "asked": percent(right[asked]),
        "drawn": percent(right[drawn]),
    }


class Figures:
    """Means over the seeds."""

    def __init__(self, cells: Cells, sets: list[str], rules: list[str], seeds: int) -> None:
        self.cells, self.sets, self.rules, self.seeds = cells, sets, rules, seeds

    def of(
        self, name: str, rule: str, share: float, what: str = "accuracy", late: int = 0
    ) -> float:
        n = self.seeds if rule.removeprefix(BYTE) in OURS else 1
        return float(np.nanmean([self.cells[name, rule, share, late, s][what] for s in range(n)]))

    def mean(self, rule: str, share: float, late: int = 0) -> float:
        """Accuracy, over the sets."""
        return float(np.mean([self.of(name, rule, share, late=late) for name in self.sets]))

    def needed(self, name: str, rule: str) -> float:
        """Share of the labels from which on it is within 2 points of all labels; infinite: more."""
        goal = self.cells[name, "all", 1.0, 0, 0]["accuracy"] - WITHIN
        found = [self.of(name, rule, share) for share in SHARES]
        for k, share in enumerate(SHARES):
            if found[k] >= goal:
                if not k:
                    return share
                part = (goal - found[k - 1]) / max(found[k] - found[k - 1], 1e-9)
                part = min(max(part, 0.0), 1.0)
                return float(SHARES[k - 1] * (share / SHARES[k - 1]) ** part)
        return float("inf")

    def tables(self) -> list[Table]:
        shares = [f"{100 * share:g} %" for share in SHARES]
        body: list[list[Any]] = []
        for name in [*self.sets, "mean"]:
            of = self.sets if name == "mean" else [name]
            whole = np.mean([self.cells[n, "all", 1.0, 0, 0]["accuracy"] for n in of])
            for rule in self.rules:
                means = [np.mean([self.of(n, rule, share) for n in of]) for share in SHARES]
                body.append([name, rule, *(f"{m:.1f}" for m in means), f"{whole:.1f}"])
        needed: list[list[Any]] = []
        for rule in self.rules:
            found = [self.needed(name, rule) for name in self.sets]
            found.append(float(np.median(found)))
            needed.append([rule, *(f"{100 * f:.1f}" if f < 1 else "> 30" for f in found)])
        late, byte = (
            [
                [rule, *(f"{self.mean(before + rule, share, late):.1f}" for share in SHARES)]
                for rule in BOTH
            ]
            for before, late in (("", 1), (BYTE, 0))
        )
        whole = self.mean(f"{BYTE}all", 1.0)
        honest = [
            [
                name,
                *(
                    f"{self.of(name, 'margin', 0.1, what):.1f}"
                    for what in ("all", "asked", "drawn")
                ),
            ]
            for name in self.sets
        ]
        return [
            Table("% right in the second half", ["data", "rule", *shares, "all labels"], body),
            Table(
                f"% of the labels needed to come within {WITHIN:g} points of all labels",
                ["rule", *self.sets, "median"],
                needed,
            ),
            Table("A label comes one question later: mean over the sets", ["rule", *shares], late),
            Table(f"ByteSVM: mean over the sets; all labels {whole:.1f}", ["rule", *shares], byte),
            Table(
                "What the answers say of the accuracy: margin, 10 % of the labels",
                ["data", "all rows", "rows asked about", "of them, drawn at random"],
                honest,
            ),
        ]


def drawn(figures: Figures, out: Path) -> list[tuple[str, str]]:
    """A panel a set; nothing where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        return []
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    across = 5
    down = -(-len(figures.sets) // across)
    fig, grid = plt.subplots(down, across, figsize=(3.0 * across, 2.6 * down), squeeze=False)
    percents = [100 * share for share in SHARES]
    for axis, name in zip(grid.flat, figures.sets, strict=False):
        for rule in figures.rules:
            style = {"margin": {"lw": 2.4}, "random": {"lw": 1.6, "ls": "--"}}.get(
                rule, {"lw": 0.9}
            )
            axis.plot(percents, [figures.of(name, rule, s) for s in SHARES], label=rule, **style)
        axis.axhline(
            figures.cells[name, "all", 1.0, 0, 0]["accuracy"], color="#888", lw=0.8, ls=":"
        )
        axis.set(
            title=name, xscale="log", xticks=percents, xticklabels=[f"{p:g}" for p in percents]
        )
        axis.minorticks_off()
    for axis in grid[:, 0]:
        axis.set_ylabel("% right")
    for axis in grid[-1]:
        axis.set_xlabel("% of the labels")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="upper center", ncols=4, fontsize=8.5, frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.5 / fig.get_figheight()))
    path = figures_of(out) / "asking_labels.png"
    fig.savefig(path, dpi=120)
    plt.close(fig)
    caption = "Accuracy against the share of labels, for each set and rule"
    return [(caption, os.path.relpath(path, out))]


def main() -> None:
    parser = arguments(__doc__, orders=2)
    args = parsed(parser)
    warnings.simplefilter("ignore")  # of scikit-activeml, that a budget may not be used up
    skipped = left_out(SETS, args.quick)
    sets = [THREE_WAVES.name] if args.quick else [name for name in SETS if not missing(name)]
    there = {"river": find_spec("river"), "scikit-activeml": find_spec("skactiveml")}
    skipped += [f"{name} is not installed" for name, found in there.items() if not found]
    rules = [
        rule
        for rule in RULES
        if (rule not in ACTIVEML or there["scikit-activeml"])
        and ("river" not in rule or there["river"])
    ]
    path = args.cells / "asking_labels.jsonl"
    if args.quick:
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    todo: dict[tuple, Callable[[float, int, int], Asks]] = {}
    for name in sets:
        for before in ("", BYTE):
            todo[name, f"{before}all", 1.0, 0, 0] = lambda *_: lambda x, values: 1
        for rule, share in product(rules, SHARES):
            for seed in range(args.orders if rule in OURS else 1):
                todo[name, rule, share, 0, seed] = RULES[rule]
                if rule in BOTH:
                    todo[name, rule, share, 1, seed] = RULES[rule]
                    todo[name, BYTE + rule, share, 0, seed] = RULES[rule]
    streams: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for key, make in todo.items():
        name, rule, share, late, seed = key
        if key not in cells:
            progress(f"{name}, {rule}, {share:g}")
            if name not in streams:
                streams[name] = stream(name)
            X, y = streams[name]
            kind = "byte" if rule.startswith(BYTE) else "fourier"
            asks = make(share, seed, X.shape[1])
            cells[key] = measured(X, y, asks, round(late / share), kind)
    figures = Figures(cells, sets, rules, args.orders)
    counts = f"Mean of {args.orders} seeds, of river's and scikit-activeml's rules one; at most"
    about = [(__doc__ or "").strip(), f"{counts} {MOST:,} rows of a set."]
    raw = [[*key, cells[key]] for key in todo]
    title, pictures = "Labels asked for", drawn(figures, args.out)
    publish(
        Report("asking/labels", title, figures.tables(), about, raw, skipped, pictures), args.out
    )


if __name__ == "__main__":
    main()
