# Gradient steps on x and 1, and the core that learners with more features build on; see
# _adagrad_svm.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore


cdef class AdaGradSVMCore(LearnerCore):
    cdef readonly double rate
    cdef readonly bint is_hinge
    cdef readonly int64_t width      # W
    cdef readonly int64_t n_ahead    # features ahead of x: W - n_features - 1
    cdef readonly int n_vectors      # V
    cdef double *G          # (V,)
    cdef double *error_rates     # (2,), LAST and MEAN
    cdef char *w            # (V, W)
    cdef char *mean         # (V, W)

    # A learner with features ahead of x overrides these five; its own call these for x and 1.
    # The sum of the squares of all features, x.x being that of x; before learning.
    cdef double sum_of_squares(self, double xx) noexcept nogil
    # `score` (V,): add the scores of `x` by the last and by the mean weights, or by `weights`.
    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil
    cdef void add_score(self, const char *weights, const void *x, double *score) noexcept nogil
    # Move each vector, and its mean, `step` (V,) along the features.
    cdef void learn_features(self, const void *x, const double *step) noexcept nogil
    # Zero the scratch that `score_both` left for `learn_features`.
    cdef void wipe(self) noexcept nogil

    cdef void add_dots(
        self, const char *weights, int64_t at, const void *f, int64_t n, double *score
    ) noexcept nogil
    cdef void move(self, int64_t at, const void *f, int64_t n, const double *step) noexcept nogil
    cdef int64_t bytes_of(self, int64_t n) noexcept nogil
    cdef double side(self, int v, double y) noexcept nogil
    cdef bint is_wrong(self, const double *score, double y) noexcept nogil
    cdef bint overflows(self, double most) noexcept nogil
    cdef double take_step(
        self, int v, double score, double side, double weight, double square
    ) noexcept nogil
    cdef double slope(self, double margin) noexcept nogil
    cdef bint are_fine(self, double *scores) noexcept nogil
