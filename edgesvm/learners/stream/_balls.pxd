# A few balls, stored by their Gram matrix, and the smallest ball around them.

from libc.stdint cimport int64_t

cdef struct Balls:          # m of at most `capacity` balls; every pointer is into the arena
    int64_t capacity
    int64_t *m
    double *gram            # (capacity, capacity): inner products of centres, own axes included
    double *square          # (capacity,): mean squared norm of the points in the ball
    double *radius          # (capacity,)
    double *share           # (capacity,): a, share in the joint centre c = sum a_i c_i; sums to one
    double *pull            # (capacity,): TMP, c_i . c

cdef double solve(const Balls *balls, bint lower) noexcept nogil
cdef double reach(const Balls *balls, int64_t i, double cc, bint lower) noexcept nogil
cdef double centre_square(const Balls *balls) noexcept nogil
cdef void cheapest_pair(
    const Balls *balls, bint lower, bint by_reach, int64_t *first, int64_t *second
) noexcept nogil
cdef double join_pair(Balls *balls, int64_t i, int64_t j, bint lower) noexcept nogil
cdef void forget(Balls *balls, int64_t j) noexcept nogil
