"""Dual coordinate descent for the linear kernel in plain NumPy, to be read next to Algorithm 3 of
Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; see _store_svm.pyx.

min 1/2 |w|^2 - sum |beta|,   w = sum beta_t x_t,   sum beta = 0,   beta_t between 0 and bound_t
"""

from __future__ import annotations

import numpy as np

from edgesvm.learners.batch.constants import SUM_SQUARE
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
        self.at = self.n_active = n
        self.pass_tol, self.pass_most, self.pass_least = tol, self.most, self.least
        if self.most - self.least >= tol:
            self.begin_pass(np.inf, -np.inf)

    def recompute(self):
        """w, the gradient y - X w, and between which values of it b must be."""
        self.w = self.beta @ self.X
        self.g = self.y - self.X @ self.w
        self.most = self.g[self.beta < self.high].max(initial=-np.inf)
        self.least = self.g[self.beta > self.low].min(initial=np.inf)

    def begin_pass(self, most, least):
        self.most, self.least = most, least
        self.pass_most, self.pass_least, self.at = -np.inf, np.inf, 0

    def visit(self):
        order, n = self.order, self.n_active
        j = self.at + below(self.draws, n - self.at)
        t = order[j]
        g, beta = self.y[t] - self.X[t] @ self.w, self.beta[t]
        grows, falls = beta < self.high[t], beta > self.low[t]
        settled = (not falls and g < self.least) or (not grows and g > self.most)
        if self.shrinking and settled:
            self.n_active -= 1
            order[[j, n - 1]] = order[[n - 1, j]]
            return
        order[[j, self.at]] = order[[self.at, j]]
        self.at += 1
        if grows:
            self.pass_most = max(self.pass_most, g)
        if falls:
            self.pass_least = min(self.pass_least, g)
        step = (g - self.b - self.rho * self.total) / (self.square[t] + self.rho)
        self.beta[t] = np.clip(beta + step, self.low[t], self.high[t])
        self.total += self.beta[t] - beta
        self.w += (self.beta[t] - beta) * self.X[t]

    def end_pass(self):
        """Whether the solution is found."""
        b = self.b + self.rho * self.total
        if self.pass_most - self.pass_least >= self.pass_tol:
            self.begin_pass(max(self.pass_most, b), min(self.pass_least, b))
        elif abs(self.total) * max(self.square.max(), self.rho) <= 0.5 * self.tol:
            self.complete()
            if not self.most - self.least >= self.tol:
                return True
            self.pass_tol, self.n_active = 0.5 * self.pass_tol, len(self.beta)
            self.begin_pass(self.most, self.least)
        else:
            self.n_active = len(self.beta)
            self.begin_pass(np.inf, -np.inf)
        self.b = b
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
