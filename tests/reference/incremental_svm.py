"""IncrementalSVM in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.rng import below_view, seed_view
from edgesvm.core.status import Status
from reference.retrained_svm import RetrainedSVMCoreRef, filled


class IncrementalSVMCoreRef(RetrainedSVMCoreRef):
    """Rows, bounds and coefficients: support vectors first, then the batch so far."""

    def __init__(self, *common, errors_kept, correct_kept, seed, scheme, **params):
        super().__init__(*common, scheme=scheme, **params)
        self.errors_kept, self.correct_kept = errors_kept, correct_kept
        if scheme == "active" and not self.views["rng"].any():
            self.views["rng"][:] = seed_view(seed)

    def wants(self, yf):
        if self.scheme != "active":
            return super().wants(yf)
        share = self.errors_kept if yf <= 0 else self.correct_kept
        return below_view(self.views["rng"], 1 << 53) < share * (1 << 53)

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
