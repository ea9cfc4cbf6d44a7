# How often each of several, mostly the last weights and their mean, was wrong about recent samples
# before it learned them. The one with the lower rate decides.

from libc.stdint cimport int64_t
from libc.string cimport memcpy

cdef enum:
    LAST = 0
    MEAN = 1

cdef inline void note_error(
    double *rates, int which, bint is_wrong, double n
) noexcept nogil:
    """The share of wrong answers among n, this one included; of a longer stream n is what counts as
    recent, 250 or more. At 124 times the least number above zero, which its bits say, it cannot
    fall, and to divide it takes long."""
    cdef int64_t bits
    memcpy(&bits, &rates[which], sizeof(int64_t))
    if is_wrong or bits > 124:
        rates[which] += ((1.0 if is_wrong else 0.0) - rates[which]) / n


cdef inline bint mean_decides(const double *rates) noexcept nogil:
    return rates[MEAN] <= rates[LAST]
