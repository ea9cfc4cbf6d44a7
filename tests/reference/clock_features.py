"""Samples against the clock, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.preprocessing.constants import (
    BOUND,
    DAY,
    FAR,
    FINE,
    HOURS,
    LARGEST,
    LARGEST_CODE,
    LEAST_SHARE,
    LEAST_STEP,
    LEAST_VISITS,
    LONGEST,
    MEMORY,
    MOST,
    PRIOR,
    WEEK,
)

TIME, COVERED, HOUR, N, N_VISITS = range(5)
LAST, SLOW, SIZE, MEAN, M2, ORIGIN, UNIT = range(7)


class ClockFeaturesCoreRef:
    def __init__(self, plan, arena, *, n_channels, window, hop, dtype, owner, guard):
        self.arena, self.guard, self.owner, self.dtype = arena, guard, owner, np.dtype(dtype)
        self.n_channels, self.window, self.hop, self.n_windows = n_channels, window, hop, 1
        self.views = plan.cut(arena.memory)
        self.clock, self.codes = self.views["clock"], self.views["codes"]
        self.of, self.visits = self.views["channels"].T, self.views["visits"]
        self.row = self.views["row"]

    def push(self, x):
        row = as_floats(x, self.dtype, 1, self.n_channels, self.owner)
        if not self.is_fine(row):
            raise refusal(Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, ())
        self.take(row.astype(np.float64))
        return self.row

    def push_many(self, X, out):
        fine = [self.is_fine(x) for x in X]
        if not all(fine):
            where = f"{self.owner}: row {fine.index(False)}"
            raise refusal(Status.NOT_FINITE, where, self.dtype, ())
        for x, row in zip(X.astype(np.float64), out, strict=True):
            self.take(x)
            row[:] = self.row
        return out

    @staticmethod
    def is_fine(x):
        return bool((np.abs(x) <= LARGEST).all() and 0 <= x[-1] <= WEEK)

    @staticmethod
    def open_windows(at):
        yield 0, 0

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
        before = counted - of[MEAN]
        of[MEAN] += before / self.clock[N]
        of[M2] += before * (counted - of[MEAN])
        of[SLOW] += share * d
        of[SIZE] += share * (np.abs(d) - of[SIZE])
        of[LAST] = x

    def end_hour(self):
        """Take the hour that is under way into what is usual at it."""
        of, hour = self.of, int(self.clock[HOUR])
        if self.clock[N_VISITS] == 0:
            of[ORIGIN] = of[MEAN]
        n = min(int(self.visits[hour]) + 1, 255)
        share = max(1 / n, LEAST_SHARE)
        mean, deviation = self.codes[:, hour].T * of[UNIT]
        apart, inside = of[MEAN] - of[ORIGIN] - mean, of[M2] / self.clock[N]
        if n > 1:
            bound = BOUND * self.usual(hour)[1] + LEAST_STEP * of[UNIT]
            bound[deviation == 0] = np.inf
            apart, inside = np.clip(apart, -bound, bound), np.minimum(inside, bound**2)
        variance = (1 - share) * (deviation * deviation + share * apart * apart) + share * inside
        for c in range(len(apart)):
            self.store(c, hour, mean[c] + share * apart[c], np.sqrt(variance[c]))
        of[MEAN] = of[M2] = 0.0
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

    def break_off(self):
        self.views["n_run"][...] = 0

    def check(self):
        """Does nothing: the compiled core checks snapshots, the reference is for tests."""
