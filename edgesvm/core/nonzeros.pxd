# Rows of which only the non-zeros are stored, in a block of fixed size; see nonzeros.pyx.

from libc.stdint cimport int32_t, int64_t

from edgesvm.core.kernels cimport Kernel

cdef struct Sample:         # a row that comes from outside
    const void *x           # (width,), dense
    const int32_t *columns  # (n,), ascending: all others are zero; NULL: n is the width
    int64_t n

cdef struct Nonzeros:
    int64_t width
    bint is_float32
    int64_t room            # entries
    int64_t *start          # (rows,): the first entry; 0: there is no row
    int32_t *length         # (rows,): entries
    int32_t *column         # (room,): 1 + column; -(t + 1): those of row t follow; 0: free
    char *value             # (room,), float32 or float64
    int64_t *taken          # (2,): entries up to the last row, and of these those of rows

cdef int map_nonzeros(Nonzeros *rows, dict views, str prefix, int64_t width) except -1
cdef void measure(
    bint is_float32, const Sample *sample, int64_t *count, double *square) noexcept nogil
cdef double sample_dot(bint is_float32, const Sample *sample, const double *w) noexcept nogil
cdef int64_t lacking(const Nonzeros *rows, int64_t t, int64_t count) noexcept nogil
cdef void put_nonzeros(Nonzeros *rows, int64_t t, const Sample *sample) noexcept nogil
cdef void drop_nonzeros(Nonzeros *rows, int64_t t) noexcept nogil
cdef void swap_nonzeros(Nonzeros *rows, int64_t s, int64_t t) noexcept nogil
cdef void get_nonzeros(const Nonzeros *rows, int64_t t, void *x) noexcept nogil
cdef double square_nonzeros(const Nonzeros *rows, int64_t t) noexcept nogil
cdef void kernel_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t first, int64_t n,
    double *out) noexcept nogil
cdef void row_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t first, int64_t n,
    float *out) noexcept nogil
cdef double weighted_nonzeros(
    const Nonzeros *rows, const Kernel *kernel, const void *x, double xx, int64_t n,
    const double *weight) noexcept nogil
cdef bint is_sound(const Nonzeros *rows, int64_t n) noexcept nogil


cdef inline double dot_nonzeros(const Nonzeros *rows, int64_t t, const double *w) noexcept nogil:
    """w.x_t"""
    cdef int64_t k, first = rows.start[t], n = rows.length[t]
    cdef const int32_t *column = rows.column + first
    cdef const float *f = <const float *> rows.value + first
    cdef const double *g = <const double *> rows.value + first
    cdef double total = 0.0
    if rows.is_float32:
        for k in range(n):
            total += f[k] * w[column[k] - 1]
    else:
        for k in range(n):
            total += g[k] * w[column[k] - 1]
    return total


cdef inline void add_nonzeros(
    const Nonzeros *rows, int64_t t, double factor, double *w
) noexcept nogil:
    """w += factor x_t"""
    cdef int64_t k, first = rows.start[t], n = rows.length[t]
    cdef const int32_t *column = rows.column + first
    cdef const float *f = <const float *> rows.value + first
    cdef const double *g = <const double *> rows.value + first
    if rows.is_float32:
        for k in range(n):
            w[column[k] - 1] += factor * f[k]
    else:
        for k in range(n):
            w[column[k] - 1] += factor * g[k]
