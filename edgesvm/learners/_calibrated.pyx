"""Calibrated, compiled: a sigmoid on a learner's score, fitted while the stream is learned.

With the score f of a sample before it is learned, s the mean of |f| over recent samples, and t = 1
for the class of the sigmoid, else 0:

    g = f / s,   z = a g + b,   p = 1 / (1 + exp(-z))
    A = (1 - 1/n) A + p (1 - p) (g, 1)(g, 1)'     (a, b) += (A + I)^-1 (t - p) (g, 1)

This is the online Newton step of Hazan, Agarwal & Kale 2007, with the information of about the last
n samples in place of all. a never falls below 0: the order of the scores stays. A class's sigmoid
begins with its first sample, b at the log-odds of the counts.

Two classes have one sigmoid; of more, log p are the values. The threshold of the class whose recall
is kept is minus the share-quantile q of its margins m, by stochastic approximation (Robbins & Monro
1951) with d, the mean of |m - q|:

    q += gain d / min(k, recent) (1 - share - [m <= q]),     m of the class's k-th sample
"""

cimport cython
from libc.math cimport fabs, fmax, fmin
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.kernels cimport exp_
from edgesvm.core.logistic cimport log_, log_sigmoid, sigmoid
from edgesvm.core.status cimport CHANGED, UNCHANGED, Status

cdef double FARTHEST, FIRST_SLOPE, MOST_RELATIVE, MOST_WEIGHT, PRIOR
cdef double QUANTILE_GAIN, QUANTILE_RECENT, RECENT, SET_STEP, SIZED_BY
from edgesvm.learners.constants import (
    FARTHEST, FIRST_SLOPE, MOST_RELATIVE, MOST_WEIGHT, PRIOR, QUANTILE_GAIN, QUANTILE_RECENT,
    RECENT, SET_STEP, SIZED_BY)


cdef inline double within(double value, double most) noexcept nogil:
    return fmin(fmax(value, -most), most)


@cython.final
cdef class CalibratedCore(LearnerCore):
    """State and step; `by_label` gives a label's logarithm of the price and whether its recall is
    kept, `missed` and `outside` are shares."""
    cdef readonly LearnerCore inner
    cdef object by_label
    cdef readonly double missed
    cdef readonly int64_t named_at  # n_changes of the labels when they were last named
    cdef double[MAX_CLASSES] price  # logarithms, by slot
    cdef readonly int kept          # slot of the class whose recall is kept, else -1
    cdef readonly int n_sigmoids    # V
    cdef double *score_size         # s
    cdef double *slope              # (V,): a
    cdef double *offset             # (V,): b
    cdef double *information        # (V, 3): A as aa, ab, bb
    cdef double *quantile           # q and d; NULL if no recall is kept
    cdef readonly double outside
    cdef double *limit              # c; NULL without sets
    cdef int64_t *n_sets            # (3,): samples scored, within their set, and labels in the sets

    def __init__(self, *common, inner, by_label, missed, outside):
        super().__init__(*common)
        self.inner, self.by_label = inner, by_label
        self.missed, self.outside = missed, outside
        self.n_sigmoids = len(self.views["slope"])
        self.score_size = <double *> self.array("score_size")
        self.slope = <double *> self.array("slope")
        self.offset = <double *> self.array("offset")
        self.information = <double *> self.array("information")
        self.quantile = <double *> self.array("quantile") if "quantile" in self.views else NULL
        self.limit, self.n_sets = NULL, NULL
        if "set_limit" in self.views:
            self.limit = <double *> self.array("set_limit")
            self.n_sets = <int64_t *> self.array("n_sets")
        self.name_slots()

    cdef int name_slots(self) except -1:
        """Find the prices of the labels so far."""
        cdef int slot
        self.kept = -1
        for slot in range(self.labels.n):
            self.price[slot], is_kept = self.by_label(self.labels.values[slot])
            if is_kept:
                self.kept = slot
        self.named_at = self.labels.n_changes
        return 0

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double[MAX_CLASSES] score
        cdef int slot = <int> y if self.several else y > 0.0
        cdef bint is_scored = self.n_learned() > 0
        cdef Status status
        if is_scored:
            memset(score, 0, self.n_classes * sizeof(double))
            status = self.inner.decide(x, score)
            if status > CHANGED:
                return status
        status = self.inner.weighed_step(x, y, weight)
        if status > CHANGED:
            return status
        if self.named_at != self.labels.n_changes:
            with gil:
                self.name_slots()
        if is_scored:
            self.note(score, slot, fmin(weight, MOST_WEIGHT))
        if self.n_per_class[slot] == 0:
            self.begin(slot)
        return status

    cdef void note(self, double *score, int slot, double weight) noexcept nogil:
        """Learn from the scores of a sample of class `slot`; they are overwritten."""
        cdef double f
        cdef int k
        if self.limit != NULL and self.n_seen_classes() > 1:
            self.score_set(score, slot)
        self.size_up(score)
        for k in range(self.n_sigmoids):
            if self.has_begun(k):
                f = within(self.relative(score[k]), MOST_RELATIVE)
                self.fit(k, f, slot == k if self.several else slot == 1, weight)
        if self.quantile == NULL:
            return
        if slot == self.kept and self.n_per_class[slot] and self.n_seen_classes() > 1:
            self.calibrate(score)
            self.track(self.margin(score, slot))

    cdef void score_set(self, const double *score, int slot) noexcept nogil:
        """Move the limit by whether the set holds the class of the sample."""
        cdef double[MAX_CLASSES] p
        cdef int k, best = 0, n = self.n_classes, size = 0
        cdef double step = fmax(SET_STEP, 1.0 / (self.n_sets[0] + 1))
        cdef bint covered
        memcpy(p, score, (n if self.several else 1) * sizeof(double))
        self.find_shares(p)
        for k in range(n):
            if p[k] > p[best]:
                best = k
        for k in range(n):
            size += k == best or (p[k] > 0.0 and p[k] >= 1.0 - self.limit[0])
        covered = slot == best or (p[slot] > 0.0 and p[slot] >= 1.0 - self.limit[0])
        self.limit[0] += step * (not covered) - step * self.outside
        self.limit[0] = fmin(fmax(self.limit[0], 0.0), 1.0)
        self.n_sets[0] += 1
        self.n_sets[1] += covered
        self.n_sets[2] += size

    cdef void size_up(self, const double *score) noexcept nogil:
        """s += (|f| - s) / n, over recent samples; |f| is the mean over the classes seen."""
        cdef double size = 0.0
        cdef int k
        if not self.several:
            size = fabs(score[0])
        else:
            for k in range(self.n_classes):
                if self.n_per_class[k]:
                    size += fabs(score[k]) / self.n_seen_classes()
        self.score_size[0] += (size - self.score_size[0]) / fmin(self.n_learned(), SIZED_BY)

    cdef int n_seen_classes(self) noexcept nogil:
        cdef int slot, n = 0
        for slot in range(self.n_classes):
            n += self.n_per_class[slot] > 0
        return n

    cdef bint has_begun(self, int k) noexcept nogil:
        """Whether sigmoid k has had both sides."""
        return self.n_seen_classes() > 1 and (not self.several or self.n_per_class[k] > 0)

    cdef void begin(self, int slot) noexcept nogil:
        """Set up the sigmoids that a first sample of class `slot` begins."""
        cdef double n = self.n_learned()
        cdef int k
        if n == 0.0:
            return
        if not self.several:
            self.slope[0], self.offset[0] = FIRST_SLOPE, -log_(n) if slot == 1 else log_(n)
            return
        for k in range(self.n_classes):
            if k == slot or (self.n_per_class[k] and self.n_seen_classes() == 1):
                self.slope[k], self.offset[k] = FIRST_SLOPE, -log_(n) if k == slot else log_(n)

    cdef void fit(self, int k, double g, bint hit, double weight) noexcept nogil:
        """The Newton step of one sigmoid."""
        cdef double *A = self.information + 3 * k
        cdef double p = sigmoid(self.slope[k] * g + self.offset[k])
        cdef double r = weight * (hit - p), h = weight * p * (1.0 - p), keep = 1.0 - 1.0 / RECENT
        cdef double aa, ab, bb, det
        A[0] = keep * A[0] + h * g * g
        A[1] = keep * A[1] + h * g
        A[2] = keep * A[2] + h
        aa, ab, bb = A[0] + PRIOR, A[1], A[2] + PRIOR
        det = aa * bb - ab * ab
        self.slope[k] = fmax(self.slope[k] + (bb * g - ab) * r / det, 0.0)
        self.offset[k] += (aa - ab * g) * r / det

    cdef double margin(self, const double *value, int slot) noexcept nogil:
        """By how much the class's own value is above the others' largest."""
        cdef double most = -FARTHEST
        cdef int k
        if not self.several:
            return value[0] if slot == 1 else -value[0]
        for k in range(self.n_classes):
            if k != slot and self.n_per_class[k]:
                most = fmax(most, value[k])
        return value[slot] - most

    cdef void track(self, double margin) noexcept nogil:
        """Move the quantile by one more sample of the class; a first one places it."""
        cdef double k = fmin(self.n_per_class[self.kept], QUANTILE_RECENT)
        cdef double q = self.quantile[0], d = self.quantile[1]
        if d == 0.0:
            self.quantile[0], self.quantile[1] = fmin(margin, 0.0), 1.0
            return
        self.quantile[0] = within(
            q + QUANTILE_GAIN * d / k * (self.missed - (margin <= q)), 2.0 * FARTHEST)
        self.quantile[1] += (fabs(margin - q) - d) / k

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return self.inner.decides_alone()

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef int slot
        cdef Status status = self.inner.decide(x, value)
        if status > CHANGED:
            return status
        self.calibrate(value)
        if not self.several:
            value[0] += self.lift(1) - self.lift(0)
        else:
            for slot in range(self.n_classes):
                value[slot] += self.lift(slot)
            self.put_last(value)
        return UNCHANGED

    cdef Status probabilities(self, const void *x, double *out) noexcept nogil:
        cdef double[MAX_CLASSES] p
        cdef int i
        cdef Status status
        memset(p, 0, self.n_classes * sizeof(double))
        status = self.inner.decide(x, p)
        if status > CHANGED:
            return status
        self.find_shares(p)
        for i in range(self.labels.n):
            out[i] = p[self.labels.order[i]]
        return UNCHANGED

    cdef void find_shares(self, double *value) noexcept nogil:
        """Turn scores into the probabilities of the classes, by slot."""
        cdef double total = 0.0
        cdef int slot
        self.calibrate(value)
        if not self.several:
            value[0], value[1] = log_sigmoid(-value[0]), log_sigmoid(value[0])
        for slot in range(self.n_classes):
            value[slot] = exp_(value[slot]) if self.has_share(slot) else 0.0
        for slot in range(self.labels.n):   # in their order, as they are summed
            total += value[self.labels.order[slot]]
        for slot in range(self.n_classes):
            value[slot] /= total

    cdef bint has_share(self, int slot) noexcept nogil:
        return slot < self.labels.n and (not self.several or self.n_per_class[slot] > 0)

    cdef double lift(self, int slot) noexcept nogil:
        """What the price of a class, or its threshold, adds to its value."""
        if slot == self.kept and self.quantile != NULL:
            return -self.quantile[0]
        return self.price[slot] if slot < self.labels.n else 0.0

    cdef void calibrate(self, double *value) noexcept nogil:
        """Turn scores into log-odds, in a multiclass learner into the logarithms of shares."""
        cdef double z
        cdef int k
        if self.n_seen_classes() < 2:
            self.calibrate_one_class(value)
            return
        for k in range(self.n_sigmoids):
            z = within(self.slope[k] * self.relative(value[k]) + self.offset[k], FARTHEST)
            value[k] = z if not self.several else log_sigmoid(z)

    cdef void calibrate_one_class(self, double *value) noexcept nogil:
        """By Laplace's rule, n + 1 to 1."""
        cdef double odds = log_(self.n_learned() + 1.0)
        if not self.several:
            value[0] = odds if self.n_per_class[1] else -odds
        else:
            memset(value, 0, self.n_classes * sizeof(double))

    cdef double relative(self, double f) noexcept nogil:
        """f / s, within what a product can take"""
        return within(f / self.score_size[0], 1e100) if self.score_size[0] > 0.0 else 0.0

    cdef const char *fault(self) noexcept nogil:    # the counters are the inner learner's
        cdef const double *A
        cdef int k
        for k in range(self.n_sigmoids):
            A = self.information + 3 * k
            if A[0] < 0.0 or A[2] < 0.0 or (
                    A[1] * A[1] > A[0] * A[2] * (1.0 + 1e-9) + 1e-290):
                return b"the snapshot's information is not positive"
        if self.n_sets != NULL and not (self.n_sets[1] <= self.n_sets[0] <= self.n_sets[2]):
            return b"the snapshot's counters are inconsistent"
        return NULL
