"""Features of windows of raw samples, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.preprocessing._window_features import N_TEACH, Feature
from edgesvm.preprocessing.constants import LARGEST

TOP, CLIP, MOST_BIAS = 2.0**24, 2.0**27, 2.0**30
N_ROUGH, N_TURNING = 6, 4
MEAN, M2, M3, M4, TREND, LOW, HIGH, N_CROSSINGS, IS_ABOVE = range(9)


class WindowFeaturesCoreRef:
    def __init__(
        self, plan, arena, *, n_channels, window, hop, rate, codes, bands, magnitude, patterns,
        averages, dtype, owner, guard,
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
        self.n_levels, self.averages = self.views["levels"].shape[1], averages
        self.triples = np.array([[p.triple for p in level] for level in patterns])
        self.normal = np.array([[p.normal for p in level] for level in patterns])
        self.wanted = np.array([[p.wanted for p in level] for level in patterns])

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
            if len(self.triples):
                views["scales"][:, 0] = x[: self.n_channels]
        views["squares"][:] = self.filter(x) ** 2
        if n_run % self.hop == 0:
            self.open(n_run // self.hop % self.n_windows, x)
        if self.n_levels:
            self.climb(n_run, x)
        is_complete = False
        for slot, age in self.open_windows(n_run):
            self.add(slot, x, age + 1)
            if age == self.window - 1:
                self.write(slot, n_run + 1 - self.window)
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
        for name in ("moments", "power", "products", "course", "above"):
            self.views[name][slot] = 0.0
        if slot == 0:
            self.views["swing"][:] = 0.0
        of = self.views["moments"][slot].T
        of[LOW] = of[HIGH] = x

    def climb(self, at, x):
        """Level by level, of all streams, as long as the sample completes a pair."""
        y = x
        for level in range(self.n_levels):
            of = self.views["levels"][:, level].T
            moved = y - of[0]
            is_turn = (moved > 0) != (of[1] > 0)
            for slot, age in self.open_windows(at):
                n = (age + 1) >> level  # values of this level in the window so far
                course = self.views["course"][slot].T
                if level < N_ROUGH and n >= 2:
                    course[level] += np.abs(moved)
                if level < N_TURNING and n >= 3:
                    course[N_ROUGH + level] += is_turn
            if level < len(self.triples):
                self.match(level, at, y[: self.n_channels])
            pair = (of[0] + y) / 2
            of[:] = y, moved
            if (at >> level) % 2 == 0:
                return
            y = pair

    def match(self, level, at, y):
        views, n_learned = self.views, int(self.views["n_taught"][0])
        values = views["latest"][:, level]
        values[:, :-1] = values[:, 1:].copy()
        for c in range(self.n_channels):
            values[c, -1] = self.scaled(c, y[c])
        slots = [slot for slot, age in self.open_windows(at) if (age + 1) >> level >= 9]
        if not slots:
            return
        j = np.arange(len(self.triples[level]))
        nine = values[(j + level) % self.n_channels].astype(np.int64)
        value = 3 * np.take_along_axis(nine, self.triples[level], 1).sum(1) - nine.sum(1)
        views["above"][slots, level] += value > views["bias"][level]
        if n_learned < N_TEACH and 0 in slots:
            views["swing"][level] += np.abs(value)

    def scaled(self, c, y):
        views, value = self.views, y - self.views["scales"][c, 0]
        if views["n_taught"][0] < N_TEACH:
            if views["scales"][c, 1] == 0 and abs(value) > 1e-30:
                views["scales"][c, 1] = TOP / abs(value)
            while abs(value) * views["scales"][c, 1] > TOP:
                of_channel = sum(np.indices(views["bias"].shape)) % self.n_channels == c
                views["scales"][c, 1] /= 2
                views["latest"][c] = np.trunc(views["latest"][c] / 2)
                views["bias"][of_channel] = np.trunc(views["bias"][of_channel] / 2)
                views["swing"][of_channel] /= 2
                views["inverse"][of_channel] *= 2
        return np.trunc(np.clip(value * views["scales"][c, 1], -CLIP, CLIP))

    def n_values(self, start, level):
        """How many values of a level a window has."""
        return (start + self.window) // 2**level + -start // 2**level

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

    def write(self, slot, start):
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
        course = self.course(slot, start, np.sqrt(variance))
        values[Feature.ROUGHNESS], values[Feature.TURNS] = np.split(course, [N_ROUGH], axis=1)
        apart = [code for code in self.codes if not self.averages or code < Feature.ROUGHNESS]
        shared = [values[code].mean(0) for code in self.codes if code not in apart]
        streams = [values[code][s] for s in range(len(total)) for code in apart]
        pairs = ()
        if views["products"].size:
            both = np.sqrt(of[M2][self.first]) * np.sqrt(of[M2][self.second])
            pairs = ratio(views["products"][slot], both)
        shares = self.shares(slot, start)
        views["row"][:] = np.hstack([*streams, *shared, pairs, shares.ravel()])
        if len(shares) and slot == 0 and views["n_taught"][0] < N_TEACH:
            self.teach(shares, start)

    def course(self, slot, start, std):
        """Roughness and turns, (n_streams, 10)."""
        found = np.zeros((self.views["course"].shape[1], N_ROUGH + N_TURNING))
        for i, total in enumerate(self.views["course"][slot].T):
            n = self.n_values(start, i % N_ROUGH)
            if n >= 3:
                found[:, i] = ratio(total / (n - 1), std) if i < N_ROUGH else total / (n - 2)
        return found

    def places(self, start):
        """Of each level, in how many places of a window a pattern is; (n_levels, 1)."""
        n_levels = len(self.triples)
        return np.array([[max(self.n_values(start, level) - 8, 0)] for level in range(n_levels)])

    def shares(self, slot, start):
        above = self.views["above"][slot].astype(np.float64)
        return ratio(above, self.places(start) + np.zeros(above.shape)) if above.size else above

    def teach(self, shares, start):
        """The quantile's recursion, a step for each window that overlaps none before."""
        views, i = self.views, int(self.views["n_taught"][0])
        views["inverse"] += ratio(self.places(start) + np.zeros(shares.shape), views["swing"])
        size = ratio(np.full(shares.shape, i + 1.0), views["inverse"])
        if i == 0:
            bias = 1.25 * size * self.normal
        else:
            bias = views["bias"] + 4 * size * (shares - self.wanted) / np.sqrt(i)
        views["bias"][:] = np.trunc(np.clip(bias, -MOST_BIAS, MOST_BIAS))
        views["n_taught"] += 1

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
    return np.divide(a, b, out=np.zeros(np.shape(b)), where=b > 0)
