"""Cache of kernel matrix rows, float32, in slots of the caller's block; the least recently used row
is evicted.

Each row belongs to a sample and is stored in a slot. `slot` is indexed by sample; `owner`, `filled`
and `used` are indexed by slot and are valid below `n_used` only. Between two calls:

    slot[owner[k]] == k + 1        for each slot k < n_used
    0 <= filled[k] <= stride       the first `filled[k]` numbers of the row are valid
    used[k] <= clock               and no two are equal
    n_used <= n_slots              n_slots * stride <= n_floats
    slot[i] == 0                   for every other sample

So there are never more used slots than samples requested, whatever the capacity. Numbers after
`filled` are undefined, up to `touched` in the block. When the length of the slots changes, the
valid part of each row stays valid.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove, memset


cdef void cache_begin(RowCache *c, int64_t n, int64_t capacity) noexcept nogil:
    """Start with an empty cache for `n` samples: at most `capacity` slots of `n` numbers, padded to
    a multiple of 16. The block is zero, or need not be wiped."""
    c.stride = c.n_used = c.clock = c.touched = c.n_missed = 0
    memset(c.slot, 0, n * sizeof(int32_t))
    cache_cut(c, n, capacity)


cdef inline void move_row(RowCache *c, int64_t k, int64_t to, int64_t old) noexcept nogil:
    memmove(c.block + k * to, c.block + k * old, c.filled[k] * sizeof(float))


cdef void cache_cut(RowCache *c, int64_t n, int64_t capacity) noexcept nogil:
    """Change the length of the slots to `n`. As many rows as fit stay, truncated to `n`."""
    cdef int64_t k, stride = padded(n), old = c.stride
    cdef int64_t n_slots = min(c.n_floats // stride, capacity)
    if stride > old:
        for k in range(n_slots, c.n_used):
            c.slot[c.owner[k]] = 0
        c.n_used = min(c.n_used, n_slots)
        for k in range(c.n_used - 1, 0, -1):
            move_row(c, k, stride, old)
    elif stride < old:
        for k in range(c.n_used):
            c.filled[k] = <int32_t> min(<int64_t> c.filled[k], n)
            move_row(c, k, stride, old)
    c.stride, c.n_slots = stride, n_slots
    c.touched = max(c.touched, c.n_used * stride)


cdef int64_t take_slot(RowCache *c) noexcept nogil:
    """An unused slot, or the slot of the least recently used row."""
    cdef int64_t k, oldest = 0
    if c.n_used < c.n_slots:
        c.n_used += 1
        c.touched = max(c.touched, c.n_used * c.stride)
        return c.n_used - 1
    for k in range(1, c.n_used):
        if c.used[k] < c.used[oldest]:
            oldest = k
    c.slot[c.owner[oldest]] = 0
    return oldest


cdef int64_t cache_slot(RowCache *c, int64_t i) noexcept nogil:
    """The slot of sample i's row, which the caller fills from `filled` on. The slot requested just
    before this one keeps its row."""
    cdef int64_t k = c.slot[i] - 1
    if k < 0:
        k = take_slot(c)
        c.slot[i], c.owner[k], c.filled[k] = <int32_t> (k + 1), <int32_t> i, 0
        c.n_missed += 1
    c.clock += 1
    c.used[k] = c.clock
    return k


cdef void cache_swap(RowCache *c, int64_t a, int64_t b) noexcept nogil:
    """Samples a and b exchange their numbers, and so their rows; see `cache_swap_columns`."""
    c.slot[a], c.slot[b] = c.slot[b], c.slot[a]
    if c.slot[a]:
        c.owner[c.slot[a] - 1] = <int32_t> a
    if c.slot[b]:
        c.owner[c.slot[b] - 1] = <int32_t> b


cdef void cache_swap_columns(RowCache *c, const int32_t *pairs, int64_t n_pairs) noexcept nogil:
    """row[a], row[b] = row[b], row[a] in each row, a < b; a row that is valid at a but not at b is
    truncated at a. `pairs` is a, b, a, b, ..."""
    cdef int64_t k, m, a, b
    cdef float *row
    for k in range(c.n_used):
        row = cache_row(c, k)
        for m in range(n_pairs):
            a, b = pairs[2 * m], pairs[2 * m + 1]
            if b < c.filled[k]:
                row[a], row[b] = row[b], row[a]
            elif a < c.filled[k]:
                c.filled[k] = <int32_t> a


cdef void cache_wipe(RowCache *c, int64_t n) noexcept nogil:
    """Zero everything that was written for `n` samples; call `cache_begin` next."""
    memset(c.block, 0, c.touched * sizeof(float))
    memset(c.slot, 0, n * sizeof(int32_t))
    memset(c.owner, 0, n * sizeof(int32_t))
    memset(c.filled, 0, n * sizeof(int32_t))
    memset(c.used, 0, n * sizeof(int64_t))
