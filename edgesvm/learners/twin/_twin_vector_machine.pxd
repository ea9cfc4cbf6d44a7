# Algorithms 1 to 3 of Wang & Vucetic 2009, as a learner on top of them sees them; see
# _twin_vector_machine.pyx.

from libc.stdint cimport int64_t

from edgesvm.learners._forgetting cimport Forgetting
from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._margin_set cimport Outcome, Row
from edgesvm.learners.twin._path cimport Move

cdef struct Counters:           # from "n_accepted" on
    int64_t n_accepted
    int64_t n_absorbed
    int64_t n_merged
    int64_t n_removed
    int64_t n_rejected
    int64_t n_forced

cdef struct Pair:
    double distortion
    int64_t i
    int64_t j


cdef class TwinVectorMachineCore(AdiabaticCore):
    cdef readonly double C, m1, m2, eta
    cdef readonly bint in_feature_space, one_sided, rejection, as_printed, control_C
    cdef readonly int64_t max_twins
    cdef readonly bint forgets
    cdef readonly double half_life      # 0: drifts say when
    cdef readonly double threshold      # of the first drift
    cdef Forgetting *forgetting
    cdef Counters *counters
    # (slots,): a lower bound on the distortion of this twin's pairs. If `one_sided`, of those on
    # the side of the boundary that its sign tells: minus, if only of -0, for g <= 0.
    cdef double *distortion_bound

    cdef bint beneficial(self, const void *x, double y, Row *kept) noexcept nogil
    cdef void forget(self, bint is_wrong) noexcept nogil
    cdef bint is_open(self, double yg) noexcept nogil
    cdef void age(self, double part) noexcept nogil
    cdef int64_t twin_at(self, const void *x) noexcept nogil
    cdef Outcome absorb(self, int64_t i, double y, double weight) noexcept nogil
    cdef Outcome update_twins(
        self, const void *x, double y, double weight, Row *known) noexcept nogil
    cdef Outcome change(
        self, Move *moves, int n_removed, int n_placed, const Counters *before) noexcept nogil
    cdef double fill_distortions(self, int64_t i, int64_t first) noexcept nogil
    cdef void measure(self, int64_t i) noexcept nogil
    cdef bint counts_as_above(self, int64_t i) noexcept nogil
    cdef void set_bound(self, int64_t i, double bound) noexcept nogil
    cdef void keep_sides(self) noexcept nogil
    cdef Outcome merge_on_margin(self) noexcept nogil
    cdef void add_weight(self, Move *move, int64_t i, double y, double weight) noexcept nogil
    cdef Outcome update(self, Move *moves, int count) noexcept nogil
    cdef double weight_of(self, int64_t i) noexcept nogil
    cdef double mu_for(self, double total) noexcept nogil
    cdef bint merge(self, Move *moves, bint of_margin, Row *kept) noexcept nogil
    cdef bint passes(self, int64_t i, int64_t j, Row *kept) noexcept nogil
    cdef int first_passing(self, const Pair *pairs, int count, Row *kept) noexcept nogil
    cdef void merge_pair(self, Move *moves, int64_t i, int64_t j, Row *known) noexcept nogil
    cdef bint first_accepted(self, Pair *found) noexcept nogil
    cdef bint may_merge(self, int64_t i, int64_t j, bint one_sided, bint of_margin) noexcept nogil
    cdef bint nearest(self, Pair *best) noexcept nogil
    cdef int64_t nearest_of(self, int64_t i, int64_t first, double most) noexcept nogil
    cdef int candidates(self, Pair *pairs, bint of_margin) noexcept nogil
    cdef int search(
        self, Pair *pairs, bint one_sided, bint of_margin, Pair after) noexcept nogil
    cdef double join(self, int64_t i, int64_t j, char *q, Row *kept) noexcept nogil
    cdef double error(self, int64_t i, int64_t j, const void *q, Row *kept) noexcept nogil
    cdef bint is_gentle(self, int64_t i, int64_t j, const void *q) noexcept nogil
    cdef void blend(self, int64_t i, int64_t j, char *q) noexcept nogil
    cdef void mix(self, int64_t i, int64_t j, double part, char *q) noexcept nogil
    cdef double cost(self, int64_t i, int64_t j, double part, char *q) noexcept nogil
    cdef double on_the_line(self, int64_t i, int64_t j, char *q) noexcept nogil
