"""IncrementalSVM and WindowedSVM in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.rng import below, seeded
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


class IncrementalSVMCoreRef(RetrainedSVMCoreRef):
    """Rows, bounds and coefficients: support vectors first, then the batch so far."""

    def __init__(self, *common, errors_kept, correct_kept, seed, scheme, **params):
        super().__init__(*common, scheme=scheme, **params)
        self.errors_kept, self.correct_kept = errors_kept, correct_kept
        if scheme == "active" and not self.views["rng"].any():
            self.views["rng"][:] = seeded(seed)

    def wants(self, yf):
        if self.scheme != "active":
            return super().wants(yf)
        share = self.errors_kept if yf <= 0 else self.correct_kept
        return below(self.views["rng"], 1 << 53) < share * (1 << 53)

    @property
    def n_trained(self):
        v = self.views
        return int(v["n_support"] if v["n_cycles"] else v["n_held"])

    def value(self, x):
        n = self.n_trained
        X, beta = self.get(self.views["rows"], n), self.views["beta"][:n]
        f = float(self.k(x, X)[0] @ beta) if n else 0.0
        return f + float(self.views["intercept"])

    def step(self, x, y, weight):
        v = self.views
        status = self.refuses(x, weight)
        if status != Status.UNCHANGED:
            return status
        if v["n_cycles"] and not self.takes_all:
            f = self.value(x)
            if not np.isfinite(f):
                return Status.NOT_FINITE
            if not self.wants(y * f):
                return Status.UNCHANGED
        n = int(v["n_held"])
        self.put(v["rows"], np.vstack([self.get(v["rows"], n), x]))
        v["bound"][n] = y * self.C * weight
        v["n_held"][...] = n = n + 1
        if n - v["n_support"] == self.batch_size:
            self.cycle()
        elif not v["n_cycles"] and n & (n - 1) == 0:
            v["n_iter"][...] = 0
            smo = self.solve(self.get(v["rows"], n), v["bound"][:n], v["beta"][:n])
            v["beta"][:n], v["intercept"][...] = smo.beta, smo.intercept
        return Status.CHANGED

    def cycle(self):
        v, n = self.views, int(self.views["n_held"])
        rows = self.get(v["rows"], n)
        X, bound, beta, g, intercept = self.train(rows, v["bound"][:n].copy(), v["beta"][:n].copy())
        self.put(v["rows"], X)
        filled(v["bound"], bound)
        filled(v["beta"], beta)
        filled(v["gradient"], g)  # from which the compiled core starts the next cycle
        v["intercept"][...] = intercept
        v["n_support"][...] = v["n_held"][...] = len(X)

    def update(self):
        if self.views["n_held"] == self.views["n_support"]:
            return False
        self.cycle()
        return True

    def decide(self, x):
        return self.value(x) if np.isfinite(x @ x) else np.nan


class WindowedSVMCoreRef(RetrainedSVMCoreRef):
    """Models by the number of their first batch modulo the window, and the batch so far."""

    def __init__(self, *common, window, **params):
        super().__init__(*common, **params)
        self.window = window

    @property
    def answering(self):
        n = int(self.views["n_batches"])
        return n % self.window if n >= self.window else 0

    def model(self, m):
        v, n = self.views, int(self.views["n_support"][m])
        X = self.get(v["model_rows"][m], n)
        return X, v["model_bound"][m, :n], v["model_beta"][m, :n]

    def value(self, m, x):
        X, _, beta = self.model(m)
        f = float(self.k(x, X)[0] @ beta) if len(X) else 0.0
        return f + float(self.views["intercept"][m])

    def step(self, x, y, weight):
        v, n = self.views, int(self.views["n_waiting"])
        status = self.refuses(x, weight)
        if status != Status.UNCHANGED:
            return status
        v["batch"][n], v["batch_bound"][n] = x, y * self.C * weight
        v["n_waiting"][...] = n = n + 1
        if n == self.batch_size:
            self.learn_batch()
        elif not v["n_batches"] and n & (n - 1) == 0:
            self.begin_model(0)
            v["n_cycles"][...] = v["n_given_up"][...] = 0
        return Status.CHANGED

    def learn_batch(self):
        v, newest = self.views, int(self.views["n_batches"]) % self.window
        for m in range(min(int(v["n_batches"]), self.window)):
            if m != newest:
                self.extend_model(m)
        self.begin_model(newest)
        for name in ("batch", "batch_bound", "n_waiting"):
            v[name][...] = 0
        v["n_batches"] += 1

    def begin_model(self, m):
        n = int(self.views["n_waiting"])
        X, bound = self.views["batch"][:n].copy(), self.views["batch_bound"][:n].copy()
        self.train_model(m, X, bound, np.zeros(n))

    def extend_model(self, m):
        batch, batch_bound = self.views["batch"], self.views["batch_bound"]
        margins = [np.sign(b) * self.value(m, x) for x, b in zip(batch, batch_bound, strict=True)]
        kept = [k for k, yf in enumerate(margins) if self.wants(yf)]
        if kept:
            X, bound, beta = self.model(m)
            self.train_model(
                m,
                np.vstack([X, batch[kept]]),
                np.concatenate([bound, batch_bound[kept]]),
                np.concatenate([beta, np.zeros(len(kept))]),
            )

    def train_model(self, m, X, bound, beta):
        v = self.views
        X, bound, beta, _, v["intercept"][m] = self.train(X, bound, beta)
        self.put(v["model_rows"][m], X)
        filled(v["model_bound"][m], bound)
        filled(v["model_beta"][m], beta)
        v["n_support"][m] = len(X)

    def decide(self, x):
        return self.value(self.answering, x) if np.isfinite(x @ x) else np.nan
