"""KernelStreamSVM in plain NumPy: every squared length computed from its definition, none
updated."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.kernel_core_ref import KernelCoreRef
from edgesvm.core.status import Status
from edgesvm.learners.stream._stream_svm_ref import check_point, first_smallest, grown
from edgesvm.learners.stream.constants import MAX_SQUARE


class KernelStreamSVMCoreRef(KernelCoreRef):
    """The arena's arrays by name: R, xi2, ww, q; and of the stored vectors: vectors, share, sign,
    norm, own."""

    def __init__(self, *common, C, bound, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.lower = C, bound == "lower"

    def held(self):
        m = int(self.views["n_held"])
        return [self.views[name][:m] for name in ("vectors", "share", "sign", "norm", "own")]

    def project(self, x):
        vectors, share, sign, *_ = self.held()
        return float(self.k(x, vectors)[0] @ (share * sign)) if len(vectors) else 0.0

    def step(self, x, y, weight):
        v = self.views
        k_xx, f = float(self.k(x, x)[0, 0]), self.project(x)
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        square, own = k_xx + 1 / self.C, 1 / (self.C * weight)
        status = check_point(square, f, own)
        if status > Status.CHANGED:
            return status
        m, R, step = int(v["n_held"]), float(v["R"]), 1.0
        off = square - (k_xx + own)
        if m == 0:
            R = np.sqrt(max(off, 0.0))
        else:
            cc = float(v["ww"] + v["xi2"])
            d2 = cc - 2 * y * f + square
            if d2 <= R**2:
                return Status.UNCHANGED
            if self.lower:
                step = min(
                    0.5 * (d2 - R**2) / max(d2 - square + k_xx + own, 0.5 * (d2 - R**2)), 1.0
                )
            else:
                d = np.sqrt(d2)
                step = 0.5 * (1 - R / d)
                R = grown(R, 0.0, d, step, off)
        v["share"][:m] *= 1 - step
        v["vectors"][m] = x
        v["share"][m], v["sign"][m], v["norm"][m], v["own"][m] = step, y, k_xx, own
        v["n_held"] += 1
        if v["n_held"] == len(v["share"]):
            R += self.drop_one()
        vectors, share, sign, norm, own = self.held()
        v["ww"][...] = ww = (share * sign) @ self.k(vectors, vectors) @ (share * sign)
        v["xi2"][...] = xi2 = own @ share**2
        v["q"][...] = q = share @ norm + 1 / self.C
        v["R"][...] = np.sqrt(max(q - ww - xi2, 0.0)) if self.lower else R
        return Status.CHANGED

    def drop_one(self):
        """Remove the older vector of the smallest share, which goes to the nearest; return how far
        the centre moves."""
        vectors, share, sign, norm, own = self.held()
        i = first_smallest(share[:-1])
        d2 = norm[i] + norm - 2 * sign[i] * sign * self.k(vectors[i], vectors)[0]
        d2 = np.maximum(d2, 0) + own[i] + own
        d2[i] = np.inf
        j = first_smallest(d2)
        moved = share[i] * np.sqrt(d2[j])
        share[j] += share[i]
        for per_vector in (vectors, share, sign, norm, own):
            per_vector[i] = per_vector[-1]
        self.views["n_held"] -= 1
        return moved

    def decide(self, x):
        return self.project(x) if self.self_kernel(x) <= MAX_SQUARE else np.nan
