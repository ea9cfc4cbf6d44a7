"""KernelNovelty, compiled: how much of a sample, in feature space, the span of M centres explains.

With the centres c_1 .. c_M, K their Gaussian kernel and k that of a sample with them, the share of
the sample's squared length 1 that lies in their span, up to noise v, and the score are

    e = k' (K + v I)^-1 k,    score = -log(e)

1 - e is the squared distance to the span, and the variance of a Gaussian process that has seen the
centres (Kemmler et al. 2013). Its logarithm would tell nothing from 1 on; that of e goes on.

A sample is a new centre of count 1. Where there is no room, the two of least

    cost = a b / (a + b) |c_i - c_j|^2,  a, b their counts (Ward 1963)

are replaced by their mean, the new one among them. Each centre knows its least cost and with whom.

L L' = K + v I is kept packed (core/packed_factor): a centre that goes is rotated out, one that
comes is appended, and neither loses anything to rounding that later ones would inherit.

Compact, centres and samples are codes of 16 bits (core/codes) and L is float32: the more centres
for the same bytes tell more than their last digits.

Bytes: M (D s + 24) + 4 M (M + 1), and 8 (4 M + 2) + D s of scratch; compact, M (2 D + 24) + 2 M
(M + 1), and 16 M + 8 ceil(M + 1/2) + 4 D.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin, rint, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.core.codes cimport CODES_PER_UNIT, code_distances, code_of
from edgesvm.core.kernels cimport exp_
from edgesvm.core.linalg cimport any_dot, entry, put
from edgesvm.core.logistic cimport log_
from edgesvm.core.packed_factor cimport packed, triangle_forward, triangle_remove
from edgesvm.core.rows cimport square_distances
from edgesvm.learners.novelty._novelty cimport NoveltyCore

cdef double CLIP, FARTHEST, TINY
from edgesvm.learners.novelty.constants import CLIP, FARTHEST, TINY


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
        """Feature j of the centres, each by its count and how near the other features are, as
        stored."""
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
        """The row of L of the sample last `explained`. The complement is `noise` at least, far
        above the rounding of a sum of float32."""
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
            if self.cost[i] < 0.0:
                return b"the snapshot has a centre of negative cost"
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
