"""A training cycle in plain NumPy: solve some rows and keep the support vectors."""

from __future__ import annotations

import numpy as np

from reference.smo import SMORef
from reference.smo_core import SmoCoreRef

WANTS = {
    "error_driven": lambda yf: yf <= 0,
    "fixed_partition": lambda yf: True,
    "exceeding_margin": lambda yf: abs(yf) <= 1,
    "exceeding_margin_errors": lambda yf: yf <= 1,
}


class RetrainedSVMCoreRef(SmoCoreRef):
    """The workspace. The public class has checked the parameters."""

    def __init__(self, *common, C, kernel, tol, scheme, batch_size, max_vectors, max_iter):
        super().__init__(*common, C=C, kernel=kernel, tol=tol)
        self.batch_size, self.max_vectors, self.max_iter = batch_size, max_vectors, max_iter
        self.scheme, self.takes_all = scheme, scheme == "fixed_partition"

    def wants(self, yf):
        """Whether the scheme keeps a sample of margin y f(x)"""
        return WANTS[self.scheme](yf)

    # -- a cycle -----------------------------------------------------------------------------------

    def solve(self, X, bound, beta):
        """The finished solver, started from the coefficients `beta`."""
        smo = SMORef(self.k(X, X), bound, beta=beta, tol=self.tol, rounding=self.rounding(X))
        converged = smo.run(self.max_iter)
        smo.complete()
        self.views["converged"][...] = bool(converged)
        self.views["n_iter"][...] += smo.n_iter
        return smo

    def train(self, X, bound, beta):
        """(rows, bounds, coefficients, gradient, intercept) of the model of these."""
        v = self.views
        v["n_iter"][...] = 0
        v["n_cycles"] += 1
        smo = self.solve(X, bound, beta)
        keep = np.flatnonzero(smo.beta)
        if len(keep) > self.max_vectors:
            v["n_given_up"] += len(keep) - self.max_vectors
            keep = self.best(smo, keep)
            X, bound = X[keep], bound[keep]
            smo = self.solve(X, bound, balanced(smo.beta[keep]))
            keep = np.flatnonzero(smo.beta)
        if len(keep) == 0:
            keep = np.arange(len(X))[-self.max_vectors :]
        return X[keep], bound[keep], smo.beta[keep], smo.g[keep], smo.intercept

    def best(self, smo, support):
        """The `max_vectors` support vectors to keep, in order: from each class in proportion those
        with the largest y f = 1 - y (g - b), which is 1 for free ones; the newest of equals."""
        y = np.sign(smo.bound[support])
        n, n_positive = len(y), int((y > 0).sum())
        kept = (2 * self.max_vectors * n_positive + n) // (2 * n)
        kept = min(max(kept, 1), self.max_vectors - 1)
        at_bound = smo.beta[support] == smo.bound[support]
        beyond = np.where(at_bound, y * (smo.g[support] - smo.intercept), 0.0)
        best = []
        for side, n_kept in ((1, kept), (-1, self.max_vectors - kept)):
            of_class = np.flatnonzero(y == side)
            worst_first = np.argsort(-beyond[of_class], kind="stable")
            best.append(of_class[worst_first[len(of_class) - n_kept :]])
        return support[np.sort(np.concatenate(best))]

    # -- rows in tiles -----------------------------------------------------------------------------

    @staticmethod
    def put(tiles, X):
        """Set these rows at the front, zeros after them."""
        n_tiles, width, lanes = tiles.shape
        flat = np.zeros((n_tiles * lanes, width), tiles.dtype)
        flat[: len(X)] = X
        tiles[:] = flat.reshape(n_tiles, lanes, width).transpose(0, 2, 1)


def balanced(beta):
    """Scale down the class with the larger sum until sum beta = 0."""
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    return (
        beta * np.where(beta > 0, min(1.0, down / up), min(1.0, up / down))
        if up and down
        else (0.0 * beta)
    )


def filled(array, values):
    """Set these values at the front, zeros after them."""
    array[:] = 0
    array[: len(values)] = values
