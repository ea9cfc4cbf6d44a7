"""SharedTwinSVM, compiled: one dictionary of twins, and a coefficient of each twin for each class.

While twins move, the two of one class with the least s_i s_j / (s_i + s_j) |q_i - q_j|^2 become one
(Wang & Vucetic 2009, 4.2.1), s being weights. The block of the factor L holds these distortions.

Then f_k(x) = c_k.v with v_i(x) = k(q_i, x) + lift; the lift stands for the intercept. All classes
share one precision P = L L', K + lift + RIDGE at first. Where the sample's class is not ahead of
another by 1, each k with y_k f_k(x) < 1 leads to (AROW; Crammer, Kulesza & Dredze 2009)

    c_k += y_k (1 - y_k f_k(x)) / (v.P^-1 v + r) P^-1 v,    and then P += v v^T / r
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite
from libc.stdint cimport int8_t, int64_t
from libc.string cimport memcpy

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport add_scaled, approach, dot
from edgesvm.core.packed_factor cimport (
    PackedFactor, factor_add_outer, factor_append, factor_backward, factor_complement,
    factor_forward, factor_is_sound, factor_wipe, packed)
from edgesvm.core.rows cimport square_distances
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

cdef double LARGEST_NORM, LARGEST_SQUARE, RIDGE, TIE
from edgesvm.core.constants import LARGEST_NORM
from edgesvm.learners.twin.constants import LARGEST_SQUARE, RIDGE, TIE

cdef enum:
    BLOCK = 64      # kernel values computed at once, on the stack: a decision writes nothing else

cdef double MAX_DISTORTION = 1e300
cdef double NEVER = -1.0    # the distortion of twins of two classes


@cython.final
cdef class SharedTwinSVMCore(KernelCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly int64_t max_twins, settle_after
    cdef readonly int n_vectors     # of coefficients: K, or 1 if K = 2
    cdef readonly double r
    cdef PackedFactor factor
    cdef int64_t *n             # twins
    cdef int64_t *n_merged
    cdef int64_t *settled_at    # samples learned by then; 0 while the twins move
    cdef int64_t *n_refined
    cdef double *lift
    cdef double *weight         # (max_twins,)
    cdef double *coef           # (n_vectors, max_twins)
    cdef int8_t *twin_class     # (max_twins,)
    cdef char *vectors          # (max_twins, n_features)

    def __init__(self, *common, settle_after, r, kernel):
        cdef PackedFactor *f = &self.factor
        super().__init__(*common, kernel=kernel)
        self.settle_after, self.r = settle_after, r
        self.n_vectors, self.max_twins = self.views["coef"].shape
        self.n = <int64_t *> self.array("n")
        self.n_merged = <int64_t *> self.array("n_merged")
        self.settled_at = <int64_t *> self.array("settled_at")
        self.n_refined = <int64_t *> self.array("n_refined")
        self.lift = <double *> self.array("lift")
        self.weight = <double *> self.array("weight")
        self.coef = <double *> self.array("coef")
        self.twin_class = <int8_t *> self.array("twin_class")
        self.vectors = self.array("vectors")
        f.pool, f.length = <double *> self.array("pool"), len(self.views["pool"])
        f.width, f.order, f.lift = self.max_twins, self.n, self.lift
        f.ones = <double *> self.array("ones")
        f.border = <double *> self.array("border")
        f.solution = <double *> self.array("solution")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef int y_class = <int> y if self.several else y > 0.0
        cdef Status status
        if self.refuses_to_decide(x):
            return NOT_FINITE
        if self.settled_at[0]:
            return self.refine(x, y_class, weight)
        status = self.gather(x, y_class, weight)
        if self.n_learned() + 1 >= self.settle_after:
            self.settle()
        return status

    # -- twins that move ---------------------------------------------------------------------------

    cdef Status gather(self, const void *x, int y_class, double weight) noexcept nogil:
        """Place a sample among the twins; UNCHANGED: there is no room for it."""
        cdef double *row = self.factor.border + 1
        cdef int64_t i = -1, j, n = self.n[0]
        cdef double least
        self.fill_distortions(x, y_class, weight, row)
        j = nearest(row, n, INFINITY)
        if n < self.max_twins and not (j >= 0 and row[j] == 0.0):
            self.n[0] += 1
            self.place(n, x, y_class, weight)
            return CHANGED
        least = row[j] if j >= 0 else INFINITY
        if least > 0.0:
            self.nearest_pair(&i, &j, least)
        if j < 0:
            return UNCHANGED
        self.n_merged[0] += 1
        if i < 0:
            self.merge(j, x, weight)
            return CHANGED
        self.merge(j, self.twin(i), self.weight[i])
        self.place(i, x, y_class, weight)
        return CHANGED

    cdef void fill_distortions(
        self, const void *x, int y_class, double weight, double *row
    ) noexcept nogil:
        """row[j]: what a merge of x with twin j would cost; NEVER if it is of another class"""
        cdef int64_t j, n = self.n[0]
        if self.is_float32:
            square_distances(
                <const float *> x, <const float *> self.vectors, self.n_features, n, row)
        else:
            square_distances(
                <const double *> x, <const double *> self.vectors, self.n_features, n, row)
        for j in range(n):
            row[j] = NEVER if self.twin_class[j] != y_class else fmin(
                weight * self.weight[j] / (weight + self.weight[j]) * row[j], MAX_DISTORTION)

    cdef void nearest_pair(self, int64_t *i, int64_t *j, double least) noexcept nogil:
        """The pair of twins, j < i, of the least distortion below `least`, if there is one"""
        cdef int64_t k, found
        cdef const double *row
        for k in range(1, self.n[0]):
            row = self.factor.pool + packed(k)
            found = nearest(row, k, least)
            if found >= 0:
                i[0], j[0], least = k, found, row[found]

    cdef void place(self, int64_t i, const void *x, int y_class, double weight) noexcept nogil:
        """Twin i becomes this sample."""
        memcpy(self.twin(i), x, self.row_bytes)
        self.weight[i], self.twin_class[i] = weight, y_class
        self.measure(i)

    cdef void merge(self, int64_t j, const void *x, double weight) noexcept nogil:
        """Twin j becomes the mean of it and x."""
        cdef double part
        self.weight[j] += weight
        part = weight / self.weight[j]
        if self.is_float32:
            approach(
                <float> part, <const float *> x, <float *> self.twin(j), self.n_features)
        else:
            approach(part, <const double *> x, <double *> self.twin(j), self.n_features)
        self.measure(j)

    cdef void measure(self, int64_t i) noexcept nogil:
        """Note the distortions of twin i and every other."""
        cdef double *row = self.factor.border + 1
        cdef int64_t j
        self.fill_distortions(self.twin(i), self.twin_class[i], self.weight[i], row)
        memcpy(self.factor.pool + packed(i), row, i * sizeof(double))
        for j in range(i + 1, self.n[0]):
            self.factor.pool[packed(j) + i] = row[j]

    # -- twins that stand still --------------------------------------------------------------------

    cdef void settle(self) noexcept nogil:
        """L becomes the factor of the prior's P, and each twin is learned as one sample."""
        cdef double *row = self.factor.border + 1
        cdef int64_t i, j, n = self.n[0]
        cdef double k_ii
        self.lift[0] = 0.0
        for i in range(n):
            self.lift[0] = fmax(self.lift[0], self.norm_of(i))
        if not self.lift[0] > 0.0:
            self.lift[0] = 1.0
        self.n[0] = 0       # it is the order of L, too
        for i in range(n):
            self.k_rows(self.twin(i), self.vectors, i + 1, row)
            k_ii = row[i]
            for j in range(i):
                row[j] += self.lift[0]
            factor_append(&self.factor, fmax(factor_complement(&self.factor, k_ii), 0.0)
                          + RIDGE * self.lift[0], row, n)
        self.settled_at[0] = self.n_learned() + 1
        for i in range(n):
            self.refine(self.twin(i), self.twin_class[i], 1.0)

    cdef Status refine(self, const void *x, int y_class, double weight) noexcept nogil:
        """One step of AROW; a sample of weight s has the variance r / s."""
        cdef double[MAX_CLASSES] f
        cdef double *v = self.factor.border + 1
        cdef double *z = self.factor.solution + 1   # L^-1 v
        cdef double *change = v                     # P^-1 v, once v is not needed any more
        cdef int64_t n = self.n[0], i
        cdef int k
        cdef double side, step
        self.k_rows(x, self.vectors, n, v)
        for i in range(n):
            v[i] += self.lift[0]
        for k in range(self.n_vectors):
            f[k] = dot(self.coef + k * self.max_twins, v, n)
        if self.is_clear(f, y_class):
            return UNCHANGED
        factor_forward(&self.factor)
        memcpy(change, z, n * sizeof(double))
        factor_backward(&self.factor, change)
        step = 1.0 / (dot(z, z, n) + self.r / weight)
        if not isfinite(step * dot(change, change, n)):     # a factor that no stream has left
            factor_wipe(&self.factor)
            return NOT_FINITE
        for k in range(self.n_vectors):
            side = self.side(k, y_class)
            if side * f[k] < 1.0:
                add_scaled(step * (side - f[k]), change, self.coef + k * self.max_twins, n)
        factor_add_outer(&self.factor, weight / self.r)
        self.n_refined[0] += 1
        return CHANGED

    cdef double side(self, int k, int y_class) noexcept nogil:
        """What c_k is to say of a sample of this class; one c alone says 1 of class 1."""
        return 1.0 if y_class == (k if self.several else 1) else -1.0

    cdef bint is_clear(self, const double *f, int y_class) noexcept nogil:
        """Whether the class is ahead of every other by 1, or f is on its side"""
        cdef int k
        if not self.several:
            return self.side(0, y_class) * f[0] >= 1.0
        for k in range(self.n_vectors):
            if k != y_class and not f[y_class] - f[k] >= 1.0:
                return False
        return True

    # -- decisions ---------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return self.several

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return not (self.square_norm(x) <= LARGEST_SQUARE and self.norm(x) <= LARGEST_NORM)

    cdef Status decide(self, const void *x, double *score) noexcept nogil:
        cdef int k
        for k in range(self.n_vectors):
            score[k] = 0.0
        if self.refuses_to_decide(x):
            return NOT_FINITE
        if self.settled_at[0]:
            self.weigh(x, score)
        else:
            self.compare(x, score)
        for k in range(self.n_vectors):
            if not isfinite(score[k]):
                return NOT_FINITE
        if self.several:
            self.put_last(score)
        return UNCHANGED

    cdef void weigh(self, const void *x, double *score) noexcept nogil:
        """score[k] = c_k.v(x)"""
        cdef double[BLOCK] v
        cdef int64_t i, k, n, begin = 0
        while begin < self.n[0]:
            n = min(<int64_t> BLOCK, self.n[0] - begin)
            self.k_rows(x, self.twin(begin), n, v)
            for i in range(n):
                v[i] += self.lift[0]
            for k in range(self.n_vectors):
                score[k] += dot(self.coef + k * self.max_twins + begin, v, n)
            begin += n

    cdef void compare(self, const void *x, double *score) noexcept nogil:
        """score[k]: minus the least squared distance, in feature space, to a twin of the class; of
        two classes the difference"""
        cdef double[MAX_CLASSES] best
        cdef double[BLOCK] k
        cdef double k_xx = self.norm(x), near
        cdef int64_t i, n, begin = 0
        cdef int c
        for c in range(self.n_classes):
            best[c] = -INFINITY
        while begin < self.n[0]:
            n = min(<int64_t> BLOCK, self.n[0] - begin)
            self.k_rows(x, self.twin(begin), n, k)
            for i in range(n):
                c = self.twin_class[begin + i]
                near = 2.0 * k[i] - self.norm_of(begin + i) - k_xx
                if near > best[c]:
                    best[c] = near
            begin += n
        if not self.several:
            score[0] = best[1] - best[0] if isfinite(best[1] - best[0]) else 0.0
            return
        for c in range(self.n_classes):
            score[c] = fmax(best[c], -MAX_DISTORTION)   # a class whose samples found no room

    cdef char *twin(self, int64_t i) noexcept nogil:
        return self.vectors + i * self.row_bytes

    cdef double norm(self, const void *x) noexcept nogil:
        """k(x, x), summed in float64 like the rows of K"""
        cdef double k_xx = 1.0
        if self.kernel.kind != RBF:
            self.k_rows(x, x, 1, &k_xx)
        return k_xx

    cdef double norm_of(self, int64_t i) noexcept nogil:
        return self.norm(self.twin(i))

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t i, k
        cdef double largest = 0.0, most
        if found != NULL:
            return found
        if self.n[0] > self.max_twins:
            return b"there are more twins than are allowed"
        for i in range(self.n[0]):
            if self.refuses_to_decide(self.twin(i)):
                return b"a twin is too large"
            if not 0 <= self.twin_class[i] < self.n_classes or not self.weight[i] > 0.0:
                return b"the class or the weight of a twin is out of range"
            largest = fmax(largest, self.norm_of(i))
        for k in range(self.n_vectors):
            most = 0.0
            for i in range(self.max_twins):
                most += fabs(self.coef[k * self.max_twins + i])
            if not isfinite(2.0 * most * LARGEST_NORM):
                return b"a decision value may not be finite"
        if self.settled_at[0] == 0:
            return NULL
        if self.lift[0] != (largest if largest > 0.0 else 1.0):
            return b"the lift is not that of the twins"
        if not factor_is_sound(&self.factor):
            return b"the factor is not that of all twins"
        return NULL


cdef inline int64_t nearest(const double *row, int64_t n, double least) noexcept nogil:
    """The first of the least distortions below `least`; -1: there is none."""
    cdef int64_t j, found = -1
    for j in range(n):
        if 0.0 <= row[j] < least * (1.0 - TIE):
            found, least = j, row[j]
    return found
