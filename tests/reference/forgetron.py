"""Forgetron in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.papers.online.constants import FORGETRON_SHARE
from reference.expansion import ExpansionCoreRef


class ForgetronCoreRef(ExpansionCoreRef):
    """The self-tuned forgetron of Dekel, Shalev-Shwartz & Singer 2008."""

    def step(self, x, y, weight):
        status = self.refuses(x, weight)
        if status > Status.CHANGED:
            return status
        if y * self.project(x) > 0:
            return Status.UNCHANGED
        v, M = self.views, len(self.views["coef"])
        if v["n_held"] < M:
            self.put(int(v["n_held"]), x, y * weight)
            v["n_held"] += 1
            return Status.CHANGED
        r = int(v["oldest"])
        x_r, coef_r = v["vectors"][r], float(v["coef"][r])
        f_r = self.project(x_r) + y * weight * float(self.k(x, x_r)[0, 0])
        sigma, mu = abs(coef_r), np.sign(coef_r) * f_r
        room = FORGETRON_SHARE * (int(v["n_updates"]) + 1) - float(v["Q"])
        a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
        phi = 1.0
        if a + b > room:
            phi = 2 * room / (b + np.sqrt(max(b**2 + 4 * a * room, 0.0)))
        v["Q"] += phi**2 * a + phi * b
        v["coef"][:] *= phi
        self.put(r, x, phi * y * weight)
        v["oldest"][...] = (r + 1) % M
        return Status.CHANGED
