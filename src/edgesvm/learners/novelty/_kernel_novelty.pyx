"""KernelNovelty, compiled: how much of a sample, in feature space, the span of M centres explains.

With the centres c_1 .. c_M, K their Gaussian kernel and k that of a sample with them, the share of
the sample's squared length 1 that lies in their span, up to noise v, and the score are

    e = k' (K + v I)^-1 k,    score = -log(e)

1 - e is the squared distance to the span, and the variance of a Gaussian process that has seen the
centres (Kemmler et al. 2013). Its logarithm would tell nothing from 1 on; that of e goes on.

A sample is a new centre of count 1. Where there is no room, the two of least

    cost = a b / (a + b) |c_i - c_j|^2,  a, b their counts (Ward 1963)

are replaced by their mean, the new one among them. Each centre knows its least cost and with whom.

L L' = K + v I is kept by core/packed_factor: a centre that goes is rotated out, one that comes is
appended, and neither loses anything to rounding that later ones would inherit.

Bytes: M (D s + 24) + 4 M (M + 1), and 8 (4 M + 2) + D s of scratch.
"""

cimport cython
from libc.math cimport INFINITY, fmax, fmin
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.core.kernels cimport exp_
from edgesvm.core.linalg cimport dot, entry, put
from edgesvm.core.logistic cimport log_
from edgesvm.core.packed_factor cimport (
    PackedFactor, factor_append, factor_complement, factor_forward, factor_remove, packed)
from edgesvm.core.rows cimport square_distances
from edgesvm.learners.novelty._novelty cimport NoveltyCore

import numpy as np

from edgesvm.errors import CorruptModelError

cdef double TINY
from edgesvm.learners.novelty.constants import CLIP, TINY


@cython.final
cdef class KernelNoveltyCore(NoveltyCore):
    """Parameters besides the base's: gamma, noise (v), both floats > 0."""
    cdef double gamma, noise
    cdef int64_t room       # M
    cdef int64_t width      # bytes of a centre
    cdef char *centres      # (M, n_features)
    cdef double *counts     # (M,)
    cdef double *cost       # (M,): least of a merge with another centre
    cdef int64_t *partner   # (M,): that centre
    cdef double *square     # (M,): TMP, squared distances
    cdef char *merged       # (n_features,): TMP, a mean of two
    cdef PackedFactor factor
    cdef int64_t *n_held    # order of the factor
    cdef double lift        # of the factor: none

    def __init__(self, *common, gamma, noise, **params):
        super().__init__(*common, **params)
        cdef PackedFactor *f = &self.factor
        cdef int64_t M = len(self.views["counts"])
        self.gamma, self.noise, self.room, self.lift = gamma, noise, M, 0.0
        self.width = self.n_features * (4 if self.is_float32 else 8)
        self.centres = self.array("centres")
        self.counts = <double *> self.array("counts")
        self.cost = <double *> self.array("cost")
        self.partner = <int64_t *> self.array("partner")
        self.n_held = <int64_t *> self.array("n_held")
        self.merged = self.array("merged")
        f.pool = <double *> self.array("factor")
        f.length, f.width = packed(M), packed(M) + 1    # no room for rows of K
        f.order, f.lift = self.n_held, &self.lift
        self.square = self.scratch
        f.ones = self.square + M
        f.border = f.ones + M
        f.solution = f.border + M + 1

    # -- scores ------------------------------------------------------------------------------------

    cdef void measure(self, const void *x) noexcept nogil:
        """square[i] = |x - c_i|^2, for all centres"""
        if self.is_float32:
            square_distances(<const float *> x, <const float *> self.centres, self.n_features,
                             self.n_held[0], self.square)
        else:
            square_distances(<const double *> x, <const double *> self.centres, self.n_features,
                             self.n_held[0], self.square)

    cdef void fill_border(self) noexcept nogil:
        """border[1:] = k, of the distances measured"""
        cdef int64_t i
        for i in range(self.n_held[0]):
            self.factor.border[1 + i] = exp_(-self.gamma * self.square[i])

    cdef double score(self) noexcept nogil:
        cdef const double *y = self.factor.solution + 1
        if self.n_held[0] == 0:
            return 0.0
        self.measure(self.scaled)
        self.fill_border()
        factor_forward(&self.factor)
        return -log_(fmax(dot(y, y, self.n_held[0]), TINY))

    # -- shares of the features --------------------------------------------------------------------

    cdef void drops(self, double *out) noexcept nogil:
        """out[j] = score(x) - score(x with x_j as expected), (n_features,)"""
        cdef int64_t j, i
        cdef double before, c, expected
        cdef double *rest = self.factor.ones
        memset(out, 0, self.n_features * sizeof(double))
        if self.n_held[0] == 0:
            return
        self.measure(self.scaled)
        before = self.far_score(self.square)
        for j in range(self.n_features):
            expected = self.expected(j)
            for i in range(self.n_held[0]):
                c = entry(self.is_float32, self.centre(i), j)
                rest[i] = self.without(i, j) + (expected - c) * (expected - c)
            out[j] = before - self.far_score(rest)

    cdef double without(self, int64_t i, int64_t j) noexcept nogil:
        """square[i] but for feature j"""
        cdef double far = entry(self.is_float32, self.scaled, j)
        far -= entry(self.is_float32, self.centre(i), j)
        return fmax(self.square[i] - far * far, 0.0)

    cdef double expected(self, int64_t j) noexcept nogil:
        """Feature j of the centres, each by its count and how near the other features are."""
        cdef int64_t i
        cdef double least = INFINITY, far, weight, total = 0.0, value = 0.0
        for i in range(self.n_held[0]):
            far = self.without(i, j)
            if far < least:  # with fmin, GCC 12 for 64-bit ARM breaks down
                least = far
        for i in range(self.n_held[0]):
            weight = self.counts[i] * exp_(-self.gamma * (self.without(i, j) - least))
            total += weight
            value += weight * entry(self.is_float32, self.centre(i), j)
        return value / total

    cdef double far_score(self, const double *square) noexcept nogil:
        """The score at these squared distances, without its end at TINY."""
        cdef int64_t i
        cdef double least = INFINITY
        cdef const double *y = self.factor.solution + 1
        for i in range(self.n_held[0]):
            least = fmin(least, square[i])
        for i in range(self.n_held[0]):
            self.factor.border[1 + i] = exp_(-self.gamma * (square[i] - least))
        factor_forward(&self.factor)
        return 2.0 * self.gamma * least - log_(dot(y, y, self.n_held[0]))

    # -- learning ----------------------------------------------------------------------------------

    cdef void learn_scaled(self) noexcept nogil:
        cdef int64_t i, j
        cdef double count
        self.measure(self.scaled)
        i = self.nearest(1.0, -1)
        if i >= 0 and self.merge_cost(1.0, i) == 0.0:
            self.counts[i] += 1.0   # the same sample again
            self.leave(i)
            self.look_again(i)
            self.find_lost()
        elif self.n_held[0] < self.room:
            self.append(self.scaled, 1.0)
        else:
            j = self.cheapest()
            if self.merge_cost(1.0, i) <= self.cost[j]:
                count = self.mean_of(self.scaled, 1.0, i)
                self.remove(i)
                self.append(self.merged, count)
            else:
                i = self.partner[j]
                count = self.mean_of(self.centre(i), self.counts[i], j)
                self.remove(max(i, j))
                self.remove(min(i, j))
                self.append(self.merged, count)
                self.append(self.scaled, 1.0)

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

    cdef double mean_of(self, const void *x, double count, int64_t i) noexcept nogil:
        """Write the mean of centre i and x, which counts `count`, into `merged`; their count."""
        cdef double total = count + self.counts[i], share = count / total, c
        cdef const char *centre = self.centre(i)
        cdef int64_t j
        for j in range(self.n_features):
            c = entry(self.is_float32, centre, j)
            c += share * (entry(self.is_float32, x, j) - c)
            put(self.is_float32, self.merged, j, c)
        return total

    cdef void append(self, const void *x, double count) noexcept nogil:
        cdef int64_t m = self.n_held[0], i
        self.measure(x)
        self.fill_border()
        factor_append(
            &self.factor, factor_complement(&self.factor, 1.0 + self.noise), self.square, 0)
        memcpy(self.centre(m), x, self.width)
        self.counts[m] = count
        for i in range(m):
            if self.partner[i] >= 0 and self.merge_cost(count, i) < self.cost[i]:
                self.cost[i], self.partner[i] = self.merge_cost(count, i), m
        self.find_partner(m)
        self.find_lost()

    cdef void remove(self, int64_t p) noexcept nogil:
        """Remove centre p and close the gap. Who had it as a partner has none."""
        cdef int64_t i, n = self.n_held[0] - 1
        self.leave(p)
        factor_remove(&self.factor, p)
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

    def check(self):
        super().check()
        m = int(self.views["n_held"])
        if not 0 <= m <= self.room or (m == 0) != (self.n_fitted() == 0):
            raise CorruptModelError("the snapshot's number of centres is out of range")
        counts, partner = self.views["counts"][:m], self.views["partner"][:m]
        if (counts < 1).any() or counts.sum() != self.n_fitted():
            raise CorruptModelError("the snapshot's centres do not count the samples learned")
        if m > 1 and not ((partner >= 0) & (partner < m) & (partner != np.arange(m))).all():
            raise CorruptModelError("the snapshot has a centre without a partner")
        if (m == 1 and partner[0] != -1) or (self.views["cost"][:m] < 0).any():
            raise CorruptModelError("the snapshot has a centre of negative cost")
        if (abs(self.views["centres"]) > CLIP).any() or self.views["merged"].view("u1").any():
            raise CorruptModelError("the snapshot has a centre that no scaled samples have")
        if any(self.views["factor"][packed(i) + i] <= 0 for i in range(m)):
            raise CorruptModelError("the snapshot's factor is not that of a kernel")
