"""Dual coordinate descent, compiled: the problem of _smo.pyx for the linear kernel, without kernel
rows.

With w = sum beta_t x_t the gradient of one sample, g_t = y_t - w.x_t, costs its non-zeros, and so
does the change of w by a step: Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, Algorithm 3, with
their shrinking. Theirs is a machine without an intercept, or with one that is penalised as a weight
is. Here the intercept is free, as everywhere in this package, so that the sum of beta must be zero,
which no step of one coefficient keeps. The method of multipliers (Hestenes 1969, Powell 1969) keeps
it in the limit: b is the multiplier, and each pass over the active samples minimizes

    1/2 |w|^2 - sum |beta_t| + b sum beta + rho / 2 (sum beta)^2

one coefficient at a time, beta_t <- beta_t + (g_t - b - rho sum beta) / (x_t.x_t + rho), clipped;
after it b <- b + rho sum beta. A large rho brings the sum to zero in few passes, each step of which
is short; a tenth of the mean of x_t.x_t needed the fewest visits on four sets of five.

The gradients of a pass are each of its moment. Once the gap among them (see _smo.pyx; b does not
change it) is below `tol`, what is left of the sum is taken off coefficients between their bounds, w
and all gradients are computed anew, and the gap of these decides. If it is not below `tol`, all
samples but those it sets aside are active again, and the passes have half the tolerance. The
solution is the one that SMO finds, to `tol`.

An iteration is one coefficient. Bytes: 8 for each feature; the order of a pass is in the scratch of
the solver. The order is drawn, always from the same seed.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from edgesvm.core.nonzeros cimport add_nonzeros, dot_nonzeros
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.learners.batch._smo cimport (
    CONVERGED, RUNNING, Outcome, Smo, smo_begin, smo_intercept, smo_recompute)

cdef double SUM_SQUARE
from edgesvm.learners.batch.constants import SUM_SQUARE


cdef void dual_begin(Smo *s, LinearDual *d, bint warm) noexcept nogil:
    """As `smo_begin`."""
    cdef int64_t t
    cdef double squares = 0.0
    smo_begin(s, warm)
    d.total = 0.0
    for t in range(s.n):
        order_of(s)[t] = <int32_t> t
        squares += s.diagonal[t]
        d.total += s.beta[t]
    d.rho = SUM_SQUARE * squares / s.n if squares > 0.0 else 1.0
    d.b, d.most, d.least, d.tol = smo_intercept(s), s.most, s.least, s.tol
    d.at = d.n_active = s.n     # as at the end of a pass
    if s.most - s.least >= s.tol:
        begin_pass(s, d, INFINITY, -INFINITY)
    rng_seed(d.draws, 0)


cdef Outcome dual_run(Smo *s, LinearDual *d, int64_t n_more) noexcept nogil:
    """Make at most `n_more` iterations."""
    while True:
        if d.at == d.n_active and end_pass(s, d):
            return CONVERGED
        if n_more <= 0:
            return RUNNING
        if d.at < d.n_active:
            visit(s, d)
        s.n_iter += 1
        n_more -= 1


cdef inline int32_t *order_of(Smo *s) noexcept nogil:
    return <int32_t *> s.spare


cdef void visit(Smo *s, LinearDual *d) noexcept nogil:
    """Draw a sample that this pass has not visited, and move its coefficient to the minimum, or set
    the sample aside."""
    cdef int32_t *order = order_of(s)
    cdef int64_t j = d.at + rng_below(d.draws, d.n_active - d.at), t = order[j]
    cdef double low = min(s.bound[t], 0.0), high = max(s.bound[t], 0.0), beta = s.beta[t]
    cdef double g = (1.0 if high > 0.0 else -1.0) - dot_nonzeros(s.nonzeros, t, s.w)
    cdef double change
    if s.shrinking and ((beta == low and g < s.least) or (beta == high and g > s.most)):
        d.n_active -= 1
        order[j], order[d.n_active] = order[d.n_active], order[j]
        return
    order[j], order[d.at] = order[d.at], order[j]
    d.at += 1
    if beta < high:
        d.most = max(d.most, g)
    if beta > low:
        d.least = min(d.least, g)
    s.beta[t] = beta + (g - d.b - d.rho * d.total) / (s.diagonal[t] + d.rho)
    s.beta[t] = max(low, min(high, s.beta[t]))
    change = s.beta[t] - beta
    if change != 0.0:
        d.total += change
        add_nonzeros(s.nonzeros, t, change, s.w)


cdef void begin_pass(Smo *s, LinearDual *d, double most, double least) noexcept nogil:
    """Samples whose gradients are beyond `most` and `least` will be set aside."""
    s.most, s.least = most, least
    d.most, d.least, d.at = -INFINITY, INFINITY, 0


cdef bint end_pass(Smo *s, LinearDual *d) noexcept nogil:
    """Whether the solution is found; else begin the next pass."""
    cdef double b = d.b + d.rho * d.total
    if d.most - d.least >= d.tol:
        # b too: while it moves, samples between it and the others may have to move with it
        begin_pass(s, d, max(d.most, b), min(d.least, b))
    elif fabs(d.total) * max(s.k_max, d.rho) <= 0.5 * s.tol:
        dual_complete(s, d)
        if not s.most - s.least >= s.tol:
            return True
        d.tol *= 0.5
        d.n_active = s.n
        begin_pass(s, d, s.most, s.least)
    else:           # the sum is not small yet
        d.n_active = s.n
        begin_pass(s, d, INFINITY, -INFINITY)
    d.b = b
    return False


cdef void dual_complete(Smo *s, LinearDual *d) noexcept nogil:
    """Take what is left of the sum off coefficients between their bounds; compute w, the gradient
    and the gap of all samples."""
    cdef int64_t t
    cdef double low, high, before
    for t in range(s.n):
        low, high, before = min(s.bound[t], 0.0), max(s.bound[t], 0.0), s.beta[t]
        if low < before < high:
            s.beta[t] = max(low, min(high, before - d.total))
            d.total += s.beta[t] - before
    smo_recompute(s)
