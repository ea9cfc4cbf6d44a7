"""The guard of a learner's memory: learning excludes everything, predictions exclude learning.

A second thread waits until the work at hand is done, in the order of arrival, and Ctrl-C ends its
wait. The same thread can only come back from a callback (`progress`, a label's ``__eq__``, a source
of chunks, a signal handler); it is refused, since what it would wait for waits for it.

All fields are read and written with the interpreter lock held, so plain integers will do. A thread
lets go of that lock only inside `begin_sharing` ... `end_sharing` and `begin` ... `end`.

A forked child has a copy of the memory, and only the thread that forked: the others' holds count no
more. What one of them was learning is half learned, and refused.
"""

from cpython.exc cimport PyErr_CheckSignals
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport usleep

import os
import threading

from edgesvm.errors import LearnerBusy

cdef unsigned long MAIN = threading.main_thread().ident
cdef unsigned int SHORTEST = 50, LONGEST = 1000     # microseconds between two looks
cdef int LOOKS = 50                                 # between two looks at signals
cdef int64_t SHORT = 10_000_000, LONG = 50_000_000   # nanoseconds
n_forks = 0


def count_fork():
    """In a forked child, whose only thread is this one."""
    global n_forks, MAIN
    n_forks += 1
    MAIN = PyThread_get_thread_ident()


os.register_at_fork(after_in_child=count_fork)


cdef class Guard:
    """Held with ``with guard:``, alone. Shared by all cores on one memory.

    Parameters
    ----------
    owner : str
        The public class's name, for messages.
    """

    def __init__(self, str owner not None):
        self.owner = owner

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def is_free(self):
        """Whether nobody is at work, alone or beside others."""
        return self.depth == 0 and self.n_sharing == 0

    @property
    def is_awaited(self):
        """Whether a thread waits."""
        return self.first != NULL

    def wait(self):
        """Wait until no other thread is at work alone."""
        self.await_reading(False)

    def call(self, callback, *args, **kwargs):
        """``callback(*args)``, which may run code of others, by the thread that is alone: from it
        nothing gets in."""
        cdef unsigned long before = self.caller
        self.caller = PyThread_get_thread_ident()
        try:
            return callback(*args, **kwargs)
        finally:
            self.caller = before

    def beside(self, callback, *args):
        """``callback(*args)``, which runs Python code, by one that decides beside others: signal
        handlers may come, and those only in the main thread."""
        if PyThread_get_thread_ident() != MAIN:
            return callback(*args)
        return self.call(callback, *args)

    cdef int begin_later(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        self.look_at_forks()
        if self.caller == me:
            raise self.busy()
        if self.depth and self.holder == me:
            self.depth += 1
            return 0
        self.await_turn(True)
        self.depth, self.holder, self.forks = 1, me, n_forks
        return 0

    cdef int look_at_forks(self) except -1:
        """In a forked child: forget those that are not here."""
        if self.forks == n_forks:
            return 0
        if self.depth and self.holder != MAIN:
            raise LearnerBusy(
                f"{self.owner}: this process was forked while another thread was at work with the"
                " learner, so this copy of it may be half learned: load a saved one here, or fork"
                " while no thread is at work (multiprocessing's 'spawn' copies nothing)")
        if self.caller != MAIN:
            self.caller = 0
        self.n_sharing = self.n_sharing > 0 and self.caller == MAIN     # forked in a callback
        self.first, self.forks = NULL, n_forks
        return 0

    cdef int await_reading(self, bint writes) except -1:
        """Wait until a decision can be made without letting go of the interpreter lock; `writes`:
        it needs the scratch."""
        cdef unsigned long me = PyThread_get_thread_ident()
        self.look_at_forks()
        if self.caller == me and writes:
            raise self.busy()
        if self.depth and self.holder != me:
            self.await_turn(False)
        return 0

    cdef int begin_sharing(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        self.look_at_forks()
        if self.depth and self.holder == me:
            self.depth += 1         # predictions from within a fit
            return 0
        if self.depth or (self.first != NULL and self.caller != me):
            self.await_turn(False)
        self.n_sharing += 1
        return 0

    cdef void end_sharing(self) noexcept:
        if self.depth:
            self.depth -= 1
        elif self.n_sharing:
            self.n_sharing -= 1

    cdef int await_turn(self, bint alone) except -1:
        """Wait until this thread is first, and nobody is there whom it would disturb."""
        cdef Waiter me
        cdef unsigned int pause = SHORTEST
        cdef int look = 0
        me.alone, me.behind = alone, NULL
        self.queue(&me, False)
        try:
            while self.first != &me or self.depth or (alone and self.n_sharing):
                with nogil:
                    usleep(pause)
                pause = min(2 * pause, LONGEST)
                look += 1
                if look % LOOKS == 0:
                    # a signal handler may come and wait, too: it must not stand behind itself
                    self.leave(&me)
                    try:
                        PyErr_CheckSignals()
                        self.look_at_forks()
                    finally:
                        self.queue(&me, True)
        finally:
            self.leave(&me)
        return 0

    cdef void queue(self, Waiter *waiter, bint in_front) noexcept:
        cdef Waiter **place = &self.first
        while not in_front and place[0] != NULL:
            place = &place[0].behind
        waiter.behind, place[0] = place[0], waiter

    cdef void leave(self, Waiter *waiter) noexcept:
        cdef Waiter **place = &self.first
        while place[0] != waiter:
            place = &place[0].behind
        place[0] = waiter.behind

    cdef int look_at_signals(self) except -1:
        """Run the handlers of signals that have come, Ctrl-C's among them, as a callback. Only the
        main thread has any."""
        cdef unsigned long before = self.caller, me = PyThread_get_thread_ident()
        if me != MAIN:
            return 0
        self.caller = me
        try:
            PyErr_CheckSignals()
        finally:
            self.caller = before
        return 0

    cdef busy(self):
        return LearnerBusy(
            f"{self.owner} is at work: a callback (progress, a source of chunks, a label's __eq__,"
            " a signal handler) must not learn with it, solve, save or reset it")


cdef int64_t nanoseconds() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t> now.tv_sec * 1_000_000_000 + now.tv_nsec


cdef void start_pace(Pace *pace) noexcept nogil:
    pace.rows = pace.left = 1
    pace.clock = pace.signals = nanoseconds()


cdef bint clock_says(Pace *pace) noexcept nogil:
    """Rows that take long are looked at one by one, so that no look comes late."""
    cdef int64_t now = nanoseconds()
    pace.rows = min(2 * pace.rows, MOST_ROWS) if now - pace.clock < SHORT else 1
    pace.left, pace.clock = pace.rows, now
    if now - pace.signals < LONG:
        return False
    pace.signals = now
    return True
