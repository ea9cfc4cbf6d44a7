# Running scales, a score of what is strange and its threshold; see _novelty.pyx.

from libc.stdint cimport int16_t, int64_t

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

cdef struct Lately:         # see `look_back`; whole numbers but for the first
    double alarms           # recent share of samples that were alarms
    double n_stuck          # samples in which a feature was stuck
    double n_lost           # times that the learner got lost
    double lost_for         # samples since it did; 0: it is not


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
    cdef readonly bint looks_back    # whether there are the following; see `repeats_itself`
    cdef public bint only_looks_on   # nothing is learned, as if it were frozen
    cdef public bint takes_as_normal    # all is learned, whatever it scores
    cdef char *values       # (n_features,): the sample before
    # Samples, up to STUCK_AFTER, since a value changed, and last, since any did.
    cdef int16_t *repeats   # (n_features + 1,)
    cdef int16_t *lively    # (n_features + 1,): samples at which it did, less COSTS for each other
    cdef Lately *lately

    # A subclass overrides these four; all but `forget_scaled` read `scaled` and may use `scratch`.
    # How strange it is.
    cdef double score(self) noexcept nogil
    cdef void learn_scaled(self) noexcept nogil
    cdef void forget_scaled(self) noexcept nogil
    # out[j], (n_features,): how much less strange with feature j as the others say; some < 0 is 0
    cdef void drops(self, double *out) noexcept nogil

    cdef void follow_unless_held(self, double score, bint alarm) noexcept nogil
    cdef bint is_frozen(self) noexcept nogil
    cdef bint repeats_itself(self, const void *x) noexcept nogil
    cdef bint is_stuck(self, int64_t j) noexcept nogil
    cdef void look_back(self, bint alarm) noexcept nogil
    cdef bint has_lost(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef const char *fault_of_looking_back(self, int64_t n) noexcept nogil
    cdef Status shares(self, const void *x, double *out) noexcept nogil
    cdef int64_t n_kept(self) noexcept nogil
    cdef int64_t n_fitted(self) noexcept nogil
    cdef double threshold_now(self) noexcept nogil
    cdef double level_now(self) noexcept nogil
    cdef void follow(self, double score) noexcept nogil
    cdef bint can_keep(self, const void *x) noexcept nogil
    cdef void keep(self, const void *x) noexcept nogil
    cdef void learn_kept(self, const void *x) noexcept nogil
    cdef void scale(self, const void *x, int64_t n, bint bends) noexcept nogil
    cdef void wipe(self) noexcept nogil
