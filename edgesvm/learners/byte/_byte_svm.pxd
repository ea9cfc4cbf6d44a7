# ByteSVM's core; see _byte_svm.pyx.

from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t

from edgesvm.contract.core cimport LearnerCore

cdef extern from *:     # lanes.h first: by it byte.h is the host's
    """
    #include "lanes.h"
    """

cdef extern from "byte.h" nogil:
    ctypedef struct byte_shape:
        int32_t n_features, n_kept, n_classes, n_vectors, n_directions
        int32_t has_mean, is_common, learns_directions, counts
        int32_t at_counts, at_scale, at_u, at_w, at_mean
        uint32_t key
        int32_t angle[4]
        int32_t angle_shift
        int32_t move[4]
        int32_t unit, unit_shift
        uint32_t stride[8]

    ctypedef struct byte_head:
        unsigned char n_classes
        uint32_t far_out
        unsigned short lapses[2]
        unsigned short amplitude[5]


cdef class ByteSVMCore(LearnerCore):
    cdef byte_shape shape
    cdef char *model
    cdef int8_t *z
    cdef readonly bint grows        # whether classes that were not planned are added
    cdef int32_t n_bytes, is_common, learns_directions
    cdef int most_classes           # that leave directions
    cdef uint32_t key

    cdef void lay_out(self, int n_classes) noexcept nogil
    cdef int32_t relative(self, double weight) noexcept nogil
