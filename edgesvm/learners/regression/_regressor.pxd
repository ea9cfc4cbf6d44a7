# The target of a regressor of a stream, and what is learned of it; see _regressor.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status

cdef enum:
    PLAIN       # the answer to any sample
    STACKED     # the answer to the sample that follows the last one learned
    STACK = 3   # features of the stack

cpdef enum Loss:
    HUBER
    EPSILON
    SQUARED
    PINBALL

cdef struct Target:
    double mean             # of the targets
    double spread           # sum of their squared deviations
    double least            # the range of the targets
    double most
    double last             # target of the last sample learned
    double last_value       # what was predicted for it, without the stack
    double residual         # its residual, in deviations
    double squares          # discounted sums, of squared residuals
    double products         # and of products of two that follow each other

cdef struct Interval:
    double size             # mean absolute residual of about the last samples
    double below            # the sides, in sizes
    double above

cdef struct Scored:
    int64_t n               # samples whose interval was scored
    int64_t covered         # and held the target


cdef class RegressorCore(LearnerCore):
    cdef readonly Loss loss
    cdef readonly double parameter  # of the loss
    cdef readonly double miss       # share of the targets that may lie beyond each side
    cdef readonly bint innovates    # whether it learns what residuals before do not tell
    cdef readonly int64_t delay     # samples that a target comes late
    cdef readonly bint is_late      # whether `issued` was said of the sample at hand when it came
    cdef double[3] issued
    cdef Target *target
    cdef int64_t *far_out           # samples whose target was far out
    cdef double *coef               # (STACK,)
    cdef double *covariance         # (STACK, STACK)
    cdef Interval *interval         # (2,): of PLAIN and STACKED
    cdef Scored *scored

    # A subclass overrides these four. Whether x or the slopes of a sample of this weight overflow.
    cdef bint overflows(self, const void *x, double weight) noexcept nogil
    # The value of x in deviations from the mean; with `keep` it may leave scratch for `move`.
    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil
    # Move the weights by the slope g, in which the sample's weight is.
    cdef void move(self, const void *x, double g) noexcept nogil
    # Zero the scratch.
    cdef void wipe(self) noexcept nogil

    cdef double deviation(self, int64_t n) noexcept nogil
    cdef double within(self, double value) noexcept nogil
    cdef bint take(self, double *y, double n) noexcept nogil
    cdef bint is_followed(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void unite(self) noexcept nogil
    cdef double stack_features(self, double plain, double *z) noexcept nogil
    cdef double stacked(self, double plain) noexcept nogil
    cdef void learn_stack(self, double plain, double y) noexcept nogil
    cdef void limit_variances(self) noexcept nogil
    cdef double innovation(self, double r) noexcept nogil
    cdef double slope(self, double e) noexcept nogil
    cdef void score(self, double y, double counted, double plain, double ahead) noexcept nogil
    cdef bint track(self, int which, double y, double counted, double said) noexcept nogil
    cdef Status finite_value(self, const void *x, bint keep, double *f) noexcept nogil
    cdef void ends(self, int which, double value, double *out) noexcept nogil
