# When a learner's samples lose weight: where its errors become more and for a while after it, or
# all the time.

from libc.math cimport fmax, fmin
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.page_hinkley cimport PageHinkley, errors_rose

cdef double DELTA, SOON, SOON_FOR, FORGETS_FOR, PACE, LEAST_HALF_LIFE, AT_A_DRIFT
cdef double LEAST_VARIANCE
cdef int64_t MIN_SAMPLES

cdef struct Forgetting:         # begins at the arena's array "n_drifts"
    int64_t n_drifts
    double since                # samples since the last drift
    double due                  # of the next halving
    PageHinkley errors


cdef inline bint after_a_drift(const Forgetting *s, double n) noexcept nogil:
    return s.n_drifts > 0 and s.since < n


cdef inline double weight_left(
    Forgetting *s, double half_life, double threshold, double error
) noexcept nogil:
    """What the weight of all that is held is multiplied by before the next sample, about which the
    learner was wrong by `error`, 0 to 1: 1 or a negative power of 2."""
    cdef double rate = 0.0
    if half_life > 0.0:
        rate = 1.0 / half_life
    elif errors_rose(&s.errors, error, DELTA, SOON if after_a_drift(s, SOON_FOR) else threshold,
                     MIN_SAMPLES, LEAST_VARIANCE):
        memset(&s.errors, 0, sizeof(PageHinkley))
        s.n_drifts += 1
        s.since = s.due = 0.0
        return AT_A_DRIFT
    else:
        s.since += 1.0
        if after_a_drift(s, FORGETS_FOR):
            rate = 1.0 / fmax(PACE * s.since, LEAST_HALF_LIFE)
    s.due += rate
    if s.due < 1.0:
        return 1.0
    s.due -= 1.0
    return 0.5
