"""Scales, threshold and step of the novelty learners in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats, as_out
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.learners.novelty.constants import (
    ABOVE,
    ALARMS_AFTER,
    CALM,
    CLIP,
    COSTS,
    DENSITY,
    EXCESS_AFTER,
    FIRST_EXCESS,
    FOUND,
    LATELY,
    LEVEL_AFTER,
    LOST,
    MOST_LIVELY,
    PATIENCE,
    REACH,
    SETTLED,
    STUCK_AFTER,
    Z_ABOVE,
)
from reference.core import ReferenceCore

MEAN, VARIANCE, LEVEL, EXCESS, N_ABOVE, SHIFT, HELD = range(7)  # of the array "tail"
ALARMS, N_STUCK, N_LOST, LOST_FOR = range(4)  # of the array "lately"


class NoveltyCoreRef(ReferenceCore):
    """The arena's arrays by name: mean, spread, tail, n_scored, n_alarms, alarmed. A subclass adds
    `score`, `learn_scaled` and `drops`, of a sample in deviations.
    """

    one_class = True

    def __init__(self, *common, rate, warm_up, learns_all, until):
        super().__init__(*common)
        self.rate, self.warm_up = rate, warm_up
        self.learns_all, self.until = learns_all, until
        self.looks_back, self.only_looks_on = "lately" in self.views, False
        self.takes_as_normal = False

    def score(self, z):
        """How strange a sample is, in deviations."""
        raise NotImplementedError

    def learn_scaled(self, z):
        raise NotImplementedError

    def drops(self, z):
        """How much less strange with each feature as the others say; some below 0 is 0."""
        raise NotImplementedError

    @property
    def n_kept(self):
        return int(self.views["n_updates"])

    @property
    def n_fitted(self):
        return max(self.n_kept - SETTLED, 0)

    def step(self, x, _y, _weight):
        v, x64 = self.views, x.astype(float)
        if not np.isfinite(x @ x) or not np.isfinite(v["spread"] + (x64 - v["mean"]) ** 2).all():
            return Status.NOT_FINITE
        if self.takes_as_normal:
            self.learn_kept(x64)
            return Status.CHANGED
        if self.looks_back and self.repeats_itself(x):
            return Status.UNCHANGED
        frozen = self.only_looks_on or 0 < self.until <= self.n_kept
        if self.looks_back and v["lately"][LOST_FOR] > min(self.n_kept, PATIENCE) and not frozen:
            self.forget()
        resting = frozen or (v["alarmed"] > 0 and not self.learns_all)
        score = self.score(self.bent(x64))
        alarm = self.n_kept >= self.warm_up and score > self.threshold
        if self.n_kept >= SETTLED and not frozen:
            self.follow_unless_held(score, alarm)
        v["alarmed"][...] = CALM if alarm else max(int(v["alarmed"]) - 1, 0)
        v["n_alarms"][...] += alarm
        if self.looks_back and self.n_kept >= self.warm_up:
            self.look_back(alarm)
        if resting or (alarm and not self.learns_all):
            return Status.UNCHANGED
        self.learn_kept(x64)
        return Status.CHANGED

    def learn_kept(self, x):
        delta = x - self.views["mean"]
        self.views["mean"] += delta / (self.n_kept + 1)
        self.views["spread"] += delta * (x - self.views["mean"])
        if self.n_kept >= SETTLED:
            self.learn_scaled(self.scaled(x, self.n_kept + 1))

    def repeats_itself(self, x):
        v = self.views
        changed = (x != v["values"]) | (v["n_per_class"][1] == 0)
        changed = np.append(changed, changed.any())
        v["repeats"][:] = np.where(changed, 0, np.minimum(v["repeats"] + 1, STUCK_AFTER))
        v["values"][:] = x + 0.0  # of -0.0 it makes 0.0
        if self.are_stuck().any():
            v["lately"][N_STUCK] += 1
            return True
        lively = v["lively"].astype(int) + np.where(changed, 1, -COSTS)
        v["lively"][:] = lively.clip(-MOST_LIVELY, MOST_LIVELY)
        return False

    def are_stuck(self):
        """Which features are, and last, whether the sample is."""
        least = np.append(np.full(self.n_features, STUCK_AFTER), 0)
        before = self.views["lively"].astype(int) + COSTS * (STUCK_AFTER - 1)
        return (self.views["repeats"] >= STUCK_AFTER) & (before >= least)

    @property
    def stuck(self):
        if not self.looks_back:
            return []
        *each, together = self.are_stuck().tolist()
        return [j for j, one in enumerate(each) if one or together]

    def look_back(self, alarm):
        lately = self.views["lately"]
        lately[ALARMS] += LATELY * (alarm - lately[ALARMS])
        if lately[LOST_FOR]:
            lately[LOST_FOR] = lately[LOST_FOR] + 1 if lately[ALARMS] >= FOUND else 0
        elif lately[ALARMS] >= LOST:
            lately[LOST_FOR] = 1
            lately[N_LOST] += 1

    def forget(self):
        self.views["lately"][[ALARMS, LOST_FOR]] = 0
        counts = {"n_seen", "n_per_class", "n_alarms", "lately", "values", "repeats", "lively"}
        for name, view in self.views.items():
            if name not in counts:
                view[...] = 0

    def scaled(self, x, n):
        """The sample in deviations of the n kept, cut at CLIP, in the learner's dtype."""
        far = x - self.views["mean"]
        deviation = np.sqrt(self.views["spread"] / max(n, 1))
        there = deviation > 0
        inside = np.divide(far, deviation, out=np.zeros(len(far)), where=there)
        return np.where(there, inside.clip(-CLIP, CLIP), CLIP * np.sign(far)).astype(self.dtype)

    def bent(self, x):
        """`scaled` to be scored: beyond CLIP the logarithm goes on."""
        cut = self.scaled(x, self.n_kept)
        deviation = np.sqrt(self.views["spread"] / max(self.n_kept, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.abs(x - self.views["mean"]) / deviation
            bent = np.sign(cut) * np.minimum(CLIP + np.log(np.minimum(far, 1e300) / CLIP), REACH)
        return np.where((deviation > 0) & (far > CLIP), bent, cut).astype(self.dtype)

    @property
    def threshold(self):
        t = self.views["tail"]
        excess = np.sqrt(t[VARIANCE]) * (FIRST_EXCESS + t[EXCESS])
        return float(self.level + excess * (np.log(ABOVE / self.rate) + t[SHIFT]))

    @property
    def level(self):
        t = self.views["tail"]
        return t[MEAN] + np.sqrt(t[VARIANCE]) * (Z_ABOVE + t[LEVEL])

    def follow_unless_held(self, score, alarm):
        t, alarmed = self.views["tail"], int(self.views["alarmed"])
        if self.learns_all or not (alarm or alarmed):
            self.follow(score)
        elif alarm and not alarmed:
            t[HELD] = score
        elif not alarm and alarmed == 1:
            self.follow(t[HELD])
            t[HELD] = 0

    def follow(self, score):
        t, n = self.views["tail"], int(self.views["n_scored"])
        level, deviation = self.level, np.sqrt(t[VARIANCE])
        above, alarm = score > level, score > self.threshold
        if deviation > 0:
            t[SHIFT] += 2 * (alarm / self.rate - 1) / (n + ALARMS_AFTER / self.rate)
            t[SHIFT] = max(t[SHIFT], -np.log(ABOVE / self.rate))
            t[LEVEL] += 2 * (above - ABOVE) / (DENSITY * (n + LEVEL_AFTER))
            if above:
                t[N_ABOVE] += 1
                far = (score - level) / deviation - FIRST_EXCESS
                t[EXCESS] += 2 / (t[N_ABOVE] + EXCESS_AFTER) * (far - t[EXCESS])
        share, far = 2 / (n + 2), score - t[MEAN]
        t[MEAN] += share * far
        t[VARIANCE] = (1 - share) * (t[VARIANCE] + share * far * far)
        self.views["n_scored"][...] += 1

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        return self.threshold - self.score(self.bent(x.astype(float)))

    def shares_one(self, x, out=None):
        self.check_fitted()
        x = as_floats(x, self.dtype, 1, self.n_features, self.owner)
        if not np.isfinite(x @ x):
            raise refusal(
                Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, self.labels.in_slots
            )
        drops = np.maximum(self.drops(self.bent(x.astype(float))), 0)
        shares = drops / drops.sum() if drops.any() else np.full(len(x), 1 / len(x))
        if out is None:
            return shares
        as_out(out, shares.shape)[:] = shares
        return out
