# SipHash-2-4 (Aumasson & Bernstein 2012): 64 bits from a 128-bit key and any number of bytes.
# Without the key the result cannot be told from a random number; a CRC anybody can compute.

from libc.stdint cimport uint8_t, uint64_t


cdef inline uint64_t rotate_left(uint64_t value, int by) noexcept nogil:
    return value << by | value >> (64 - by)


cdef inline uint64_t load_u64(const uint8_t *p) noexcept nogil:
    # In one expression, which compilers make one load.
    return (<uint64_t> p[0] | <uint64_t> p[1] << 8 | <uint64_t> p[2] << 16 | <uint64_t> p[3] << 24
            | <uint64_t> p[4] << 32 | <uint64_t> p[5] << 40 | <uint64_t> p[6] << 48
            | <uint64_t> p[7] << 56)


cdef inline void store_u64(uint8_t *p, uint64_t value) noexcept nogil:
    cdef int i
    for i in range(8):
        p[i] = value >> (8 * i) & 0xFF


cdef inline void sip_round(uint64_t *v) noexcept nogil:
    v[0] += v[1]
    v[2] += v[3]
    v[1] = rotate_left(v[1], 13) ^ v[0]
    v[3] = rotate_left(v[3], 16) ^ v[2]
    v[0] = rotate_left(v[0], 32)
    v[2] += v[1]
    v[0] += v[3]
    v[1] = rotate_left(v[1], 17) ^ v[2]
    v[3] = rotate_left(v[3], 21) ^ v[0]
    v[2] = rotate_left(v[2], 32)


cdef inline void absorb(uint64_t *v, uint64_t word) noexcept nogil:
    v[3] ^= word
    sip_round(v)
    sip_round(v)
    v[0] ^= word


cdef inline uint64_t siphash(const uint64_t *key, const uint8_t *data, Py_ssize_t n) noexcept nogil:
    """The hash of data[:n]; key[0] is the little-endian number of the key's first 8 bytes."""
    cdef uint64_t[4] v
    cdef uint64_t last = <uint64_t> n << 56
    cdef Py_ssize_t i
    cdef int _round
    v[0] = key[0] ^ 0x736F6D6570736575ULL
    v[1] = key[1] ^ 0x646F72616E646F6DULL
    v[2] = key[0] ^ 0x6C7967656E657261ULL
    v[3] = key[1] ^ 0x7465646279746573ULL
    for i in range(0, n - 7, 8):
        absorb(v, load_u64(data + i))
    for i in range(n & ~7, n):
        last |= <uint64_t> data[i] << (8 * (i & 7))
    absorb(v, last)
    v[2] ^= 0xFF
    for _round in range(4):
        sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
