"""IncrementalDecrementalSVR, compiled (Ma, Theiler & Perkins 2003; Martin 2002): the path of
`IncrementalDecrementalSVM`, for support vector regression.

A sample with target y and weight s is a twin with the weight s on both sides. With nu = 1 / C, what
is measured at it is g = K coef + b - nu y, and mu = epsilon nu:

    g < -mu:         coef =  s
    g = -mu:         coef between 0 and s
    -mu < g < mu:    coef =  0
    g = mu:          coef between -s and 0
    g > mu:          coef = -s

f = (K coef + b) / nu is the prediction. Another epsilon moves mu, another C moves mu and nu; the
weights stay.
"""

cimport cython
from libc.math cimport fabs, fmax
from libc.stdint cimport int64_t
from libc.string cimport memmove

from edgesvm.core.status cimport BAD_TARGET, Status
from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._incremental_decremental_svm cimport IncrementalDecrementalSVMCore
from edgesvm.learners.twin._margin_set cimport OVERFLOWED
from edgesvm.learners.twin._path cimport Move, Walk

cdef double TIE, LARGEST_TARGET
from edgesvm.learners.twin.constants import LARGEST_TARGET, TIE

cdef struct Scale:              # from "nu" on
    double nu                   # 1 / C
    double nu_to                # at the end of the path


@cython.final
cdef class IncrementalDecrementalSVRCore(IncrementalDecrementalSVMCore):
    """State and path. The public class has checked the parameters."""
    cdef readonly double epsilon
    cdef Scale *units
    cdef double *targets        # (slots,): y

    def __init__(self, *common, C, epsilon, when_full, kernel):
        super().__init__(*common, C=C, when_full=when_full, kernel=kernel)
        self.regresses, self.epsilon = True, epsilon
        self.units = <Scale *> self.array("nu")
        self.targets = <double *> self.array("targets")
        if self.units.nu == 0.0:
            self.units.nu = self.units.nu_to = 1.0 / C
            self.solver.mu = epsilon / C

    # -- samples -----------------------------------------------------------------------------------

    cdef double target(self, int64_t i) noexcept nogil:
        return self.units.nu * self.targets[i]

    cdef double scale(self) noexcept nogil:
        return self.units.nu

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if not fabs(y) <= LARGEST_TARGET:
            return BAD_TARGET
        return IncrementalDecrementalSVMCore.step(self, x, y, weight)

    cdef void take(self, const void *x, double y, double weight, Move *move) noexcept nogil:
        cdef int64_t i = self.place(x)
        self.targets[i] = y
        self.g[i] -= self.target(i)
        self.state[i] = self.side(self.g[i], True, True)
        move.slot = i
        move.to_minus = move.to_plus = weight

    cdef void drop(self, int64_t i) noexcept nogil:
        memmove(self.targets + i, self.targets + i + 1, (self.solver.n - i - 1) * sizeof(double))
        IncrementalDecrementalSVMCore.drop(self, i)

    cdef int64_t least_needed(self) noexcept nogil:
        """The sample whose error is smallest; the first learned of equals."""
        cdef int64_t i, best = 0
        for i in range(1, self.solver.n):
            if fabs(self.g[i]) < fabs(self.g[best]) - TIE * self.solver.mu:
                best = i
        return best

    # -- paths -------------------------------------------------------------------------------------

    def set_C(self, double C):
        """Change C; False if the margin set would have overflowed its room."""
        self.units.nu_to = 1.0 / C
        if self.follow(NULL, 0, self.epsilon / C) == OVERFLOWED:
            return False
        self.C = C
        return True

    def set_epsilon(self, double epsilon):
        """Change epsilon; False if the margin set would have overflowed its room."""
        if self.follow(NULL, 0, epsilon / self.C) == OVERFLOWED:
            return False
        self.epsilon = epsilon
        return True

    cdef void begin(self, Walk *walk, Move *moves, int count, double mu) noexcept nogil:
        cdef int64_t i
        IncrementalDecrementalSVMCore.begin(self, walk, moves, count, mu)
        walk.d_nu = self.units.nu_to - self.units.nu
        for i in range(self.solver.n):
            self.push[i] = -walk.d_nu * self.targets[i]
            walk.farthest = fmax(walk.farthest, fabs(self.target(i)))

    cdef void advance(self, Walk *walk, double length, bint arrived) noexcept nogil:
        IncrementalDecrementalSVMCore.advance(self, walk, length, arrived)
        if arrived:
            self.units.nu = self.units.nu_to
        else:
            self.units.nu += length * walk.d_nu

    cdef void solve_at(self, const Move *moves, int count, double mu) noexcept nogil:
        self.units.nu = self.units.nu_to
        IncrementalDecrementalSVMCore.solve_at(self, moves, count, mu)

    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil:
        self.units.nu_to = 1.0 / self.C
        IncrementalDecrementalSVMCore.walk_back(self, moves, count, mu)

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t i
        if self.solver.n > self.max_vectors:
            return b"there are more vectors than are allowed"
        if not (self.units.nu == self.units.nu_to and fabs(self.units.nu * self.C - 1.0) < 1e-9):
            return b"the scale is not that of C"
        if not fabs(self.solver.mu - self.epsilon * self.units.nu) < 1e-9 * self.solver.mu:
            return b"the margin is not that of epsilon"
        for i in range(self.solver.n):
            if self.s_minus[i] != self.s_plus[i]:
                return b"a sample's weights are not the same on both sides"
        return AdiabaticCore.fault(self)
