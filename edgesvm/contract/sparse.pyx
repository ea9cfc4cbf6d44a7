"""Rows of a matrix in compressed sparse row format (CSR), read where they lie.

The entries of row i are k = indptr[i], ..., indptr[i + 1] - 1: column indices[k] has the value
data[k]. A learner sees each row as a dense one: the entries are written into a row of zeros, and
zeroed again before the next row. That takes time proportional to the entries, and a scratch row for
each call; the matrix is neither copied nor made dense.

The arrays are the caller's, and code that runs meanwhile may change them. So every position is
checked where it is used, and zeroing goes by the columns that were noted, not by the matrix.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

cnp.import_array()

MOST_COLUMNS = 1 << 24      # as many as a learner may have features; bounds the marks of `check`

cdef enum Fault:
    NONE = 0
    POINTER = 1     # out of order, or beyond the entries
    COLUMN = 2      # out of range
    TWICE = 3
    UNSORTED = 4    # not a fault: columns seen must be marked to find one that is there twice


@cython.final
cdef class SparseRows:
    """Rows of a CSR matrix; what `scipy.sparse.csr_array` is to SciPy, without SciPy.

    Learners take it wherever they take rows, and make one themselves of anything with these
    attributes and ``format == "csr"``.

    Parameters
    ----------
    data : array of shape (n_entries,), numbers
        float32 and float64 are used where they lie; other types are converted, chunk by chunk if
        the rows are read in chunks.
    indices : array of shape (n_entries,), int32 or int64
        Columns, in any order within a row; each at most once.
    indptr : array of shape (n_rows + 1,), int32 or int64
    shape : (n_rows, n_features)
    owner : str
        Name of the caller, for messages.

    Raises
    ------
    TypeError
        `indices` or `indptr` are not integers.
    ValueError
        A column is out of range or twice in a row, `indptr` is not ascending or leads beyond the
        entries, or the data are not real numbers. The message names the first such row.
    """

    cdef readonly cnp.ndarray data
    cdef readonly cnp.ndarray indices
    cdef readonly cnp.ndarray indptr
    cdef readonly tuple shape
    cdef readonly object dtype      # of the rows it gives, whatever that of `data`

    format = "csr"
    ndim = 2

    def __cinit__(self, *_, **__):
        self.data, self.indices = np.zeros(0), np.zeros(0, np.int64)
        self.indptr, self.shape, self.dtype = np.zeros(1, np.int64), (0, 0), np.dtype(np.float64)

    def __init__(self, data, indices, indptr, shape, owner="SparseRows"):
        self.data = vector(data, "data", owner)
        if self.data.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if self.data.dtype.kind not in "fiub":
            raise ValueError(f"{owner} accepts real numbers, not data of {self.data.dtype}")
        self.indices = integers(indices, "indices", owner)
        self.indptr = integers(indptr, "indptr", owner)
        n_rows, n_features = shape
        self.shape = int(n_rows), int(n_features)
        if self.shape[0] < 0 or not 0 <= self.shape[1] <= MOST_COLUMNS:
            raise ValueError(f"{owner}: sparse rows cannot have the shape {shape}")
        if len(self.indptr) != self.shape[0] + 1:
            raise ValueError(
                f"{owner}: indptr has {len(self.indptr)} numbers, {self.shape[0]} rows need"
                f" {self.shape[0] + 1}")
        self.check(owner)

    cdef check(self, owner):
        """Raise ValueError for the first row that is not one."""
        cdef Batch batch
        cdef cnp.ndarray marks = None
        cdef int64_t *seen = NULL
        cdef int64_t row = 0, column = 0, n = self.shape[0]
        cdef Fault fault
        map_entries(&batch, self)
        with nogil:
            fault = first_fault(&batch, n, seen, &row, &column)
        if fault == UNSORTED:
            marks = np.full(self.shape[1], -1, np.int64)
            seen = <int64_t *> cnp.PyArray_DATA(marks)
            with nogil:
                fault = first_fault(&batch, n, seen, &row, &column)
        if fault == POINTER:
            raise ValueError(
                f"{owner}: indptr of the sparse row {row} is out of order, or beyond the"
                f" {batch.n_entries} entries")
        if fault == COLUMN:
            raise ValueError(
                f"{owner}: the sparse row {row} has an entry in column {column}, the columns are 0"
                f" to {self.shape[1] - 1}")
        if fault == TWICE:
            raise ValueError(
                f"{owner}: the sparse row {row} has column {column} twice; add the two up first, as"
                " X.sum_duplicates() does")

    cdef SparseRows like(self, cnp.ndarray data, cnp.ndarray indices, cnp.ndarray indptr):
        """Rows whose arrays are known to be fine."""
        cdef SparseRows rows = SparseRows.__new__(SparseRows)
        rows.data, rows.indices, rows.indptr = data, indices, indptr
        rows.shape, rows.dtype = (len(indptr) - 1, self.shape[1]), self.dtype
        return rows

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        """One row as an ndarray; for a slice of step 1, those rows of the same matrix; for numbers
        or a mask, a copy of those rows."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"rows by {key}: give a slice of step 1, or numbers")
            return self.like(self.data, self.indices, self.indptr[start:max(start, stop) + 1])
        if isinstance(key, np.ndarray):
            return self.chosen(key)
        if not -len(self) <= key < len(self):
            raise IndexError(f"row {key} of {len(self)}")
        key %= len(self)
        first, last = self.indptr[key], self.indptr[key + 1]
        row = np.zeros(self.shape[1], self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            row[self.indices[first:last]] = self.data[first:last]
        return row

    cdef SparseRows chosen(self, key):
        numbers = np.flatnonzero(key) if key.dtype.kind == "b" else key
        first = self.indptr[numbers].astype(np.int64)
        length = self.indptr[numbers + 1] - first
        indptr = np.concatenate([[0], np.cumsum(length)])
        steps = np.arange(indptr[len(numbers)])
        entries = steps + np.repeat(first - indptr[:len(numbers)], length.astype(np.intp))
        return self.like(self.data[entries], self.indices[entries], indptr)

    def astype(self, dtype, copy=True):
        """The same rows, given in another dtype. `data` are copied only if they are not floats, or
        were given in float32 and must stay as coarse."""
        cdef SparseRows rows
        is_coarse = dtype != self.dtype == np.float32
        if self.data.dtype in (np.float32, np.float64) and not is_coarse:
            rows = self.like(self.data, self.indices, self.indptr)
        else:
            first, last = self.indptr[0], self.indptr[len(self)]
            with np.errstate(over="ignore", invalid="ignore"):
                data = self.data[first:last].astype(np.float32 if is_coarse else dtype)
            rows = self.like(data, self.indices[first:last], self.indptr - first)
        rows.dtype = np.dtype(dtype)
        return rows

    def toarray(self):
        """All rows, dense, ndarray of shape (n_rows, n_features)."""
        dense = np.empty(self.shape, self.dtype)
        for i in range(len(self)):
            dense[i] = self[i]
        return dense

    def squares(self):
        """x.x of each row, ndarray of shape (n_rows,)."""
        cdef cnp.ndarray lengths = np.diff(self.indptr).astype(np.intp)
        first, last = self.indptr[0], self.indptr[len(self)]
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.data[first:last].astype(self.dtype)
            rows = np.repeat(np.arange(len(self)), lengths)
            total = np.bincount(rows, weights=values * values, minlength=len(self))
            return total.astype(self.dtype)


def stacked(parts):
    """np.concatenate, for arrays or `SparseRows` with the same columns."""
    cdef SparseRows first
    if not isinstance(parts[0], SparseRows):
        return np.concatenate(parts)
    first = parts[0]
    data, indices, indptr, n = [], [], [np.zeros(1, np.int64)], 0
    for rows in parts:
        low, high = int(rows.indptr[0]), int(rows.indptr[len(rows)])
        data.append(rows.data[low:high])
        indices.append(rows.indices[low:high])
        indptr.append(rows.indptr[1:] + (n - low))
        n += high - low
    return first.like(np.concatenate(data), np.concatenate(indices), np.concatenate(indptr))


def vector(values, name, owner):
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{owner}: {name} of sparse rows must have 1 dimension, not {array.ndim}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, None, ["C", "A"])


def integers(values, name, owner):
    array = vector(values, name, owner)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{owner}: {name} of sparse rows must be integers, not {array.dtype}")
    return array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


# -- the arrays, without the interpreter -----------------------------------------------------------

cdef inline int64_t integer(const void *p, bint is_wide, int64_t k) noexcept nogil:
    return (<const int64_t *> p)[k] if is_wide else (<const int32_t *> p)[k]


cdef inline bint is_span(const Batch *b, int64_t first, int64_t last) noexcept nogil:
    """Whether a row can be the entries first to last - 1."""
    return 0 <= first <= last <= b.n_entries and last - first <= b.n_features


cdef void map_entries(Batch *b, SparseRows rows) noexcept:
    b.indptr = cnp.PyArray_DATA(rows.indptr)
    b.indices = cnp.PyArray_DATA(rows.indices)
    b.data = cnp.PyArray_DATA(rows.data)
    b.wide_indptr = cnp.PyArray_ITEMSIZE(rows.indptr) == 8
    b.wide_indices = cnp.PyArray_ITEMSIZE(rows.indices) == 8
    b.wide_data = cnp.PyArray_ITEMSIZE(rows.data) == 8
    b.n_entries = min(cnp.PyArray_SIZE(rows.indices), cnp.PyArray_SIZE(rows.data))
    b.n_features = rows.shape[1]
    b.dense = NULL


cdef Fault first_fault(
    const Batch *b, int64_t n, int64_t *seen, int64_t *row, int64_t *column
) noexcept nogil:
    """The first fault and where it is. seen : (n_features,), -1 at first, for rows whose columns do
    not ascend; NULL: stop at the first such row."""
    cdef int64_t i, k, before, last, first = integer(b.indptr, b.wide_indptr, 0)
    for i in range(n):
        row[0] = i
        last = integer(b.indptr, b.wide_indptr, i + 1)
        if not 0 <= first <= last <= b.n_entries:
            return POINTER
        before = -1
        for k in range(first, last):
            column[0] = integer(b.indices, b.wide_indices, k)
            if not 0 <= column[0] < b.n_features:
                return COLUMN
            if seen != NULL:
                if seen[column[0]] == i:
                    return TWICE
                seen[column[0]] = i
            elif column[0] <= before:
                return UNSORTED
            before = column[0]
        first = last
    return NONE


cdef cnp.ndarray scratch_for(X):
    """Scratch for reading the rows X, zeroed bytes; None if they are dense."""
    if not isinstance(X, SparseRows):
        return None
    return np.zeros(X.shape[1] * (X.dtype.itemsize + sizeof(int32_t)), np.uint8)


cdef bint read_batch(
    Batch *b, X, cnp.ndarray scratch, int typenum, int64_t n_features, int64_t n
) except -1:
    """Point `b` at the first n rows of X, an ndarray or SparseRows; again after other code may have
    changed them. Returns whether X has that many rows of this type and length."""
    cdef SparseRows rows
    cdef cnp.ndarray array
    b.n_features, b.is_float32 = n_features, typenum == cnp.NPY_FLOAT32
    b.row_bytes = n_features * (sizeof(float) if b.is_float32 else sizeof(double))
    b.row, b.columns, b.n_columns, b.is_ascending = NULL, NULL, 0, False
    if not isinstance(X, SparseRows):
        array = X
        b.dense = <const char *> cnp.PyArray_DATA(array)
        return (cnp.PyArray_NDIM(array) == 2 and cnp.PyArray_TYPE(array) == typenum
                and cnp.PyArray_DIM(array, 0) >= n and cnp.PyArray_DIM(array, 1) == n_features
                and cnp.PyArray_ISCARRAY_RO(array))
    rows = X
    memset(cnp.PyArray_DATA(scratch), 0, cnp.PyArray_NBYTES(scratch))
    b.row = <char *> cnp.PyArray_DATA(scratch)
    b.columns = <int32_t *> (b.row + b.row_bytes)
    map_entries(b, rows)
    return (rows.shape[1] == n_features and rows.dtype.num == typenum
            and cnp.PyArray_SIZE(rows.indptr) > n and is_vector(rows.indptr)
            and is_vector(rows.indices) and is_vector(rows.data)
            and cnp.PyArray_TYPE(rows.data) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64))


cdef bint is_vector(cnp.ndarray array) noexcept:
    return (cnp.PyArray_NDIM(array) == 1 and cnp.PyArray_ITEMSIZE(array) in (4, 8)
            and cnp.PyArray_ISCARRAY_RO(array))


cdef const void *scatter(Batch *b, int64_t i) noexcept nogil:
    """See `row_at`."""
    cdef int64_t k, column, before = -1
    cdef int64_t first = integer(b.indptr, b.wide_indptr, i)
    cdef int64_t last = integer(b.indptr, b.wide_indptr, i + 1)
    clear(b)
    if not is_span(b, first, last):
        return NULL
    b.is_ascending = True
    for k in range(first, last):
        column = integer(b.indices, b.wide_indices, k)
        if not 0 <= column < b.n_features:
            return NULL
        b.is_ascending = b.is_ascending and column > before
        before = column
        b.columns[b.n_columns] = <int32_t> column
        b.n_columns += 1
        if b.is_float32:
            (<float *> b.row)[column] = <float> value(b, k)
        else:
            (<double *> b.row)[column] = value(b, k)
    return b.row


cdef inline double value(const Batch *b, int64_t k) noexcept nogil:
    return (<const double *> b.data)[k] if b.wide_data else (<const float *> b.data)[k]


cdef void clear(Batch *b) noexcept nogil:
    """Zero the scratch row where it was written."""
    cdef int64_t k
    for k in range(b.n_columns):
        if b.is_float32:
            (<float *> b.row)[b.columns[k]] = 0.0
        else:
            (<double *> b.row)[b.columns[k]] = 0.0
    b.n_columns = 0
