"""A store of samples and its SVM, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.batch.constants import BALANCED, LARGEST_TARGET, most_iterations
from reference.linear_dual import LinearDualRef
from reference.nonzeros import NonzerosRef
from reference.rng import below, seeded
from reference.smo import SMORef
from reference.smo_core import SmoCoreRef


class StoreSVMCoreRef(SmoCoreRef):
    """The store. The public class has checked the parameters."""

    def __init__(
        self,
        *common,
        C,
        kernel,
        tol,
        shrinking,
        max_iter,
        max_samples,
        when_full,
        seed=0,
        epsilon=None,
    ):
        super().__init__(*common, C=C, kernel=kernel, tol=tol)
        self.regresses, self.epsilon = epsilon is not None, epsilon
        self.shrinking = shrinking
        self.nonzeros = None
        if "columns" in self.views:
            self.nonzeros = NonzerosRef(self.views, self.n_features)
        self.by_w = "w" in self.views
        self.max_iter = most_iterations(max_iter, max_samples, by_w=self.by_w)
        self.max_samples, self.when_full = max_samples, when_full
        self.smo: Any = None  # while solving
        if when_full == "random" and not self.views["rng"].any():
            self.views["rng"][:] = seeded(seed)

    def rows(self, n):
        if self.nonzeros is not None:
            return self.nonzeros.first(n)
        return self.get(self.views["rows"], n)

    def put(self, t, x):
        if self.nonzeros is not None:
            self.nonzeros[t] = x
        else:
            self.put_row(self.views["rows"], t, x)

    def permute(self, order):
        """Position t gets what was at order[t]."""
        n, v = len(order), self.views
        if self.nonzeros is not None:
            self.nonzeros.permute(order)
        else:
            for t, x in enumerate(self.rows(n)[order]):
                self.put(t, x)
        for name in ("bound", "beta", "order"):
            v[name][:n] = v[name][:n][order]

    # -- the store ---------------------------------------------------------------------------------

    def place(self):
        n = int(self.views["n_per_class"].sum())
        if n < self.max_samples:
            return n
        if self.when_full == "oldest":
            return n % self.max_samples
        if self.when_full == "random":
            draw = below(self.views["rng"], n + 1)
            return draw if draw < self.max_samples else -1
        return -2

    def step(self, x, y, weight):
        status = self.refuses(x, weight)
        if self.regresses and not abs(y) <= LARGEST_TARGET:
            return Status.BAD_TARGET
        if status != Status.UNCHANGED:
            return status
        place = self.place()
        if place < 0:
            return Status.UNCHANGED if place == -1 else Status.FULL
        if self.nonzeros is not None and self.lacks(place, x):
            return Status.FULL
        self.forget_solution()
        self.put(place, x)
        if self.regresses:
            self.views["targets"][place], y = y, 1.0
        self.views["bound"][place] = y * self.C * weight
        self.views["n_held"][...] = max(int(self.views["n_held"]), place + 1)
        return Status.CHANGED

    def lacks(self, place, x):
        """Whether there is no room for the sample."""
        held = int(self.views["n_held"])
        at = place
        if self.views["solved"] and place < held:
            at = int(np.flatnonzero(self.views["order"][:held] == place)[0])
        return self.nonzeros.lacking(at, x) > 0

    def forget_solution(self):
        v = self.views
        if v["solved"]:
            self.permute(np.argsort(v["order"][: int(v["n_held"])]))
        names = "n_support", "n_iter", "converged", "intercept", "objective", "gap"
        for name in ("solved", "beta", "order", *names):
            v[name][...] = 0
        if self.by_w:
            v["w"][...] = 0

    # -- solving -----------------------------------------------------------------------------------

    @property
    def is_solved(self):
        return bool(self.views["solved"])

    def begin(self, alpha=None):
        self.forget_solution()
        n = int(self.views["n_held"])
        bound, beta = self.views["bound"][:n], None
        if alpha is not None:
            beta = np.clip(np.abs(alpha) if self.regresses else alpha, 0.0, np.abs(bound))
            sign = alpha if self.regresses else bound
            total = {side: beta[sign * side > 0].sum() for side in (-1, 1)}
            if abs(total[1] - total[-1]) <= BALANCED * total[-1]:
                total[1] = total[-1]
            for side in (-1, 1):
                share = min(1.0, total[-side] / total[side]) if total[side] > 0 else 0.0
                beta[sign * side > 0] *= side * share
        X = self.rows(n)
        if self.by_w:
            options = {"tol": self.tol, "shrinking": self.shrinking}
            self.smo = LinearDualRef(X, bound.copy(), beta, **options)
            return
        self.smo = SMORef(
            self.k(X, X),
            bound.copy(),
            self.views["targets"][:n].copy() if self.regresses else None,
            beta,
            epsilon=self.epsilon,
            tol=self.tol,
            shrinking=self.shrinking,
            rounding=self.rounding(X),
        )

    def advance(self, n_iter):
        done = self.smo.run(min(self.max_iter, self.smo.n_iter + n_iter))
        self.views["converged"][...] = bool(done)
        return done is None and self.smo.n_iter < self.max_iter

    @property
    def progress(self):
        return self.smo.n_iter, self.smo.gap

    def finish(self):
        smo, v = self.smo, self.views
        smo.complete()
        n = len(smo.beta)
        for name in ("intercept", "objective", "gap", "n_iter"):
            v[name][...] = getattr(smo, name)
        v["beta"][:n], v["order"][:n] = smo.beta, np.arange(n)
        order, n_support = np.arange(n), 0
        for t in range(n):
            if smo.beta[t]:
                order[[t, n_support]] = order[[n_support, t]]
                n_support += 1
        self.permute(order)
        v["n_support"][...], v["solved"][...] = n_support, 1
        if self.by_w:
            v["w"][:] = v["beta"][:n_support] @ self.rows(n_support).astype(np.float64)
        self.smo = None

    def abandon(self):
        self.smo = None
        self.views["converged"][...] = 0

    def solve_if_due(self):
        if self.views["n_per_class"].any():
            self.settle()

    def settle(self):
        if not self.is_solved:
            self.begin()
            self.advance(self.max_iter)
            self.finish()

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        self.settle()
        m = int(self.views["n_support"])
        f = float(self.k(x, self.rows(m))[0] @ self.views["beta"][:m]) if m else 0.0
        return f + float(self.views["intercept"])
