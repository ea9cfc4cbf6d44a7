# Running mean and sum of squared deviations (Welford 1962).


cdef inline void welford(
    double x, double share, double old_mean, double old_spread, double *mean, double *spread
) noexcept nogil:
    """delta = x - mean,  mean += delta / n,  spread += delta (x - mean);  share = 1 / n"""
    cdef double delta = x - old_mean
    mean[0] = old_mean + delta * share
    spread[0] = old_spread + delta * (x - mean[0])
