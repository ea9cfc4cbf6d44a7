# How often each of several, mostly the last weights and their mean, was wrong about recent samples
# before it learned them. The one with fewer lapses decides.

from libc.stdint cimport int64_t

cdef enum:
    LAST = 0
    MEAN = 1


cdef inline void note_lapse(
    double *lapses, int which, bint is_wrong, int64_t n, int64_t recent
) noexcept nogil:
    """The share of wrong answers among n, this one included; over about the last `recent`"""
    lapses[which] += (is_wrong - lapses[which]) / min(n, recent)


cdef inline bint mean_decides(const double *lapses) noexcept nogil:
    return lapses[MEAN] <= lapses[LAST]
