"""Random Fourier features in front of a learner, compiled.

The inner learner gets the cosines and sines of x along P directions, block by block as in
FourierSVM, then x itself: 2 P + D numbers.

Bytes: (2 P + D) s, s the dtype's size, in addition to a learner's of 2 P + D features; orthogonal
directions take 2 P + d s more, d the size of their blocks.
"""

cimport cython
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy

from edgesvm.core.linalg cimport item_bytes
from edgesvm.core.status cimport UNCHANGED, Status
from edgesvm.learners.fourier._directions cimport (
    BLOCK,
    Directions,
    angles_from,
    directions_of,
    find_waves,
    forget_angles,
)
from edgesvm.preprocessing._stage cimport StageCore


@cython.final
cdef class FourierFeaturesCore(StageCore):
    """Features of a sample. The public class has checked the parameters."""
    cdef Directions directions

    def __init__(self, *common, inner, n_directions, key, scales):
        super().__init__(*common, inner=inner, scratch="features")
        self.directions = directions_of(self, key, scales, n_directions)

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        self.map(x, n)
        return UNCHANGED

    cdef void map(self, const void *x, double n) noexcept nogil:
        cdef int16_t[BLOCK] place
        cdef const int16_t *angle
        cdef int64_t size = item_bytes(self.is_float32)
        cdef int64_t p = 0, many
        while p < self.directions.n:
            many = min(BLOCK, self.directions.n - p)
            angle = angles_from(&self.directions, x, p, many, place)
            find_waves(&self.directions, angle, many, self.mapped + 2 * p * size)
            p += many
        memcpy(self.mapped + 2 * p * size, x, self.n_features * size)
        forget_angles(&self.directions)
