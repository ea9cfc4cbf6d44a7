"""Sequential minimal optimization in plain NumPy, to be read next to Fan, Chen & Lin 2005.

min 1/2 beta' K beta - c' beta,   sum beta = const,   beta_t between 0 and bound_t

and for support vector regression

min 1/2 beta' K beta - c' beta + epsilon sum |beta|,   beta_t between -bound_t and bound_t
"""

from __future__ import annotations

import numpy as np

from edgesvm.learners.batch.constants import (
    BALANCED,
    HIDEABLE,
    LEAST_CURVATURE,
    ROUNDING,
    SHRINK_EVERY,
)


class SMORef:
    """One problem; the whole kernel matrix is stored, rounded to float32.

    Where `rounding` may hide a part of `tol`, the gradient of a solution is computed again from the
    matrix before rounding: the error of a kernel value in the core, relative to sqrt(K_ii K_tt).
    `bound` is y C, `linear` c, `beta` where to start; `epsilon` is for regression.
    """

    def __init__(
        self,
        K,
        bound,
        linear=None,
        beta=None,
        *,
        epsilon=None,
        tol=1e-3,
        shrinking=True,
        rounding=0.0,
    ):
        self.exact, self.rounding, self.refined_gap = K, rounding, np.inf
        self.K = K.astype(np.float32).astype(np.float64)
        self.bound, self.tol, self.shrinking, self.epsilon = bound, tol, shrinking, epsilon
        self.linear = np.sign(bound) if linear is None else linear
        n = len(bound)
        self.low, self.high = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        if epsilon is not None:
            self.low = -bound
        self.beta = np.zeros(n) if beta is None else beta.astype(np.float64)
        self.in_float64 = self.refined = beta is not None and self.needs_float64()
        self.g = self.linear - (K if self.in_float64 else self.K) @ self.beta
        self.order = np.arange(n)  # the first n_active of these are active
        self.n_active, self.n_iter, self.unshrunk = n, 0, False
        self.countdown = min(n, SHRINK_EVERY) + 1
        self.find_first()

    @property
    def up(self):
        """g where beta grows; |beta| then grows or, below zero, falls."""
        e = self.epsilon
        return self.g if e is None else self.g + np.where(self.beta < 0, e, -e)

    @property
    def down(self):
        """g where beta falls"""
        e = self.epsilon
        return self.g if e is None else self.g + np.where(self.beta > 0, -e, e)

    def find_first(self):
        active = self.order[: self.n_active]
        grows, falls = self.beta[active] < self.high[active], self.beta[active] > self.low[active]
        up = self.up[active]
        self.most = up[grows].max(initial=-np.inf)
        self.least = self.down[active][falls].min(initial=np.inf)
        best = np.flatnonzero(grows & (up == self.most))
        self.i = int(active[best[-1]]) if len(best) else -1

    def find_second(self):
        """The last of equal gains; ranked in float32, as in the compiled core."""
        active, i = self.order[: self.n_active], self.i
        d = (self.up[i] - self.down[active]).astype(np.float32)
        diagonal = self.K.diagonal().astype(np.float32)
        q = (diagonal[active] + diagonal[i]) - np.float32(2) * self.K[i, active].astype(np.float32)
        with np.errstate(over="ignore"):
            gain = d * d / np.where(q > 0, q, np.float32(LEAST_CURVATURE))
        allowed = (self.beta[active] > self.low[active]) & (d > 0)
        if not allowed.any():
            return -1
        gain[~allowed] = -1
        return int(active[np.flatnonzero(gain == gain.max())[-1]])

    def improve(self):
        i, j = self.i, self.find_second()
        if j < 0:
            return False
        beta = self.beta
        curvature = self.K[i, i] + self.K[j, j] - 2.0 * self.K[i, j]
        if not curvature > 0:
            curvature = LEAST_CURVATURE
        high, low = self.high[i], self.low[j]
        if self.epsilon is not None:  # the cost has a bend at zero: not beyond it
            high, low = 0.0 if beta[i] < 0 else high, 0.0 if beta[j] > 0 else low
        room = min(high - beta[i], beta[j] - low)
        delta = min((self.up[i] - self.down[j]) / curvature, room)
        if beta[i] + delta == beta[i] and beta[j] - delta == beta[j]:
            return False
        near = BALANCED * np.maximum(self.high, -self.low)
        beta[i], beta[j] = beta[i] + delta, beta[j] - delta
        beta[i] = high if high - beta[i] <= near[i] else beta[i]
        beta[j] = low if beta[j] - low <= near[j] else beta[j]
        active = self.order[: self.n_active]
        self.g[active] -= delta * (self.K[i, active] - self.K[j, active])
        self.find_first()
        return True

    def activate_all(self):
        rest = self.order[self.n_active :]
        K = self.exact if self.in_float64 else self.K
        self.g[rest] = self.linear[rest] - K[rest] @ self.beta
        self.n_active = len(self.order)
        self.find_first()

    def complete(self):
        """Make all samples active; after too few iterations they are not, and what rounding hides
        was not looked at."""
        self.activate_all()
        self.refine()

    def needs_float64(self):
        """Whether rounding may hide a part of `tol`."""
        diagonal = self.K.diagonal()
        noise = self.rounding * np.sqrt(self.beta**2 @ diagonal * diagonal.max())
        return bool(noise > HIDEABLE * self.tol)

    def refine(self):
        """Recompute the gradient from the matrix before rounding where that is needed; return
        whether it is that now."""
        if self.refined:
            return True
        self.in_float64 = self.in_float64 or self.needs_float64()
        if self.in_float64:
            self.g = self.linear - self.exact @ self.beta
            self.find_first()
            self.refined = True
        return self.refined

    def is_hidden(self):
        """Whether the matrix before rounding shows a gap, a quarter less than the last such gap."""
        if not self.refine():
            return False
        last, self.refined_gap = self.refined_gap, self.gap
        return self.tol <= self.gap < 0.75 * last

    def is_settled(self, t):
        return (self.beta[t] >= self.high[t] or self.up[t] < self.least) and (
            self.beta[t] <= self.low[t] or self.down[t] > self.most
        )

    def shrink(self):
        if not self.unshrunk and self.most - self.least <= 10 * self.tol:
            self.unshrunk = True
            self.activate_all()
        order, k, last = self.order, 0, self.n_active
        while k < last:
            if self.is_settled(order[k]):
                last -= 1
                while last > k and self.is_settled(order[last]):
                    last -= 1
                order[[k, last]] = order[[last, k]]
            k += 1
        if last < self.n_active:
            self.n_active = last
            self.find_first()

    def run(self, max_iter):
        """Make at most `max_iter` iterations; return whether the gap is below `tol`, None if
        unfinished."""
        while True:
            if self.shrinking and self.countdown <= 1:
                self.countdown = min(len(self.order), SHRINK_EVERY) + 1
                self.shrink()
            noise = ROUNDING * self.K.diagonal().max() * np.abs(self.beta).sum()
            hides = self.in_float64 and not self.refined
            tol = max(0.5 * self.tol if hides else self.tol, noise)
            if not self.most - self.least >= tol:
                self.activate_all()
                if not self.most - self.least >= tol and not self.is_hidden():
                    return self.most - self.least < self.tol
                self.countdown = 1
                continue
            if self.n_iter >= max_iter:
                return None
            if not self.improve():
                return False
            self.n_iter, self.refined = self.n_iter + 1, False
            self.countdown -= 1

    @property
    def gap(self):
        """Worst violation, 0 if there is no pair."""
        finite = np.isfinite(self.most) and np.isfinite(self.least)
        return max(self.most - self.least, 0.0) if finite else 0.0

    @property
    def intercept(self):
        free = (self.beta > self.low) & (self.beta < self.high)
        if self.epsilon is not None:
            free &= self.beta != 0
        if free.any():
            return float(self.up[free].mean())
        ends = [end for end in (self.most, self.least) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0

    @property
    def objective(self):
        bent = (self.epsilon or 0.0) * np.abs(self.beta).sum()
        return float(0.5 * self.beta @ self.K @ self.beta - self.linear @ self.beta + bent)
