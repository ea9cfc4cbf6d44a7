# Cache of kernel rows in slots of one block, least recently used out first; see row_cache.pyx.

from libc.stdint cimport int32_t, int64_t

cdef struct RowCache:   # all arrays are the caller's
    float *block        # (n_floats,): slot k starts at block + k * stride
    int64_t n_floats
    int64_t stride      # length of a slot, a multiple of 16
    int64_t n_slots     # slots that fit; at least 2, so that two rows are available at once
    int64_t n_used      # slots 0 <= k < n_used hold a row
    int64_t clock
    int64_t touched     # leading numbers of the block that may have been written
    int64_t n_missed    # rows requested that were not in the cache
    int32_t *slot       # (samples,): by sample, 1 + the slot of its row, or 0
    int32_t *owner      # (capacity,): by slot, the sample whose row it holds
    int32_t *filled     # (capacity,): by slot, how many of its numbers are valid
    int64_t *used       # (capacity,): by slot, the clock when it was last requested

cdef void cache_begin(RowCache *c, int64_t n, int64_t capacity) noexcept nogil
cdef void cache_cut(RowCache *c, int64_t n, int64_t capacity) noexcept nogil
cdef int64_t cache_slot(RowCache *c, int64_t i) noexcept nogil
cdef void cache_swap(RowCache *c, int64_t a, int64_t b) noexcept nogil
cdef void cache_swap_columns(RowCache *c, const int32_t *pairs, int64_t n_pairs) noexcept nogil
cdef void cache_wipe(RowCache *c, int64_t n) noexcept nogil


cdef inline int64_t padded(int64_t n) noexcept nogil:
    """n rounded up to a multiple of 16: whole tiles in either dtype"""
    return (n + 15) // 16 * 16


cdef inline float *cache_row(const RowCache *c, int64_t k) noexcept nogil:
    """The row in slot k; its first `filled[k]` numbers are valid"""
    return c.block + k * c.stride
