# Base class of the compiled cores, and what a core must add; see core.pyx.

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t

from edgesvm.core.arena cimport Arena
from edgesvm.core.status cimport Status
from edgesvm.contract.guard cimport Guard
from edgesvm.contract.labels cimport Labels
from edgesvm.contract.sparse cimport Batch
from edgesvm.contract.team cimport Team

cdef struct Common:             # at the start of every arena
    int64_t n_seen              # samples seen, including those of weight zero
    int64_t n_updates           # samples that changed the model


cdef enum Question:             # what is asked of a sample
    DECISION
    LABEL
    LABEL_AND_SCORE
    PROBABILITIES
    INTERVAL
    FORECAST


cdef class LearnerCore:
    cdef readonly Arena arena
    cdef readonly Labels labels
    cdef readonly Guard guard       # of the whole memory that `arena` is in
    cdef public LearnerCore successor   # the core that took over this memory, else None
    cdef readonly object plan       # its table of arrays, placed
    cdef readonly dict views        # name -> ndarray, the plan's arrays in the arena
    cdef readonly object dtype
    cdef readonly str owner         # the public class's name, for messages
    cdef readonly int64_t n_features
    cdef readonly bint one_class    # all samples are of one class: the value tells what is not
    cdef readonly bint regresses    # the target is a number: `y` is it, and the value predicts it
    cdef public bint balanced       # whether a sample weighs more the rarer its class has been
    cdef int typenum
    cdef bint is_float32
    cdef Common *common
    cdef int64_t *n_per_class       # (n_classes,): samples learned, by class index
    cdef double *mean_weight        # of about the last samples, 0 before the first; NULL in a part
    cdef public double most_weight  # of the rows of a fit, by the mean of them all; 0: of a stream
    cdef public int64_t n_capped    # samples learned as of less than their weight, since it is here
    cdef readonly int n_classes
    cdef readonly bint several      # a multiclass learner: `y` is a class index, values are scores
    cdef double *scores             # (n_classes,): TMP of it; NULL: they are on the stack

    # A subclass overrides these two. `x` has n_features numbers of the learner's dtype; `y` is -1
    # or +1, in a multiclass learner the class index; `weight` > 0. A refused sample must not change
    # the arena. `decide` writes one decision value, in a multiclass learner a score per class.
    cdef Status step(self, const void *x, double y, double weight) noexcept nogil
    cdef Status decide(self, const void *x, double *value) noexcept nogil
    # Of a regressor: a sample whose x is not to be trusted has come, the target y is.
    cdef Status pass_over(self, const void *x, double y) noexcept nogil
    # Shares of the labels, sorted, (labels.n,); only of a learner that has probabilities. Of a
    # regressor the ends of an interval, (2,).
    cdef Status probabilities(self, const void *x, double *out) noexcept nogil
    # Of a regressor of a stream: value and ends of the interval, (3,), of the sample that follows
    # the last one learned.
    cdef Status forecast(self, const void *x, double *out) noexcept nogil
    # What no stream of samples can have left in the arena, which was read from a file, as a text;
    # NULL: nothing. Every number is within the bounds of the plan's table. The arena stays as it
    # is. An exported model asks the same.
    cdef const char *fault(self) noexcept nogil
    # Whether `decide` writes into the arena: then only one thread decides at a time.
    cdef bint decides_alone(self) noexcept nogil
    # Of n rows, one behind another, up to MOST_ROWS. `squares` are their x.x, of the learner's
    # dtype; NULL: not found yet. A row less is never wrong.
    # With `decides_in_blocks`: the values of the first rows, as `decide` writes them, up to one
    # that might be refused.
    cdef bint decides_in_blocks
    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values) noexcept nogil
    # With `looks_ahead`: find what the steps on n rows, from the next one on, need and no step
    # changes.
    cdef bint looks_ahead
    cdef void look_ahead(self, const void *x, int64_t n) noexcept nogil
    # Before and after n rows are learned or decided, for what pays off for many. What is taken in
    # between is beside the arena.
    cdef int begin_rows(self, int64_t n) except -1
    cdef void end_rows(self) noexcept

    @cython.final
    cdef char *array(self, str name) except NULL

    @cython.final
    cdef Status weighed_step(self, const void *x, double y, double weight) noexcept nogil

    @cython.final
    cdef double class_weight(self, double y) noexcept nogil

    @cython.final
    cdef Status learn_row(self, const void *x, int slot, double weight) noexcept nogil

    @cython.final
    cdef Status learn_sample(
        self, const void *x, double y, int slot, double weight) noexcept nogil

    @cython.final
    cdef double capped(self, double weight) noexcept nogil

    @cython.final
    cdef void note_weight(self, double weight) noexcept nogil

    @cython.final
    cdef void count(self, int slot, Status status) noexcept nogil

    @cython.final
    cdef int64_t n_learned(self) noexcept nogil

    @cython.final
    cdef int slot_for(self, double value) noexcept nogil

    @cython.final
    cdef Status answer(self, const void *x, double *out) noexcept nogil

    @cython.final
    cdef int n_answers(self) noexcept nogil

    @cython.final
    cdef void in_order(self, const double *scores, double *out) noexcept nogil

    @cython.final
    cdef int64_t answer_block(self, const void *x, int64_t n, double *out) noexcept nogil

    @cython.final
    cdef void put_last(self, double *score) noexcept nogil

    @cython.final
    cdef int winner(self, const double *answers, double *score) noexcept nogil

    # -- samples and arrays of callers -------------------------------------------------------------

    @cython.final
    cdef cnp.ndarray as_row(self, x)

    @cython.final
    cdef cnp.ndarray row_to_decide(self, x)

    @cython.final
    cdef bint is_row(self, cnp.ndarray row) noexcept

    cdef int read(self, Batch *batch, X, cnp.ndarray scratch, int64_t n) except -1

    @cython.final
    cdef bint is_out(self, out, int ndim, int64_t size) noexcept

    # -- the work of an entry point, in a memory that is its own -----------------------------------

    @cython.final
    cdef double as_target(self, y) except? -1.0

    @cython.final
    cdef const double *first_number(self, cnp.ndarray numbers, int64_t n) except? NULL

    @cython.final
    cdef int slot_of(self, y, double *weight) except -2

    @cython.final
    cdef bint learn_alone(self, x, y, double weight) except -1

    @cython.final
    cdef Status learn_rows(
        self, X, cnp.ndarray slots, cnp.ndarray weights, signed char[::1] predicted, int64_t *i
    ) except *

    @cython.final
    cdef bint begin_deciding(self) except -1

    @cython.final
    cdef void end_deciding(self, bint alone) noexcept

    @cython.final
    cdef object respond(self, Question question, x, out)

    @cython.final
    cdef cnp.ndarray room_for(self, out, int64_t n)

    @cython.final
    cdef object respond_many(self, Question question, X, out, Team team)

    @cython.final
    cdef Status decide_all(
        self, Team team, X, int64_t n, cnp.ndarray out, int64_t *i, Question question) except *

    @cython.final
    cdef Status decide_rows(
        self, X, int64_t n, cnp.ndarray out, int64_t *i, Question question, Team team) except *

    @cython.final
    cdef int64_t answer_rows(
        self, Batch *batch, int64_t i, int64_t n, Question question, double *out, Status *status
    ) noexcept nogil

    @cython.final
    cdef void winners(self, const double *answers, int64_t n, signed char *slots) noexcept nogil

    @cython.final
    cdef int n_values(self, Question question) noexcept nogil

    @cython.final
    cdef int refuse(self, Status status) except -1

    @cython.final
    cdef int check_fitted(self) except -1
