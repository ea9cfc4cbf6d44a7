"""Pegasos, compiled (Shalev-Shwartz, Singer & Srebro 2007, Figure 1).

The sum of y x over the samples of a batch with y w.x < 1 is collected in `gradient`; the last
sample of the batch takes the step. As w is a mean of such sums divided by lambda k, |w| <= max s
|x| / lambda: samples longer than that allows are refused, so nothing overflows later.
"""

cimport cython
from libc.math cimport fmax, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.linalg cimport axpby
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, Status
from edgesvm.learners.papers.online._linear cimport LinearCore


@cython.final
cdef class PegasosCore(LinearCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly double lambda_
    cdef readonly int64_t batch_size
    cdef readonly bint project
    cdef int64_t *n_steps       # t - 1
    cdef int64_t *n_waiting     # samples of the current batch
    cdef char *gradient         # (width,): sum of y x over those with y w.x < 1

    def __init__(self, *common, fit_intercept, lambda_, batch_size, project):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.lambda_ = lambda_
        self.batch_size = batch_size
        self.project = project
        self.n_steps = <int64_t *> self.array("n_steps")
        self.n_waiting = <int64_t *> self.array("n_waiting")
        self.gradient = self.array("gradient")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        if not self.bound_of(weight * sqrt(xx)) <= self.most_ww:
            return NOT_FINITE if weight == 1.0 else BAD_WEIGHT
        if y * wx < 1.0:
            self.add(weight * y, x, self.gradient)
            status = CHANGED
        self.n_waiting[0] += 1
        if self.n_waiting[0] == self.batch_size:
            self.descend()
            status = CHANGED
        return status

    cdef double bound_of(self, double length) noexcept nogil:
        """Bound of |w|^2 and of |gradient|^2, if no sample is longer than `length`"""
        length *= fmax(1.0 / self.lambda_, <double> self.batch_size)
        return length * length

    cdef void descend(self) noexcept nogil:
        """w = (1 - eta lambda) w + eta / k gradient,  eta = 1 / (lambda t)"""
        self.n_steps[0] += 1
        cdef double t = self.n_steps[0]
        self.combine(1.0 - 1.0 / t, 1.0 / (self.lambda_ * t * self.batch_size))
        if self.project and self.ww[0] > 1.0 / self.lambda_:
            self.combine(1.0 / sqrt(self.lambda_ * self.ww[0]), 0.0)
        memset(self.gradient, 0, self.width * self.dtype_bytes())
        self.n_waiting[0] = 0

    cdef void combine(self, double a, double b) noexcept nogil:
        """w = a w + b gradient"""
        if self.is_float32:
            axpby(<float> b, <const float *> self.gradient, <float> a, <float *> self.w, self.width)
        else:
            axpby(b, <const double *> self.gradient, a, <double *> self.w, self.width)
        self.ww[0] = self.square(self.w)

    cdef int64_t dtype_bytes(self) noexcept nogil:
        return sizeof(float) if self.is_float32 else sizeof(double)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LinearCore.fault(self)
        if found != NULL:
            return found
        if not self.n_waiting[0] < self.batch_size or (
                self.n_waiting[0] != self.n_learned() % self.batch_size) or (
                self.n_steps[0] != self.n_learned() // self.batch_size):
            return b"the snapshot's steps are not those of its samples"
        if not self.square(self.gradient) <= self.most_ww:
            return b"the snapshot's gradient is too large"
        return NULL
