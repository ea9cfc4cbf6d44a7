# Who may work in a learner's memory: one thread alone, or many that only decide.

cimport cython
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() nogil


cdef int n_forks                # of the process, since this module was loaded


cdef struct Waiter:             # on the stack of the thread that waits
    Waiter *behind
    bint alone


@cython.final
cdef class Guard:
    cdef str owner              # the public class's name, for messages
    cdef int depth              # holds of the thread that is alone, 0 while there is none
    cdef readonly int n_sharing
    cdef unsigned long holder   # the thread that is alone
    cdef unsigned long caller   # the thread that runs a callback from within a hold, 0: none
    cdef int forks              # `n_forks` when somebody last came or looked
    cdef Waiter *first          # those that wait, in the order of arrival

    cdef inline int begin(self) except -1:
        """Be alone. A hold within a hold of the same thread counts; one within a callback is
        refused."""
        if self.depth == 0 and self.n_sharing == 0 and self.first == NULL:
            self.depth, self.holder, self.forks = 1, PyThread_get_thread_ident(), n_forks
            return 0
        return self.begin_later()

    cdef inline void end(self) noexcept:
        self.depth -= 1

    cdef inline bint is_taken(self) noexcept:
        return self.depth != 0

    cdef int begin_later(self) except -1
    cdef int look_at_forks(self) except -1
    cdef int await_turn(self, bint alone) except -1
    cdef int await_reading(self, bint writes) except -1
    cdef int begin_sharing(self) except -1
    cdef void end_sharing(self) noexcept
    cdef void queue(self, Waiter *waiter, bint in_front) noexcept
    cdef void leave(self, Waiter *waiter) noexcept
    cdef int look_at_signals(self) except -1
    cdef busy(self)


cdef enum:
    MOST_ROWS = 32              # between two looks at the clock


cdef struct Pace:               # of looks at signals, in a loop without the interpreter lock
    int rows, left              # rows from one look at the clock to the next, and still to go
    int64_t clock, signals      # when these were looked at, nanoseconds

cdef void start_pace(Pace *pace) noexcept nogil
cdef bint clock_says(Pace *pace) noexcept nogil

cdef inline bint is_due(Pace *pace, int rows=1) noexcept nogil:
    """Called after each row, or some that were quick: whether to look at signals now"""
    pace.left -= rows
    return pace.left <= 0 and clock_says(pace)
