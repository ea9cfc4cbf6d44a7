"""PageHinkley and Adwin beside river's: false alarms and delays on made rates of error, and what
they do for a learner on real streams, noted or with a new start.

Only alarms for more errors count. river's ADWIN alarms for fewer too; those are not counted, but it
starts over, as it does. river's PageHinkley is asked for rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race
from benchmarks.common.data import left_out, read
from benchmarks.common.every import two_classes
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import FourierSVM, Standardized, StreamSVM
from edgesvm.data import TwoNorm
from edgesvm.drift.adwin import Adwin
from edgesvm.drift.page_hinkley import PageHinkley
from edgesvm.drift.watch import DriftWatch
from edgesvm.learner import Learner

RATES = (0.005, 0.02, 0.1, 0.2, 0.3, 0.5)
CHANGES = ((0.02, 0.1), (0.05, 0.2), (0.1, 0.2), (0.1, 0.5), (0.2, 0.3), (0.3, 0.5))
BEFORE, AFTER = 5_000, 5_000
BUDGET = "16KiB"
FILES = ("elec2", "gas_drift_8batches", "covertype_10k")
SETTINGS: dict[str, Callable[[], Any]] = {
    **{
        f"PageHinkley, delta {d}, threshold {t}": partial(PageHinkley, delta=d, threshold=t)
        for d, t in ((0.05, 50), (0.05, 70), (0.1, 30), (0.1, 40), (0.1, 50), (0.1, 60), (0.2, 40))
    },
    **{
        f"Adwin, delta {d}, every {n}": partial(Adwin, delta=d, every=n)
        for d, n in ((0.002, 32), (0.01, 32), (0.02, 32), (0.02, 8), (0.05, 32), (0.2, 32))
    },
}


class OfRiver:
    """A detector of river's behind the methods of ours that are used here."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.theirs = make, make()
        self.n_added_ = self.n_drifts_ = 0
        self.before_ = self.now_ = 0.0

    def add(self, error: float) -> bool:
        mean = getattr(self.theirs, "estimation", -1.0)
        self.theirs.update(error)
        rose = self.theirs.drift_detected and getattr(self.theirs, "estimation", 0.0) > mean
        self.n_added_ += 1
        self.n_drifts_ += rose
        return rose

    def add_many(self, errors: Any) -> np.ndarray:
        return np.array([self.add(error) for error in errors.tolist()])

    def reset(self) -> OfRiver:
        self.theirs = self.make()
        return self

    @property
    def nbytes(self) -> int:
        return self.theirs._raw_memory_usage


def contestants() -> dict[str, Callable[[], Any]]:
    made: dict[str, Callable[[], Any]] = {"PageHinkley": PageHinkley, "Adwin": Adwin}
    if find_spec("river") is not None:
        from river import drift

        made["river PageHinkley"] = partial(OfRiver, partial(drift.PageHinkley, mode="up"))
        made["river ADWIN"] = partial(OfRiver, drift.ADWIN)
    return made


# -- made rates of error ---------------------------------------------------------------------------


def false_alarms(make: Callable[[], Any], rate: float, n: int) -> float:
    """Per 10^5 errors of a constant rate."""
    errors = (np.random.default_rng(7).random(n) < rate).astype(float)
    return 1e5 * float(make().add_many(errors).mean())


def rates_over_time(low: float, high: float, ramp: int) -> np.ndarray:
    """BEFORE samples of the low rate, then the high one, reached at once or along a ramp."""
    rates = np.full(BEFORE + AFTER, low)
    rates[BEFORE:] = high
    rates[BEFORE : BEFORE + ramp] = np.linspace(low, high, ramp)
    return rates


def delays(
    make: Callable[[], Any], low: float, high: float, ramp: int, runs: int
) -> tuple[float, float, float]:
    """Median samples from where the rate begins to rise to the first alarm, share of runs with one
    in the next AFTER samples, and mean number of alarms there."""
    rng = np.random.default_rng(8)
    firsts, counts = [], []
    for _ in range(runs):
        errors = (rng.random(BEFORE + AFTER) < rates_over_time(low, high, ramp)).astype(float)
        after = np.flatnonzero(make().add_many(errors)[BEFORE:])
        firsts.append(after[0] if len(after) else AFTER)
        counts.append(len(after))
    firsts_, found = np.array(firsts), np.array(counts) > 0
    return float(np.median(firsts_)), float(found.mean()), float(np.mean(counts))


def of_rates(made: dict[str, Callable[[], Any]], n: int, figures: dict[str, Any]) -> Table:
    rows = []
    for name, make in made.items():
        progress(f"constant rates: {name}")
        found = [false_alarms(make, rate, n) for rate in RATES]
        figures[name] = {"false alarms": found}
        rows.append([name, *(f"{alarms:.1f}" for alarms in found)])
    columns = ["detector", *(f"{100 * rate:g} %" for rate in RATES)]
    return Table(f"False alarms per 10^5 samples, by rate of error ({n:,} samples)", columns, rows)


def of_changes(
    made: dict[str, Callable[[], Any]], ramp: int, runs: int, figures: dict[str, Any]
) -> Table:
    rows = []
    for name, make in made.items():
        progress(f"changes over {ramp} samples: {name}")
        found = [delays(make, low, high, ramp, runs) for low, high in CHANGES]
        figures[name][f"ramp {ramp}"] = found
        cells = [
            f"{d:,.0f}" + (f" ({100 * s:.0f} % found)" if s < 1 else "") + f", {c:.1f}"
            for d, s, c in found
        ]
        rows.append([name, *cells])
    columns = ["detector", *(f"{100 * a:g} to {100 * b:g} %" for a, b in CHANGES)]
    how = f"over {ramp:,} samples" if ramp else "at once"
    title = f"Median delay in samples where the rate changes {how}, and alarms a change"
    return Table(title, columns, rows)


# -- learners --------------------------------------------------------------------------------------


def streams(quick: bool, skipped: Sequence[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows and two classes, in the order of the source; and with all labels exchanged halfway."""
    gone = {line.split(":")[0] for line in skipped}
    found = {}
    for name in FILES:
        if name not in gone:
            file = read(name)
            found[name] = file["X"].astype(np.float32), two_classes(file["y"])
    X, y = TwoNorm(seed=1).read(2_000 if quick else 20_000)
    found["two-norm"] = X.astype(np.float32), y > 0
    for name in ("covertype_10k", "two-norm"):
        if name in found:
            X, y = found[name]
            found[f"{name}, exchanged"] = X, y ^ (np.arange(len(y)) >= len(y) // 2)
    return found


LEARNERS: dict[str, Callable[[], Learner]] = {
    "FourierSVM": lambda: Standardized(learner=FourierSVM()),
    "StreamSVM": lambda: Standardized(learner=StreamSVM()),
}


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


def watched(
    learner: Learner, X: np.ndarray, y: np.ndarray, detector: Any, reset: bool
) -> tuple[float, float, int]:
    """% right before each sample was learned, of all and of the second half; and drifts."""
    learner = learner.fitted_into(BUDGET, X.shape[1]).allocate(X.shape[1], classes=[False, True])
    watch = None if detector is None else DriftWatch(learner, detector, reset=reset)
    right = answers(learner, X, y, watch)
    n_drifts = 0 if detector is None else detector.n_drifts_
    return 100 * right.mean(), 100 * right[len(X) // 2 :].mean(), n_drifts


def of_learners(
    made: dict[str, Callable[[], Any]],
    data: dict[str, tuple[np.ndarray, np.ndarray]],
    figures: dict[str, Any],
) -> list[Table]:
    tables = []
    for kind, learner in LEARNERS.items():
        rows = []
        for name, (X, y) in data.items():
            progress(f"{kind} on {name}")
            whole, second, _ = watched(learner(), X, y, None, False)
            cells = [f"{whole:.1f} / {second:.1f}"]
            for who, make in made.items():
                noted = watched(learner(), X, y, make(), False)
                anew = watched(learner(), X, y, make(), True)
                figures[f"{kind}, {name}, {who}"] = {"noted": noted, "reset": anew}
                cells.append(f"{noted[2]}; {anew[0]:.1f} / {anew[1]:.1f} ({anew[2]})")
            rows.append([f"{name} ({len(X):,})", *cells])
        title = (
            f"{kind}, {BUDGET}: % right, all / second half; alone, and by detector: drifts if only"
            " noted; % right with resets (resets)"
        )
        tables.append(Table(title, ["stream", "alone", *made], rows))
    return tables


# -- bytes and time --------------------------------------------------------------------------------


def of_costs(made: dict[str, Callable[[], Any]], rounds: int, figures: dict[str, Any]) -> Table:
    errors = (np.random.default_rng(9).random(10_000) < 0.1).astype(float)
    values, rows = errors.tolist(), []

    def one_by_one(make: Callable[[], Any]) -> None:
        add = make().add
        for error in values:
            add(error)

    for name, make in made.items():
        theirs = name.startswith("river")
        seconds = race(
            rounds,
            one=partial(one_by_one, make),
            many=(lambda: None) if theirs else partial(lambda make: make().add_many(errors), make),
        )
        detector = make()
        detector.add_many(errors)
        one, many = (1e9 * seconds[how] / len(errors) for how in ("one", "many"))
        figures[name] |= {"bytes": detector.nbytes, "ns": [one, many]}
        n_bytes = f"{detector.nbytes:,}"
        rows.append([name, n_bytes, f"{one:,.0f}", "-" if theirs else f"{many:,.1f}"])
    note = "Bytes of river's are those it counts itself; its ADWIN keeps its buckets elsewhere."
    return Table("Cost", ["detector", "bytes", "ns a sample, `add`", "`add_many`"], rows, note)


def main() -> None:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--runs", type=int, default=100, help="changes of a kind (default 100)")
    args = parsed(parser)
    skipped = left_out(FILES, args.quick)
    made, figures = contestants(), {}
    if len(made) == 2:
        skipped.append("river: it is not installed")
    n, runs = (20_000, 2) if args.quick else (500_000, args.runs)
    tables = [of_rates(made, n, figures)]
    tables += [of_changes(made, ramp, runs, figures) for ramp in (0, 2_000)]
    tables += of_learners(made, streams(args.quick, skipped), figures)
    tables.append(of_costs(made, args.rounds, figures))
    settings: dict[str, Any] = {}
    tables += [of_rates(SETTINGS, n, settings), of_changes(SETTINGS, 0, runs, settings)]
    about = [
        f"A change comes after {BEFORE:,} samples; a run without an alarm in the next {AFTER:,}"
        " counts as that delay. Rows of real streams are in the order of their files, two classes"
        " each as in `benchmarks/common/every.py`; exchanged: both classes change places halfway.",
    ]
    title = "Detectors of drift"
    raw = {"detectors": figures, "settings": settings}
    publish(Report("drift/detectors", title, tables, about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
