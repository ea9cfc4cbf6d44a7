# The compiled half of the contract: what every compiled learner is, and what it must add.

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t

from edgesvm.core.arena cimport Arena
from edgesvm.core.status cimport Status
from edgesvm.contract.labels cimport Labels

cdef struct Common:             # first in every arena
    int64_t n_seen              # samples taken, those of weight zero too
    int64_t n_updates           # samples that moved the model


cdef class LearnerCore:
    cdef readonly Arena arena
    cdef readonly Labels labels
    cdef readonly dict views        # name -> ndarray, the plan's arrays in the arena
    cdef readonly object dtype
    cdef readonly str owner         # the public class's name, for messages
    cdef readonly int64_t n_features
    cdef int typenum
    cdef bint is_float32
    cdef Common *common
    cdef int64_t *n_per_class       # (n_classes,): samples learned, by slot
    cdef int n_classes
    cdef double *scores             # (n_classes,): TMP, of a learner of many classes; else NULL

    # What a learner adds. `x` has n_features numbers of the learner's dtype; `y` is -1 or +1, to a
    # learner of many classes the slot; `weight` > 0. A refused sample must leave the arena as it
    # was. `decide` writes one decision value, of many classes a score for each slot.
    cdef Status step(self, const void *x, double y, double weight) noexcept nogil
    cdef Status decide(self, const void *x, double *value) noexcept nogil

    @cython.final
    cdef char *array(self, str name) except NULL

    @cython.final
    cdef Status learn_row(self, const void *x, int slot, double weight) noexcept nogil

    @cython.final
    cdef int64_t n_learned(self) noexcept nogil

    @cython.final
    cdef int slot_for(self, double value) noexcept nogil

    @cython.final
    cdef Status answer(self, const void *x, double *out) noexcept nogil

    @cython.final
    cdef int n_answers(self) noexcept nogil

    @cython.final
    cdef int answer_row(self, cnp.ndarray row, double *out) except -1

    @cython.final
    cdef int winner(self, const double *answers, double *score) noexcept nogil

    @cython.final
    cdef bint is_out(self, out) noexcept

    @cython.final
    cdef cnp.ndarray as_row(self, x)

    @cython.final
    cdef int check_fitted(self) except -1
