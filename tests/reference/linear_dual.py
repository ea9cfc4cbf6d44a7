"""Dual coordinate descent for the linear kernel in plain NumPy, to be read next to Algorithm 3 of
Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; see _store_svm.pyx.

min 1/2 |w|^2 - sum |beta|,   w = sum beta_t x_t,   sum beta = 0,   beta_t between 0 and bound_t
"""

from __future__ import annotations

import numpy as np

from edgesvm.learners.batch.constants import SHARE, SUM_SQUARE
from reference.rng import below, seeded
from reference.smo import SMORef


class LinearDualRef:
    """One problem, of rows X (n, width)."""

    def __init__(self, X, bound, beta=None, *, tol=1e-3, shrinking=True):
        n = len(X)
        self.X, self.y = X.astype(np.float64), np.sign(bound)
        self.low, self.high = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        self.square = (self.X**2).sum(axis=1).astype(np.float32).astype(float)
        self.beta = np.zeros(n) if beta is None else beta
        self.tol, self.shrinking, self.n_iter = tol, shrinking, 0
        self.recompute()
        self.rho = SUM_SQUARE * self.square.mean() if self.square.any() else 1.0
        self.b, self.total = self.intercept, self.beta.sum()
        self.order, self.draws = np.arange(n), seeded(0)
        self.all_tol = tol
        self.begin_pass(n, whole=True)

    def recompute(self):
        """w, the gradient y - X w, and between which values of it b must be."""
        self.w = self.beta @ self.X
        self.g = self.y - self.X @ self.w
        self.most = self.g[self.beta < self.high].max(initial=-np.inf)
        self.least = self.g[self.beta > self.low].min(initial=np.inf)

    def begin_pass(self, n_active, *, whole):
        self.n_active, self.whole, self.at = n_active, whole, 0
        self.pass_most, self.pass_least = -np.inf, np.inf

    def visit(self):
        order, n = self.order, self.n_active
        j = self.at + below(self.draws, n - self.at)
        t = order[j]
        g, beta = self.y[t] - self.X[t] @ self.w, self.beta[t]
        to = beta + (g - self.b - self.rho * self.total) / (self.square[t] + self.rho)
        grows, falls = beta < self.high[t], beta > self.low[t]
        if grows:
            self.pass_most = max(self.pass_most, g)
        if falls:
            self.pass_least = min(self.pass_least, g)
        stays = (not falls and to <= beta) or (not grows and to >= beta)
        if self.shrinking and stays:
            self.n_active -= 1
            order[[j, n - 1]] = order[[n - 1, j]]
            return
        order[[j, self.at]] = order[[self.at, j]]
        self.at += 1
        self.beta[t] = np.clip(to, self.low[t], self.high[t])
        self.total += self.beta[t] - beta
        self.w += (self.beta[t] - beta) * self.X[t]

    def end_pass(self):
        """Whether the solution is found."""
        gap = self.pass_most - self.pass_least
        rest = 2 * abs(self.total) * max(self.square.max(), self.rho)
        if self.whole:
            self.most, self.least = self.pass_most, self.pass_least
            if gap < self.all_tol and rest <= self.tol:
                self.complete()
                if not self.most - self.least >= self.tol:
                    return True
                self.all_tol *= 0.5
            self.inner = max(self.all_tol, SHARE * gap)
        self.b += self.rho * self.total
        if self.whole or gap >= self.inner:
            self.begin_pass(self.n_active, whole=False)
        else:
            self.begin_pass(len(self.beta), whole=True)
        return False

    def complete(self):
        """Make the sum of beta zero; all gradients anew."""
        for t in np.flatnonzero((self.beta > self.low) & (self.beta < self.high)):
            before = self.beta[t]
            self.beta[t] = np.clip(before - self.total, self.low[t], self.high[t])
            self.total += self.beta[t] - before
        self.recompute()

    def run(self, max_iter):
        """Visit samples until there were `max_iter`; return whether the gap is below `tol`, None if
        unfinished."""
        while True:
            if self.at == self.n_active and self.end_pass():
                return True
            if self.n_iter >= max_iter:
                return None
            if self.at < self.n_active:
                self.visit()
            self.n_iter += 1

    epsilon = None
    up, gap, intercept = SMORef.up, SMORef.gap, SMORef.intercept

    @property
    def objective(self):
        return float(0.5 * self.w @ self.w - np.abs(self.beta).sum())
