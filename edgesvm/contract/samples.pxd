# A row of a `Batch` as a `Sample`, by its columns if they are known.

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

from edgesvm.contract.sparse cimport Batch
from edgesvm.core.nonzeros cimport Sample


cdef inline int ascending(const void *a, const void *b) noexcept nogil:
    return (<const int32_t *> a)[0] - (<const int32_t *> b)[0]


cdef inline Sample as_sample(const void *x, int64_t width, Batch *batch) noexcept nogil:
    """x (width,), the row that `row_at` gave last; `batch` NULL: the columns are not known"""
    cdef Sample sample
    sample.x, sample.columns, sample.n = x, NULL, width
    if batch != NULL and batch.dense == NULL:
        if not batch.is_ascending:
            qsort(batch.columns, batch.n_columns, sizeof(int32_t), ascending)
            batch.is_ascending = True
        sample.columns, sample.n = batch.columns, batch.n_columns
    return sample
