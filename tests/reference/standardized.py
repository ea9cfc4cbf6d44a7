"""A scaler in front of a learner, in plain NumPy."""

from __future__ import annotations

import struct

import numpy as np

from edgesvm.core.status import Status
from reference.core import ReferenceCore

SEEN = 10  # samples that tell nothing of what is far out
FAR = 8.0  # deviations beyond which a value is far out, and that it counts as
AWHILE, FOR_GOOD, LASTING = 16, 127, 128


class StandardizedCoreRef(ReferenceCore):
    """A sample's features are looked at all at once; `own` has, of each, the samples that its
    statistics are of."""

    def __init__(self, *common, inner, until, clip, missing):
        super().__init__(*common)
        self.inner, self.clip = inner, np.inf if clip is None else clip
        self.regresses = inner.regresses
        self.until = until

    @property
    def n_learned(self):
        return int(self.views["n_per_class"].sum())

    @property
    def n_scaled(self):
        """Samples that the statistics are of."""
        return self.n_learned if self.until is None else int(self.views["n_scaled"])

    @property
    def is_settled(self):
        return self.until is not None and self.n_scaled >= self.until

    def filled(self, x):
        if "complete" not in self.views:
            return x
        return np.where(np.isnan(x), self.views["mean"].astype(self.dtype), x)

    def step(self, x, y, weight):
        n_missing, x = int(np.isnan(x).sum()), self.filled(x)
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        n, exact = self.n_scaled + 1, x.astype(np.float64)
        own = np.where(self.anew, max(self.state[3] - LASTING + 1, 1), n)
        far = self.far_out(exact, n, own)
        value, is_stuck = self.looked_at(exact, far)
        moments = self.views["mean"].copy(), self.views["spread"].copy()
        if not self.is_settled:
            moments = self.with_sample(exact, n, own, far, is_stuck)
        if not all(np.isfinite(values).all() for values in moments):
            return Status.NOT_FINITE
        state = self.state_after(far, value, is_stuck)
        status = Status.UNCHANGED
        if n <= SEEN and not self.is_settled:
            deviation = np.sqrt(self.views["spread"] / max(n - 1, 1))
            with np.errstate(invalid="ignore"):
                most = np.where(deviation > 0, self.bound * deviation, np.inf)
            exact = self.views["mean"] + np.clip(exact - self.views["mean"], -most, most)
        scaled = self.scale(exact, moments, n - self.is_settled).astype(self.dtype)
        if not self.is_dropout(state, is_stuck, y):
            status = self.inner.weighed_step(scaled, y, weight)
        elif self.regresses:
            status = self.inner.pass_over(scaled, y)
        if status <= Status.CHANGED:
            self.views["mean"][:], self.views["spread"][:] = moments
            if self.until is not None:
                self.views["n_scaled"][...] += not self.is_settled
            if "complete" in self.views:
                self.views["n_missing"][...] += n_missing
            if "far_out" in self.views:
                self.views["far_out"][...] = int.from_bytes(struct.pack("<IBBH", *state), "little")
        return status

    # -- values far out ----------------------------------------------------------------------------

    @property
    def state(self):
        """Samples with a value far out, the last one's hash, features lasting, samples in a row"""
        packed = int(self.views.get("far_out", 0)).to_bytes(8, "little")
        return struct.unpack("<IBBH", packed)

    @property
    def anew(self):
        """Which features start anew by the next sample"""
        return self.lasting & (self.state[3] >= LASTING)

    @property
    def lasting(self):
        return self.state[2] >> np.arange(self.n_features) % 8 & 1 > 0

    @property
    def bound(self):
        """Deviations beyond which a value is far out"""
        return FAR if "far_out" in self.views else np.inf

    def far_out(self, x, n, own):
        """Which values are"""
        seen = self.n_learned >= SEEN if self.is_settled else own > 3
        with np.errstate(invalid="ignore"):  # of no clip and no spread
            most = self.bound**2 / max(n - 1, 1) * self.views["spread"]
        return seen & (most > 0) & ((x - self.views["mean"]) ** 2 > most)

    def looked_at(self, x, far):
        """The hash of the first value far out, and whether it is the last sample's"""
        if not far.any():
            return 0, False
        j = int(far.argmax())
        bits = int.from_bytes(struct.pack("<d", x[j]), "little")
        value = ((bits + j) * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 56
        return value, value == self.state[1]

    def state_after(self, far, value, is_stuck):
        count, last, lasting, n_lasting = self.state
        features = sum(1 << j for j in {int(j) % 8 for j in np.flatnonzero(far)})
        count, last = (count + (self.n_learned >= SEEN), value) if far.any() else (count, last)
        if n_lasting >= LASTING:
            n_lasting = (n_lasting + 1) % (2 * LASTING)
            return count, last, lasting if n_lasting else 0, n_lasting
        if not lasting & features:
            return count, last, features, 0
        if is_stuck:
            n_lasting = min(n_lasting + ((self.n_learned + 1) % 5 == 0), FOR_GOOD)
        else:
            n_lasting = {FOR_GOOD: AWHILE, FOR_GOOD - 1: LASTING}.get(n_lasting, n_lasting + 1)
        return count, last, lasting & features, n_lasting

    def is_dropout(self, state, is_stuck, y):
        if self.state[3] >= LASTING:
            return not self.is_settled
        slot = 0 if self.regresses else int(y) if self.is_multiclass else int(y > 0)
        n_of_class = self.n_learned if self.regresses else int(self.views["n_per_class"][slot])
        return is_stuck and state[3] != FOR_GOOD and n_of_class > 2 * state[0]

    # -- statistics --------------------------------------------------------------------------------

    def with_sample(self, x, n, own, far, is_stuck):
        """Mean and spread with x, the n-th sample."""
        mean, spread = self.views["mean"].copy(), self.views["spread"].copy()
        stays = far & (is_stuck | (self.lasting & (AWHILE <= self.state[3] < LASTING)))
        stays &= self.state[3] != FOR_GOOD
        before = np.maximum(own - 1, 1)
        spread *= np.where(own < n, before / max(n - 1, 1), 1.0)
        deviation, half, delta = np.sqrt(spread / before), np.sqrt(spread / 2), x - mean
        stray = (own == 3) & (np.abs(np.abs(delta) - half) * 6 * self.bound < half)
        first = (own == 1) | stray  # begins with x
        with np.errstate(invalid="ignore"):
            limit = np.where(deviation > 0, self.bound * deviation, np.inf)
        delta = np.clip(delta, -limit, limit)
        mean[first], spread[first], delta[first] = x[first], 0.0, 0.0
        spread += delta * (delta - delta / own)
        mean += delta / own
        spread *= np.where(own < n, n / own, 1.0)
        mean[stays] = self.views["mean"][stays]
        spread[stays] = self.views["spread"][stays] * (n / max(n - 1, 1))
        return mean, spread

    def scale(self, x, moments, n):
        mean, spread = moments
        deviation = np.sqrt(spread / n)
        scaled = np.divide(x - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        return np.clip(scaled, -self.clip, self.clip)

    # -- answers -----------------------------------------------------------------------------------

    def mapped(self, x):
        """What the inner learner gets of x."""
        moments = self.views["mean"], self.views["spread"]
        return self.scale(x, moments, self.n_scaled).astype(self.dtype)

    def decide(self, x):
        x = self.filled(x)
        return self.inner.decide(self.mapped(x)) if np.isfinite(x @ x) else np.nan

    def forecast(self, x):
        x = self.filled(x)
        return self.inner.forecast(self.mapped(x)) if np.isfinite(x @ x) else ((np.nan,) * 3,) * 2
