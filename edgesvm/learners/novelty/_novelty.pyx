"""Novelty learners, compiled: scale, score, hold the score against a threshold, learn.

Scales, alarms, what is held apart, and sensors that are stuck are as the public classes say.
Learned are z = (x - mean) / deviation cut at -8 and 8, from the 20th sample on by the scales too. A
feature that never varied, and now does, is 8 away.

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

**The gate** is what a tenth of the single scores is above, whatever alarms are asked for. With p
the probability that K of N are, it is, without c and s,

    gate = level + deviation e log(0.1 / p)

**GaussianNovelty.** With every sample kept, z in deviations, A += z z', from A = I on: one more
sample of features that do not go together, so A has an inverse from the first on. The score is

    sqrt(n z' A^-1 z / D),  n the rows in A;  diagonal:  sqrt(z' z / D)

**KernelNovelty.** With the centres c_1 .. c_M, K their Gaussian kernel and k that of a sample with
them, the share of the sample's squared length 1 that lies in their span, up to noise v, and the
score are

    e = k' (K + v I)^-1 k,    score = -log(e)

A sample is a new centre of count 1. Where there is no room, the two of least

    cost = a b / (a + b) |c_i - c_j|^2,  a, b their counts (Ward 1963)

are replaced by their mean, the new one among them. L L' = K + v I is kept packed. Compact, centres
and samples are codes of 16 bits (core/codes) and L is float32.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, copysign, fabs, fmax, fmin, isfinite, rint, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.codes cimport CODES_PER_UNIT, code_distances, code_of
from edgesvm.core.kernels cimport exp_
from edgesvm.core.linalg cimport any_dot, dot, entry, item_bytes, put
from edgesvm.core.logistic cimport log_
from edgesvm.core.moments cimport welford
from edgesvm.core.packed_factor cimport (
    PackedFactor,
    factor_add_outer,
    factor_backward,
    factor_forward,
    packed,
    triangle_forward,
    triangle_remove,
)
from edgesvm.core.rows cimport square_distances
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

cnp.import_array()

cdef double REACH = 24.0        # deviations that a feature can count for
cdef double CLIP = 8.0          # deviations: a feature that is farther out says little more
cdef int64_t SETTLED = 10       # samples that only the scales learn
cdef int64_t SCALED = 20        # samples after which a value counts as at most CLIP deviations
cdef double TINY = 1e-300
cdef double FARTHEST = 1e100    # largest score: its square is a number

# The threshold. Scores are held against a normal distribution's tenth from above, a place that many
# samples settle; what lies above it has an exponential tail.
cdef double ABOVE = 0.1         # share of the samples above the level
cdef double Z_ABOVE = 1.2815515655446004    # that quantile of the standard normal distribution
cdef double DENSITY = 0.17549833193248682   # and its density there
cdef double FIRST_EXCESS = 0.5  # mean excess above the level, in deviations, before any is seen
cdef double LEVEL_AFTER = 20.0, EXCESS_AFTER = 4.0  # samples that the first guesses count for

# What stops a feature that used to change with nearly every sample from being learned.
cdef int64_t STUCK_AFTER = 50   # samples of the same value; there are seven such places in NAB's 58
cdef int64_t COSTS = 9          # changes that make up for one sample without
cdef int64_t MOST_LIVELY = 30000    # changes in a row that are remembered

# Alarms, and what is held apart. Chosen over 17 quiet series in time order and nine sets of faults.
cdef double GAIN = 2.0          # mean excesses by which one more alarm lifts the threshold
cdef double LASTS = 10.0        # samples that an alarm is on
cdef double GROWS = 1.25        # times by which its excess above the gate grows in the next one
cdef double LATELY = 0.0027725887222397811      # log(2) / 250: half of what is recent, after 250
cdef double MOST_EXCESS = 9.2   # of them that a score counts for in the tail: one in 10^5 is above
cdef double STRANGE = 4.0       # samples above the gate, less EASES for each below, begin a hold
cdef double EASES = 0.5
cdef double CALM = 5.0          # in a row below, that end it, or of an alarm below the threshold
cdef double SINKS = 0.1         # mean excesses by which the threshold sinks with each sample held
cdef int64_t KNOWN = 250        # samples held apart that can explain others


cdef struct Tail:           # of the scores; see `threshold_now`
    double mean
    double variance
    double level
    double excess           # less FIRST_EXCESS
    double n_above
    double shift

cdef struct Alarm:          # whole numbers but for the first two and `highest`
    double integral         # of the alarms, less those asked for
    double share            # of alarms among the recent samples
    double on               # whether an alarm is
    double strange          # samples lately above the gate, less some, while none are held
    double age              # samples for which an alarm of what is strange now was on
    double highest          # that was judged of it
    double lost             # whether what is held apart can explain samples
    double calm             # samples in a row that may end what is strange
    double n_lost           # times that it could
    double n_stuck          # samples in which a feature was stuck


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


cdef class NoveltyCore(LearnerCore):
    """A subclass overrides `score`, `learn_scaled` and `drops`, which read `scaled`."""
    cdef readonly double rate        # of false alarms
    cdef readonly double log_ratio   # log(ABOVE / rate)
    cdef readonly double gate        # mean excesses between level and gate
    cdef readonly int64_t k
    cdef readonly int64_t n
    cdef public int64_t warm_up      # samples learned whatever they score
    cdef readonly bint learns_all
    cdef readonly int64_t until      # samples learned before nothing is any more; 0: no end
    cdef public bint only_looks_on   # nothing is learned, as if it were frozen
    cdef char *scaled       # (n_features,): TMP, the sample in deviations
    cdef double *scratch    # (n_scratch,): TMP, a subclass cuts it
    cdef readonly int64_t n_scratch
    cdef int64_t *n_strange  # samples above the threshold
    cdef int64_t *n_alarms
    cdef Alarm *alarm
    # The model, from `n_kept` to `former`, those of a subclass included; as many bytes of what is
    # held apart are behind it.
    cdef char *model
    cdef char *former
    cdef int64_t *kept      # samples that the scales have learned; 0: there is no such model
    cdef int64_t *n_scored  # samples that `tail` is of
    cdef double *recent     # (n,): the last scores
    cdef Tail *tail
    cdef double *mean       # (n_features,)
    cdef double *spread     # (n_features,): sum of squared deviations
    cdef readonly bint looks_back    # whether there are the following; see `repeats_itself`
    cdef public bint takes_as_normal    # all is learned, whatever it scores
    cdef char *values       # (n_features,): the sample before
    # Samples, up to STUCK_AFTER, since a value changed, and last, since any did.
    cdef int16_t *repeats   # (n_features + 1,)
    cdef int16_t *lively    # (n_features + 1,): samples at which it did, less COSTS for each other

    def __init__(self, *common, rate, warm_up, learns_all, until, k, n, gate):
        super().__init__(*common)
        self.one_class = True
        self.rate, self.warm_up = rate, warm_up
        self.learns_all, self.until, self.k, self.n = learns_all, until, k, n
        self.log_ratio, self.gate = log_(ABOVE / rate), gate
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
        """How strange it is."""
        return 0.0

    cdef void learn_scaled(self) noexcept nogil:
        pass

    cdef void drops(self, double *out) noexcept nogil:
        """out[j]: how much less strange with feature j as the others say; some < 0 is 0"""

    cdef int64_t n_kept(self) noexcept nogil:
        """Samples that the scales have learned."""
        return self.kept[0]

    cdef int64_t n_fitted(self) noexcept nogil:
        """Those of them that the model has learned: all but the first, whose scales say little."""
        return max(self.n_kept() - SETTLED, 0)

    cdef bint is_frozen(self) noexcept nogil:
        return self.only_looks_on or 0 < self.until <= self.n_kept()

    cdef bint is_warm(self) noexcept nogil:
        """Whether an alarm is one."""
        return self.n_kept() >= self.warm_up

    cdef int64_t n_apart(self) noexcept nogil:
        """Samples that are held apart."""
        return (<const int64_t *> self.former)[0]

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double score, judged
        cdef bint warm, chooses, held = False, familiar = False
        cdef Status status = UNCHANGED
        if not self.can_keep(x):
            return NOT_FINITE
        if self.takes_as_normal:
            self.learn_kept(x)
            self.wipe()
            return CHANGED
        if self.looks_back and self.repeats_itself(x):
            return UNCHANGED
        warm = self.is_warm()
        judged = self.judge(x, &score)
        self.n_strange[0] += warm and score > self.threshold_now()
        chooses = warm and not self.learns_all
        if chooses and self.holds(score > self.gate_now()):
            familiar = self.learn_apart(x)
            held = self.n_apart() <= self.n_kept()
        self.turn(warm, judged, familiar)
        if not (held or (warm and self.is_frozen())):
            self.follow(judged)
        if not (held or self.is_frozen() or (   # the gate may have risen with this score
                chooses and self.n_apart() == 0 and score > self.gate_now())):
            self.learn_kept(x)
            status = CHANGED
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

    # -- sensors that are stuck --------------------------------------------------------------------

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
        """Whether feature j is, j = n_features the sample, if it used to change."""
        cdef int64_t least = 0 if j == self.n_features else STUCK_AFTER
        return (self.repeats[j] >= STUCK_AFTER
                and self.lively[j] + COSTS * (STUCK_AFTER - 1) >= least)

    # -- what is held apart, and alarms ------------------------------------------------------------

    cdef bint holds(self, bint strange) noexcept nogil:
        """Whether samples are held apart: from some strange ones on until some in a row are not."""
        cdef Alarm *a = self.alarm
        if self.n_apart() == 0:
            a.strange = fmax(a.strange + (1.0 if strange else -EASES), 0.0)
            if a.strange < STRANGE:
                return False
            a.strange = 0.0
        a.calm = 0.0 if strange else a.calm + 1.0
        if a.calm < CALM:
            return True
        a.lost = 0.0
        memset(self.former, 0, self.n_bytes())
        return False

    cdef bint learn_apart(self, const void *x) noexcept nogil:
        """Learn x apart, unless it is a fault beside what is there; whether it is like that."""
        cdef Alarm *a = self.alarm
        cdef double score, judged
        cdef bint familiar
        self.exchange()
        judged = self.judge(x, &score)
        if self.n_kept() == KNOWN:
            a.lost = 1.0
            a.n_lost += 1.0
        familiar = a.lost > 0.0 and judged <= self.threshold_now()
        if a.lost == 0.0 or a.age >= LASTS or score <= self.gate_now():
            self.learn_kept(x)
        self.follow(judged)
        self.exchange()
        return familiar

    cdef void turn(self, bint warm, double judged, bint familiar) noexcept nogil:
        """Turn the alarm on or off, and let the threshold follow the alarms."""
        cdef Alarm *a = self.alarm
        cdef double gate = self.gate_now()
        cdef bint on = judged > self.lowered(), begins
        if self.n_apart() == 0:
            a.calm = 0.0 if on else a.calm + 1.0
        if familiar or (self.n_apart() == 0 and a.calm >= CALM):
            on = False
            a.age = a.highest = 0.0
        elif a.age >= LASTS:
            on = on and judged > gate + GROWS * (a.highest - gate)
        begins = on and a.on == 0.0 and (a.age == 0.0 or a.age >= LASTS)
        a.age += on
        a.highest = fmax(a.highest, judged)
        a.on = warm and on
        a.share += LATELY * (a.on - a.share)
        self.n_alarms[0] += warm and begins
        if self.tail.variance > 0.0:
            a.integral = fmax(a.integral + begins - self.rate, -self.log_ratio / GAIN)

    cdef double lowered(self) noexcept nogil:
        """The threshold, which sinks to the gate while samples are held: what is weak may last."""
        cdef double threshold = self.threshold_now()
        cdef double sunk = threshold - SINKS * self.n_apart() * self.unit_now()
        return fmax(sunk, fmin(threshold, self.gate_now()))

    cdef int64_t n_bytes(self) noexcept nogil:
        """Of a model."""
        return <int64_t> (self.former - self.model)

    cdef void exchange(self) noexcept nogil:
        """What is held apart for the model."""
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

    cdef double gate_now(self) noexcept nogil:
        """The score from which a sample is not learned."""
        return self.level_now() + self.gate * self.unit_now()

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
        cdef bint above, far_above
        if self.n_kept() < SETTLED:
            return
        if n >= SCALED and deviation > 0.0:
            score = fmin(score, level + MOST_EXCESS * self.unit_now())
        above, far_above = score > level, score > self.settled_now()
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
        out = self.room_for(out, self.n_features)
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
        cdef int64_t n = self.n_learned(), j
        if found != NULL:
            return found
        if self.n_per_class[0] or self.n_strange[0] > n or self.n_alarms[0] > n:
            return b"the snapshot's counts of alarms are inconsistent"
        for j in range(self.n_features + 1 if self.looks_back else 0):
            if not 0 <= self.repeats[j] <= STUCK_AFTER:
                return b"the snapshot's counts of repeated values are inconsistent"
        found = self.fault_of_model(min(n, self.until) if self.until else n)
        if found == NULL:
            self.exchange()
            found = self.fault_of_model(n)
            self.exchange()
        return found

    cdef const char *fault_of_model(self, int64_t n) noexcept nogil:
        """Of the model, or of what is held apart in its place."""
        if self.kept[0] > n or self.n_scored[0] > n:
            return b"the snapshot's counts of scores are inconsistent"
        if not isfinite(self.threshold_now()):
            return b"the snapshot's threshold is not one of any scores"
        return NULL


@cython.final
cdef class GaussianNoveltyCore(NoveltyCore):
    cdef readonly bint is_diagonal   # then there is no factor, nor scratch for one
    cdef PackedFactor factor
    cdef int64_t order      # of the factor: D, or 0 with a diagonal
    cdef double lift        # of the factor: none

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        cdef PackedFactor *f = &self.factor
        cdef int64_t D = self.n_features
        self.order, self.lift = 0, 0.0
        self.is_diagonal = "factor" not in self.views
        if self.is_diagonal:
            return
        self.order = D
        f.pool = <double *> self.array("factor")
        f.length, f.width = packed(D), packed(D) + 1    # no room for rows of A
        f.order, f.lift = &self.order, &self.lift
        f.ones = self.scratch
        f.border = f.ones + D
        f.solution = f.border + D + 1

    cdef double score(self) noexcept nogil:
        cdef int64_t D = self.n_features
        cdef const double *y
        cdef double square
        if self.is_diagonal:
            square = any_dot(self.is_float32, self.scaled, self.scaled, D)
        elif self.n_fitted() == 0:
            square = 0.0
        else:
            self.forward()
            y = self.factor.solution + 1
            square = (self.n_fitted() + 1) * dot(y, y, D)
        return sqrt(square / D)

    cdef void forward(self) noexcept nogil:
        """solution[1:] = L^-1 scaled"""
        cdef int64_t j
        for j in range(self.order):
            self.factor.border[1 + j] = entry(self.is_float32, self.scaled, j)
        factor_forward(&self.factor)

    cdef void learn_scaled(self) noexcept nogil:
        cdef int64_t j
        if self.is_diagonal:
            return
        if self.n_fitted() == 1:
            for j in range(self.order):
                self.factor.pool[packed(j) + j] = 1.0
        self.forward()
        factor_add_outer(&self.factor, 1.0)

    cdef void drops(self, double *out) noexcept nogil:
        """out[j] = (A^-1 z)_j^2 / (A^-1)_jj: Alcala & Qin 2009"""
        cdef int64_t D = self.n_features, i, j
        cdef double *y
        if self.is_diagonal or self.n_fitted() == 0:
            for j in range(D):
                out[j] = entry(self.is_float32, self.scaled, j) ** 2
            return
        self.forward()
        y = self.factor.solution + 1
        factor_backward(&self.factor, y)
        for j in range(D):
            out[j] = y[j] * y[j]
        for j in range(D):      # (A^-1)_jj = |L^-1 e_j|^2
            for i in range(D):
                self.factor.border[1 + i] = i == j
            factor_forward(&self.factor)
            out[j] /= dot(y, y, D)

    cdef const char *fault_of_model(self, int64_t n) noexcept nogil:
        cdef const char *found = NoveltyCore.fault_of_model(self, n)
        cdef const double *row
        cdef double most
        cdef int64_t j
        if found != NULL:
            return found
        for j in range(packed(self.order) if self.n_fitted() == 0 else 0):
            if self.factor.pool[j] != 0.0:
                return b"the snapshot's factor is of no sample"
        most = 1.01 * (1.0 + CLIP * CLIP * self.n_fitted())     # (L L')_jj but for rounding
        for j in range(self.order if self.n_fitted() else 0):
            row = self.factor.pool + packed(j)
            if not (row[j] >= 1.0 and dot(row, row, j + 1) <= most):
                return b"the snapshot's factor is not that of a covariance"
        return NULL


@cython.final
cdef class KernelNoveltyCore(NoveltyCore):
    """Parameters besides the base's: gamma, noise (v), both floats > 0; compact, a bool."""
    cdef readonly double gamma, noise
    cdef readonly bint compact
    cdef readonly int64_t room       # M
    cdef readonly int64_t width      # bytes of a centre
    cdef char *centres      # (M, n_features)
    cdef double *counts     # (M,)
    cdef double *cost       # (M,): least of a merge with another centre
    cdef int64_t *partner   # (M,): that centre
    cdef double *square     # (M,): TMP, squared distances
    cdef double *rest       # (M,): TMP, others
    cdef char *coded        # (n_features,): TMP, the sample as centres are stored
    cdef char *merged       # (n_features,): TMP, a mean of two
    cdef void *L            # packed, float32 or float64
    cdef void *border       # (M,): TMP, right-hand side, of that type; a new row of L
    cdef void *solution     # (M,): TMP, of that type
    cdef int64_t *n_held    # order of L

    def __init__(self, *common, gamma, noise, compact, **params):
        super().__init__(*common, **params)
        cdef int64_t M = len(self.views["counts"])
        self.gamma, self.noise, self.compact, self.room = gamma, noise, compact, M
        self.width = self.views["centres"].itemsize * self.n_features
        self.centres = self.array("centres")
        self.counts = <double *> self.array("counts")
        self.cost = <double *> self.array("cost")
        self.partner = <int64_t *> self.array("partner")
        self.n_held = <int64_t *> self.array("n_held")
        self.merged = self.array("merged")
        self.coded = self.array("coded") if compact else self.scaled
        self.L = self.array("factor")
        self.square = self.scratch
        self.rest = self.square + M
        self.border = self.rest + M
        self.solution = <char *> self.border + M * (4 if compact else 8)

    # -- scores ------------------------------------------------------------------------------------

    cdef char *sample(self) noexcept nogil:
        """The sample as centres are stored."""
        cdef int64_t j
        if self.compact:
            for j in range(self.n_features):
                (<int16_t *> self.coded)[j] = code_of(entry(self.is_float32, self.scaled, j))
        return self.coded

    cdef double at(self, const char *x, int64_t j) noexcept nogil:
        """Feature j of a row as it is stored."""
        return (<const int16_t *> x)[j] if self.compact else entry(self.is_float32, x, j)

    cdef double unit(self) noexcept nogil:
        """What a stored 1 is, in deviations."""
        return 1.0 / CODES_PER_UNIT if self.compact else 1.0

    cdef void measure(self, const void *x) noexcept nogil:
        """square[i] = |x - c_i|^2, for all centres"""
        if self.compact:
            code_distances(<const int16_t *> x, <const int16_t *> self.centres, self.n_features,
                           self.n_held[0], self.square)
        elif self.is_float32:
            square_distances(<const float *> x, <const float *> self.centres, self.n_features,
                             self.n_held[0], self.square)
        else:
            square_distances(<const double *> x, <const double *> self.centres, self.n_features,
                             self.n_held[0], self.square)

    cdef double explained(self, const double *square, double least) noexcept nogil:
        """e of a sample at these squared distances, less `least`; solution = L^-1 k"""
        cdef int64_t i, m = self.n_held[0]
        for i in range(m):
            put(self.compact, self.border, i, exp_(-self.gamma * (square[i] - least)))
        if self.compact:
            triangle_forward(<const float *> self.L, <const float *> self.border,
                             <float *> self.solution, m)
        else:
            triangle_forward(<const double *> self.L, <const double *> self.border,
                             <double *> self.solution, m)
        return any_dot(self.compact, self.solution, self.solution, m)

    cdef double score(self) noexcept nogil:
        if self.n_held[0] == 0:
            return 0.0
        self.measure(self.sample())
        if self.compact:
            return fmin(self.far_score(self.square), FARTHEST)
        return -log_(fmax(self.explained(self.square, 0.0), TINY))

    # -- shares of the features --------------------------------------------------------------------

    cdef void drops(self, double *out) noexcept nogil:
        """out[j] = score(x) - score(x with x_j as expected), (n_features,)"""
        cdef int64_t j, i
        cdef double before, far, expected
        memset(out, 0, self.n_features * sizeof(double))
        if self.n_held[0] == 0:
            return
        self.measure(self.sample())
        before = self.far_score(self.square)
        for j in range(self.n_features):
            expected = self.expected(j)
            for i in range(self.n_held[0]):
                far = self.unit() * (expected - self.at(self.centre(i), j))
                self.rest[i] = self.without(i, j) + far * far
            out[j] = before - self.far_score(self.rest)

    cdef double without(self, int64_t i, int64_t j) noexcept nogil:
        """square[i] but for feature j"""
        cdef double far = self.unit() * (self.at(self.coded, j) - self.at(self.centre(i), j))
        return fmax(self.square[i] - far * far, 0.0)

    cdef double expected(self, int64_t j) noexcept nogil:
        """Feature j of the centres, each by its count and how near the others are, as stored."""
        cdef int64_t i
        cdef double least = INFINITY, far, weight, total = 0.0, value = 0.0
        for i in range(self.n_held[0]):
            far = self.without(i, j)
            if far < least:  # with fmin, GCC 12 for 64-bit ARM breaks down
                least = far
        for i in range(self.n_held[0]):
            weight = self.counts[i] * exp_(-self.gamma * (self.without(i, j) - least))
            total += weight
            value += weight * self.at(self.centre(i), j)
        return value / total

    cdef double far_score(self, const double *square) noexcept nogil:
        """The score at these squared distances, without its end at TINY."""
        cdef int64_t i
        cdef double least = INFINITY
        for i in range(self.n_held[0]):
            least = fmin(least, square[i])
        return 2.0 * self.gamma * least - log_(self.explained(square, least))

    # -- learning ----------------------------------------------------------------------------------

    cdef void learn_scaled(self) noexcept nogil:
        cdef int64_t i, j
        cdef double count
        cdef const char *x = self.sample()
        self.measure(x)
        i = self.nearest(1.0, -1)
        if i >= 0 and self.merge_cost(1.0, i) == 0.0:
            self.counts[i] += 1.0   # the same sample again
            self.leave(i)
            self.look_again(i)
            self.find_lost()
        elif self.n_held[0] < self.room:
            self.append(x, 1.0)
        else:
            j = self.cheapest()
            if self.merge_cost(1.0, i) <= self.cost[j]:
                count = self.mean_of(x, 1.0, i)
                self.remove(i)
                self.append(self.merged, count)
            else:
                i = self.partner[j]
                count = self.mean_of(self.centre(i), self.counts[i], j)
                self.remove(max(i, j))
                self.remove(min(i, j))
                self.append(self.merged, count)
                self.append(x, 1.0)

    cdef char *centre(self, int64_t i) noexcept nogil:
        return self.centres + i * self.width

    cdef double merge_cost(self, double count, int64_t i) noexcept nogil:
        """That of the sample measured, which counts `count`, with centre i"""
        return count * self.counts[i] / (count + self.counts[i]) * self.square[i]

    cdef int64_t nearest(self, double count, int64_t without) noexcept nogil:
        """The centre of the least such cost; -1 if there is none."""
        cdef int64_t i, best = -1
        for i in range(self.n_held[0]):
            if i != without and (
                    best < 0 or self.merge_cost(count, i) < self.merge_cost(count, best)):
                best = i
        return best

    cdef int64_t cheapest(self) noexcept nogil:
        """The centre of the least `cost`."""
        cdef int64_t i, best = 0
        for i in range(1, self.n_held[0]):
            if self.cost[i] < self.cost[best]:
                best = i
        return best

    cdef double mean_of(self, const char *x, double count, int64_t i) noexcept nogil:
        """Write the mean of centre i and x, which counts `count`, into `merged`; their count."""
        # Sound counts give one between 0 and 1 anyway; an exported model takes an arena as it is.
        cdef double total = count + self.counts[i], c
        cdef double share = fmax(fmin(count / total, 1.0), 0.0)
        cdef const char *centre = self.centre(i)
        cdef int64_t j
        for j in range(self.n_features):
            c = self.at(centre, j)
            c += share * (self.at(x, j) - c)
            if self.compact:
                (<int16_t *> self.merged)[j] = <int16_t> rint(c)
            else:
                put(self.is_float32, self.merged, j, c)
        return total

    cdef void append(self, const char *x, double count) noexcept nogil:
        cdef int64_t m = self.n_held[0], i
        self.measure(x)
        self.append_row(1.0 + self.noise - self.explained(self.square, 0.0))
        memcpy(self.centre(m), x, self.width)
        self.counts[m] = count
        for i in range(m):
            if self.partner[i] >= 0 and self.merge_cost(count, i) < self.cost[i]:
                self.cost[i], self.partner[i] = self.merge_cost(count, i), m
        self.find_partner(m)
        self.find_lost()

    cdef void append_row(self, double complement) noexcept nogil:
        """The row of L of the sample last `explained`; the complement is `noise` at least."""
        cdef int64_t m = self.n_held[0], size = 4 if self.compact else 8
        cdef char *row = <char *> self.L + packed(m) * size
        memcpy(row, self.solution, m * size)
        put(self.compact, row, m, sqrt(complement))
        self.n_held[0] = m + 1

    cdef void remove(self, int64_t p) noexcept nogil:
        """Remove centre p and close the gap. Who had it as a partner has none."""
        cdef int64_t i, n = self.n_held[0] - 1
        self.leave(p)
        if self.compact:
            triangle_remove(<float *> self.L, <float *> NULL, <float *> self.border,
                            <float *> self.solution, n + 1, p)
        else:
            triangle_remove(<double *> self.L, <double *> NULL, <double *> self.border,
                            <double *> self.solution, n + 1, p)
        self.n_held[0] = n
        memmove(self.centre(p), self.centre(p + 1), (n - p) * self.width)
        for i in range(p, n):
            self.counts[i], self.cost[i] = self.counts[i + 1], self.cost[i + 1]
            self.partner[i] = self.partner[i + 1]
        for i in range(n):
            if self.partner[i] > p:
                self.partner[i] -= 1

    cdef void leave(self, int64_t p) noexcept nogil:
        """Take the partner from those who have centre p as one."""
        cdef int64_t i
        for i in range(self.n_held[0]):
            if self.partner[i] == p:
                self.partner[i] = -1

    cdef void find_lost(self) noexcept nogil:
        """Find a partner for those who have none."""
        cdef int64_t i
        for i in range(self.n_held[0]):
            if self.partner[i] < 0:
                self.look_again(i)

    cdef void look_again(self, int64_t i) noexcept nogil:
        """Find the partner of centre i anew."""
        self.measure(self.centre(i))
        self.find_partner(i)

    cdef void find_partner(self, int64_t i) noexcept nogil:
        """That of centre i, which was measured."""
        cdef int64_t best = self.nearest(self.counts[i], i)
        self.partner[i] = best
        self.cost[i] = self.merge_cost(self.counts[i], best) if best >= 0 else 0.0

    cdef void wipe(self) noexcept nogil:
        NoveltyCore.wipe(self)
        memset(self.merged, 0, self.width)
        if self.compact:
            memset(self.coded, 0, self.width)

    cdef const char *fault_of_model(self, int64_t n) noexcept nogil:
        cdef const char *found = NoveltyCore.fault_of_model(self, n)
        cdef int64_t i, j
        cdef double far, square, total = 0.0
        if found != NULL:
            return found
        if self.n_held[0] > self.room or (self.n_held[0] == 0) != (self.n_fitted() == 0):
            return b"the snapshot's number of centres is out of range"
        for i in range(self.n_held[0]):
            if self.counts[i] < 1.0:
                return b"the snapshot has a centre of no sample"
            total += self.counts[i]
            if not self.has_partner(i):
                return b"the snapshot has a centre without a partner"
            square = 0.0
            for j in range(i + 1):
                far = entry(self.compact, self.L, packed(i) + j)
                square += far * far
            if not (entry(self.compact, self.L, packed(i) + i) > 0.0
                    and fabs(square - 1.0 - self.noise) < 0.01):
                return b"the snapshot's factor is not that of a kernel"
        if total != self.n_fitted():
            return b"the snapshot's centres do not count the samples learned"
        for i in range(self.room):
            for j in range(self.n_features):
                if not fabs(self.at(self.centre(i), j) * self.unit()) <= CLIP:
                    return b"the snapshot has a centre that no scaled samples have"
        return NULL

    cdef bint has_partner(self, int64_t i) noexcept nogil:
        """Whether a centre's partner is another; alone, it has none."""
        if self.n_held[0] == 1:
            return self.partner[i] == -1
        return 0 <= self.partner[i] < self.n_held[0] and self.partner[i] != i
