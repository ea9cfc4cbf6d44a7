# A path of the adiabatic solver; see _path.pyx.

from libc.stdint cimport int64_t

from edgesvm.learners.twin._margin_set cimport MarginSetCore, Outcome, Row

cdef struct Move:               # a twin whose weights change on a path
    int64_t slot
    double to_minus
    double to_plus
    Row *known                  # some of its row of K, or NULL
    double from_minus           # TMP, like all below: the weights at the start
    double from_plus
    double released_minus          # after release_unused_weight
    double released_plus
    double d_minus              # the change per unit of t
    double d_plus
    double rate                 # of coef, while on a plateau
    int state                   # for which `rate` holds

cdef struct Walk:               # a path in progress
    Move *moves
    int count
    double t
    double mu                   # at the end
    double d_mu
    double total                # sum of coef at the start
    double largest              # k(x, x) of a twin
    double farthest             # |target| of a twin
    double d_nu                 # of the scale of the targets
    double push_sum             # of the rates of coef on plateaus
    double push_size            # likewise, of their absolute values
    double db                   # of b

cdef struct Event:
    double length               # from here
    int64_t place               # on S of the twin that leaves, or -1
    int64_t twin                # that enters, or -1
    int to                      # its state then
    int direction               # in which its coef will move

cdef struct Edge:               # a step at the end of a twin's plateau
    double gap                  # of g
    double rate                 # at which it closes
    int to
    int direction


cdef class PathCore(MarginSetCore):
    cdef double *off            # (slots,): TMP
    cdef double *push           # (slots,): TMP, of g by the twins that move and are not on S

    cdef Outcome follow(self, Move *moves, int count, double mu) noexcept nogil
    cdef void solve_at(self, const Move *moves, int count, double mu) noexcept nogil
    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil
    cdef void release_unused_weight(self, Move *moves, int count) noexcept nogil
    cdef bint is_consistent(self) noexcept nogil
    cdef Outcome walk(self, Move *moves, int count, double mu) noexcept nogil
    cdef void begin(self, Walk *walk, Move *moves, int count, double mu) noexcept nogil
    cdef void resolve_sides(self, int64_t i, double d_minus, double d_plus) noexcept nogil
    cdef Row *known_row(self, const Walk *walk, int64_t i) noexcept nogil
    cdef void plateau_rates(self, Walk *walk) noexcept nogil
    cdef double size(self, const Walk *walk) noexcept nogil
    cdef void direct(self, Walk *walk) noexcept nogil
    cdef void first_event(self, const Walk *walk, Event *event) noexcept nogil
    cdef void first_to_leave(self, const Walk *walk, Event *event) noexcept nogil
    cdef void first_to_enter(self, const Walk *walk, Event *event) noexcept nogil
    cdef double tolerance(self, const Walk *walk) noexcept nogil
    cdef int edges(self, const Walk *walk, int64_t i, double dg, Edge *edges) noexcept nogil
    cdef void advance(self, Walk *walk, double length, bint arrived) noexcept nogil
    cdef Outcome shift(self, double surplus, const Walk *walk) noexcept nogil
