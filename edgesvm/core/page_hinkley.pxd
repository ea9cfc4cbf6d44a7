# The test of Page and Hinkley; see `edgesvm.PageHinkley` for the equations.

from libc.math cimport fmax, sqrt
from libc.stdint cimport int64_t

cdef struct PageHinkley:        # since the start, or since the last drift
    double n, mean, m2          # errors, and the sum of (error - mean)^2
    double excess               # PH
    double n_low, mean_low      # where PH was last 0


cdef inline bint errors_rose(
    PageHinkley *s, double error, double delta, double threshold, int64_t min_samples,
    double least_variance
) noexcept nogil:
    """Add an error; whether errors are more than before, after which the caller clears `s`."""
    cdef double difference = error - s.mean, deviation
    s.n += 1.0
    s.mean += difference / s.n
    s.m2 += difference * (error - s.mean)
    deviation = sqrt(fmax(s.m2 / s.n, least_variance))
    s.excess = fmax(0.0, s.excess + error - s.mean - delta * deviation)
    if s.excess == 0.0:
        s.n_low, s.mean_low = s.n, s.mean
    return s.n >= min_samples and s.excess > threshold * deviation
