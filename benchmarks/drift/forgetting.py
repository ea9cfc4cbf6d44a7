"""Kernel learners on streams that move and on streams that do not, with `forgetting` and without:
% right of what each sample was predicted before it was learned.

`reset` is a learner that does not forget and starts over where `PageHinkley` finds a drift, as
`edgesvm run --drift reset` does. All have the places of the learner that forgets by drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out, read, two_classes
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import KernelStreamSVM, PageHinkley, TwinVectorMachine
from edgesvm.data import Checkerboard, TwoNorm
from edgesvm.learners.drift import DriftWatch

BUDGET, MOST_ROWS, HALF_LIFE = "16KiB", 20_000, 1_000
LEARNERS = (TwinVectorMachine, KernelStreamSVM)
WAYS: dict[str, Any] = {"none": None, "drift": "drift", f"{HALF_LIFE:,}": HALF_LIFE, "reset": None}
AT_REST = ("none", "drift")

Rows = tuple[np.ndarray, np.ndarray]


class Outcome(NamedTuple):
    whole: float  # % right
    quarter: float  # of the last one
    drifts: int


def answers(learner: Any, X: np.ndarray, y: np.ndarray, watch: DriftWatch | None) -> np.ndarray:
    """Which samples were told right before they were learned; bool of shape (n,)."""
    right = np.zeros(len(X), bool)
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        if is_fitted := learner.is_fitted:
            right[i] = learner.predict_one(x) == label
            if watch is not None:
                watch.ask(x)
        learner.learn_one(x, label)
        if watch is not None and is_fitted:
            watch.score(label)
    return right


# -- streams ---------------------------------------------------------------------------------------


def rotating(n: int, period: int, seed: int) -> Rows:
    """A line through the middle of a cloud, which turns once in `period` rows."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    angle = 2 * np.pi * np.arange(n) / period
    return X, np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] > 0


def exchanged(n: int, seed: int) -> Rows:
    """Inside and outside of a circle; they change places after three quarters."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    return X, ((X**2).sum(axis=1) < 1.4) ^ (np.arange(n) >= 3 * n // 4)


def sea(n: int, seed: int) -> Rows:
    """Street & Kim 2001: x_0 + x_1 against one of four thresholds in turn; 10 % wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    threshold = np.array([8.0, 9.0, 7.0, 9.5])[np.arange(n) * 4 // n]
    return X, (X[:, 0] + X[:, 1] <= threshold) ^ (rng.random(n) < 0.1)


def hyperplane(n: int, seed: int) -> Rows:
    """Hulten, Spencer & Domingos 2001: a plane of which 5 of 10 weights move; 5 % wrong labels."""
    rng = np.random.default_rng(seed)
    X, w, way = rng.random((n, 10)), rng.random(10), np.ones(5)
    y = np.empty(n, bool)
    for t in range(n):
        y[t] = X[t] @ w >= w.sum() / 2
        w[:5] += 0.002 * way
        way[rng.random(5) < 0.001] *= -1
    return X, y ^ (rng.random(n) < 0.05)


def in_time(name: str, _: int) -> Rows:
    file = read(name)
    return file["X"], two_classes(file["y"])


def at_random(name: str, seed: int) -> Rows:
    file = read(name)
    part = "" if "X" in file else "_train"
    X, y = file[f"X{part}"], two_classes(file[f"y{part}"])
    order = np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS]
    return X[order], y[order]


def drawn(source: Any, n: int, seed: int, **params: Any) -> Rows:
    X, y = source(seed=seed + 1, **params).read(n)
    return np.asarray(X), np.asarray(y) > 0


IN_TIME = ("elec2", "gas_drift_8batches", "occupancy")
AT_RANDOM = ("banana", "ijcnn1", "pendigits", "waveform", "letter", "satimage", "covertype_10k")
AT_RANDOM += ("a9a", "shuttle", *IN_TIME)


def moving(n: int) -> dict[str, Callable[[int], Rows]]:
    return {
        "rotating boundary": partial(rotating, n, n),
        "rotating, 4 times as fast": partial(rotating, n, n // 4),
        "rotating, a fifth as fast": partial(rotating, n, 5 * n),
        "classes exchanged": partial(exchanged, n),
        "SEA": partial(sea, n),
        "hyperplane": partial(hyperplane, n),
    }


def still(n: int) -> dict[str, Callable[[int], Rows]]:
    return {
        "noisy checkerboard": partial(drawn, Checkerboard, n, flip=0.15),
        "two-norm": partial(drawn, TwoNorm, n),
    }


def scaled(rows: Rows) -> Rows:
    """By mean and deviation of the whole stream, so that nothing but the learner follows it."""
    X, y = rows[0].astype(np.float64), rows[1]
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return ((X - X.mean(axis=0)) / deviation).astype(np.float32), y


# -- runs ------------------------------------------------------------------------------------------


def run(kind: Any, way: str, X: np.ndarray, y: np.ndarray) -> Outcome:
    places = kind.within(BUDGET, X.shape[1]).get_params(deep=False)
    model = kind(**places | {"forgetting": WAYS[way]}).allocate(X.shape[1], classes=[False, True])
    watch = DriftWatch(model, PageHinkley(), reset=True) if way == "reset" else None
    right = answers(model, X, y, watch)
    drifts = model.n_drifts_ if watch is None else watch.n_resets
    late = right[3 * len(X) // 4 :]
    return Outcome(100 * right.mean(), 100 * late.mean(), drifts)


def outcomes(
    streams: dict[str, Callable[[int], Rows]],
    ways: Iterable[str],
    orders: int,
    figures: dict[str, Any],
) -> Iterator[tuple[str, int, dict[str, dict[str, list[Outcome]]]]]:
    """Name and rows of a stream, and by learner and way the outcome of each order."""
    for name, stream in streams.items():
        found: dict[str, dict[str, list[Outcome]]] = {}
        n = 0
        for seed in range(1 if name in IN_TIME else orders):
            X, y = scaled(stream(seed))
            n = len(X)
            for kind in LEARNERS:
                for way in ways:
                    progress(f"{name}, order {seed}: {kind.__name__}, {way}")
                    of_kind = found.setdefault(kind.__name__, {})
                    of_kind.setdefault(way, []).append(run(kind, way, X, y))
        figures[name] = found
        yield name, n, found


def mean(of: list[Outcome], part: str) -> float:
    return float(np.mean([getattr(one, part) for one in of]))


def of_moving(found: list[Any]) -> list[Table]:
    tables = []
    for kind in (kind.__name__ for kind in LEARNERS):
        rows: list[list[str]] = []
        for name, n, by_kind in found:
            ways = by_kind[kind]
            cells = [f"{mean(of, 'whole'):.1f} / {mean(of, 'quarter'):.1f}" for of in ways.values()]
            rows.append([f"{name} ({n:,})", *cells, f"{mean(ways['drift'], 'drifts'):.0f}"])
        cells = [
            " / ".join(
                f"{np.mean([mean(by_kind[kind][way], part) for *_, by_kind in found]):.1f}"
                for part in ("whole", "quarter")
            )
            for way in WAYS
        ]
        rows.append(["mean", *cells, ""])
        title = f"{kind} on streams that move: % right of all rows / of the last quarter"
        tables.append(Table(title, ["stream", *WAYS, "drifts"], rows))
    return tables


def of_still(found: list[Any]) -> list[Table]:
    lines = []
    for kind in (kind.__name__ for kind in LEARNERS):
        pairs = [zip(k[kind]["drift"], k[kind]["none"], strict=True) for *_, k in found]
        change = [a.whole - b.whole for of_one in pairs for a, b in of_one]
        drifts = sum(one.drifts > 0 for *_, k in found for one in k[kind]["drift"])
        cells = [f"{np.mean(change):+.2f}", f"{min(change):+.2f}", f"{drifts} of {len(change)}"]
        lines.append([kind, *cells])
    title = f"{len(found)} streams that do not: % right of all rows, by drift beside none"
    return [Table(title, ["", "change", "of the worst order", "orders with a drift"], lines)]


def main() -> None:
    args = parsed(arguments(__doc__, orders=4))
    skipped = left_out(sorted({*IN_TIME, *AT_RANDOM}), args.quick)
    gone = {line.split(":")[0] for line in skipped}
    n, orders = (1_000, 1) if args.quick else (12_000, args.orders)
    moves = moving(n) | {name: partial(in_time, name) for name in IN_TIME if name not in gone}
    stays = still(n)
    stays |= {
        f"{name}, shuffled": partial(at_random, name) for name in AT_RANDOM if name not in gone
    }
    figures: dict[str, Any] = {}
    tables = of_moving(list(outcomes(moves, WAYS, orders, figures)))
    tables += of_still(list(outcomes(stays, AT_REST, orders, figures)))
    about = [
        f"{BUDGET}, default parameters; each sample is predicted, then learned. `forgetting`: none;"
        f" by drift, the default; by half every {HALF_LIFE:,} samples. reset: none, but the learner"
        " starts over at a drift. All have as many places as the second. Generated and shuffled"
        f" streams: means of {orders} orders; the others are in the order of their files. Rows are"
        " scaled by the whole stream's mean and deviation.",
    ]
    publish(Report("drift/forgetting", "Forgetting", tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
