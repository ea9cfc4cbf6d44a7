"""Sequential minimal optimization, compiled: the dual problem of an SVM by pairs of coefficients.

Given rows x_t, bounds b_t = y_t C_t and a linear part c (for an SVM c = y), in the signed
coefficients beta = y alpha:

    min 1/2 beta' K beta - c' beta,   sum beta = const,   beta_t between 0 and b_t

with K_st = k(x_s, x_t), or s_s s_t (k(x_s, x_t) + offset) + ridge_s [s = t] where signs are given.
The stored gradient is g = c - K beta. The solution is optimal if no pair has g_i > g_j with beta_i
free to grow and beta_j free to fall; the largest such difference is the gap, and the solver stops
below `tol`.

Support vector regression: with `bends`, b_t > 0, c is the target, epsilon sum |beta| is added and
beta_t is between -b_t and b_t. LIBSVM's two coefficients, of which one is zero, are one here, whose
steps end at zero.

The pair (Fan, Chen & Lin 2005, WSS 2): i of the largest g that may grow; j, that may fall, of the
largest gain (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij). Shrinking as in LIBSVM (Chang & Lin 2011, 4.2);
the gradient of shrunk samples is recomputed when the active ones are solved.

An iteration is two passes over the active samples (smo_passes.h). Rows of K are float32, in a cache
of fixed size that replaces the least recently used row.

Rounding to float32 makes the gradient wrong by about 2^-24 sqrt(k_max sum beta_t^2 K_tt). Where
that is more than `tol` / 4, the gradient of a solution is computed again with kernel values in
float64, and the solver goes on from there (iterative refinement).

All arrays are the caller's memory; nothing is allocated.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.kernels cimport RBF, any_kernel_value
from edgesvm.core.nonzeros cimport (
    get_nonzeros, kernel_nonzeros, row_nonzeros, square_nonzeros, swap_nonzeros)
from edgesvm.core.row_cache cimport (
    cache_begin, cache_cut, cache_row, cache_slot, cache_swap, cache_swap_columns, cache_wipe,
    padded)
from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport (
    BLOCK_ROWS, TILES_ROWS, Tiles, clear_rows, get_row, kernel_block, kernel_noise,
    kernel_of_square, kernel_row, kernel_rows, lanes_of, put_row, swap_rows, weighted_kernel,
    weighted_kernel_f64)

import numpy as np

from edgesvm.errors import CorruptModelError

cnp.import_array()

cdef extern from "smo_passes.h" nogil:
    void smo_step(
        bint bends, double epsilon, double *g, const float *state, const float *row_i,
        const float *row_j, double delta, int64_t n, double *most, int64_t *i,
        double *least) noexcept
    int64_t smo_second(
        bint bends, double epsilon, const double *g, const float *state, const float *diagonal,
        const float *row_i, double g_i, float k_ii, float least_curvature, int64_t n) noexcept
    void smo_sign(
        float *row, const double *sign, double s_i, double offset, int64_t n) noexcept

cdef int64_t SHRINK_EVERY
cdef double BALANCED, HIDEABLE, LARGEST_NORM, LEAST_CURVATURE, ROUNDING
from edgesvm.core.constants import LARGEST_NORM
from edgesvm.learners.batch.constants import (
    BALANCED, HIDEABLE, LEAST_CURVATURE, ROUNDING, SHRINK_EVERY)


# -- samples ---------------------------------------------------------------------------------------

cdef inline double linear_part(const Smo *s, int64_t t) noexcept nogil:
    """c_t"""
    if s.linear != NULL:
        return s.linear[s.order[t]]
    return 1.0 if s.bound[t] > 0.0 else -1.0


cdef inline void set_state(Smo *s, int64_t t) noexcept nogil:
    cdef double low = s.bound[t] if s.bound[t] < 0.0 else 0.0
    cdef double high = s.bound[t] if s.bound[t] > 0.0 else 0.0
    cdef double between = 0.0
    if s.bends:
        low = -high
        between = 0.5 if s.beta[t] > 0.0 else -0.5 if s.beta[t] < 0.0 else 0.0
    s.state[t] = -1.0 if s.beta[t] <= low else 1.0 if s.beta[t] >= high else between


cdef inline double highest(const Smo *s, int64_t t) noexcept nogil:
    """Up to where beta_t may grow in one step"""
    if s.bends and s.beta[t] < 0.0:
        return 0.0
    return s.bound[t] if s.bound[t] > 0.0 else 0.0


cdef inline double lowest(const Smo *s, int64_t t) noexcept nogil:
    """Down to where beta_t may fall in one step"""
    if s.bends:
        return 0.0 if s.beta[t] > 0.0 else -s.bound[t]
    return s.bound[t] if s.bound[t] < 0.0 else 0.0


cdef inline double rising(const Smo *s, int64_t t) noexcept nogil:
    """g_t of a beta_t that grows"""
    if not s.bends:
        return s.gradient[t]
    return s.gradient[t] + (s.epsilon if s.state[t] < 0.0 else -s.epsilon)


cdef inline double falling(const Smo *s, int64_t t) noexcept nogil:
    """g_t of a beta_t that falls"""
    if not s.bends:
        return s.gradient[t]
    return s.gradient[t] + (-s.epsilon if s.state[t] > 0.0 else s.epsilon)


cdef inline bint is_free(const Smo *s, int64_t t) noexcept nogil:
    return fabs(s.state[t]) == (0.5 if s.bends else 0.0)


cdef void swap(Smo *s, int64_t a, int64_t b) noexcept nogil:
    """Exchange two samples, all but the columns of cached rows."""
    if s.nonzeros != NULL:
        swap_nonzeros(s.nonzeros, a, b)
    else:
        swap_rows(&s.rows, a, b)
    s.bound[a], s.bound[b] = s.bound[b], s.bound[a]
    s.beta[a], s.beta[b] = s.beta[b], s.beta[a]
    s.gradient[a], s.gradient[b] = s.gradient[b], s.gradient[a]
    s.diagonal[a], s.diagonal[b] = s.diagonal[b], s.diagonal[a]
    s.state[a], s.state[b] = s.state[b], s.state[a]
    s.order[a], s.order[b] = s.order[b], s.order[a]
    if s.sign != NULL:
        s.sign[a], s.sign[b] = s.sign[b], s.sign[a]
        s.ridge[a], s.ridge[b] = s.ridge[b], s.ridge[a]
    cache_swap(&s.cache, a, b)


# -- kernel rows -----------------------------------------------------------------------------------

cdef void compute_row(Smo *s, int64_t i, int64_t first, int64_t last, float *out) noexcept nogil:
    """out[t] = K_it for first <= t < last, and also from the beginning of the tile of `first`."""
    first -= first % lanes_of(&s.rows)
    get_point(s, i)
    if s.nonzeros == NULL:
        kernel_row(&s.rows, &s.kernel, s.point, first, last, out)
    else:
        row_nonzeros(
            s.nonzeros, &s.kernel, s.point, square_nonzeros(s.nonzeros, i), first, last - first,
            out + first)
    make_signed(s, i, first, last, out)


cdef inline void get_point(Smo *s, int64_t i) noexcept nogil:
    """point = x_i, dense"""
    if s.nonzeros != NULL:
        get_nonzeros(s.nonzeros, i, s.point)
    else:
        get_row(&s.rows, i, s.point)


cdef int64_t block_of(
    Smo *s, int64_t i, int64_t first, int64_t last, double *out
) noexcept nogil:
    """out[t] = k(x_i, x_(first + t)) in float64 before `last`; how many. `point` is x_i."""
    cdef int64_t n = min(last - first, <int64_t> BLOCK_ROWS)
    if s.nonzeros == NULL:
        return kernel_block(&s.rows, &s.kernel, s.point, first, last, out)
    kernel_nonzeros(
        s.nonzeros, &s.kernel, s.point, square_nonzeros(s.nonzeros, i), first, n, out)
    return n


cdef void make_signed(Smo *s, int64_t i, int64_t first, int64_t last, float *out) noexcept nogil:
    """Kernel values of sample i become those of K."""
    if s.sign != NULL:
        smo_sign(out + first, s.sign + first, s.sign[i], s.offset, last - first)
    if first <= i < last:
        out[i] = s.diagonal[i]


cdef double self_kernel(Smo *s, int64_t t) noexcept nogil:
    """K_tt"""
    cdef double k = 1.0
    if s.kernel.kind != RBF and s.nonzeros != NULL:
        k = kernel_of_square(&s.kernel, square_nonzeros(s.nonzeros, t))
    elif s.kernel.kind != RBF:
        get_row(&s.rows, t, s.point)
        k = any_kernel_value(&s.kernel, s.rows.is_float32, s.point, s.point, s.rows.width)
    return k + s.offset + s.ridge[t] if s.sign != NULL else k


cdef const float *row_of(Smo *s, int64_t i) noexcept nogil:
    """K_it for the active t, from the cache; the row returned by the previous call stays valid."""
    cdef int64_t k
    cdef float *row
    if s.ahead != NULL and s.cache.slot[i] == 0:
        compute_ahead(s, i)
    k = cache_slot(&s.cache, i)
    row = cache_row(&s.cache, k)
    if s.cache.filled[k] < s.n_active:
        compute_row(s, i, s.cache.filled[k], s.n_active, row)
        s.cache.filled[k] = <int32_t> s.n_active
    return row


cdef void compute_ahead(Smo *s, int64_t i) noexcept nogil:
    """Compute the row of i, and those likely to be next, if there are slots for them."""
    cdef int64_t which[TILES_ROWS]
    cdef float *row[TILES_ROWS]
    cdef int64_t j, k, n = choose_ahead(s, i, which)
    if s.cache.n_used + n > s.cache.n_slots:
        return
    for j in range(n):
        k = cache_slot(&s.cache, which[j])
        s.cache.filled[k], row[j] = <int32_t> s.n_active, cache_row(&s.cache, k)
        get_row(&s.rows, which[j], s.point)
        put_row(s.ahead, j, s.point)
    kernel_rows(&s.rows, &s.kernel, s.ahead, n, s.n_active, row)
    for j in range(n):
        make_signed(s, which[j], 0, s.n_active, row[j])
    clear_rows(s.ahead, n)


cdef int64_t choose_ahead(const Smo *s, int64_t i, int64_t *which) noexcept nogil:
    """i, and the active samples without a cached row whose gradients are largest, in order"""
    cdef int64_t t, j, n = 1
    which[0] = i
    for t in range(s.n_active):
        if s.state[t] > 0.0 or s.cache.slot[t] or t == i or (
                n == TILES_ROWS and s.gradient[t] <= s.gradient[which[n - 1]]):
            continue
        n = min(n + 1, <int64_t> TILES_ROWS)
        j = n - 1
        while j > 1 and s.gradient[which[j - 1]] < s.gradient[t]:
            which[j] = which[j - 1]
            j -= 1
        which[j] = t
    return n


# -- the gradient ----------------------------------------------------------------------------------

cdef void find_first(Smo *s) noexcept nogil:
    """Find i, most and least over the active samples."""
    cdef int64_t t
    s.most, s.least, s.i = -INFINITY, INFINITY, -1
    for t in range(s.n_active):
        if s.state[t] < 1.0 and rising(s, t) >= s.most:
            s.most, s.i = rising(s, t), t
        if s.state[t] > -1.0 and falling(s, t) < s.least:
            s.least = falling(s, t)


cdef void compute_gradient(Smo *s, int64_t first) noexcept nogil:
    """g = c - K beta from position `first` on"""
    cdef int64_t i, t
    if first >= s.n:
        return
    for t in range(first, s.n):
        s.gradient[t] = linear_part(s, t)
    if s.w != NULL:
        subtract_products(s, first)
        return
    for i in range(s.n):
        if s.beta[i] == 0.0:
            continue
        if s.in_float64:
            subtract_row_f64(s, i, first)
        else:
            subtract_row(s, i, first)


cdef void subtract_products(Smo *s, int64_t first) noexcept nogil:
    """w = sum beta_i x_i; g -= X w from position `first` on"""
    cdef int64_t t
    memset(s.w, 0, s.rows.width * sizeof(double))
    for t in range(s.n):
        if s.beta[t] != 0.0:
            add_row(s, t, s.beta[t], s.w)
    for t in range(first, s.n):
        s.gradient[t] -= dot_row(s, t)


cdef void subtract_row(Smo *s, int64_t i, int64_t first) noexcept nogil:
    """g -= beta_i K_i from position `first` on"""
    cdef int64_t t, k = s.cache.slot[i] - 1
    cdef const float *row = s.spare
    if k >= 0 and s.cache.filled[k] == s.n:
        row = cache_row(&s.cache, k)
    else:
        compute_row(s, i, first, s.n, s.spare)
    for t in range(first, s.n):
        s.gradient[t] -= s.beta[i] * row[t]


cdef void subtract_row_f64(Smo *s, int64_t i, int64_t first) noexcept nogil:
    """`subtract_row` with kernel values in float64, which are not stored"""
    cdef double values[BLOCK_ROWS]
    cdef int64_t block = first - first % BLOCK_ROWS, t, end
    get_point(s, i)
    while block < s.n:
        end = block + block_of(s, i, block, s.n, values)
        for t in range(max(block, first), end):
            s.gradient[t] -= s.beta[i] * values[t - block]
        block = end


cdef void activate_all(Smo *s) noexcept nogil:
    if s.n_active == s.n:
        return
    compute_gradient(s, s.n_active)
    s.n_active = s.n
    if s.cache.stride != padded(s.reserve):
        cache_cut(&s.cache, s.reserve, s.capacity)
    find_first(s)


# -- rounding --------------------------------------------------------------------------------------

cdef bint needs_float64(Smo *s) noexcept nogil:
    """Whether float32 may hide a part of `tol`."""
    cdef double noise
    if not s.refines:
        return False
    if s.nonzeros != NULL:
        noise = nonzeros_noise(s)
    else:
        noise = kernel_noise(&s.rows, &s.kernel, s.n, s.beta, s.point)
    return noise * sqrt(s.k_max) > HIDEABLE * s.tol


cdef double nonzeros_noise(Smo *s) noexcept nogil:
    """`kernel_noise` of values that are summed in float64 and then rounded"""
    cdef int64_t t
    cdef double square = 0.0
    for t in range(s.n):
        square += s.beta[t] * s.beta[t] * s.diagonal[t]
    return 5.9604644775390625e-08 * sqrt(square)     # 2^-24


cdef bint refine(Smo *s) noexcept nogil:
    """Recompute the gradient in float64 where needed; whether it is that now. All active."""
    if s.refined:
        return True
    s.in_float64 = s.in_float64 or needs_float64(s)
    if s.in_float64:
        compute_gradient(s, 0)
        find_first(s)
        s.refined = True
    return s.refined


cdef bint is_hidden(Smo *s) noexcept nogil:
    """Whether float64 shows a gap that float32 hid, and a quarter less than the last such gap."""
    cdef double gap = s.refined_gap
    if not refine(s):
        return False
    s.refined_gap = smo_gap(s)
    return s.tol <= s.refined_gap < 0.75 * gap


# -- shrinking -------------------------------------------------------------------------------------

cdef inline bint is_settled(const Smo *s, int64_t t, double most, double least) noexcept nogil:
    """At a bound, or at zero if the cost bends there, without a partner among the active samples"""
    return (s.state[t] >= 1.0 or rising(s, t) < least) and (
        s.state[t] <= -1.0 or falling(s, t) > most)


cdef void shrink(Smo *s) noexcept nogil:
    cdef int64_t t = 0, n_pairs = 0, last
    cdef int32_t *pairs = <int32_t *> s.spare
    cdef double most, least
    if not s.unshrunk and s.most - s.least <= 10.0 * s.tol:
        s.unshrunk = True
        activate_all(s)
    most, least, last = s.most, s.least, s.n_active
    while t < last:
        if is_settled(s, t, most, least):
            last -= 1
            while last > t and is_settled(s, last, most, least):
                last -= 1
            if last > t:
                swap(s, t, last)
                pairs[2 * n_pairs], pairs[2 * n_pairs + 1] = <int32_t> t, <int32_t> last
                n_pairs += 1
        t += 1
    if last == s.n_active:
        return
    cache_swap_columns(&s.cache, pairs, n_pairs)
    s.n_active = last
    if 4 * padded(last) <= 3 * s.cache.stride and last > 0:
        cache_cut(&s.cache, last, s.capacity)
    find_first(s)


# -- solving ---------------------------------------------------------------------------------------

cdef void smo_begin(Smo *s, bint warm, int64_t n_known=0) noexcept nogil:
    """Set up, from the coefficients if `warm`; the gradient of the first `n_known` is known."""
    cdef int64_t t
    s.n_active = s.reserve = s.n
    s.n_iter, s.unshrunk = 0, False
    s.in_float64, s.refined_gap = False, INFINITY
    # Recomputing the gradient of shrunk samples costs as much as n iterations or more
    s.countdown = (s.n if n_known else min(s.n, SHRINK_EVERY)) + 1
    cache_begin(&s.cache, s.n, s.capacity)
    s.sum_beta = s.k_max = 0.0
    for t in range(s.n):
        s.order[t] = <int32_t> t
        if not warm:
            s.beta[t] = 0.0
        s.sum_beta += fabs(s.beta[t])
        s.diagonal[t] = <float> self_kernel(s, t)
        s.k_max = max(s.k_max, <double> s.diagonal[t])
        set_state(s, t)
    s.in_float64 = warm and needs_float64(s)
    s.refined = s.in_float64 and n_known == 0
    compute_gradient(s, n_known)
    find_first(s)


cdef void smo_append(Smo *s) noexcept nogil:
    """Add the sample whose row, bound, sign, ridge and linear part are at position n, with
    coefficient zero. All samples must be active. The solution stays, and `smo_run` continues from
    it; the new sample's row of K, which its gradient needs, is then in the cache.
    """
    cdef int64_t t, new = s.n
    cdef const float *row
    add_sample(s)
    row = row_of(s, new)
    s.gradient[new] = linear_part(s, new)
    for t in range(new):
        s.gradient[new] -= s.beta[t] * row[t]
    find_first(s)


cdef void smo_append_known(Smo *s, double gradient) noexcept nogil:
    """`smo_append` of a sample whose gradient is known: its row of K is not computed yet."""
    add_sample(s)
    s.gradient[s.n - 1] = gradient
    find_first(s)


cdef int64_t smo_replace(Smo *s, int64_t t, int64_t last, int64_t n_pairs) noexcept nogil:
    """The last sample takes the place of sample t, which has no coefficient; the caller moves its
    row, bound, coefficient, sign and ridge. All samples must be active. Return how many pairs of
    columns `smo_cut`, which must follow, has to exchange."""
    cdef int32_t *pairs = <int32_t *> s.spare
    s.gradient[t], s.diagonal[t], s.state[t] = s.gradient[last], s.diagonal[last], s.state[last]
    cache_swap(&s.cache, t, last)
    if s.cache.slot[last]:
        s.cache.used[s.cache.slot[last] - 1] = 0    # the next to be replaced
        s.cache.slot[last] = 0
    if t == last:
        return n_pairs
    pairs[2 * n_pairs], pairs[2 * n_pairs + 1] = <int32_t> t, <int32_t> last
    if 2 * n_pairs + 4 <= s.n:
        return n_pairs + 1
    cache_swap_columns(&s.cache, pairs, n_pairs + 1)    # there is no room for another
    return 0


cdef void smo_cut(Smo *s, int64_t n, int64_t n_pairs) noexcept nogil:
    """Keep the first n samples."""
    cdef int64_t k
    cache_swap_columns(&s.cache, <int32_t *> s.spare, n_pairs)
    s.n = s.n_active = n
    for k in range(s.cache.n_used):
        s.cache.filled[k] = <int32_t> min(<int64_t> s.cache.filled[k], n)
    find_first(s)


cdef void add_sample(Smo *s) noexcept nogil:
    cdef int64_t new = s.n
    s.n = s.n_active = new + 1
    s.order[new] = <int32_t> new
    s.cache.slot[new] = 0
    s.diagonal[new] = <float> self_kernel(s, new)
    s.k_max = max(s.k_max, <double> s.diagonal[new])
    set_state(s, new)
    s.countdown, s.unshrunk = min(s.n, SHRINK_EVERY) + 1, False
    if s.cache.stride < padded(s.n):
        widen_cache(s)


cdef void widen_cache(Smo *s) noexcept nogil:
    """Make slots a quarter longer than n numbers; or n long if two longer ones do not fit."""
    cdef int64_t most = s.cache.n_floats // 32 * 16
    s.reserve = max(s.n, min(s.capacity, 5 * s.n // 4, most))
    cache_cut(&s.cache, s.reserve, s.capacity)


cdef Outcome smo_run(Smo *s, int64_t n_more) noexcept nogil:
    """Make at most `n_more` iterations."""
    cdef double tol
    while True:
        if s.shrinking and s.countdown <= 1:
            s.countdown = min(s.n, SHRINK_EVERY) + 1
            shrink(s)
        # A margin, for what the steps since the last recomputed gradient leave hidden
        tol = 0.5 * s.tol if s.in_float64 and not s.refined else s.tol
        tol = max(tol, ROUNDING * s.k_max * s.sum_beta)
        if not s.most - s.least >= tol:
            activate_all(s)
            if not s.most - s.least >= tol and not is_hidden(s):
                return CONVERGED if s.most - s.least < s.tol else STALLED
            s.countdown = 1
            continue
        if n_more <= 0:
            return RUNNING
        if not improve(s):
            return STALLED
        s.refined = False
        n_more -= 1
        s.n_iter += 1
        s.countdown -= 1


cdef bint improve(Smo *s) noexcept nogil:
    """Move one pair to the minimum along its line, or to a bound; whether anything changed."""
    cdef int64_t i = s.i, j
    cdef const float *row_i = row_of(s, i)
    cdef const float *row_j
    cdef double curvature, delta, room, high, low
    j = smo_second(
        s.bends, s.epsilon, s.gradient, s.state, s.diagonal, row_i, s.most, s.diagonal[i],
        <float> LEAST_CURVATURE, s.n_active)
    if j < 0:
        return False
    row_j = row_of(s, j)
    curvature = <double> s.diagonal[i] + s.diagonal[j] - 2.0 * row_i[j]
    if not curvature > 0.0:
        curvature = LEAST_CURVATURE
    delta = (rising(s, i) - falling(s, j)) / curvature
    high, low = highest(s, i), lowest(s, j)
    room = min(high - s.beta[i], s.beta[j] - low)
    if not delta < room:
        delta = room
    if s.beta[i] + delta == s.beta[i] and s.beta[j] - delta == s.beta[j]:
        return False
    s.sum_beta += (delta if high > 0.0 else -delta) - (delta if low == 0.0 else -delta)
    # Exactly to the bound, which a sum would miss by rounding
    s.beta[i] += delta
    s.beta[j] -= delta
    if high - s.beta[i] <= BALANCED * fabs(s.bound[i]):
        s.beta[i] = high
    if s.beta[j] - low <= BALANCED * fabs(s.bound[j]):
        s.beta[j] = low
    set_state(s, i)
    set_state(s, j)
    smo_step(
        s.bends, s.epsilon, s.gradient, s.state, row_i, row_j, delta, s.n_active, &s.most, &s.i,
        &s.least)
    return True


cdef void smo_recompute(Smo *s) noexcept nogil:
    """The gradient and the gap of the coefficients as they are. All samples must be active."""
    cdef int64_t t
    for t in range(s.n):
        set_state(s, t)
    compute_gradient(s, 0)
    find_first(s)


cdef void smo_complete(Smo *s) noexcept nogil:
    """Make all samples active, which the functions below require."""
    activate_all(s)
    refine(s)


# -- the solution ----------------------------------------------------------------------------------

cdef double smo_gap(const Smo *s) noexcept nogil:
    """By how much the worst active pair violates optimality; 0 if there is no pair."""
    return max(s.most - s.least, 0.0) if isfinite(s.most) and isfinite(s.least) else 0.0


cdef double smo_intercept(const Smo *s) noexcept nogil:
    """b of f(x): the mean of g over free coefficients, or the middle of the range allowed."""
    cdef int64_t t, n_free = 0
    cdef double total = 0.0
    for t in range(s.n):
        if is_free(s, t):
            total += rising(s, t)
            n_free += 1
    if n_free:
        return total / n_free
    if isfinite(s.most) and isfinite(s.least):
        return 0.5 * (s.most + s.least)
    return s.most if isfinite(s.most) else s.least if isfinite(s.least) else 0.0


cdef double smo_objective(const Smo *s) noexcept nogil:
    """1/2 beta' K beta - c' beta, and epsilon sum |beta| if the cost bends. All active."""
    cdef int64_t t
    cdef double total = 0.0, bent = 0.0
    for t in range(s.n):
        total += s.beta[t] * (linear_part(s, t) + s.gradient[t])
        if s.bends:
            bent += s.epsilon * fabs(s.beta[t])
    return -0.5 * total + bent


cdef void smo_restore(Smo *s) noexcept nogil:
    """Move every sample back to its original position."""
    cdef int64_t t
    for t in range(s.n):
        while s.order[t] != t:
            swap(s, t, s.order[t])


cdef int64_t smo_gather(Smo *s) noexcept nogil:
    """After `smo_restore`: samples with a coefficient to the front, in order; how many."""
    cdef int64_t t, n_support = 0
    for t in range(s.n):
        if s.beta[t] != 0.0:
            if t != n_support:
                swap(s, t, n_support)
            n_support += 1
    return n_support


cdef void smo_wipe(Smo *s, int64_t n_known=0) noexcept nogil:
    """Zero all scratch; the gradient of the first `n_known` samples stays."""
    cdef int64_t size = sizeof(float) if s.rows.is_float32 else sizeof(double)
    cache_wipe(&s.cache, s.n)
    memset(s.gradient + n_known, 0, (s.n - n_known) * sizeof(double))
    memset(s.diagonal, 0, s.n * sizeof(float))
    memset(s.state, 0, s.n * sizeof(float))
    memset(s.spare, 0, padded(s.n) * sizeof(float))
    memset(s.point, 0, s.rows.width * size)


# -- learners --------------------------------------------------------------------------------------

cdef int map_solver(KernelCore core, Smo *s, str diagonal) except -1:
    """Set the solver's kernel and its arrays; `diagonal` names the plan's array for K_tt."""
    s.kernel = core.kernel
    s.nonzeros, s.w = &core.nonzeros if core.is_sparse else NULL, NULL
    s.rows.width, s.rows.is_float32, s.rows.present = core.n_features, core.is_float32, NULL
    if "rows" in core.views:
        core.map_tiles(&s.rows, "rows")
    core.map_cache(&s.cache)
    s.bound = <double *> core.array("bound")
    s.gradient = <double *> core.array("gradient")
    s.diagonal = <float *> core.array(diagonal)
    s.state = <float *> core.array("state")
    s.spare = <float *> core.array("spare")
    s.order = <int32_t *> core.array("order")
    s.point = core.array("point")
    return 0


cdef class SmoCore(KernelCore):
    """The solver, in the arena. The public class has checked the parameters."""

    def __init__(self, *common, C, kernel, tol, shrinking=True):
        super().__init__(*common, kernel=kernel)
        cdef Smo *s = &self.smo
        self.C = C
        map_solver(self, s, "diagonal")
        s.capacity, s.tol, s.shrinking = self.views["bound"].size, tol, shrinking
        s.linear, s.sign, s.ridge, s.offset = NULL, NULL, NULL, 0.0
        s.bends, s.epsilon = False, 0.0
        s.refines = True
        if "w" in self.views:
            s.w, s.refines = <double *> self.array("w"), False
        s.beta = <double *> self.array("beta")

    cdef Status refuses(self, const void *x, double weight) noexcept nogil:
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        return self.refuses_kernel(self.self_kernel(x), weight)

    cdef Status refuses_kernel(self, double k, double weight) noexcept nogil:
        """`refuses` of a sample with k(x, x) = k"""
        if not k <= LARGEST_NORM:
            return NOT_FINITE
        return UNCHANGED if 0.0 < self.C * weight < INFINITY else BAD_WEIGHT

    # -- decisions ---------------------------------------------------------------------------------

    cdef double noise_of(self, const Tiles *rows, int64_t n, const double *beta) noexcept nogil:
        """`kernel_noise`, which `weighted` needs; 0 in float64."""
        cdef double noise = 0.0
        if self.is_float32:
            noise = kernel_noise(rows, &self.kernel, n, beta, self.smo.point)
            memset(self.smo.point, 0, self.row_bytes)
        return noise

    cdef bint hides(self, double noise, const void *x) noexcept nogil:
        """Whether float32 may hide a part of `tol`"""
        return noise * sqrt(self.self_kernel(x)) > HIDEABLE * self.smo.tol

    cdef double weighted(
        self, const Tiles *rows, int64_t n, const double *beta, double noise, const void *x
    ) noexcept nogil:
        """sum beta_t k(x, rows[t]), in float64 if float32 may hide a part of `tol`"""
        if self.hides(noise, x):
            return weighted_kernel_f64(rows, &self.kernel, x, n, beta)
        return weighted_kernel(rows, &self.kernel, x, n, beta)

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check_held(self, rows, bound, beta, held):
        """Refuse rows, bounds and coefficients unless exactly the first `held` are set."""
        if not bound[:held].all() or bound[held:].any() or beta[held:].any():
            raise CorruptModelError("a stored sample has no bound, or an unused row has one")
        wrong = bound[:held] if self.smo.bends else beta[:held] * bound[:held]
        if (np.abs(beta[:held]) > np.abs(bound[:held])).any() or (wrong < 0.0).any():
            raise CorruptModelError("a coefficient is beyond its bound")
        if rows is not None:
            self.check_rows(rows, held)

    def check_rows(self, cnp.ndarray rows not None, int64_t held):
        """Refuse rows, in tiles or (n, n_features), that could not have been learned."""
        cdef Tiles tiles
        cdef const char *data = <const char *> cnp.PyArray_DATA(rows)
        cdef bint fine = True, tiled = rows.ndim == 3
        cdef int64_t t
        tiles.data, tiles.width, tiles.present = <char *> data, self.n_features, NULL
        tiles.is_float32, tiles.alone = self.is_float32, tiled and rows.shape[2] == 1
        with nogil:
            for t in range(held):
                if tiled:
                    get_row(&tiles, t, self.smo.point)
                else:
                    memcpy(self.smo.point, data + t * self.row_bytes, self.row_bytes)
                fine = fine and self.self_kernel(self.smo.point) <= LARGEST_NORM
        memset(self.smo.point, 0, self.views["point"].nbytes)
        if not fine:
            raise CorruptModelError("a sample is larger than any that can be learned")
