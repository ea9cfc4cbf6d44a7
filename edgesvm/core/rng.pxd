# xoshiro256** (Blackman & Vigna 2018), seeded by splitmix64. The state is four words of the
# caller's. A learner has them in its arena, so that they are saved with everything else.

from libc.stdint cimport int64_t, uint64_t


cdef inline uint64_t rotate_left(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline uint64_t splitmix64(uint64_t *x) noexcept nogil:
    x[0] += <uint64_t> 0x9E3779B97F4A7C15U
    cdef uint64_t z = x[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9U
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EBU
    return z ^ (z >> 31)


cdef inline void rng_seed(uint64_t *state, uint64_t seed) noexcept nogil:
    cdef int i
    for i in range(4):
        state[i] = splitmix64(&seed)


cdef inline uint64_t rng_next(uint64_t *s) noexcept nogil:
    """The next 64 random bits."""
    cdef uint64_t result = rotate_left(s[1] * 5, 7) * 9
    cdef uint64_t t = s[1] << 17
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotate_left(s[3], 45)
    return result


cdef inline int64_t rng_below(uint64_t *s, int64_t n) noexcept nogil:
    """An integer in [0, n), n >= 1, without bias: draws from an incomplete range are rejected."""
    cdef uint64_t limit = (<uint64_t> 0 - <uint64_t> n) % <uint64_t> n
    cdef uint64_t draw = rng_next(s)
    while draw < limit:
        draw = rng_next(s)
    return <int64_t> (draw % <uint64_t> n)
