"""Raw samples to features: `WindowFeatures` one sample at a time, beside NumPy and SciPy on each
whole window, in front of the same learner.

The signal is chest_accel: acceleration at 52 Hz of 15 people at seven activities, in windows of 2 s
that overlap by half. NumPy and SciPy take the features of the whole window: crossings of its own
mean, and the power in its bands by the FFT of the window behind a Hann taper.
"""

from __future__ import annotations

from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import FourierSVM, Standardized, WindowFeatures

NAME, RATE, WINDOW, HOP = "chest_accel", 52.0, 104, 52
BANDS = ((0.5, 2.0), (2.0, 5.0), (5.0, 12.0))
BUDGET, N_CLASSES = "16KiB", 7
UNSEEN = (13, 14, 15)  # people

Signal = tuple[np.ndarray, np.ndarray, np.ndarray]  # samples, labels (0: none), people


def generated(n: int = 20_000) -> Signal:
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(1, 4, n // 500), 500)
    at = np.arange(len(y))[:, None] / RATE
    X = 100 * np.sin(2 * np.pi * y[:, None] * at) + rng.standard_normal((len(y), 3))
    return X.astype(np.float32), y, np.arange(len(y)) * 15 // len(y) + 1


def loaded() -> Signal:
    data = read(NAME)
    return data["X"].astype(np.float32), data["y"], data["subject"]


def ours(X: np.ndarray, people: np.ndarray) -> np.ndarray:
    windows = WindowFeatures(window=WINDOW, hop=HOP, rate=RATE, bands=BANDS).allocate(X.shape[1])
    found = []
    for i, x in enumerate(X):
        if i and people[i] != people[i - 1]:
            windows.gap()
        row = windows.push(x)
        if row is not None:
            found.append(row.copy())
    return np.array(found)


def starts(people: np.ndarray) -> list[int]:
    """First sample of each window; none goes from one person to the next."""
    edges = np.flatnonzero(np.diff(people, prepend=-1, append=-1))
    return [at for begin, end in pairwise(edges) for at in range(begin, end - WINDOW + 1, HOP)]


def theirs(X: np.ndarray, people: np.ndarray) -> np.ndarray:
    taper, hertz = np.hanning(WINDOW)[:, None], np.fft.rfftfreq(WINDOW, 1 / RATE)
    inside = np.array([(hertz >= lo) & (hertz < hi) for lo, hi in BANDS], np.float64)
    t = np.arange(WINDOW) / RATE - (WINDOW - 1) / 2 / RATE
    found = []
    for at in starts(people):
        x = X[at : at + WINDOW].astype(np.float64)
        mean = x.mean(axis=0)
        spectrum = np.abs(np.fft.rfft((x - mean) * taper, axis=0)) ** 2
        found.append(
            np.concatenate(
                [
                    mean,
                    x.std(axis=0),
                    x.min(axis=0),
                    x.max(axis=0),
                    stats.skew(x),
                    stats.kurtosis(x),
                    (np.diff(x > mean, axis=0)).sum(axis=0) * RATE / WINDOW,
                    t @ x / (t @ t),
                    (inside @ spectrum * 2 / (WINDOW * (taper**2).sum())).ravel(),
                ]
            )
        )
    return np.nan_to_num(np.array(found)).astype(np.float32)


def labels_of(y: np.ndarray, people: np.ndarray) -> np.ndarray:
    """The label that most samples of each window have, 0 without one."""
    counts = [np.bincount(y[at : at + WINDOW], minlength=8)[1:] for at in starts(people)]
    return np.array([1 + c.argmax() if c.any() else 0 for c in counts])


def accuracy(F: np.ndarray, y: np.ndarray, learned: np.ndarray, order: Any) -> float:
    """Per cent right on the windows that were not learned."""
    learner = Standardized(learner=FourierSVM(n_classes=N_CLASSES))
    learner = learner.fitted_into(BUDGET, F.shape[1])
    rows = np.flatnonzero(learned)
    rows = order.permutation(rows)
    learner.partial_fit(F[rows], y[rows])
    return 100 * learner.score(F[~learned], y[~learned])


def main() -> None:
    args = parsed(arguments(__doc__, orders=5))
    why = None if args.quick else missing(NAME)
    tables, figures, n_samples = [], {}, 0
    if why is None:
        X, raw_labels, people = generated() if args.quick else loaded()
        n_samples = len(X)
        labels = labels_of(raw_labels, people)
        of_person = people[starts(people)]
        known = labels > 0
        rows = []
        for name, features in (("WindowFeatures", ours), ("NumPy and SciPy", theirs)):
            progress(name)
            begin = process_time()
            F = features(X, people)
            seconds = since(begin)
            F, y, person = F[known], labels[known], of_person[known]
            cells: dict[str, list[float]] = {"at random": [], "unseen people": []}
            for order in range(args.orders):
                rng = np.random.default_rng(order)
                at_random = rng.random(len(y)) < 0.7
                cells["at random"].append(accuracy(F, y, at_random, rng))
                cells["unseen people"].append(accuracy(F, y, ~np.isin(person, UNSEEN), rng))
            figures[name] = {**cells, "microseconds": 1e6 * seconds / len(X)}
            means = [f"{np.mean(c):.1f} ± {np.std(c):.1f}" for c in cells.values()]
            rows.append([name, *means, f"{1e6 * seconds / len(X):.2f}"])
        n_bytes = WindowFeatures(window=WINDOW, hop=HOP, rate=RATE, bands=BANDS).plan(3).total
        note = (
            f"Per cent right, mean and deviation of {args.orders} orders. Seconds of the processor,"
            " the loop over samples or windows in Python included. WindowFeatures takes"
            f" {n_bytes:,} bytes."
        )
        columns = ["features", "30 % at random", "people 13 to 15", "µs a raw sample"]
        tables = [Table("", columns, rows, note)]
    about = [
        f"{n_samples:,} samples of 3 channels; windows of {WINDOW} samples, hop {HOP}; bands "
        + ", ".join(f"{lo:g}-{hi:g}" for lo, hi in BANDS)
        + f" Hz; Standardized(FourierSVM(n_classes={N_CLASSES})) in {BUDGET}, one pass."
    ]
    title = "Features of windows: one pass, beside NumPy and SciPy"
    skipped = [why] if why else []
    publish(Report("preprocessing/windows", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
