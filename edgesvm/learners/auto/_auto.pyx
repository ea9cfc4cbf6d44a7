"""Auto, compiled: candidates side by side, each judged on every sample before it learns it.

A candidate's lapses are the share of about the last `RECENT` samples that it had wrong. The one
with the fewest answers. After 2, 4, 8, ... times `UNCOUNTED` samples there is a review: with e the
number that each had wrong in the second half, a candidate ends if it is behind the best by more
than errors of that size differ by chance,

    e - e_best > CLEARLY sqrt(e + e_best).

The bytes of one that ended go to FourierSVM, which lies behind the others and grows to the front.

Bytes: 8 (1 + 1 + 3 + 3), and the pool.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.error_rate cimport note_error
from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.fourier._fourier_svm cimport FourierSVMCore

from edgesvm.errors import CorruptModelError

cpdef enum:
    FOURIER = 2         # the last candidate
    CANDIDATES = 3

cdef int64_t RECENT, UNCOUNTED
cdef double CLEARLY
from edgesvm.learners.auto.constants import CLEARLY, RECENT, UNCOUNTED


@cython.final
cdef class AutoCore(LearnerCore):
    """State and step.

    Parameters
    ----------
    stages : list of four tuples of CANDIDATES cores: those at work once the candidates before
        FourierSVM have ended that are bits of the stage's number; None for one without room
    """
    cdef readonly list stages
    cdef PyObject *part[4 * CANDIDATES]     # the same; NULL for None
    cdef int64_t *ended         # bit c: candidate c has ended
    cdef int64_t *n_left_out
    cdef int64_t *n_wrong       # (CANDIDATES,): since the last review
    cdef double *lapses         # (CANDIDATES,)
    cdef char *pool

    def __init__(self, *common, stages):
        super().__init__(*common)
        self.stages = stages
        for stage, parts in enumerate(stages):
            for c, part in enumerate(parts):
                if part is not None and not isinstance(part, LearnerCore):
                    raise TypeError("the candidates must be compiled cores")
                self.part[stage * CANDIDATES + c] = NULL if part is None else <PyObject *> part
        self.ended = <int64_t *> self.array("ended")
        self.n_left_out = <int64_t *> self.array("n_left_out")
        self.n_wrong = <int64_t *> self.array("n_wrong")
        self.lapses = <double *> self.array("candidate_lapses")
        self.pool = self.array("pool")

    cdef PyObject *at_work(self, int c) noexcept nogil:
        """The core of candidate c; NULL if it has ended or never was."""
        if self.ended[0] >> c & 1:
            return NULL
        return self.part[(self.ended[0] & 3) * CANDIDATES + c]

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef bint[CANDIDATES] is_wrong
        cdef bint changed = False, taken = False
        cdef PyObject *part
        cdef Status status
        cdef int c
        for c in range(CANDIDATES):
            is_wrong[c] = self.has_wrong(c, x, y)
        for c in range(CANDIDATES):
            part = self.at_work(c)
            if part == NULL:
                continue
            status = (<LearnerCore> part).learn_row(x, y > 0.0, weight)
            if status <= CHANGED:
                taken = True
                changed = changed or status == CHANGED
            elif taken:
                self.n_left_out[0] += 1
            else:
                return status
        self.judge(is_wrong)
        return CHANGED if changed else UNCHANGED

    cdef bint has_wrong(self, int c, const void *x, double y) noexcept nogil:
        cdef PyObject *part = self.at_work(c)
        cdef double value = 0.0
        if part == NULL:
            return False
        if (<LearnerCore> part).decide(x, &value) > CHANGED:
            return True
        return ((<LearnerCore> part).slot_for(value) == 1) != (y > 0.0)

    cdef void judge(self, const bint *is_wrong) noexcept nogil:
        cdef int64_t n = self.n_learned() + 1, period = UNCOUNTED
        cdef int c
        for c in range(CANDIDATES):
            if self.at_work(c) != NULL:
                note_error(self.lapses, c, is_wrong[c], min(n, RECENT))
                self.n_wrong[c] += is_wrong[c]
        while period < n:
            period *= 2
        if n == period:
            if n > UNCOUNTED:
                self.review()
            memset(self.n_wrong, 0, CANDIDATES * sizeof(int64_t))

    cdef void review(self) noexcept nogil:
        cdef int64_t stage = self.ended[0] & 3
        cdef int64_t best = self.n_wrong[self.least(False)], behind
        cdef PyObject *old = self.at_work(FOURIER)
        cdef int c
        for c in range(CANDIDATES):
            behind = self.n_wrong[c] - best
            if self.at_work(c) == NULL or (
                    <double> behind * behind <= CLEARLY * CLEARLY * (self.n_wrong[c] + best)):
                continue
            self.end(c)
        if self.ended[0] & 3 != stage and self.at_work(FOURIER) != NULL:
            (<FourierSVMCore> self.at_work(FOURIER)).take_over(<FourierSVMCore> old)

    cdef void end(self, int c) noexcept nogil:
        cdef PyObject *part = self.at_work(c)
        memset((<LearnerCore> part).arena.base, 0, (<LearnerCore> part).arena.nbytes)
        self.lapses[c] = 0.0
        self.ended[0] |= 1 << c

    cdef int least(self, bint lately) noexcept nogil:
        """The candidate at work with the least lapses, or the least errors since the last
        review."""
        cdef int c, best = -1
        for c in range(CANDIDATES):
            if self.at_work(c) == NULL:
                continue
            if best < 0 or (self.lapses[c] < self.lapses[best] if lately
                            else self.n_wrong[c] < self.n_wrong[best]):
                best = c
        return best

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        cdef PyObject *part = self.at_work(self.least(True))
        return (<LearnerCore> part).decides_alone()

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef PyObject *part = self.at_work(self.least(True))
        return (<LearnerCore> part).decide(x, value)

    @property
    def answering(self):
        """Number of the candidate that answers."""
        return self.least(True)

    @property
    def parts(self):
        """The cores by candidate, None for those that have ended or never were."""
        return [None if self.at_work(c) == NULL else <object> self.at_work(c)
                for c in range(CANDIDATES)]

    def check(self):
        super().check()
        views = self.views
        ended = int(views["ended"])
        if not 0 <= ended < (1 << CANDIDATES) or not any(self.parts):
            raise CorruptModelError("the snapshot says that no candidate is left")
        rates = views["candidate_lapses"]
        if not ((rates >= 0) & (rates <= 1)).all():
            raise CorruptModelError("an error rate is not between 0 and 1")
        for part in self.parts:
            if part is not None:
                part.check()
