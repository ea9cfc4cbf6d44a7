# Running scales, a score of what is strange and its threshold; see _novelty.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status

cdef struct Tail:           # of the scores; see `threshold_now`
    double mean
    double variance
    double level
    double excess           # less FIRST_EXCESS
    double n_above
    double shift
    double held             # first score of the alarm that is on


cdef class NoveltyCore(LearnerCore):
    cdef readonly double rate        # of false alarms
    cdef readonly double log_ratio   # log(ABOVE / rate)
    cdef public int64_t warm_up     # samples learned whatever they score
    cdef readonly bint learns_all
    cdef readonly int64_t until      # samples learned before nothing is any more; 0: no end
    cdef double *mean       # (n_features,)
    cdef double *spread     # (n_features,): sum of squared deviations
    cdef char *scaled       # (n_features,): TMP, the sample in deviations
    cdef double *scratch    # (n_scratch,): TMP, a subclass cuts it
    cdef readonly int64_t n_scratch
    cdef Tail *tail
    cdef int64_t *n_scored  # samples that `tail` is of
    cdef int64_t *n_alarms
    cdef int64_t *alarmed   # samples without an alarm that would end the last one

    # A subclass overrides these three; all read `scaled` and may use `scratch`.
    # How strange it is.
    cdef double score(self) noexcept nogil
    cdef void learn_scaled(self) noexcept nogil
    # out[j], (n_features,): how much less strange with feature j as the others say; some < 0 is 0
    cdef void drops(self, double *out) noexcept nogil

    cdef void follow_unless_held(self, double score, bint alarm) noexcept nogil
    cdef bint is_frozen(self) noexcept nogil
    cdef Status shares(self, const void *x, double *out) noexcept nogil
    cdef int64_t n_kept(self) noexcept nogil
    cdef int64_t n_fitted(self) noexcept nogil
    cdef double threshold_now(self) noexcept nogil
    cdef double level_now(self) noexcept nogil
    cdef void follow(self, double score) noexcept nogil
    cdef bint can_keep(self, const void *x) noexcept nogil
    cdef void keep(self, const void *x) noexcept nogil
    cdef void scale(self, const void *x, int64_t n, bint bends) noexcept nogil
    cdef void wipe(self) noexcept nogil
