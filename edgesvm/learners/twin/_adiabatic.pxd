# The adiabatic solver, as the two learners on it see it; see _adiabatic.pyx.

from edgesvm.learners.twin._path cimport PathCore


cdef class AdiabaticCore(PathCore):
    pass
