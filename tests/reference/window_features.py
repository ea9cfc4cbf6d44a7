"""Features of windows of raw samples, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.preprocessing._raw_features import LARGEST
from edgesvm.preprocessing._window_features import Feature

MEAN, M2, M3, M4, TREND, LOW, HIGH, N_CROSSINGS, IS_ABOVE = range(9)


class WindowFeaturesCoreRef:
    def __init__(
        self, plan, arena, *, n_channels, window, hop, rate, codes, bands, magnitude, dtype, owner,
        guard,
    ):  # fmt: skip
        self.arena, self.guard, self.owner, self.dtype = arena, guard, owner, np.dtype(dtype)
        self.n_channels, self.window, self.hop, self.rate = n_channels, window, hop, rate
        self.codes, self.has_magnitude = codes, magnitude
        self.centers = np.array([center for center, _ in bands])
        self.sections = np.array([both for _, both in bands]).reshape(-1, 2, 3)
        self.views = plan.cut(arena.memory)
        self.n_windows = len(self.views["moments"])
        self.first, self.second = np.triu_indices(n_channels, 1)
        self.row = self.views["row"]

    def push(self, x):
        row = as_floats(x, self.dtype, 1, self.n_channels, self.owner)
        if not (np.abs(row) <= LARGEST).all():
            raise refusal(Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, ())
        return self.row if self.take(row.astype(np.float64)) else None

    def push_many(self, X, out):
        fine = (np.abs(X) <= LARGEST).all(axis=1)
        if not fine.all():
            raise refusal(Status.NOT_FINITE, f"{self.owner}: row {fine.argmin()}", self.dtype, ())
        rows = (self.row.copy() for x in X.astype(np.float64) if self.take(x))
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def take(self, x):
        views = self.views
        if self.has_magnitude:
            x = np.append(x, np.sqrt((x * x).sum()))
        views["sample"][:] = x
        n_run = int(views["n_run"])
        if n_run == 0:
            views["delays"][:, :, 0] = -(self.sections[:, 0, :1] * x[:, None, None])
            views["delays"][:, :, 1] = 0.0
        views["squares"][:] = self.filter(x) ** 2
        if n_run % self.hop == 0:
            self.open(n_run // self.hop % self.n_windows, x)
        is_complete = False
        for slot, age in self.open_windows(n_run):
            self.add(slot, x, age + 1)
            if age == self.window - 1:
                self.write(slot)
                is_complete = True
        for name, more in (("n_run", 1), ("n_pushed", 1), ("n_rows", is_complete)):
            views[name][...] += more
        return is_complete

    def open_windows(self, at):
        """Place and age of the windows that have the sample `at`."""
        newest = at // self.hop
        for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
            if at - k * self.hop < self.window:
                yield k % self.n_windows, at - k * self.hop

    def filter(self, x):
        """x behind the filters, of shape (n_streams, n_bands)."""
        delays = self.views["delays"]
        y = np.repeat(x[:, None], len(self.sections), axis=1)
        for section in range(2):
            b, a1, a2 = self.sections[:, section].T
            delay, before = delays[:, :, section], y
            y = b * before + delay[..., 0]
            delay[..., 0] = delay[..., 1] - a1 * y
            delay[..., 1] = -b * before - a2 * y
        return y

    def open(self, slot, x):
        for name in ("moments", "power", "products"):
            self.views[name][slot] = 0.0
        of = self.views["moments"][slot].T
        of[LOW] = of[HIGH] = x

    def add(self, slot, x, n):
        views = self.views
        of = views["moments"][slot].T
        delta = x - of[MEAN]
        if views["products"].size:
            i, j = self.first, self.second
            views["products"][slot] += delta[i] * (n - 1) * (1 / n) * delta[j]
        step = delta * (1 / n)
        term = delta * step * (n - 1)
        of[MEAN] += step
        of[M4] += (
            term * step * step * (n * n - 3.0 * n + 3)
            + 6 * step * step * of[M2]
            - 4 * step * of[M3]
        )
        of[M3] += term * step * (n - 2) - 3 * step * of[M2]
        of[M2] += term
        of[TREND] += 0.5 * n * (x - of[MEAN])
        of[LOW] = np.minimum(of[LOW], x)
        of[HIGH] = np.maximum(of[HIGH], x)
        is_above = delta > 0
        of[N_CROSSINGS] += (n > 2) & (is_above != (of[IS_ABOVE] > 0))
        of[IS_ABOVE] = is_above
        views["power"][slot] += views["squares"]

    def write(self, slot):
        views, n = self.views, float(self.window)
        of, power = views["moments"][slot].T, views["power"][slot]
        variance = of[M2] / n
        rms = np.sqrt(variance + of[MEAN] ** 2)
        total = power.sum(axis=1)
        values = {
            Feature.MEAN: of[MEAN],
            Feature.STD: np.sqrt(variance),
            Feature.RMS: rms,
            Feature.MIN: of[LOW],
            Feature.MAX: of[HIGH],
            Feature.PEAK_TO_PEAK: of[HIGH] - of[LOW],
            Feature.CREST: ratio(np.maximum(-of[LOW], of[HIGH]), rms),
            Feature.SKEWNESS: ratio(of[M3] / n, variance * np.sqrt(variance)),
            Feature.KURTOSIS: np.where(variance > 0, ratio(of[M4] / n, variance**2) - 3, 0),
            Feature.CROSSINGS: of[N_CROSSINGS] * self.rate / n,
            Feature.SLOPE: 12 * of[TREND] / (n * (n * n - 1)) * self.rate,
            Feature.POWER: power / n,
        }
        if len(self.centers):
            strongest = self.centers[power.argmax(axis=1)]
            values[Feature.DOMINANT_BAND] = np.where(total > 0, strongest, 0)
            values[Feature.CENTROID] = ratio(power @ self.centers, total)
        streams = [np.hstack([values[code][s] for code in self.codes]) for s in range(len(total))]
        pairs = ()
        if views["products"].size:
            both = np.sqrt(of[M2][self.first]) * np.sqrt(of[M2][self.second])
            pairs = ratio(views["products"][slot], both)
        views["row"][:] = np.hstack([*streams, pairs])

    def break_off(self):
        n_run = int(self.views["n_run"])
        if n_run:
            unfinished = [age for _, age in self.open_windows(n_run - 1) if age < self.window - 1]
            self.views["n_dropped"][...] += len(unfinished)
        self.views["n_run"][...] = 0

    def check(self):
        """Does nothing: the compiled core checks snapshots, the reference is for tests."""


def ratio(a, b):
    """a / b, 0 where nothing has varied"""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)
