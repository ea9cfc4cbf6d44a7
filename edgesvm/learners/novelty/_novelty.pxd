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

cdef struct Alarm:          # whole numbers but for the first two
    double integral         # of the alarms that count, less those asked for
    double share            # of alarms among the recent samples
    double on               # whether an alarm is
    double owed             # to the integral, of that alarm
    double calm             # samples in a row that may end it
    double since            # samples since one counted
    double lost             # whether it learns anew
    double back             # samples in a row that the former model explains
    double n_lost           # times that it got lost
    double n_stuck          # samples in which a feature was stuck


cdef class NoveltyCore(LearnerCore):
    cdef readonly double rate        # of false alarms
    cdef readonly double log_ratio   # log(ABOVE / rate)
    cdef readonly double calm        # samples that end an alarm
    cdef readonly double apart       # samples between two that count
    cdef readonly int64_t k
    cdef readonly int64_t n
    cdef public int64_t warm_up      # samples learned whatever they score
    cdef readonly bint learns_all
    cdef readonly int64_t until      # samples learned before nothing is any more; 0: no end
    cdef public bint only_looks_on   # nothing is learned, as if it were frozen
    cdef char *scaled       # (n_features,): TMP, the sample in deviations
    cdef double *scratch    # (n_scratch,): TMP, a subclass cuts it
    cdef readonly int64_t n_scratch
    cdef int64_t *n_strange  # samples above the threshold
    cdef int64_t *n_alarms
    cdef Alarm *alarm
    # The model, from `n_kept` to `former`, those of a subclass included; as many bytes of the
    # former one are behind it.
    cdef char *model
    cdef char *former
    cdef int64_t *kept      # samples that the scales have learned; 0: there is no such model
    cdef int64_t *n_scored  # samples that `tail` is of
    cdef double *recent     # (n,): the last scores
    cdef Tail *tail
    cdef double *mean       # (n_features,)
    cdef double *spread     # (n_features,): sum of squared deviations
    cdef readonly bint looks_back    # whether there are the following; see `repeats_itself`
    cdef public bint takes_as_normal    # all is learned, whatever it scores
    cdef char *values       # (n_features,): the sample before
    # Samples, up to STUCK_AFTER, since a value changed, and last, since any did.
    cdef int16_t *repeats   # (n_features + 1,)
    cdef int16_t *lively    # (n_features + 1,): samples at which it did, less COSTS for each other

    # A subclass overrides these; they read `scaled` and may use `scratch`.
    # How strange it is.
    cdef double score(self) noexcept nogil
    cdef void learn_scaled(self) noexcept nogil
    # out[j], (n_features,): how much less strange with feature j as the others say; some < 0 is 0
    cdef void drops(self, double *out) noexcept nogil

    cdef bint is_frozen(self) noexcept nogil
    cdef bint is_warm(self) noexcept nogil
    cdef double judge(self, const void *x, double *score) noexcept nogil
    cdef bint repeats_itself(self, const void *x) noexcept nogil
    cdef bint is_stuck(self, int64_t j) noexcept nogil
    cdef void end_alarm(self) noexcept nogil
    cdef bint turn(self, bint warm, double judged, double threshold) noexcept nogil
    cdef void control(
        self, bint warm, bint began, double judged, double threshold) noexcept nogil
    cdef const char *fault_of_model(self, int64_t n) noexcept nogil
    cdef void start_over(self) noexcept nogil
    cdef void ask_former(self, const void *x) noexcept nogil
    cdef void exchange(self) noexcept nogil
    cdef int64_t n_bytes(self) noexcept nogil
    cdef double unit_now(self) noexcept nogil
    cdef double settled_now(self) noexcept nogil
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
