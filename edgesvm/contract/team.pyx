"""Threads that share one call's work: each takes a part, the first is the caller's.

All is done in compiled code, so no signal handler comes between a thread's start and the note that
it runs: however the call ends, no thread is left at work.
"""

cimport cython

import _thread
import os

from edgesvm.contract.params import whole

# What a decision reads of a learner, at most, is the arena: so many bytes, for all rows of a
# thread, take about as long as the thread takes to start (0.1 ms).
LEAST_BYTES = 1 << 20
MOST_JOBS = 1 << 10


def n_threads(n_jobs):
    """Threads for `n_jobs`, as scikit-learn counts: None is 1, -1 a thread for each processor that
    this process may use, -2 one fewer."""
    if n_jobs is None:
        return 1
    n = whole("n_jobs", n_jobs, -MOST_JOBS, MOST_JOBS)
    if n == 0:
        raise ValueError("n_jobs=0: give a number of threads, or -1 for one on each processor")
    return n if n > 0 else max(1, processors() + 1 + n)


def processors():
    """Processors that this process may use, where the system says which."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cython.final
cdef class Team:
    """Up to `n` threads, for one call.

    Parameters
    ----------
    n : int
    reader : function of a core, to a core that decides the same beside it
    """
    def __init__(self, int n, reader):
        self.n, self.reader = n, reader

    cdef list parts(self, int64_t first, int64_t end, int64_t n_bytes):
        """Contiguous parts (first, end) of rows, as many as pay, of which each takes the bytes of
        an arena."""
        cdef int64_t n = min(<int64_t> self.n, end - first), k
        n = max(1, min(n, (end - first) * n_bytes // LEAST_BYTES))
        return [(first + (end - first) * k // n, first + (end - first) * (k + 1) // n)
                for k in range(n)]

    cdef list run(self, list works):
        """What the functions `works` return. The first exception ends all, and is raised when all
        have ended."""
        cdef int n_left = 0, k
        cdef list results = [None] * len(works), mine = [0]
        from queue import SimpleQueue
        self.error, self.ended = None, SimpleQueue()
        for k in range(1, len(works)):
            try:
                _thread.start_new_thread(self.work, (works[k], k, results))
                n_left += 1
            except RuntimeError:    # the system has no more threads
                mine.append(k)
        for k in mine:
            if not self.stopped:
                self.do(works[k], k, results)
        while n_left:
            try:
                self.ended.get()
                n_left -= 1
            except BaseException as error:      # of a signal handler
                self.stop(error)
        if self.error is not None:
            raise self.error
        return results

    def work(self, work, int k, list results):
        self.do(work, k, results)
        self.ended.put(None)

    cdef int do(self, work, int k, list results) except -1:
        try:
            results[k] = work()
        except BaseException as error:
            self.stop(error)
        return 0

    cdef int stop(self, error) except -1:
        if self.error is None:
            self.error = error
        self.stopped = True
        return 0
