# FourierSVM's core, for a learner that makes it grow; see _fourier_svm.pyx.

from libc.stdint cimport int16_t, int64_t

from edgesvm.learners.fourier._directions cimport GROUPS, Directions
from edgesvm.learners.gradient._adagrad_svm cimport AdaGradSVMCore

cdef enum:
    ROWS = 4            # whose angles are found together


cdef class FourierSVMCore(AdaGradSVMCore):
    cdef Directions directions
    cdef double[GROUPS] first_tilt      # log a_k before the first sample
    cdef double[GROUPS] amplitude       # TMP of learning
    cdef double *H          # of the tilt; NULL if the widths are not weighed
    cdef double *tilt       # (GROUPS,): log a_k, less the first

    # Beside the arena, while many rows are worked on:
    cdef int n_working      # calls that do
    cdef object kept        # what is below
    cdef char *waves        # (2 n_directions,): features of the sample that is learned; else NULL
    cdef int16_t *ahead     # (ROWS, n_directions): angles of rows; NULL if directions are mixed
    cdef char *row_ahead    # (ROWS, n_features): these rows
    cdef readonly int rows_ahead     # how many

    # Go on as `smaller`, which has fewer directions of the same seed. Its memory ends where this
    # one's ends, and begins behind it; the weights of further directions are zero.
    cdef void take_over(self, FourierSVMCore smaller) noexcept nogil
    cdef void move_row(self, char *row, const char *old, int64_t n_old) noexcept nogil

    cdef void draw_ahead(self) noexcept nogil
    cdef const int16_t *angles_ahead(self, const void *x) noexcept nogil
    cdef void take_angles(self, const void *x) noexcept nogil
    cdef void *place_of(self, int64_t p, void *place) noexcept nogil
    cdef void add_rows(
        self, const char *weights, const void *x, const double *amplitude, double *score
    ) noexcept nogil
    cdef void add_row(
        self, const char *weights, const void *x, const double *amplitude, double *score
    ) noexcept nogil
    cdef void find_features(
        self, const int16_t *angle, int64_t n, const double *amplitude, void *f) noexcept nogil
    cdef void add_linear(
        self, const char *weights, const void *x, double amplitude, double *score) noexcept nogil
    cdef void add_parts(
        self, int64_t at, const void *f, int64_t n, const double *pull, double *c) noexcept nogil
    cdef double linear_part(self, const void *x, const double *pull) noexcept nogil
