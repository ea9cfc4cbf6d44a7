# What the learners share that solve by SMO in their arena; see _smo_core.pyx.

cimport cython

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status
from edgesvm.learners.batch._smo cimport Smo

cdef class SmoCore(LearnerCore):
    cdef Smo smo
    cdef double C

    @cython.final
    cdef double self_kernel(self, const void *x) noexcept nogil

    @cython.final
    cdef Status refuses(self, const void *x, double weight) noexcept nogil
