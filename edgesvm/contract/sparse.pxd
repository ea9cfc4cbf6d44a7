# The rows of one call, dense or sparse; see sparse.pyx.

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

cdef struct Batch:
    const char *dense       # the first row; NULL if the rows are sparse
    int64_t n_features
    int64_t row_bytes
    bint is_float32         # of the rows as they are given
    # sparse rows, in the caller's arrays
    const void *indptr
    const void *indices
    const void *data
    bint wide_indptr        # int64, otherwise int32
    bint wide_indices
    bint wide_data          # float64, otherwise float32
    int64_t n_entries
    # scratch of the call: one dense row, zero but for the columns listed
    char *row
    int32_t *columns        # (n_features,)
    int64_t n_columns
    bint is_ascending       # whether each of them is larger than the one before


cdef cnp.ndarray scratch_for(X)

cdef bint read_batch(
    Batch *batch, X, cnp.ndarray scratch, int typenum, int64_t n_features, int64_t n) except -1

cdef const void *scatter(Batch *batch, int64_t i) noexcept nogil


cdef inline const void *row_at(Batch *batch, int64_t i) noexcept nogil:
    """Row i, dense, valid until the next one is asked for; NULL if it is not a row of
    `n_features`."""
    if batch.dense != NULL:
        return batch.dense + i * batch.row_bytes
    return scatter(batch, i)
