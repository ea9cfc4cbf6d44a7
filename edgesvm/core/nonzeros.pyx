"""Rows of which only the non-zeros are stored, in a block of entries of fixed size.

An entry is a column and a value. A row is one entry that names it, -(t + 1), and after it one entry
1 + column for each non-zero, ascending. What no row has is free, and zero. A new row is put behind
the last one; where there is no room behind it, all rows move together first, in their order. So a
row of m non-zeros fits exactly if m + 1 entries are free, wherever they are.

Rows change places by their `start` and `length` alone. Bytes: 12 for each row, and 4 + s for each
entry, s = 4 or 8.

Products are sums in float64 over the non-zeros, in the order of the columns.
"""

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove, memset

from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport entry, item_bytes, put
from edgesvm.core.tiles cimport BLOCK_ROWS, kernel_of_sums

cnp.import_array()


cdef int map_nonzeros(Nonzeros *rows, dict views, str prefix, int64_t width) except -1:
    """Point `rows` to the arrays "starts", "lengths", "columns", "values" and "taken", by their
    names with the prefix; they must stay alive."""
    start, length, column, value, taken = (
        views[prefix + name] for name in ("starts", "lengths", "columns", "values", "taken"))
    rows.width, rows.room, rows.is_float32 = width, len(column), value.itemsize == sizeof(float)
    rows.start = <int64_t *> cnp.PyArray_DATA(start)
    rows.length = <int32_t *> cnp.PyArray_DATA(length)
    rows.column = <int32_t *> cnp.PyArray_DATA(column)
    rows.value = <char *> cnp.PyArray_DATA(value)
    rows.taken = <int64_t *> cnp.PyArray_DATA(taken)
    return 0


# -- rows that come from outside -------------------------------------------------------------------

cdef void measure(
    bint is_float32, const Sample *sample, int64_t *count, double *square
) noexcept nogil:
    """Non-zeros, and x.x; NaN or infinite if a feature is, or cannot be squared in its dtype"""
    cdef int64_t k, d
    cdef double v
    count[0], square[0] = 0, 0.0
    for k in range(sample.n):
        d = k if sample.columns == NULL else sample.columns[k]
        v = entry(is_float32, sample.x, d)
        if v != 0.0:
            count[0] += 1
            square[0] += v * v
    if is_float32 and not square[0] <= FLT_MAX:
        square[0] = INFINITY


cdef double sample_dot(bint is_float32, const Sample *sample, const double *w) noexcept nogil:
    """w.x"""
    cdef int64_t k, d
    cdef double v, total = 0.0
    for k in range(sample.n):
        d = k if sample.columns == NULL else sample.columns[k]
        v = entry(is_float32, sample.x, d)
        if v != 0.0:
            total += v * w[d]
    return total


# -- the block -------------------------------------------------------------------------------------

cdef int64_t lacking(const Nonzeros *rows, int64_t t, int64_t count) noexcept nogil:
    """Entries that are too few for a new row t of `count` non-zeros; <= 0: it fits"""
    cdef int64_t freed = rows.length[t] + 1 if rows.start[t] else 0
    return rows.taken[1] - freed + count + 1 - rows.room


cdef void put_nonzeros(Nonzeros *rows, int64_t t, const Sample *sample) noexcept nogil:
    """Row t becomes the sample, for which there is room."""
    cdef int64_t count, k, d, at
    cdef double square, v
    measure(rows.is_float32, sample, &count, &square)
    drop_nonzeros(rows, t)
    if rows.taken[0] + count + 1 > rows.room:
        move_together(rows)
    at = rows.taken[0]
    rows.column[at] = <int32_t> -(t + 1)
    rows.start[t], rows.length[t] = at + 1, <int32_t> count
    rows.taken[0] += count + 1
    rows.taken[1] += count + 1
    for k in range(sample.n):
        d = k if sample.columns == NULL else sample.columns[k]
        v = entry(rows.is_float32, sample.x, d)
        if v != 0.0:
            at += 1
            rows.column[at] = <int32_t> (d + 1)
            put(rows.is_float32, rows.value, at, v)


cdef void drop_nonzeros(Nonzeros *rows, int64_t t) noexcept nogil:
    """Forget row t, if there is one."""
    cdef int64_t at = rows.start[t] - 1, n = rows.length[t] + 1
    if at < 0:
        return
    memset(rows.column + at, 0, n * sizeof(int32_t))
    memset(rows.value + at * item_bytes(rows.is_float32), 0, n * item_bytes(rows.is_float32))
    rows.taken[1] -= n
    if rows.taken[0] == at + n:
        rows.taken[0] = at
    rows.start[t] = rows.length[t] = 0


cdef void move_together(Nonzeros *rows) noexcept nogil:
    cdef int64_t at = 0, to = 0, end = rows.taken[0], n, t, size = item_bytes(rows.is_float32)
    while at < end:
        if rows.column[at] == 0:
            at += 1
            continue
        t = -rows.column[at] - 1
        n = rows.length[t] + 1
        memmove(rows.column + to, rows.column + at, n * sizeof(int32_t))
        memmove(rows.value + to * size, rows.value + at * size, n * size)
        rows.start[t] = to + 1
        to += n
        at += n
    memset(rows.column + to, 0, (end - to) * sizeof(int32_t))
    memset(rows.value + to * size, 0, (end - to) * size)
    rows.taken[0] = to


cdef void swap_nonzeros(Nonzeros *rows, int64_t s, int64_t t) noexcept nogil:
    """Row s becomes row t, and t becomes s; one of them may be none."""
    rows.start[s], rows.start[t] = rows.start[t], rows.start[s]
    rows.length[s], rows.length[t] = rows.length[t], rows.length[s]
    if rows.start[s]:
        rows.column[rows.start[s] - 1] = <int32_t> -(s + 1)
    if rows.start[t]:
        rows.column[rows.start[t] - 1] = <int32_t> -(t + 1)


cdef void get_nonzeros(const Nonzeros *rows, int64_t t, void *x) noexcept nogil:
    """x = row t, dense"""
    cdef int64_t k, first = rows.start[t]
    memset(x, 0, rows.width * item_bytes(rows.is_float32))
    for k in range(first, first + rows.length[t]):
        put(rows.is_float32, x, rows.column[k] - 1, entry(rows.is_float32, rows.value, k))


# -- kernel values ---------------------------------------------------------------------------------

cdef double square_nonzeros(const Nonzeros *rows, int64_t t) noexcept nogil:
    """x_t.x_t"""
    cdef int64_t k, first = rows.start[t]
    cdef double v, total = 0.0
    for k in range(first, first + rows.length[t]):
        v = entry(rows.is_float32, rows.value, k)
        total += v * v
    return total


cdef void kernel_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t first, int64_t n,
    double *out
) noexcept nogil:
    """out[i] = k(x, row first + i) for n rows; x is dense, xx = x.x as `measure` adds it up"""
    cdef int64_t t, k, d, begin
    cdef bint squares = kernel.kind == RBF
    cdef double v, product, square
    for t in range(first, first + n):
        begin = rows.start[t]
        product = square = 0.0
        for k in range(begin, begin + rows.length[t]):
            d = rows.column[k] - 1
            v = entry(rows.is_float32, rows.value, k)
            product += v * entry(rows.is_float32, x, d)
            square += v * v
        out[t - first] = max(xx + square - 2.0 * product, 0.0) if squares else product
    kernel_of_sums(kernel, out, n)


cdef void row_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t first, int64_t n,
    float *out
) noexcept nogil:
    """`kernel_nonzeros`, rounded to float32"""
    cdef double values[BLOCK_ROWS]
    cdef int64_t begin = 0, count, t
    while begin < n:
        count = min(n - begin, <int64_t> BLOCK_ROWS)
        kernel_nonzeros(rows, kernel, x, xx, first + begin, count, values)
        for t in range(count):
            out[begin + t] = <float> values[t]
        begin += count


cdef double weighted_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t n,
    const double *weight
) noexcept nogil:
    """sum_t weight[t] k(x, row t) over the first n rows"""
    cdef double values[BLOCK_ROWS]
    cdef double total = 0.0
    cdef int64_t first = 0, count, t
    while first < n:
        count = min(n - first, <int64_t> BLOCK_ROWS)
        kernel_nonzeros(rows, kernel, x, xx, first, count, values)
        for t in range(count):
            total += weight[first + t] * values[t]
        first += count
    return total


# -- checks of a loaded arena ----------------------------------------------------------------------

cdef bint is_sound(const Nonzeros *rows, int64_t n) noexcept nogil:
    """Whether the block holds the first n rows, no other, and nothing else; rows.start has `n` or
    more, and entries are read only if they are within the block."""
    cdef int64_t at = 0, found = 0, held = 0, t, k, size = item_bytes(rows.is_float32)
    cdef double v
    if not 0 <= rows.taken[1] <= rows.taken[0] <= rows.room:
        return False
    while at < rows.taken[0]:
        if rows.column[at] == 0:
            if not is_zero(rows.value + at * size, size):
                return False
            at += 1
            continue
        t = -<int64_t> rows.column[at] - 1
        if not 0 <= t < n or rows.start[t] != at + 1 or not (
                0 <= rows.length[t] < rows.taken[0] - at) or not is_zero(
                rows.value + at * size, size):
            return False
        for k in range(at + 1, at + 1 + rows.length[t]):
            v = entry(rows.is_float32, rows.value, k)
            if not 0 < rows.column[k] <= rows.width or v == 0.0 or v != v or (
                    k > at + 1 and rows.column[k] <= rows.column[k - 1]):
                return False
        found += 1
        held += rows.length[t] + 1
        at += rows.length[t] + 1
    return (found == n and held == rows.taken[1]
            and is_zero(<char *> (rows.column + at), (rows.room - at) * sizeof(int32_t))
            and is_zero(rows.value + at * size, (rows.room - at) * size))


cdef bint is_zero(const char *bytes, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if bytes[i]:
            return False
    return True
