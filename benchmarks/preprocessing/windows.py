"""Raw samples to features: `WindowFeatures` one sample at a time, beside NumPy and SciPy on each
whole window, in front of the same learner.

The signal is chest_accel: acceleration at 52 Hz of 15 people at seven activities, in windows of 2 s
that overlap by half. NumPy and SciPy take the features of the whole window: crossings of its own
mean, and the power in its bands by the FFT of the window behind a Hann taper.

Each of the people is left out in turn, and each order has random directions of its own: one split
and one draw move the accuracy by more than the features do. All features are in the same columns,
so that an order is the same draw for each. The other rows exchange the power alone.
"""

from __future__ import annotations

from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from scipy import signal, stats

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import FourierSVM, Standardized, WindowFeatures

NAME, RATE, WINDOW, HOP = "chest_accel", 52.0, 104, 52
BANDS = ((0.5, 2.0), (2.0, 5.0), (5.0, 12.0))
FEATURES = "mean,std,min,max,skewness,kurtosis,crossings,slope,power"
CUT: dict[str, Any] = {
    "window": WINDOW, "hop": HOP, "rate": RATE, "bands": BANDS, "features": FEATURES
}  # fmt: skip
BUDGET, N_CLASSES = "16KiB", 7
N_EACH = 8 + len(BANDS)  # features of a channel, the power last

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
    windows = WindowFeatures(**CUT).allocate(X.shape[1])
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
            np.vstack(
                [
                    mean,
                    x.std(axis=0),
                    x.min(axis=0),
                    x.max(axis=0),
                    stats.skew(x),
                    stats.kurtosis(x),
                    (np.diff(x > mean, axis=0)).sum(axis=0) * RATE / WINDOW,
                    t @ x / (t @ t),
                    inside @ spectrum * 2 / (WINDOW * (taper**2).sum()),
                ]
            ).T.ravel()
        )
    return np.nan_to_num(np.array(found)).astype(np.float32)


def with_power(F: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The features with another power, of shape (n_windows, n_channels, n_bands)."""
    changed = F.reshape(len(F), -1, N_EACH).copy()
    changed[..., -len(BANDS) :] = power
    return changed.reshape(F.shape)


def power_of(F: np.ndarray) -> np.ndarray:
    return F.reshape(len(F), -1, N_EACH)[..., -len(BANDS) :]


def by_sections(X: np.ndarray, people: np.ndarray, n: int) -> np.ndarray:
    """Power of each window behind Butterworth filters of n sections, which run on."""
    at = np.array(starts(people))
    edges = np.flatnonzero(np.diff(people, prepend=-1, append=-1))
    power = np.empty((len(at), X.shape[1], len(BANDS)))
    for b, band in enumerate(BANDS):
        sos = signal.butter(n, band, "bandpass", fs=RATE, output="sos")
        sums = [np.zeros((1, X.shape[1]))]
        for begin, end in pairwise(edges):
            settled = signal.sosfilt_zi(sos)[..., None] * X[begin]
            y, _ = signal.sosfilt(sos, X[begin:end].astype(np.float64), axis=0, zi=settled)
            sums.append(y * y)
        total = np.cumsum(np.vstack(sums), axis=0)
        power[..., b] = (total[at + WINDOW] - total[at]) / WINDOW
    return power


def logarithm(F: np.ndarray) -> np.ndarray:
    return with_power(F, np.log1p(power_of(F)))


def labels_of(y: np.ndarray, people: np.ndarray) -> np.ndarray:
    """The label that most samples of each window have, 0 without one."""
    counts = [np.bincount(y[at : at + WINDOW], minlength=8)[1:] for at in starts(people)]
    return np.array([1 + c.argmax() if c.any() else 0 for c in counts])


def accuracy(F: np.ndarray, y: np.ndarray, learned: np.ndarray, order: int) -> float:
    """Per cent right on the windows that were not learned."""
    learner = Standardized(learner=FourierSVM(n_classes=N_CLASSES, seed=order))
    learner = learner.fitted_into(BUDGET, F.shape[1])
    rows = np.random.default_rng(order).permutation(np.flatnonzero(learned))
    learner.partial_fit(F[rows], y[rows])
    return 100 * learner.score(F[~learned], y[~learned])


def judged(F: np.ndarray, y: np.ndarray, person: np.ndarray, orders: int) -> dict[str, list[float]]:
    """Accuracy of each order on 30 % at random, and of each person left out, mean of the orders."""
    shares = [np.random.default_rng(order).random(len(y)) < 0.7 for order in range(orders)]
    return {
        "at random": [accuracy(F, y, share, order) for order, share in enumerate(shares)],
        "unseen people": [
            float(np.mean([accuracy(F, y, person != p, order) for order in range(orders)]))
            for p in np.unique(person)
        ],
    }


def variants(X: np.ndarray, people: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Features of the windows by name, and microseconds a raw sample of those that are timed."""
    found, microseconds = {}, {}
    for name, features in (("WindowFeatures", ours), ("NumPy and SciPy", theirs)):
        progress(name)
        begin = process_time()
        found[name] = features(X, people)
        microseconds[name] = 1e6 * since(begin) / len(X)
    mine, yours = found.values()
    found["WindowFeatures, power by the FFT"] = with_power(mine, power_of(yours))
    for n in (1, 3, 4):
        found[f"WindowFeatures, sections: {n}"] = with_power(mine, by_sections(X, people, n))
    found["WindowFeatures, log(1 + power)"] = logarithm(mine)
    found["NumPy and SciPy, log(1 + power)"] = logarithm(yours)
    return found, microseconds


def main() -> None:
    args = parsed(arguments(__doc__, orders=10))
    why = None if args.quick else missing(NAME)
    tables, figures, n_samples = [], {}, 0
    if why is None:
        X, raw_labels, people = generated() if args.quick else loaded()
        n_samples = len(X)
        labels = labels_of(raw_labels, people)
        of_person = people[starts(people)]
        known = labels > 0
        found, microseconds = variants(X, people)
        rows, first = [], None
        for name, F in found.items():
            progress(name)
            cells = judged(F[known], labels[known], of_person[known], args.orders)
            first = cells if first is None else first
            at_random, unseen = (
                np.array(cells[split]) - first[split] for split in ("at random", "unseen people")
            )
            error = unseen.std(ddof=1) / np.sqrt(len(unseen))
            rows.append(
                [
                    name,
                    f"{np.mean(cells['at random']):.1f}",
                    f"{at_random.mean():+.2f} ± {at_random.std():.2f}",
                    f"{np.mean(cells['unseen people']):.1f}",
                    f"{unseen.mean():+.2f} ± {error:.2f}",
                    f"{microseconds[name]:.2f}" if name in microseconds else "",
                ]
            )
            figures[name] = cells | {"microseconds": microseconds.get(name)}
        n_bytes = WindowFeatures(**CUT).plan(3).total
        note = (
            f"Per cent right, mean of {args.orders} orders; unseen people: each left out in turn."
            " Differences are from the first row, of the same order or person: mean, and its"
            " deviation over orders, or its standard error over people. Seconds of the processor,"
            " the loop over samples or windows in Python included. WindowFeatures takes"
            f" {n_bytes:,} bytes."
        )
        columns = ["features", "30 % at random", "more", "unseen people", "more", "µs a raw sample"]
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
