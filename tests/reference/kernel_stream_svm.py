"""KernelStreamSVM in plain NumPy: every squared length computed from its definition, none
updated."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.constants import FACTOR_EXISTS
from edgesvm.learners.stream.constants import (
    LARGEST_NORM,
    LARGEST_PENALTY,
    LEAST_NORM,
    MAX_SQUARE,
    RIDGE,
)
from reference.forgetting import ForgettingRef
from reference.kernel_core import KernelCoreRef
from reference.stream_svm import check_point, first_smallest, grown


class KernelStreamSVMCoreRef(KernelCoreRef, ForgettingRef):
    """The arena's arrays by name: R, xi2, ww, q; and of the stored vectors: vectors, share, sign;
    with when_full="share" norm and own, with "newton" weight and L.
    """

    def __init__(self, *common, C, bound, when_full, half_life, threshold, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.lower, self.newton = C, bound == "lower", when_full == "newton"
        self.half_life, self.threshold = half_life, threshold
        self.forgets = half_life >= 0 and self.newton
        self.slots = len(self.views["share"])

    def held(self, *more):
        m = int(self.views["n_held"])
        return [self.views[name][:m] for name in ("vectors", "share", "sign", *more)]

    @property
    def at_newton(self):
        return self.newton and self.views["n_held"] == self.slots

    def project(self, x):
        vectors, share, sign = self.held()
        return float(self.k(x, vectors)[0] @ (share * sign)) if len(vectors) else 0.0

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        return self.refine(x, y, weight) if self.at_newton else self.enclose(x, y, weight)

    # -- the ball ----------------------------------------------------------------------------------

    def enclose(self, x, y, weight):
        v = self.views
        k_xx, f = float(self.k(x, x)[0, 0]), self.project(x)
        square, own_x = k_xx + 1 / self.C, 1 / (self.C * weight)
        status = check_point(square, f, own_x)
        if status > Status.CHANGED:
            return status
        if self.newton and k_xx > LARGEST_NORM:
            return Status.NOT_FINITE
        m, R, step = int(v["n_held"]), float(v["R"]), 1.0
        off = square - (k_xx + own_x)
        if m == 0:
            R = np.sqrt(max(off, 0.0))
        else:
            if self.forgets:
                self.forget(self.error(y, f))
            cc = float(v["ww"] + v["xi2"])
            d2 = cc - 2 * y * f + square
            if d2 <= R**2:
                return Status.UNCHANGED
            if self.lower:
                step = min(
                    0.5 * (d2 - R**2) / max(d2 - square + k_xx + own_x, 0.5 * (d2 - R**2)), 1.0
                )
            else:
                d = np.sqrt(d2)
                step = 0.5 * (1 - R / d)
                R = grown(R, 0.0, d, step, off)
        v["share"][:m] *= 1 - step
        v["vectors"][m] = x
        v["share"][m], v["sign"][m] = step, y
        if self.newton:
            v["weight"][m] = weight
        else:
            v["norm"][m], v["own"][m] = k_xx, own_x
        v["n_held"] += 1
        if not self.newton and v["n_held"] == self.slots:
            R += self.drop_one()
        vectors, share, sign, last = self.held("weight" if self.newton else "own")
        own = 1 / (self.C * last) if self.newton else last
        K = self.k(vectors, vectors)
        v["ww"][...] = ww = (share * sign) @ K @ (share * sign)
        v["xi2"][...] = xi2 = own @ share**2
        v["q"][...] = q = share @ np.diag(K) + 1 / self.C
        v["R"][...] = np.sqrt(max(q - ww - xi2, 0.0)) if self.lower else R
        if self.at_newton:
            self.start()
        return Status.CHANGED

    def drop_one(self):
        """Remove the older vector of the smallest share, which goes to the nearest; return how far
        the centre moves."""
        vectors, share, sign, norm, own = self.held("norm", "own")
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

    # -- after the ball ----------------------------------------------------------------------------

    def refine(self, x, y, weight):
        """Learn a sample with the vectors that there are."""
        v = self.views
        if not self.self_kernel(x) <= LARGEST_NORM:
            return Status.NOT_FINITE
        if not 1 / (self.C * weight) <= MAX_SQUARE:
            return Status.BAD_WEIGHT
        if not (v["sign"] == y).any():  # the first of its sign replaces the newest vector
            v["vectors"][-1], v["sign"][-1], v["weight"][-1] = x, y, weight
            self.start()
            return Status.CHANGED
        k = self.k(x, v["vectors"])[0]
        if self.forgets:
            self.forget(self.error(y, k @ (v["share"] * v["sign"])))
        return self.newton_step(k, y, weight)

    def error(self, y, f):
        """1 where f is wrong; with balanced classes less of the larger one, by its weight."""
        if not y * f <= 0:
            return 0.0
        return min(self.class_weight(y) / self.class_weight(-y), 1.0) if self.balanced else 1.0

    def start(self):
        """A = K, and a step for each vector."""
        vectors, share, sign, weights = self.held("weight")
        K = self.k(vectors, vectors)
        self.L = np.linalg.cholesky(self.ridged(K))
        share[:] = 0.0
        for k, y, weight in zip(K, sign, weights, strict=True):
            self.newton_step(k, y, weight)

    def ridged(self, K):
        norm = np.diag(K)
        return K + np.diag(np.where(norm > LEAST_NORM, RIDGE * norm, 1.0 - norm))

    def age(self, part):
        """A keeps a part of what is not K; a ball keeps all."""
        if self.at_newton:
            vectors = self.views["vectors"]
            K = self.ridged(self.k(vectors, vectors))
            A = part * (self.L @ self.L.T) + (1 - part) * K
            self.L = np.linalg.cholesky(A + FACTOR_EXISTS * np.diag(A.diagonal()))

    def newton_step(self, k, y, weight):
        """Learn a sample, given its kernel values with the vectors."""
        _, share, sign = self.held()
        penalty, f = min(self.C * weight, LARGEST_PENALTY), k @ (share * sign)
        if not y * f < 1:
            return Status.UNCHANGED
        _, R = np.linalg.qr(np.vstack([self.L.T, np.sqrt(penalty) * k]))  # A += penalty k k'
        self.L = R.T * np.sign(np.diag(R))
        gain = np.linalg.solve(self.L.T, np.linalg.solve(self.L, k))
        share += penalty * (1 - y * f) * y * sign * gain
        return Status.CHANGED

    @property
    def L(self):
        """A = K + C sum_t k_t k_t' = L L'; the arena has L column by column."""
        L = np.zeros((self.slots, self.slots))
        L.T[np.triu_indices(self.slots)] = self.views["L"]
        return L

    @L.setter
    def L(self, L):
        self.views["L"][:] = L.T[np.triu_indices(self.slots)]

    def decide(self, x):
        return self.project(x) if self.self_kernel(x) <= MAX_SQUARE else np.nan
