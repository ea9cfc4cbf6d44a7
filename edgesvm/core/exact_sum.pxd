# The sum of doubles >= 0 without rounding: a fixed-point number wide enough for all of them, in
# limbs of 32 bits (Kulisch & Miranker 1986, the long accumulator). Rounded once, when it is read,
# it does not depend on the order of the terms, nor on how they were grouped.
#
# A limb has a word of 64 bits, so that 2**31 terms fit before carries must be passed on.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    LIMBS = 68       # limb k counts 2**(32 k - 1074); the largest double ends in limb 65
    CARRY_EVERY = 1 << 30


cdef struct exact_sum:
    uint64_t limbs[LIMBS]
    int64_t n_waiting  # terms since the last carry


cdef inline void exact_start(exact_sum *s) noexcept nogil:
    memset(s, 0, sizeof(exact_sum))


cdef inline void exact_add(exact_sum *s, double x) noexcept nogil:
    """s += x, for x >= 0. Infinity counts as 2**1024, which is beyond the largest double."""
    cdef uint64_t bits, low, high
    cdef uint64_t mask = 0xFFFFFFFFU
    cdef int64_t k
    cdef int exponent, shift
    if x == 0.0:
        return
    memcpy(&bits, &x, 8)
    exponent = <int> (bits >> 52)
    bits &= (<uint64_t> 1 << 52) - 1
    if exponent > 0:
        bits |= <uint64_t> 1 << 52
        exponent -= 1
    k, shift = exponent >> 5, exponent & 31  # x = bits 2**(32 k + shift - 1074)
    low, high = (bits & mask) << shift, (bits >> 32) << shift
    s.limbs[k] += low & mask
    s.limbs[k + 1] += (low >> 32) + (high & mask)
    s.limbs[k + 2] += high >> 32
    s.n_waiting += 1
    if s.n_waiting == CARRY_EVERY:
        exact_carry(s)


cdef inline void exact_carry(exact_sum *s) noexcept nogil:
    cdef uint64_t mask = 0xFFFFFFFFU
    cdef int64_t k
    for k in range(LIMBS - 1):
        s.limbs[k + 1] += s.limbs[k] >> 32
        s.limbs[k] &= mask
    s.n_waiting = 0


cdef object exact_units(const exact_sum *s)
