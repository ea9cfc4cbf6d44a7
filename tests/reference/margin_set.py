"""Twins and their margin set in plain NumPy: every linear system is solved from scratch, without a
factor.

The names are those of _margin_set.pyx, where the problem is stated.
"""

from __future__ import annotations

import numpy as np

from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.twin.constants import (
    EVENT_TOLERANCE,
    LARGEST_NORM,
    LARGEST_SQUARE,
    MANY_EXCHANGES,
    NULL_TOLERANCE,
    SINGULAR,
)
from reference.kernel_core import KernelCoreRef


class PathError(ArithmeticError):
    """The path cannot continue."""


class MarginFull(ArithmeticError):
    """The margin set would overflow its room."""


class MarginSetCoreRef(KernelCoreRef):
    """Twins q_i with weights s+_i, s-_i and the coefficients coef_i, b."""

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.slots = len(self.views["coef"])
        pool = len(self.views["pool"])
        self.room = max(m for m in range(self.slots + 1) if packed_length(m) <= pool)

    # -- the state by name -------------------------------------------------------------------------

    @property
    def n(self):
        return int(self.views["n"])

    def count(self, name):
        self.views[name][...] += 1

    @property
    def S(self):
        return self.views["S"][: int(self.views["m"])]

    @property
    def mu(self):
        return float(self.views["mu"])

    def held(self, name):
        return self.views[name][: self.n]

    # -- kernel values -----------------------------------------------------------------------------

    def row(self, i):
        return self.k(self.views["vectors"][i], self.held("vectors"))[0]

    def norm(self, x):
        """k(x, x), or NaN if the sample must be refused"""
        k_xx = self.self_kernel(x)
        return k_xx if x @ x <= LARGEST_SQUARE and k_xx <= LARGEST_NORM else np.nan

    def g_of(self, x):
        if self.n == 0:
            return float(self.views["b"])
        return float(self.k(x, self.held("vectors"))[0] @ self.held("coef") + self.views["b"])

    def decide(self, x):
        return self.g_of(x) / self.scale if np.isfinite(self.norm(x)) else np.nan

    def target(self):
        """What g is measured from, at each twin: a regressor's targets"""
        return np.zeros(self.n)

    @property
    def scale(self):
        """What a decision value is measured in"""
        return self.mu

    # -- adding and removing twins -----------------------------------------------------------------

    def place(self, x):
        """Add a twin without weight, which does not change the solution; return its slot."""
        v, i = self.views, self.n
        v["vectors"][i] = x
        g = self.g_of(v["vectors"][i])
        v["n"] += 1
        v["s_minus"][i] = v["s_plus"][i] = v["coef"][i] = 0.0
        v["g"][i] = g
        v["state"][i] = self.side(g, True, True)
        return i

    def side(self, g, lower, upper):
        """The plateau of a twin without weight that has a lower step, an upper step, or both."""
        edge = self.mu * (1 - EVENT_TOLERANCE)
        return 0 if lower and g < -edge else 4 if upper and g > edge else 2

    def drop(self, i):
        """Remove a twin without weight; later ones move down by one."""
        v = self.views
        if v["state"][i] % 2:
            self.leave(int(np.flatnonzero(i == self.S)[0]), 2)
        n = self.n
        for name in ("vectors", "s_minus", "s_plus", "coef", "g", "state"):
            v[name][i : n - 1] = v[name][i + 1 : n]
        v["n"] -= 1
        self.S[i < self.S] -= 1
        if self.n == 0:
            v["b"][...] = 0.0

    # -- the margin set ----------------------------------------------------------------------------

    @staticmethod
    def plateau(state, s_minus, s_plus):
        """coef on plateau 0 (g <= -mu), 2 (between) or 4 (g >= mu)"""
        return (s_plus, 0.0, s_plus - s_minus, 0.0, -s_minus)[state]

    def step_bounds(self, i):
        """Smallest and largest coef on twin i's step."""
        v = self.views
        state = int(v["state"][i])
        return [self.plateau(p, v["s_minus"][i], v["s_plus"][i]) for p in (state + 1, state - 1)]

    def bordered(self):
        M = np.ones((1 + len(self.S), 1 + len(self.S)))
        M[0, 0] = 0.0
        M[1:, 1:] = self.k(self.views["vectors"][self.S], self.views["vectors"][self.S])
        return M

    def solve(self, border):
        """(b, x):  sum(x) = border[0],  K_SS x + b = border[1:]"""
        return np.linalg.solve(self.bordered(), border)

    def sensitivity(self, i):
        """The Schur complement of twin i in K_SS + lift, and its row of K"""
        v, row = self.views, self.row(i)
        if len(self.S) == 0:
            v["lift"][...] = row[i] if row[i] > 0 else 1.0
            return row[i] + v["lift"], row
        lifted = row[self.S] + v["lift"]
        K = self.k(v["vectors"][self.S], v["vectors"][self.S]) + v["lift"]
        return row[i] + v["lift"] - lifted @ np.linalg.solve(K, lifted), row

    def leave(self, p, state):
        """Move the twin at place p of S to a plateau; later ones move up."""
        v, S = self.views, self.S
        i = S[p]
        v["state"][i] = state
        v["coef"][i] = self.plateau(state, v["s_minus"][i], v["s_plus"][i])
        S[p:-1] = S[p + 1 :].copy()
        v["m"] -= 1

    def enter(self, i, step, direction):
        """Twin i reaches a step; its coef will move in `direction`.

        If its kernel function is a linear combination of those on S, it is exchanged with one of
        them along the null direction, in which no g changes.
        """
        v = self.views
        v["state"][i] = step
        for _ in range(MANY_EXCHANGES):
            delta, row = self.sensitivity(i)
            if delta > SINGULAR * (row[i] + v["lift"]):
                if len(self.S) == self.room:
                    v["state"][i] = step + direction
                    raise MarginFull
                v["S"][int(v["m"])] = i
                v["m"] += 1
                return
            if not self.exchange(i, direction, row):
                return
        v["state"][i] = step + direction
        raise PathError

    def exchange(self, i, direction, row):
        """Move along the null direction until a twin on S reaches its bound and leaves (True), or
        twin i reaches the other end of its step (False)."""
        v = self.views
        self.count("n_exchanges")
        u = self.solve(np.concatenate([[1.0], row[self.S]]))
        low, high = self.step_bounds(i)
        coef, state = v["coef"], v["state"]
        room, first, end = (high - coef[i] if direction > 0 else coef[i] - low), None, None
        for p, j in enumerate(self.S):
            rate = -direction * u[1 + p]
            low, high = self.step_bounds(j)
            gap = max(high - coef[j] if rate > 0 else coef[j] - low, 0.0)
            if abs(rate) > NULL_TOLERANCE and gap < room * abs(rate):
                room, first, end = gap / abs(rate), p, state[j] + (-1 if rate > 0 else 1)
        rows = self.k(v["vectors"][self.S], self.held("vectors"))
        coef[i] += direction * room
        coef[self.S] -= direction * room * u[1:]
        v["b"] -= direction * room * u[0]
        self.held("g")[:] += direction * room * (row - u[1:] @ rows - u[0])
        if first is not None:
            self.leave(first, end)
            return True
        state[i] -= direction
        coef[i] = self.plateau(state[i], v["s_minus"][i], v["s_plus"][i])
        return False

    def restore_state(self, i):
        """Set the state of a twin from its weights, coef and g."""
        v, coef, g = self.views, self.views["coef"][i], self.views["g"][i]
        low, high = -v["s_minus"][i], v["s_plus"][i]
        middle = high + low
        if low < coef < middle:
            self.enter(i, 3, 1)
        elif middle < coef < high:
            self.enter(i, 1, 1)
        elif coef == middle == high and g < -self.mu and low < 0:
            v["state"][i] = 0
        elif coef == middle == low and g > self.mu and high > 0:
            v["state"][i] = 4
        elif coef == middle:
            v["state"][i] = 2
        else:
            v["state"][i] = 0 if coef >= high else 4

    # -- recomputing -------------------------------------------------------------------------------

    def refresh(self):
        """Recompute g from its definition."""
        self.count("n_refreshed")
        K = self.k(self.held("vectors"), self.held("vectors")) if self.n else np.zeros((0, 0))
        self.held("g")[:] = K @ self.held("coef") + self.views["b"] - self.target()

    def rebuild(self):
        """Rebuild the margin set: all twins whose coef is strictly between two plateaus."""
        v = self.views
        v["m"][...] = 0
        v["state"][: self.n] = 2
        for i in range(self.n):
            try:
                self.restore_state(i)
            except (PathError, MarginFull):  # it stays on a plateau
                v["state"][i] += v["state"][i] % 2

    def from_scratch(self):
        """Solve by sequential minimal optimisation from coef = 0, then rebuild the margin set."""
        self.count("n_from_scratch")
        v, n, mu = self.views, self.n, self.mu
        coef, g = self.held("coef"), self.held("g")
        s_minus, s_plus = self.held("s_minus"), self.held("s_plus")
        K = self.k(self.held("vectors"), self.held("vectors"))
        coef[:], g[:] = 0.0, -self.target()
        middle = s_plus - s_minus
        for _ in range(10_000 + 2000 * n):
            up = np.where(coef < middle, mu, -mu) - g
            down = np.where(coef > middle, -mu, mu) - g
            up[coef >= s_plus], down[coef <= -s_minus] = -np.inf, np.inf
            i, j = int(np.argmax(up)), int(np.argmin(down))
            if not up[i] - down[j] > 1e-3 * EVENT_TOLERANCE * mu:
                break
            top = middle[i] if coef[i] < middle[i] else s_plus[i]
            bottom = middle[j] if coef[j] > middle[j] else -s_minus[j]
            curve = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-14 * (K[i, i] + K[j, j]))
            step = (up[i] - down[j]) / curve
            to_i, to_j = coef[i] + step, coef[j] - step
            if step >= top - coef[i] or step >= coef[j] - bottom:
                if top - coef[i] <= coef[j] - bottom:
                    step = top - coef[i]
                    to_i, to_j = top, coef[j] - step
                else:
                    step = coef[j] - bottom
                    to_i, to_j = coef[i] + step, bottom
            coef[i], coef[j] = to_i, to_j
            g += step * (K[i] - K[j])
        high, low = up.max(), down.min()
        b = (high + low) / 2 if np.isfinite(high + low) else high if np.isfinite(high) else low
        v["b"][...] = b if np.isfinite(b) else 0.0
        g[:] = K @ coef + v["b"] - self.target()
        self.rebuild()
