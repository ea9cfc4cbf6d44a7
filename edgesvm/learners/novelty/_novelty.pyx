"""What all novelty learners do, compiled: scale, score, hold the score against a threshold, learn.

**Scales.** Mean and spread of each feature follow Welford's recurrence over the samples learned.
Scaled is z = (x - mean) / deviation, cut at -8 and 8 to be learned, from the 20th sample on by the
scales too: one spike does not ruin them. To be scored it goes on slowly, as 8 + log(z / 8), to 24:
one wild feature does not outweigh all others, and what is stranger still scores more. A feature
that never varied, and now does, is 8 away.

**The threshold** is a quantile that is rarely reached. `mean` and `variance` of the scores weigh
score t by t. The level that a tenth is above, and the threshold:

    level = mean + deviation (z + d),    threshold = level + deviation e (log(0.1 / rate) + c + s)

with z the normal distribution's quantile and e the mean excess above the level, in deviations: an
exponential tail (as in peaks over threshold: Pickands 1975; Siffer et al. 2017). d and c correct
both by what was in fact above, the level and the threshold without s, with steps that end (Robbins
& Monro 1951):

    d += 2 (above - 0.1) / (density (n + 20)),    c += (above / rate - 1) / (n + 1 / rate)

s follows the alarms, with steps that never end (adaptive conformal inference: Gibbs & Candes 2021;
the integral term of Angelopoulos, Candes & Tibshirani 2023):

    u += alarm - rate,    s = 2 u + max(u, 0)^3 / 2;    c and 2 u at least -log(0.1 / rate)

So T samples have at most rate T + U alarms whatever they are, where U is the u at which no score is
above the threshold; the cube keeps it small.

**Alarms.** What is held against the threshold is the k-th largest of the last n scores. An alarm
begins where it is above and ends after `calm` samples of which none is within one e of it. It
counts if none did within `apart` samples, when it is over, lest it end itself; and again at once
for every 1 / rate samples that it lasts. During an alarm nothing is learned and u does not sink.

**Never for ever.** `share` is that of alarms among about the last 350 samples. Above LOST the
learner is lost: it keeps its model as the former one and learns anew, RELEARNED samples before the
next alarm. Where the former model explains BACK samples in a row and the new one
does not, it comes back. A model that stands still only learns its threshold anew.

**A stuck sensor.** A feature that changed at nine of ten samples so far, those of stuck sensors
aside, and then at none of STUCK_AFTER is stuck until it changes again; as is the whole sample.
Meanwhile nothing is learned, an alarm or followed: of many equal samples the scales and the
threshold would shrink to nothing.

Bytes: 96 + D s, and twice 64 + 8 n + 16 D and what a subclass adds; D (s + 4) + 4 for sensors; and
the scratch of a subclass.
"""

cimport numpy as cnp
from libc.math cimport copysign, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.logistic cimport log_
from edgesvm.core.moments cimport welford
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

import numpy as np

from edgesvm.contract.inputs import as_out

cnp.import_array()

cdef int64_t SCALED, SETTLED, STUCK_AFTER, COSTS, MOST_LIVELY, RELEARNED
cdef double CLIP, REACH, TINY, ABOVE, Z_ABOVE, DENSITY, FIRST_EXCESS, LEVEL_AFTER, EXCESS_AFTER
cdef double GAIN, CALM, LEAST_CALM, MOST_CALM, APART, MOST_APART, LATELY, LOST, BACK, FARTHEST
cdef double MOST_LEVEL
from edgesvm.learners.novelty.constants import (
    ABOVE,
    APART,
    BACK,
    CALM,
    CLIP,
    COSTS,
    DENSITY,
    EXCESS_AFTER,
    FARTHEST,
    FIRST_EXCESS,
    GAIN,
    LATELY,
    LEAST_CALM,
    LEVEL_AFTER,
    LOST,
    MOST_APART,
    MOST_CALM,
    MOST_LEVEL,
    MOST_LIVELY,
    REACH,
    RELEARNED,
    SCALED,
    SETTLED,
    STUCK_AFTER,
    TINY,
    Z_ABOVE,
)


cdef double bent(double far) noexcept nogil:
    """far up to CLIP, from there on CLIP + log(far / CLIP), at most REACH"""
    if fabs(far) <= CLIP:
        return far
    return copysign(fmin(CLIP + log_(fmin(fabs(far), 1e300) / CLIP), REACH), far)


cdef double cut(double far) noexcept nogil:
    return fmin(fmax(far, -CLIP), CLIP)


cdef double kth_largest(const double *x, int64_t n, int64_t k) noexcept nogil:
    cdef int64_t i, j, before
    cdef double found = x[0]
    for i in range(n):
        before = 0
        for j in range(n):
            before += x[j] > x[i] or (x[j] == x[i] and j < i)
        if before == k - 1:
            found = x[i]
    return found


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
    k, n : int, an alarm begins where k of the last n scores are above the threshold
    """

    def __init__(self, *common, rate, warm_up, learns_all, until, k, n):
        super().__init__(*common)
        self.one_class = True
        self.rate, self.warm_up = rate, warm_up
        self.learns_all, self.until = learns_all, until
        self.k, self.n = k, n
        self.log_ratio = log_(ABOVE / rate)
        self.calm = min(max(CALM / rate, LEAST_CALM), MOST_CALM)
        self.apart = min(max(APART / rate, LEAST_CALM), MOST_APART)
        self.n_strange = <int64_t *> self.array("n_strange")
        self.n_alarms = <int64_t *> self.array("n_alarms")
        self.alarm = <Alarm *> self.array("alarm")
        self.scaled = self.array("scaled")
        self.model = self.array("n_kept")
        self.former = self.array("former_n_kept")
        self.kept = <int64_t *> self.array("n_kept")
        self.n_scored = <int64_t *> self.array("n_scored")
        self.recent = <double *> self.array("recent")
        self.tail = <Tail *> self.array("tail")
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.looks_back = "values" in self.views
        if self.looks_back:
            self.values = self.array("values")
            self.repeats = <int16_t *> self.array("repeats")
            self.lively = <int16_t *> self.array("lively")
        self.n_scratch = len(self.views["scratch"]) if "scratch" in self.views else 0
        self.scratch = <double *> self.array("scratch") if self.n_scratch else NULL

    cdef double score(self) noexcept nogil:
        return 0.0

    cdef void learn_scaled(self) noexcept nogil:
        pass

    cdef void drops(self, double *out) noexcept nogil:
        pass

    cdef int64_t n_kept(self) noexcept nogil:
        """Samples that the scales have learned."""
        return self.kept[0]

    cdef int64_t n_fitted(self) noexcept nogil:
        """Those of them that the model has learned: all but the first, whose scales say little."""
        return max(self.n_kept() - SETTLED, 0)

    cdef bint is_frozen(self) noexcept nogil:
        return self.only_looks_on or 0 < self.until <= self.n_kept()

    cdef bint is_warm(self) noexcept nogil:
        """Whether an alarm is one: after the warm-up, and after every start anew."""
        if self.alarm.n_lost > 0.0:
            return self.n_scored[0] >= RELEARNED
        return self.n_kept() >= self.warm_up

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double score, judged, threshold
        cdef bint warm, strange
        cdef Status status = UNCHANGED
        if not self.can_keep(x):
            return NOT_FINITE
        if self.takes_as_normal:
            self.learn_kept(x)
            self.wipe()
            return CHANGED
        if self.looks_back and self.repeats_itself(x):
            return UNCHANGED
        self.ask_former(x)
        warm = self.is_warm()
        judged, threshold = self.judge(x, &score), self.threshold_now()
        strange = warm and score > threshold
        self.n_strange[0] += strange
        self.control(warm, self.turn(warm, judged, threshold), judged, threshold)
        if not self.is_frozen() and (not warm or self.learns_all or not (
                strange or self.alarm.on > 0.0)):
            self.learn_kept(x)
            status = CHANGED
        if self.alarm.share > LOST:
            self.start_over()
        self.wipe()
        return status

    cdef double judge(self, const void *x, double *score) noexcept nogil:
        """The score of x; returned is the k-th largest of the last n."""
        self.scale(x, self.n_kept(), True)
        score[0] = self.score()
        memmove(self.recent, self.recent + 1, (self.n - 1) * sizeof(double))
        self.recent[self.n - 1] = score[0]
        return kth_largest(self.recent, self.n, self.k)

    cdef void learn_kept(self, const void *x) noexcept nogil:
        """Take x into scales and model."""
        self.keep(x)
        if self.n_kept() > SETTLED:
            self.scale(x, self.n_kept(), False)
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
        """Take x into the scales, once there are some no farther than CLIP deviations."""
        cdef int64_t j, n = self.n_kept()
        cdef double share = 1.0 / (n + 1), value, reach
        for j in range(self.n_features):
            value = entry(self.is_float32, x, j)
            reach = CLIP * sqrt(self.spread[j] / n) if n >= SCALED else 0.0
            if reach > 0.0:
                value = fmin(fmax(value, self.mean[j] - reach), self.mean[j] + reach)
            welford(value, share, self.mean[j], self.spread[j], self.mean + j, self.spread + j)
        self.kept[0] += 1

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
            self.alarm.n_stuck += 1.0
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

    # -- alarms ------------------------------------------------------------------------------------

    cdef bint turn(self, bint warm, double judged, double threshold) noexcept nogil:
        """Turn the alarm on or off; whether one begins."""
        cdef Alarm *a = self.alarm
        cdef double before = a.on
        a.since += 1.0
        if warm and judged > threshold - a.on * self.unit_now():
            a.on, a.calm = 1.0, 0.0
        elif a.on > 0.0:
            a.calm += 1.0
            if a.calm >= self.calm:
                self.end_alarm()
        a.share += LATELY * (a.on - a.share)
        return a.on > before

    cdef void end_alarm(self) noexcept nogil:
        """What lifts the threshold waits for this, so that an alarm does not end itself."""
        cdef Alarm *a = self.alarm
        a.integral += a.owed
        a.on = a.calm = a.owed = 0.0

    cdef void control(
        self, bint warm, bint began, double judged, double threshold
    ) noexcept nogil:
        """Let the threshold follow: the tail what is calm, the integral the alarms that count."""
        cdef Alarm *a = self.alarm
        cdef bint first, counts
        if self.n_kept() < SETTLED:
            return
        self.n_alarms[0] += began
        first = began and a.since >= self.apart if warm else (
            judged > threshold and a.since >= LEAST_CALM)
        counts = first or (a.on > 0.0 and a.since * self.rate >= 1.0)
        if counts:
            a.since = 0.0
        if not (warm and self.is_frozen()):
            if first or not warm:   # one spike does not make a tail
                self.follow(fmin(judged, threshold) if self.n_scored[0] >= SCALED else judged)
            elif self.learns_all or a.on == 0.0:
                self.follow(judged)
        if warm and first:
            a.owed = 1.0
        elif a.on > 0.0:
            a.integral += counts
        elif self.tail.variance > 0.0:
            a.integral = fmax(a.integral + counts - self.rate, -self.log_ratio / GAIN)

    cdef void start_over(self) noexcept nogil:
        """Learn anew what is normal, the former model beside; frozen, the threshold alone."""
        cdef Alarm *a = self.alarm
        self.end_alarm()
        a.n_lost += 1.0
        a.lost = 1.0
        a.share = a.back = 0.0
        if self.is_frozen():
            self.n_scored[0] = 0
            memset(self.tail, 0, sizeof(Tail))
        else:
            memcpy(self.former, self.model, self.n_bytes())
            memset(self.model, 0, self.n_bytes())

    cdef void ask_former(self, const void *x) noexcept nogil:
        """Go back to the former model where it explains what comes, and the new one does not."""
        cdef Alarm *a = self.alarm
        cdef double score
        if self.is_warm():
            a.lost = 0.0
        if (<const int64_t *> self.former)[0] == 0:
            return
        self.exchange()
        a.back = a.back + 1.0 if self.judge(x, &score) <= self.threshold_now() else 0.0
        if a.back < BACK or not a.on + a.lost > 0.0:
            self.exchange()
        if a.back >= BACK:
            self.end_alarm()
            a.share = a.back = a.lost = 0.0
            memset(self.former, 0, self.n_bytes())

    cdef int64_t n_bytes(self) noexcept nogil:
        """Of a model."""
        return <int64_t> (self.former - self.model)

    cdef void exchange(self) noexcept nogil:
        """The former model for this one."""
        cdef int64_t *one = <int64_t *> self.model
        cdef int64_t *other = <int64_t *> self.former
        cdef int64_t i, word
        for i in range(self.n_bytes() // sizeof(int64_t)):
            word = one[i]
            one[i] = other[i]
            other[i] = word

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

    cdef double unit_now(self) noexcept nogil:
        return sqrt(self.tail.variance) * (FIRST_EXCESS + self.tail.excess)

    cdef double threshold_now(self) noexcept nogil:
        cdef double u = self.alarm.integral, risen = fmax(u, 0.0)
        return self.settled_now() + self.unit_now() * u * (GAIN + 0.5 * risen * risen)

    cdef double settled_now(self) noexcept nogil:
        """The threshold without what follows the alarms."""
        return self.level_now() + self.unit_now() * (self.log_ratio + self.tail.shift)

    cdef void follow(self, double score) noexcept nogil:
        """Learn one more score."""
        cdef Tail *t = self.tail
        cdef int64_t n = self.n_scored[0]
        cdef double level = self.level_now(), deviation = sqrt(t.variance), share, far
        cdef bint above = score > level, far_above = score > self.settled_now()
        if deviation > 0.0:
            t.shift += (far_above / self.rate - 1.0) / (n + 1.0 / self.rate)
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
        if value[0] == 0.0:
            value[0] = TINY     # no alarm
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
        cdef const Alarm *a = self.alarm
        cdef int64_t n = self.n_learned(), j
        if found != NULL:
            return found
        if self.n_per_class[0] or self.n_strange[0] > n or self.n_alarms[0] > n:
            return b"the snapshot's counts of alarms are inconsistent"
        if not (-MOST_LEVEL <= a.integral <= n and 0.0 <= a.share <= 1.0
                and is_count(a.on, 1) and is_count(a.lost, 1) and is_count(a.owed, 1)
                and is_count(a.calm, n) and is_count(a.since, n) and is_count(a.back, n)
                and is_count(a.n_lost, n) and is_count(a.n_stuck, n)):
            return b"the snapshot's alarm is not one of any samples"
        for j in range(self.n_features + 1 if self.looks_back else 0):
            if not 0 <= self.repeats[j] <= STUCK_AFTER:
                return b"the snapshot's counts of repeated values are inconsistent"
        found = self.fault_of_model(n)
        if found == NULL:
            self.exchange()
            found = self.fault_of_model(n)
            self.exchange()
        return found

    cdef const char *fault_of_model(self, int64_t n) noexcept nogil:
        """Of the model in use, or of the former one in its place."""
        cdef const Tail *t = self.tail
        cdef int64_t j
        if self.kept[0] > (min(n, self.until) if self.until else n) or self.n_scored[0] > n:
            return b"the snapshot's counts of scores are inconsistent"
        for j in range(self.n_features):
            if self.spread[j] < 0.0:
                return b"the snapshot has a negative sum of squared deviations"
        for j in range(self.n):
            if fabs(self.recent[j]) > FARTHEST:
                return b"the snapshot's recent scores are not those of any samples"
        if not (fabs(t.mean) <= FARTHEST and 0.0 <= t.variance <= 4.0 * FARTHEST * FARTHEST
                and fabs(t.level) <= MOST_LEVEL and 0.0 <= t.n_above <= self.n_scored[0]
                and -MOST_LEVEL <= t.shift <= self.n_scored[0]):
            return b"the snapshot's tail of the scores is inconsistent"
        if not (-FIRST_EXCESS <= t.excess <= FARTHEST and isfinite(self.threshold_now())):
            return b"the snapshot's threshold is not one of any scores"
        return NULL
