"""PassiveAggressive, compiled (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Figure 1): w =
w + tau y x, with tau by the variant.
"""

cimport cython
from libc.math cimport fmin

from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.papers.online._linear cimport LinearCore

cdef enum Variant:
    PA
    PA_I
    PA_II

VARIANTS = {"PA": PA, "PA-I": PA_I, "PA-II": PA_II}


@cython.final
cdef class PassiveAggressiveCore(LinearCore):
    """The step. The public class has checked the parameters."""
    cdef readonly double C
    cdef readonly Variant variant

    def __init__(self, *common, fit_intercept, C, variant):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.C = C
        self.variant = VARIANTS[variant]

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx, loss
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        loss = 1.0 - y * wx
        if loss <= 0.0 or xx == 0.0:
            return UNCHANGED
        return self.move(self.tau(loss, xx, self.C * weight) * y, x, xx, weight)

    cdef double tau(self, double loss, double xx, double C) noexcept nogil:
        """The length of the step, in units of x"""
        if self.variant == PA_II:
            return loss / (xx + 0.5 / C)
        if self.variant == PA_I:
            return fmin(C, loss / xx)
        return loss / xx
