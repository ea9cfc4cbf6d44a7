"""The adiabatic solver in plain NumPy; its state is in margin_set.py, its path in
path.py."""

from __future__ import annotations

from reference.kuhn_tucker import residual
from reference.path import PathCoreRef


class AdiabaticCoreRef(PathCoreRef):
    """Twins q_i with weights s+_i, s-_i and the coefficients coef_i, b that keep the KT
    conditions."""

    def kt_residual(self):
        """Largest violation of the KT conditions, in units of the margin, from the definition."""
        v, n, mu = self.views, self.n, self.mu
        if n == 0:
            return 0.0
        coef, s_minus, s_plus = self.held("coef"), self.held("s_minus"), self.held("s_plus")
        g = self.k(self.held("vectors"), self.held("vectors")) @ coef + v["b"] - self.target()
        return residual(g / mu, coef, s_minus, s_plus)

    def solve_from_scratch(self):
        self.from_scratch()
