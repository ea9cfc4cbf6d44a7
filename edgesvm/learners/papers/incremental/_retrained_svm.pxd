# Base of IncrementalSVM and WindowedSVM: rows in a workspace, and their SVM.

from libc.stdint cimport int64_t

from edgesvm.learners.batch._smo cimport SmoCore

cdef enum Scheme:
    ERROR_DRIVEN = 0
    FIXED_PARTITION = 1
    EXCEEDING_MARGIN = 2
    EXCEEDING_MARGIN_ERRORS = 3
    ACTIVE = 4

cdef class RetrainedSVMCore(SmoCore):    # the workspace: max_vectors + batch_size rows
    cdef Scheme scheme
    cdef int64_t batch_size
    cdef int64_t max_vectors
    cdef int64_t max_iter
    cdef int64_t *n_cycles
    cdef int64_t *n_given_up
    cdef int64_t *n_iter
    cdef int64_t *converged

    cdef bint wants(self, double yf) noexcept nogil
    cdef void put(self, int64_t t, const void *x, double bound) noexcept nogil
    cdef int64_t train(self, int64_t n, int64_t n_known, double *intercept) noexcept nogil
    cdef int64_t solve(
        self, int64_t n, int64_t n_known, double *intercept, bint keep_all) noexcept nogil
    cdef void give_up(self, int64_t n, double b) noexcept nogil
    cdef void give_up_of(self, int64_t n, int64_t n_less, double y, double b) noexcept nogil
    cdef void balance(self, int64_t n) noexcept nogil
    cdef int64_t keep_newest(self, int64_t n) noexcept nogil
    cdef void clear(self, int64_t first, int64_t last) noexcept nogil
