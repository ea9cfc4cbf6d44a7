"""Access to tiles.pxd from Python, for tests: the rows of an ndarray in tiles."""

cimport numpy as cnp

from edgesvm.core.kernels cimport kernel_of

import numpy as np

cnp.import_array()


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
        put_row(&self.rows, self.place(t), cnp.PyArray_DATA(row))

    def get(self, int64_t t):
        cdef cnp.ndarray row = np.empty(self.rows.width, self.dtype)
        get_row(&self.rows, self.place(t), cnp.PyArray_DATA(row))
        return row

    def swap(self, int64_t s, int64_t t):
        swap_rows(&self.rows, self.place(s), self.place(t))

    def clear(self, int64_t n):
        if n:
            clear_rows(&self.rows, self.place(n - 1) + 1)

    def kernel_row(self, code, x, int64_t first, int64_t last):
        """k(x, row t), float32, for first <= t < last and all other rows of their tiles; else NaN
        """
        cdef cnp.ndarray row = self.row(x)
        cdef cnp.ndarray out = np.full(self.memory.size // self.rows.width, np.nan, np.float32)
        cdef Kernel kernel = kernel_of(code)
        if not 0 <= first <= last <= self.n:
            raise IndexError(f"rows {first} to {last} of {self.n}")
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
        if points.n > TILES_ROWS:
            raise ValueError(f"{points.n} points, at most {TILES_ROWS}")
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

    cdef int64_t place(self, int64_t t) except -1:
        if not 0 <= t < self.n:
            raise IndexError(f"row {t} of {self.n}")
        return t

    cdef cnp.ndarray row(self, x):
        row = np.ascontiguousarray(x, self.dtype)
        if row.shape != (self.rows.width,):
            raise ValueError(f"a row of shape {row.shape}")
        return row
