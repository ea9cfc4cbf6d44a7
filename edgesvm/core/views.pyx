"""Access to the C level from Python: for tests, and of tiles for exports."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from edgesvm.core.kernels cimport Kernel, any_kernel_value, exp_, kernel_of
from edgesvm.core.linalg cimport (
    BLOCK, lanes_dot, lanes_dot_rows, lanes_dot_square, lanes_dot_square_rows,
    lanes_square_distance, lanes_square_rows)
from edgesvm.core.rows cimport (
    ROWS_BLOCK, ROWS_WIDEST, any_kernel_values, block_kernel_values, lanes_block_kernel_values,
    lanes_block_turn, lanes_kernel_values, rows_block_dot, rows_block_turn, rows_block_weigh)
from edgesvm.core.tiles cimport (
    TILES_ROWS, TILES_WORDS, Tiles, clear_rows, get_row, kernel_noise, kernel_row, kernel_rows,
    lanes_of, put_row, swap_rows, tiles_note, weighted_kernel, weighted_kernel_f64,
    weighted_kernels)

cnp.import_array()


cdef bint is_float32(cnp.ndarray x) noexcept:
    return cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32


cdef void *data(cnp.ndarray x, int64_t n, int64_t width=0) except? NULL:
    """The first number of a contiguous array of shape (n,) or (n, width)"""
    cdef tuple shape = (n,)
    if width:
        shape = (n, width)
    if not cnp.PyArray_IS_C_CONTIGUOUS(x) or (<object> x).shape != shape:
        raise ValueError(f"an array of shape {(<object> x).shape}, not {shape}")
    return cnp.PyArray_DATA(x)


# -- sums of vectors -------------------------------------------------------------------------------

def dot_view(cnp.ndarray x, cnp.ndarray z):
    """x @ z"""
    return lanes_dot(is_float32(x), data(x, len(z)), data(z, len(z)), len(z))


def square_distance_view(cnp.ndarray x, cnp.ndarray z):
    """((x - z) ** 2).sum()"""
    return lanes_square_distance(is_float32(x), data(x, len(z)), data(z, len(z)), len(z))


def dot_square_view(cnp.ndarray x, cnp.ndarray w):
    """(x @ w, x @ x)"""
    cdef cnp.ndarray xw = np.empty(1, x.dtype), xx = np.empty(1, x.dtype)
    lanes_dot_square(is_float32(x), data(x, len(w)), data(w, len(w)), len(w), data(xw, 1),
                     data(xx, 1))
    return xw[0], xx[0]


def dot_square_rows_view(cnp.ndarray X, cnp.ndarray w, bint apart=False):
    """(X @ w)[:4] and (X * X).sum(axis=1)[:4]; with `apart`, each found by itself"""
    cdef cnp.ndarray xw = np.empty(BLOCK, X.dtype), xx = np.empty(BLOCK, X.dtype)
    cdef bint f32 = is_float32(X)
    cdef int64_t n = len(w), rows = len(X)
    cdef void *x = data(X, max(rows, BLOCK), n)
    if apart:
        lanes_dot_rows(f32, x, data(w, n), n, rows, data(xw, BLOCK))
        lanes_square_rows(f32, x, n, rows, data(xx, BLOCK))
    else:
        lanes_dot_square_rows(f32, x, data(w, n), n, rows, data(xw, BLOCK), data(xx, BLOCK))
    return list(xw), list(xx)


# -- kernel values ---------------------------------------------------------------------------------

def exp_view(double x):
    """exp(x) for x <= 0"""
    return exp_(x)


def kernel_view(code, cnp.ndarray x, cnp.ndarray z):
    """One kernel value of two vectors of equal, positive length."""
    cdef Kernel kernel = kernel_of(code)
    return any_kernel_value(&kernel, is_float32(x), data(x, len(z)), data(z, len(z)), len(z))


def kernel_values_view(code, cnp.ndarray x, cnp.ndarray rows, bint in_dtype):
    """k(x, rows), summed in their dtype or in float64"""
    cdef Kernel kernel = kernel_of(code)
    cdef int64_t n = len(rows), width = len(x)
    cdef cnp.ndarray out = np.full(n, np.nan)
    if in_dtype:
        lanes_kernel_values(&kernel, is_float32(x), data(x, width), data(rows, n, width), width, n,
                            <double *> data(out, n))
    else:
        any_kernel_values(&kernel, is_float32(x), data(x, width), data(rows, n, width), width, n,
                          <double *> data(out, n))
    return out


def block_kernel_values_view(code, cnp.ndarray x, cnp.ndarray rows, bint in_dtype):
    """k(rows, x) of the eight samples x, summed in their dtype or in float64"""
    cdef Kernel kernel = kernel_of(code)
    cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
    cdef int64_t n = len(rows), width = min(rows.shape[1], ROWS_WIDEST)
    cdef bint f32 = is_float32(x)
    cdef cnp.ndarray out = np.full((n, ROWS_BLOCK), np.nan)
    cdef double *values = <double *> data(out, n, ROWS_BLOCK)
    if in_dtype:
        lanes_block_turn(f32, data(x, ROWS_BLOCK, width), width, turned)
        lanes_block_kernel_values(&kernel, f32, turned, data(rows, n, width), width, n, values)
    else:
        rows_block_turn(f32, data(x, ROWS_BLOCK, width), width, turned)
        block_kernel_values(&kernel, f32, turned, data(rows, n, width), width, n, values)
    return out


def weighted_view(cnp.ndarray weight, cnp.ndarray k, bint by_lanes):
    """weight @ k, of eight columns; one by one or in the order of `dot`"""
    cdef cnp.ndarray out = np.zeros(ROWS_BLOCK)
    cdef int64_t n = len(weight)
    cdef double *w = <double *> data(weight, n)
    cdef double *values = <double *> data(k, n, ROWS_BLOCK)
    if by_lanes:
        rows_block_dot(w, values, n, <double *> data(out, ROWS_BLOCK))
    else:
        rows_block_weigh(w, values, n, <double *> data(out, ROWS_BLOCK))
    return out


# -- tiles -----------------------------------------------------------------------------------------

cdef class TilesView:
    """Rows of X (n, width), float32 or float64, in tiles; rows after the n-th are zero."""
    cdef Tiles rows
    cdef object memory
    cdef object present
    cdef int64_t n
    cdef object dtype

    def __init__(self, X):
        self.n, self.dtype = len(X), X.dtype
        self.rows.width, self.rows.is_float32 = X.shape[1], X.dtype == np.float32
        lanes = lanes_of(&self.rows)
        self.memory = np.zeros((-(-self.n // lanes), X.shape[1], lanes), X.dtype)
        self.rows.data = <char *> cnp.PyArray_DATA(self.memory)
        for t in range(self.n):
            self.put(t, X[t])

    def note(self):
        """Note from now on in which features the tiles are zero. Returns the notes, (tiles, words)
        """
        present = np.empty((len(self.memory), TILES_WORDS(self.rows.width)), np.uint64)
        self.rows.present = <uint64_t *> cnp.PyArray_DATA(present)
        tiles_note(self.rows.data, self.rows.width, len(present), self.rows.present)
        self.present = present
        return present

    def put(self, int64_t t, x):
        cdef cnp.ndarray row = self.row(x)
        put_row(&self.rows, t, cnp.PyArray_DATA(row))

    def get(self, int64_t t):
        cdef cnp.ndarray row = np.empty(self.rows.width, self.dtype)
        get_row(&self.rows, t, cnp.PyArray_DATA(row))
        return row

    def swap(self, int64_t s, int64_t t):
        swap_rows(&self.rows, s, t)

    def clear(self, int64_t n):
        clear_rows(&self.rows, n)

    def kernel_row(self, code, x, int64_t first, int64_t last):
        """k(x, row t), float32, for first <= t < last and all other rows of their tiles; else NaN
        """
        cdef cnp.ndarray row = self.row(x)
        cdef cnp.ndarray out = np.full(self.memory.size // self.rows.width, np.nan, np.float32)
        cdef Kernel kernel = kernel_of(code)
        kernel_row(&self.rows, &kernel, cnp.PyArray_DATA(row), first, last,
                   <float *> cnp.PyArray_DATA(out))
        return out

    def weighted_kernel(self, code, x, weights, in_float64=False):
        """sum_t weights[t] k(x, row t) over the first len(weights) rows"""
        cdef cnp.ndarray row = self.row(x)
        cdef cnp.ndarray padded = np.zeros(self.memory.size // self.rows.width)
        cdef Kernel kernel = kernel_of(code)
        padded[:len(weights)] = weights
        if in_float64:
            return weighted_kernel_f64(&self.rows, &kernel, cnp.PyArray_DATA(row), len(weights),
                                       <double *> cnp.PyArray_DATA(padded))
        return weighted_kernel(&self.rows, &kernel, cnp.PyArray_DATA(row), len(weights),
                               <double *> cnp.PyArray_DATA(padded))

    def weighted_kernels(self, code, TilesView points, weights):
        """`weighted_kernel` of each row of `points`"""
        cdef cnp.ndarray padded = np.zeros(self.memory.size // self.rows.width)
        cdef cnp.ndarray out = np.full(points.n, np.nan)
        cdef Kernel kernel = kernel_of(code)
        padded[:len(weights)] = weights
        weighted_kernels(&self.rows, &kernel, &points.rows, points.n, len(weights),
                         <double *> cnp.PyArray_DATA(padded), <double *> cnp.PyArray_DATA(out))
        return out

    def kernel_rows(self, code, TilesView points, n):
        """k of each of the points, a row each, with the first n rows and the rest of their tile"""
        cdef cnp.ndarray out = np.full(
            (points.n, self.memory.size // self.rows.width), np.nan, np.float32)
        cdef float *row[TILES_ROWS]
        cdef int64_t j
        cdef Kernel kernel = kernel_of(code)
        for j in range(points.n):
            row[j] = <float *> cnp.PyArray_DATA(out) + j * out.shape[1]
        kernel_rows(&self.rows, &kernel, &points.rows, points.n, n, row)
        return out

    def kernel_noise(self, code, weights):
        """The noise of `weighted_kernel`, divided by sqrt(k(x, x))"""
        cdef cnp.ndarray point = np.empty(self.rows.width, self.dtype)
        cdef cnp.ndarray values = np.array(weights, np.float64)
        cdef Kernel kernel = kernel_of(code)
        return kernel_noise(&self.rows, &kernel, len(values), <double *> cnp.PyArray_DATA(values),
                            cnp.PyArray_DATA(point))

    cdef cnp.ndarray row(self, x):
        return np.ascontiguousarray(x, self.dtype)
