"""TwinDictionarySVM, compiled: a twin vector machine whose twins settle and become a dictionary.

Once `settle_after` samples are learned, the twins q_i stand still and f(x) = c.v + b + lift sum(c)
is linear in v_i(x) = k(q_i, x) + lift: the lift, a constant added to the kernel, stands for the
intercept. c is then learned by AROW (Crammer, Kulesza & Dredze 2009): its belief about c is a
Gaussian, here with the precision

    P = K + lift + RIDGE    at first, the kernel's own norm of f: a prior as wide as the margin

A sample with |f(x)| <= m1, the test Beneficial of the twin vector machine, and y f(x) < 1 leads to

    c += y (1 - y f(x)) / (v.P^-1 v + r) P^-1 v,    P += v v^T / r

After a drift an error leads to a step too, however far it is. To forget, samples lose weight in P:
all of P but the prior is multiplied; c stays.

L, the factor of P, lies where that of the margin set lay. Time: O(M D + M^2) for a sample that is
learned, M kernel values for another.
"""

from libc.math cimport fabs, fmax, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.core.linalg cimport add_scaled, dot
from edgesvm.core.packed_factor cimport (
    factor_add_outer, factor_append, factor_backward, factor_complement, factor_forward,
    factor_is_sound, factor_root, factor_square, factor_wipe, packed)
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.twin._margin_set cimport Solver
from edgesvm.learners.twin._twin_vector_machine cimport TwinVectorMachineCore

cdef double EDGE, FACTOR_EXISTS, LARGEST_NORM, RIDGE
from edgesvm.learners.constants import FACTOR_EXISTS
from edgesvm.learners.twin.constants import EDGE, LARGEST_NORM, RIDGE

cdef struct Dictionary:         # from "settled_at" on
    int64_t settled_at          # samples learned by then; 0 while the twins move
    int64_t n_refined


cdef class TwinDictionarySVMCore(TwinVectorMachineCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly int64_t settle_after
    cdef readonly double r
    cdef Dictionary *dictionary

    def __init__(self, *common, settle_after, r, **of_twins):
        super().__init__(*common, **of_twins)
        self.settle_after, self.r = settle_after, r
        self.dictionary = <Dictionary *> self.array("settled_at")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status
        if self.dictionary.settled_at:
            return self.refine(x, y, weight)
        status = TwinVectorMachineCore.step(self, x, y, weight)
        if status <= CHANGED and self.n_learned() + 1 >= self.settle_after:
            self.settle()
        return status

    cdef void settle(self) noexcept nogil:
        """The twins stand still: the margin becomes 1, and L the factor of the prior's P."""
        cdef Solver *v = self.solver
        cdef int64_t i, p
        cdef double delta
        v.lift = 0.0
        for i in range(v.n):
            self.coef[i] /= v.mu
            self.g[i] = 0.0
            self.state[i] = 2
            v.lift = fmax(v.lift, self.norm_of(i))
        if not v.lift > 0.0:
            v.lift = 1.0
        v.b /= v.mu
        v.mu = 1.0
        v.m = 0
        for i in range(v.n):
            self.fill_row(self.twin(i), self.row)
            for p in range(i):
                self.factor.border[1 + p] = self.row[p] + v.lift
            delta = factor_complement(&self.factor, self.row[i])
            factor_append(&self.factor, fmax(delta, 0.0) + RIDGE * v.lift, self.row, v.n)
            self.S[i] = <int> i
        self.dictionary.settled_at = self.n_learned() + 1

    cdef Status refine(self, const void *x, double y, double weight) noexcept nogil:
        """One step of AROW; a sample of weight s has the variance r / s."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double f, step, total = 0.0
        cdef double *z = self.factor.solution + 1   # L^-1 v
        cdef double *change = self.off              # P^-1 v
        if not isfinite(self.norm(x)):
            return NOT_FINITE
        self.fill_row(x, self.row)
        f = dot(self.row, self.coef, v.n) + v.b
        if self.forgets:
            self.forget(y * f <= 0.0)
        if y * f >= 1.0 or not (fabs(f) <= self.m1 * (1.0 + EDGE) or self.is_open(y * f)):
            return UNCHANGED
        for i in range(v.n):
            self.factor.border[1 + i] = self.row[i] + v.lift
        factor_forward(&self.factor)
        step = y * (1.0 - y * f) / (dot(z, z, v.n) + self.r / weight)
        memcpy(change, z, v.n * sizeof(double))
        factor_backward(&self.factor, change)
        if not isfinite(dot(change, change, v.n)):      # a factor that no stream has left
            factor_wipe(&self.factor)
            memset(change, 0, v.n * sizeof(double))
            return NOT_FINITE
        for i in range(v.n):
            total += change[i]
        add_scaled(step, change, self.coef, v.n)
        v.b += step * v.lift * total
        factor_add_outer(&self.factor, weight / self.r)
        self.dictionary.n_refined += 1
        return CHANGED

    cdef void age(self, double part) noexcept nogil:
        """Once the twins have settled: P = part P + (1 - part) prior"""
        cdef int64_t i, j
        cdef double lift = self.solver.lift
        cdef double *P
        if self.dictionary.settled_at == 0:
            TwinVectorMachineCore.age(self, part)
            return
        factor_square(&self.factor)
        for i in range(self.solver.n):
            P = self.factor.pool + packed(i)
            self.k_rows(self.twin(i), self.vectors, i + 1, self.off)
            self.off[i] += RIDGE * lift
            for j in range(i + 1):
                P[j] = part * P[j] + (1.0 - part) * (self.off[j] + lift)
            P[i] *= 1.0 + FACTOR_EXISTS
        factor_root(&self.factor)

    def kt_residual(self):
        """Largest violation of the KT conditions; NaN once the twins have settled."""
        if self.dictionary.settled_at:
            return float("nan")
        return super().kt_residual()

    cdef const char *fault_of_solution(self) noexcept nogil:
        """As long as the twins move, those of the twin vector machine; then L is any factor."""
        cdef Solver *v = self.solver
        cdef int64_t i
        if self.dictionary.settled_at == 0:
            return TwinVectorMachineCore.fault_of_solution(self)
        cdef double largest = 0.0
        if v.m != v.n or v.mu != 1.0:
            return b"the margin is out of range, or the factor is not of all twins"
        if not fabs(v.b) <= LARGEST_NORM:
            return b"b is out of range"
        for i in range(v.n):
            largest = fmax(largest, self.norm_of(i))
        if v.lift != (largest if largest > 0.0 else 1.0):
            return b"the lift is not that of the twins"
        for i in range(v.n):
            if self.S[i] != i:
                return b"the factor is not that of all twins"
        if not factor_is_sound(&self.factor):
            return b"the factor is not that of all twins"
        return NULL
