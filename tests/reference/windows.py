"""Raw samples to rows of features, and a learner behind them, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.preprocessing._windows import N_TEACH, Feature

LARGEST = 1e15
TOP, CLIP, MOST_BIAS = 2.0**24, 2.0**27, 2.0**30
N_ROUGH, N_TURNING = 6, 4
MEAN, M2, M3, M4, TREND, LOW, HIGH, N_CROSSINGS, IS_ABOVE = range(9)


class RawFeaturesCoreRef:
    """A subclass adds `take`, of a float64 sample: whether it completes a row."""

    def __init__(self, plan, arena, *, n_channels, window, hop, dtype, owner, guard):
        self.arena, self.guard, self.owner, self.dtype = arena, guard, owner, np.dtype(dtype)
        self.n_channels, self.window, self.hop = n_channels, window, hop
        self.n_windows = -(-window // hop)
        self.views = plan.cut(arena.memory)
        self.row = self.views["row"]

    @staticmethod
    def are_fine(X):
        return (np.abs(X) <= LARGEST).all(axis=-1)

    def push(self, x):
        row = as_floats(x, self.dtype, 1, self.n_channels, self.owner)
        if not self.are_fine(row):
            raise refusal(Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, ())
        return self.row if self.take(row.astype(np.float64)) else None

    def push_many(self, X, out):
        fine = self.are_fine(X)
        if not fine.all():
            raise refusal(Status.NOT_FINITE, f"{self.owner}: row {fine.argmin()}", self.dtype, ())
        rows = (self.row.copy() for x in X.astype(np.float64) if self.take(x))
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def open_windows(self, at):
        """Place and age of the windows that have the sample `at`."""
        newest = at // self.hop
        for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
            if at - k * self.hop < self.window:
                yield k % self.n_windows, at - k * self.hop

    def break_off(self):
        n_run = int(self.views["n_run"])
        if n_run:
            unfinished = [age for _, age in self.open_windows(n_run - 1) if age < self.window - 1]
            self.views["n_dropped"][...] += len(unfinished)
        self.views["n_run"][...] = 0

    def check(self):
        """Does nothing: the compiled core checks snapshots, the reference is for tests."""


class WindowFeaturesCoreRef(RawFeaturesCoreRef):
    def __init__(self, *common, rate, codes, bands, magnitude, patterns, averages, **raw):
        super().__init__(*common, **raw)
        self.rate, self.codes, self.has_magnitude = rate, codes, magnitude
        self.centers = np.array([center for center, _ in bands])
        self.sections = np.array([both for _, both in bands]).reshape(-1, 2, 3)
        self.first, self.second = np.triu_indices(self.n_channels, 1)
        self.n_levels, self.averages = self.views["levels"].shape[1], averages
        self.triples = np.array([[p.triple for p in level] for level in patterns])
        self.normal = np.array([[p.normal for p in level] for level in patterns])
        self.wanted = np.array([[p.wanted for p in level] for level in patterns])

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


def ratio(a, b):
    """a / b, 0 where nothing has varied"""
    return np.divide(a, b, out=np.zeros(np.shape(b)), where=b > 0)


# Of the clock, as _windows.pyx says.
TIME, COVERED, HOUR, N, N_VISITS = range(5)
LAST, SLOW, SIZE, OF_HOUR, SQUARES, ORIGIN, UNIT = range(7)
DAY, HOURS, WEEK, MEMORY, LONGEST = 24, 168, 604800.0, 43200.0, 5400.0
LEAST_VISITS, LEAST_SHARE, FAR, BOUND, LEAST_STEP, PRIOR = 2, 0.125, 8.0, 3.0, 16.0, 0.25
MOST, FINE, LARGEST_CODE = 16.0, 4096.0, 32767.0


class ClockFeaturesCoreRef(RawFeaturesCoreRef):
    def __init__(self, *common, **raw):
        super().__init__(*common, **raw)
        self.clock, self.codes = self.views["clock"], self.views["codes"]
        self.of, self.visits = self.views["channels"].T, self.views["visits"]

    @staticmethod
    def are_fine(X):
        return (np.abs(X) <= LARGEST).all(axis=-1) & (X[..., -1] >= 0) & (X[..., -1] <= WEEK)

    def take(self, x):
        share, x, of = self.tick(x[-1]), x[:-1], self.of
        if self.views["n_pushed"] == 0:
            of[SLOW] = x
        if self.views["n_run"] == 0:
            of[LAST] = x
        self.row.reshape(-1, 4).T[:] = x, x - of[SLOW], x - of[LAST], self.residual(x)
        self.follow(x, share)
        for name in ("n_run", "n_pushed", "n_rows"):
            self.views[name][...] += 1
        return True

    def tick(self, time):
        """Set the clock; the share of this sample in the slow means."""
        clock = self.clock
        hour, passed = np.floor(time / 3600) % HOURS, time - clock[TIME]
        if passed < 0:
            passed += WEEK
        if self.views["n_pushed"] == 0:
            passed, clock[HOUR] = 0.0, hour
        if passed > WEEK / 2:  # it was set back
            passed, hour = 0.0, clock[HOUR]
        if hour != clock[HOUR]:
            self.end_hour()
            clock[HOUR], clock[N] = hour, 0.0
        clock[TIME] = time
        clock[N] += 1
        passed = min(passed, LONGEST)
        clock[COVERED] = min(clock[COVERED] + passed, MEMORY)
        return passed / clock[COVERED] if clock[COVERED] > 0 else 0.0

    def residual(self, x):
        mean, deviation = self.usual(int(self.clock[HOUR]))
        residual = np.divide(x - mean, deviation, out=np.zeros_like(x), where=deviation > 0)
        return np.clip(residual, -MOST, MOST)

    def usual(self, hour):
        """Mean and deviation of each channel at an hour of the week, or of the day, or of late."""
        hours = [hour]
        if self.visits[hour] < LEAST_VISITS:
            hours = np.arange(hour % DAY, HOURS, DAY)
        visits, codes = self.visits[hours].astype(np.float64), self.codes[:, hours].astype(float)
        n = visits.sum()
        if n < LEAST_VISITS:
            return self.of[SLOW], self.of[SIZE]
        mean = (codes[..., 0] * visits).sum(axis=1) / n
        squares = codes[..., 1] ** 2 + (codes[..., 0] - mean[:, None]) ** 2
        squares = (squares * visits).sum(axis=1) * self.of[UNIT] ** 2
        deviation = np.sqrt((squares + PRIOR * self.of[SIZE] ** 2) / (n + PRIOR))
        return self.of[ORIGIN] + mean * self.of[UNIT], deviation

    def follow(self, x, share):
        of = self.of
        d = x - of[SLOW]
        bound = np.where(of[SIZE] > 0, FAR * of[SIZE], np.inf)
        d = np.clip(d, -bound, bound)
        counted = of[SLOW] + d
        before = counted - of[OF_HOUR]
        of[OF_HOUR] += before / self.clock[N]
        of[SQUARES] += before * (counted - of[OF_HOUR])
        of[SLOW] += share * d
        of[SIZE] += share * (np.abs(d) - of[SIZE])
        of[LAST] = x

    def end_hour(self):
        """Take the hour that is under way into what is usual at it."""
        of, hour = self.of, int(self.clock[HOUR])
        if self.clock[N_VISITS] == 0:
            of[ORIGIN] = of[OF_HOUR]
        n = min(int(self.visits[hour]) + 1, 255)
        share = max(1 / n, LEAST_SHARE)
        mean, deviation = self.codes[:, hour].T * of[UNIT]
        apart, inside = of[OF_HOUR] - of[ORIGIN] - mean, of[SQUARES] / self.clock[N]
        if n > 1:
            bound = BOUND * self.usual(hour)[1] + LEAST_STEP * of[UNIT]
            bound[deviation == 0] = np.inf
            apart, inside = np.clip(apart, -bound, bound), np.minimum(inside, bound**2)
        variance = (1 - share) * (deviation * deviation + share * apart * apart) + share * inside
        for c in range(len(apart)):
            self.store(c, hour, mean[c] + share * apart[c], np.sqrt(variance[c]))
        of[OF_HOUR] = of[SQUARES] = 0.0
        self.visits[hour] = n
        self.clock[N_VISITS] += 1

    def store(self, c, hour, mean, deviation):
        """Code both in the channel's unit, or in a larger one."""
        codes, largest = self.codes[c], max(abs(mean), deviation)
        unit = self.of[UNIT, c]
        if unit == 0 and largest > 0:
            unit = max(largest / FINE, 1e-300)
        while largest > LARGEST_CODE * unit:
            unit *= 2
            codes[:] = np.trunc(codes / 2)
        if unit > 0:
            codes[hour] = np.rint([mean / unit, deviation / unit])
        self.of[UNIT, c] = unit
