"""What all novelty learners do, compiled: scale, score, hold the score against a threshold, learn.

**Scales.** Mean and spread of each feature follow Welford's recurrence over the samples learned.
Scaled is z = (x - mean) / deviation, cut at -8 and 8 to be learned. To be scored it goes on slowly,
as 8 + log(z / 8), to 24: one wild feature does not outweigh all others, and what is stranger still
scores more. A feature that never varied, and now does, is 8 away.

**The threshold** is a quantile that is rarely reached, so it is found in three steps. `mean` and
`variance` of the scores weigh sample t by t. The level that a tenth is above, and the threshold:

    level = mean + deviation (z + d),    threshold = level + deviation e (log(0.1 / rate) + c)

with z the normal distribution's quantile and e the mean excess above the level, in deviations: an
exponential tail (as in peaks over threshold: Pickands 1975; Siffer et al. 2017). d and c correct
both by what was in fact above, with steps that end (Robbins & Monro 1951):

    d += 2 (above - 0.1) / (density (n + 20)),    c += 2 (alarm / rate - 1) / (n + 1 / rate)

with c at least -log(0.1 / rate): the threshold is no lower than the level.

**What alarms is not learned**, nor is anything until CALM samples in a row raise no alarm. The
threshold stands still too, and the first alarm moves it when the last is over: a fault that lasts
counts once, even where half its samples look normal. After `until` samples learned, all stands
still for good.

**A stuck sensor.** A feature that changed at nine of ten samples so far, those of stuck sensors
aside, and then at none of STUCK_AFTER is stuck until it changes again; as is the whole sample.
Meanwhile nothing is learned, an alarm or followed: of many equal samples the scales and the
threshold would shrink to nothing.

**Alarms that do not end.** `lately.alarms` is their share of about the last 700 samples. From LOST
on the learner is lost, until it is below FOUND. Once that has lasted more samples than it learned,
or PATIENCE, it starts over, unless it stands still.

Bytes: 16 D + D s + 96, s the dtype's size; D s + 4 D + 36 to look back; and the scratch of a
subclass.
"""

cimport numpy as cnp
from libc.math cimport copysign, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.logistic cimport log_
from edgesvm.core.moments cimport welford
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

import numpy as np

from edgesvm.contract.inputs import as_out

cnp.import_array()

cdef int64_t CALM, SETTLED
cdef double CLIP, REACH, ABOVE, Z_ABOVE, DENSITY, FIRST_EXCESS
cdef double LEVEL_AFTER, EXCESS_AFTER, ALARMS_AFTER
cdef int64_t STUCK_AFTER, COSTS, MOST_LIVELY, PATIENCE
cdef double LATELY, LOST, FOUND
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


cdef double bent(double far) noexcept nogil:
    """far up to CLIP, from there on CLIP + log(far / CLIP), at most REACH"""
    if fabs(far) <= CLIP:
        return far
    return copysign(fmin(CLIP + log_(fmin(fabs(far), 1e300) / CLIP), REACH), far)


cdef double cut(double far) noexcept nogil:
    return fmin(fmax(far, -CLIP), CLIP)


cdef bint is_count(double number, int64_t most) noexcept nogil:
    return 0.0 <= number <= most and number == <double> <int64_t> number


cdef class NoveltyCore(LearnerCore):
    """State and step. The public class has checked the parameters.

    Parameters
    ----------
    rate : float, of false alarms
    warm_up : int, samples that are learned whatever they score
    learns_all : bool
    until : int, samples after which nothing is learned; 0: there is no such number
    """

    def __init__(self, *common, rate, warm_up, learns_all, until):
        super().__init__(*common)
        self.one_class = True
        self.rate, self.warm_up = rate, warm_up
        self.learns_all, self.until = learns_all, until
        self.log_ratio = log_(ABOVE / rate)
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.scaled = self.array("scaled")
        self.tail = <Tail *> self.array("tail")
        self.n_scored = <int64_t *> self.array("n_scored")
        self.n_alarms = <int64_t *> self.array("n_alarms")
        self.alarmed = <int64_t *> self.array("alarmed")
        self.looks_back = "lately" in self.views
        if self.looks_back:
            self.values = self.array("values")
            self.repeats = <int16_t *> self.array("repeats")
            self.lively = <int16_t *> self.array("lively")
            self.lately = <Lately *> self.array("lately")
        self.n_scratch = len(self.views["scratch"]) if "scratch" in self.views else 0
        self.scratch = <double *> self.array("scratch") if self.n_scratch else NULL

    cdef double score(self) noexcept nogil:
        return 0.0

    cdef void learn_scaled(self) noexcept nogil:
        pass

    cdef void forget_scaled(self) noexcept nogil:
        pass

    cdef void drops(self, double *out) noexcept nogil:
        pass

    cdef int64_t n_kept(self) noexcept nogil:
        """Samples that the scales have learned."""
        return self.common.n_updates

    cdef int64_t n_fitted(self) noexcept nogil:
        """Those of them that the model has learned: all but the first, whose scales say little."""
        return max(self.n_kept() - SETTLED, 0)

    cdef bint is_frozen(self) noexcept nogil:
        return self.only_looks_on or 0 < self.until <= self.n_kept()

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double score
        cdef bint alarm, resting
        cdef Status status = UNCHANGED
        if not self.can_keep(x):
            return NOT_FINITE
        if self.takes_as_normal:
            self.learn_kept(x)
            self.wipe()
            return CHANGED
        if self.looks_back and self.repeats_itself(x):
            return UNCHANGED
        if self.looks_back and self.has_lost() and not self.is_frozen():
            self.forget()
        resting = self.is_frozen() or (self.alarmed[0] and not self.learns_all)
        self.scale(x, self.n_kept(), True)
        score = self.score()
        alarm = self.n_kept() >= self.warm_up and score > self.threshold_now()
        if self.n_kept() >= SETTLED and not self.is_frozen():
            self.follow_unless_held(score, alarm)
        self.alarmed[0] = CALM if alarm else max(self.alarmed[0] - 1, 0)
        self.n_alarms[0] += alarm
        if self.looks_back and self.n_kept() >= self.warm_up:
            self.look_back(alarm)
        if not resting and (self.learns_all or not alarm):
            self.learn_kept(x)
            status = CHANGED
        self.wipe()
        return status

    cdef void learn_kept(self, const void *x) noexcept nogil:
        """Take x into scales and model."""
        self.keep(x)
        if self.n_kept() >= SETTLED:
            self.scale(x, self.n_kept() + 1, False)
            self.learn_scaled()

    cdef bint can_keep(self, const void *x) noexcept nogil:
        """Whether the statistics stay finite with x."""
        cdef int64_t j
        cdef double delta
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return False
        for j in range(self.n_features):
            delta = entry(self.is_float32, x, j) - self.mean[j]
            if not isfinite(self.spread[j] + delta * delta):
                return False
        return True

    cdef void keep(self, const void *x) noexcept nogil:
        """Take x into the scales."""
        cdef int64_t j
        cdef double share = 1.0 / (self.n_kept() + 1)
        for j in range(self.n_features):
            welford(entry(self.is_float32, x, j), share, self.mean[j], self.spread[j],
                    self.mean + j, self.spread + j)

    cdef void scale(self, const void *x, int64_t n, bint bends) noexcept nogil:
        """scaled = (x - mean) / deviation, by the n samples kept: bent beyond CLIP, or cut there"""
        cdef int64_t j
        cdef double far, variance, share = 1.0 / n if n else 0.0
        for j in range(self.n_features):
            far = entry(self.is_float32, x, j) - self.mean[j]
            variance = self.spread[j] * share
            if variance > 0.0:
                far = bent(far / sqrt(variance)) if bends else cut(far / sqrt(variance))
            elif far != 0.0:
                far = copysign(CLIP, far)
            put(self.is_float32, self.scaled, j, far)

    # -- sensors that are stuck, and alarms that do not end ----------------------------------------

    cdef bint repeats_itself(self, const void *x) noexcept nogil:
        """Take note of which values are those of the sample before; whether any is stuck."""
        cdef int64_t j, D = self.n_features
        cdef bint first = self.n_per_class[1] == 0, any_changed = False, stuck = False
        cdef double value
        for j in range(D):
            value = entry(self.is_float32, x, j) + 0.0  # of -0.0 it makes 0.0
            if first or value != entry(self.is_float32, self.values, j):
                self.repeats[j], any_changed = 0, True
            else:
                self.repeats[j] = <int16_t> min(self.repeats[j] + 1, STUCK_AFTER)
            put(self.is_float32, self.values, j, value)
        self.repeats[D] = 0 if any_changed else <int16_t> min(self.repeats[D] + 1, STUCK_AFTER)
        for j in range(D + 1):
            stuck = stuck or self.is_stuck(j)
        if stuck:
            self.lately.n_stuck += 1.0
            return True
        for j in range(D + 1):
            if self.repeats[j] == 0:
                self.lively[j] = <int16_t> min(self.lively[j] + 1, MOST_LIVELY)
            else:
                self.lively[j] = <int16_t> max(self.lively[j] - COSTS, -MOST_LIVELY)
        return False

    cdef bint is_stuck(self, int64_t j) noexcept nogil:
        """Whether feature j is; j = n_features: the sample. A feature that has hardly ever changed
        may be meant so; a sample may not."""
        cdef int64_t least = 0 if j == self.n_features else STUCK_AFTER
        return (self.repeats[j] >= STUCK_AFTER
                and self.lively[j] + COSTS * (STUCK_AFTER - 1) >= least)

    cdef void look_back(self, bint alarm) noexcept nogil:
        cdef Lately *now = self.lately
        now.alarms += LATELY * (alarm - now.alarms)
        if now.lost_for > 0.0:
            now.lost_for = now.lost_for + 1.0 if now.alarms >= FOUND else 0.0
        elif now.alarms >= LOST:
            now.lost_for = 1.0
            now.n_lost += 1.0

    cdef bint has_lost(self) noexcept nogil:
        """Whether it has been lost for more samples than what it knows is of."""
        return self.lately.lost_for > min(self.n_kept(), PATIENCE)

    cdef void forget(self) noexcept nogil:
        """What is normal; not what was counted."""
        self.common.n_updates = 0
        memset(self.mean, 0, self.n_features * sizeof(double))
        memset(self.spread, 0, self.n_features * sizeof(double))
        memset(self.tail, 0, sizeof(Tail))
        self.n_scored[0] = self.alarmed[0] = 0
        self.lately.alarms = self.lately.lost_for = 0.0
        self.forget_scaled()

    @property
    def stuck(self):
        """Numbers of the features that are stuck; all, if the sample is."""
        cdef int64_t j
        if not self.looks_back:
            return []
        if self.is_stuck(self.n_features):
            return list(range(self.n_features))
        return [j for j in range(self.n_features) if self.is_stuck(j)]

    cdef void wipe(self) noexcept nogil:
        memset(self.scaled, 0, self.n_features * item_bytes(self.is_float32))
        if self.scratch != NULL:
            memset(self.scratch, 0, self.n_scratch * sizeof(double))

    # -- the threshold -----------------------------------------------------------------------------

    cdef double level_now(self) noexcept nogil:
        return self.tail.mean + sqrt(self.tail.variance) * (Z_ABOVE + self.tail.level)

    cdef double threshold_now(self) noexcept nogil:
        cdef double scale = sqrt(self.tail.variance) * (FIRST_EXCESS + self.tail.excess)
        return self.level_now() + scale * (self.log_ratio + self.tail.shift)

    cdef void follow_unless_held(self, double score, bint alarm) noexcept nogil:
        """Learn one more score; of alarms the first, when they are over, so that a fault does not
        lift the threshold above itself."""
        if self.learns_all or not (alarm or self.alarmed[0]):
            self.follow(score)
        elif alarm and not self.alarmed[0]:
            self.tail.held = score
        elif not alarm and self.alarmed[0] == 1:
            self.follow(self.tail.held)
            self.tail.held = 0.0

    cdef void follow(self, double score) noexcept nogil:
        """Learn one more score."""
        cdef Tail *t = self.tail
        cdef int64_t n = self.n_scored[0]
        cdef double level = self.level_now(), deviation = sqrt(t.variance), share, far
        cdef bint above = score > level, alarm = score > self.threshold_now()
        if deviation > 0.0:
            t.shift += 2.0 * (alarm / self.rate - 1.0) / (n + ALARMS_AFTER / self.rate)
            t.shift = fmax(t.shift, -self.log_ratio)
            t.level += 2.0 * (above - ABOVE) / (DENSITY * (n + LEVEL_AFTER))
            if above:
                t.n_above += 1.0
                far = (score - level) / deviation - FIRST_EXCESS
                t.excess += 2.0 / (t.n_above + EXCESS_AFTER) * (far - t.excess)
        share = 2.0 / (n + 2.0)
        far = score - t.mean
        t.mean += share * far
        t.variance = (1.0 - share) * (t.variance + share * far * far)
        self.n_scored[0] = n + 1

    @property
    def threshold(self):
        """The score from which a sample is an alarm."""
        return self.threshold_now()

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        self.scale(x, self.n_kept(), True)
        value[0] = self.threshold_now() - self.score()
        self.wipe()
        return UNCHANGED if isfinite(value[0]) else NOT_FINITE

    def shares_one(self, x, out=None):
        """Which features make a sample strange, ndarray of shape (n_features,); `out` if given."""
        cdef cnp.ndarray row = self.row_to_decide(x)
        if self.successor is not None:
            return self.successor.shares_one(x, out)
        self.check_fitted()
        if out is None:
            out = np.empty(self.n_features)
        elif not self.is_out(out, 1, self.n_features):
            as_out(out, (self.n_features,))
        self.refuse(self.shares(
            cnp.PyArray_DATA(row), <double *> cnp.PyArray_DATA(<cnp.ndarray> out)))
        return out

    cdef Status shares(self, const void *x, double *out) noexcept nogil:
        """out = drops / sum(drops), where one is positive"""
        cdef int64_t j
        cdef double total = 0.0
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        self.scale(x, self.n_kept(), True)
        self.drops(out)
        self.wipe()
        for j in range(self.n_features):
            out[j] = fmax(out[j], 0.0)
            total += out[j]
        for j in range(self.n_features):
            out[j] = out[j] / total if total > 0.0 else 1.0 / self.n_features
        return UNCHANGED

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        cdef int64_t n = self.n_learned(), kept = self.n_kept(), alarms = self.n_alarms[0], j
        if found == NULL and self.looks_back:
            found = self.fault_of_looking_back(n)
        if found != NULL:
            return found
        if self.n_per_class[0] or self.n_scored[0] > n or alarms > n:
            return b"the snapshot's counts of scores are inconsistent"
        if self.looks_back:     # samples of stuck sensors are not learned
            if kept > (min(n, self.until) if self.until else n) or (
                    kept + alarms > n and not self.learns_all):
                return b"the snapshot's counts of alarms are inconsistent"
        elif self.until:
            if kept != min(n, self.until) or alarms > n - kept:
                return b"the snapshot's counts of alarms are inconsistent"
        elif kept != n if self.learns_all else kept + alarms > n:
            return b"the snapshot's counts of alarms are inconsistent"
        if self.alarmed[0] > CALM or (self.tail.held != 0.0 and not self.alarmed[0]):
            return b"the snapshot holds the score of an alarm that is over"
        for j in range(self.n_features):
            if self.spread[j] < 0.0:
                return b"the snapshot has a negative sum of squared deviations"
        if self.tail.variance < 0.0 or not 0.0 <= self.tail.n_above <= self.n_scored[0]:
            return b"the snapshot's tail of the scores is inconsistent"
        if self.tail.excess < -FIRST_EXCESS or not isfinite(self.threshold_now()):
            return b"the snapshot's threshold is not one of any scores"
        return NULL

    cdef const char *fault_of_looking_back(self, int64_t n) noexcept nogil:
        cdef Lately *now = self.lately
        cdef int64_t j
        if not 0.0 <= now.alarms <= 1.0 or not (
                is_count(now.n_stuck, n) and is_count(now.n_lost, n) and is_count(now.lost_for, n)):
            return b"the snapshot's counts of stuck samples are inconsistent"
        for j in range(self.n_features + 1):
            if not 0 <= self.repeats[j] <= STUCK_AFTER:
                return b"the snapshot's counts of repeated values are inconsistent"
        return NULL
