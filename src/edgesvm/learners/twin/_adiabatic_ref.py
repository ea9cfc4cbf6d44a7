"""The adiabatic solver in plain NumPy: every linear system solved afresh, no inverse kept.

The names and the order of events are those of _adiabatic.pyx, where the problem is stated.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np

from edgesvm.contract.core_ref import ReferenceCore

HAIR = 1e-10  # violations of the KT conditions that no event is made for, in units of the margin
SINGULAR = 1e-12  # a Schur complement below this share of k(x, x) is none
REFRESH = 512  # paths between two computations of g from its definition
LARGEST_NORM = 1e100  # of k(x, x): its square is still a number
NOTHING = 1e-9  # a share in a null direction below this is none
NOISE = 1e-15  # of g, as a share of what it is the sum of
ROUNDING = 1e-12  # of sums of coefficients
DRIFT = 1e-9  # of a decision value from its definition, for which all are computed anew
POLISHES = 3  # paths that do nothing but bring offsets to 0
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # of which sums, products and quotients are numbers
MANY_EXCHANGES = 8  # for one twin to enter
MANY_EVENTS = 16  # events a path may have for each twin held


class PathError(ArithmeticError):
    """The path cannot go on."""


class MarginFull(ArithmeticError):
    """The margin set would outgrow its room."""


class AdiabaticRef(ReferenceCore):
    """Twins q_i with weights s+_i, s-_i and the coefficients gamma_i, b that keep the KT
    conditions."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel = kernel
        self.slots = len(self.views["gamma"])
        pool = len(self.views["pool"])
        self.room = max(m for m in range(self.slots + 1) if m * (m + 1) // 2 <= pool)

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

    def k(self, X, Z):
        return self.kernel(np.atleast_2d(X).astype(np.float64), np.atleast_2d(Z).astype(np.float64))

    def row(self, i):
        return self.k(self.views["vectors"][i], self.held("vectors"))[0]

    def norm(self, x):
        """k(x, x), NaN where the sample is to be refused"""
        k_xx = float(self.k(x, x)[0, 0])
        return k_xx if np.isfinite(x @ x) and k_xx <= LARGEST_NORM else np.nan

    def g_of(self, x):
        if self.n == 0:
            return float(self.views["b"])
        return float(self.k(x, self.held("vectors"))[0] @ self.held("gamma") + self.views["b"])

    def decide(self, x):
        return self.g_of(x) / self.mu if np.isfinite(self.norm(x)) else np.nan

    # -- the staircase -----------------------------------------------------------------------------

    @staticmethod
    def plateau(state, s_minus, s_plus):
        """gamma on plateau 0 (g <= -mu), 2 (between) or 4 (g >= mu)"""
        return (s_plus, 0.0, s_plus - s_minus, 0.0, -s_minus)[state]

    def step_bounds(self, i):
        """Least and largest gamma on twin i's step."""
        v = self.views
        state = int(v["state"][i])
        ends = [self.plateau(p, v["s_minus"][i], v["s_plus"][i]) for p in (state + 1, state - 1)]
        return ends

    # -- twins come and go -------------------------------------------------------------------------

    def place(self, x):
        """A twin of no weight, which changes nothing yet; its slot."""
        v, i = self.views, self.n
        v["vectors"][i] = x
        g = self.g_of(v["vectors"][i])
        v["n"] += 1
        v["s_minus"][i] = v["s_plus"][i] = v["gamma"][i] = 0.0
        v["g"][i] = g
        v["state"][i] = self.side(g, True, True)
        return i

    def side(self, g, lower, upper):
        """The plateau of a twin without weight, which has the steps that are told."""
        edge = self.mu * (1 - HAIR)
        return 0 if lower and g < -edge else 4 if upper and g > edge else 2

    def drop(self, i):
        """Forget a twin of no weight; later ones move down by one."""
        v = self.views
        if v["state"][i] % 2:
            self.leave(int(np.flatnonzero(i == self.S)[0]), 2)
        n = self.n
        for name in ("vectors", "s_minus", "s_plus", "gamma", "g", "state"):
            v[name][i : n - 1] = v[name][i + 1 : n]
        v["n"] -= 1
        self.S[i < self.S] -= 1
        if self.n == 0:
            v["b"][...] = 0.0

    # -- the margin set ----------------------------------------------------------------------------

    def bordered(self):
        K = self.k(self.views["vectors"][self.S], self.views["vectors"][self.S])
        return np.block([[np.zeros((1, 1)), np.ones((1, len(K)))], [np.ones((len(K), 1)), K]])

    def sensitivity(self, i):
        """u = M^-1 (1, K_Si), the Schur complement of twin i in K_SS + lift, and its row"""
        v, row = self.views, self.row(i)
        if len(self.S) == 0:
            v["lift"][...] = row[i] if row[i] > 0 else 1.0
            return np.zeros(1), row[i] + v["lift"], row
        border = np.concatenate([[1.0], row[self.S]])
        u = np.linalg.solve(self.bordered(), border)
        lifted = row[self.S] + v["lift"]
        K = self.k(v["vectors"][self.S], v["vectors"][self.S]) + v["lift"]
        return u, row[i] + v["lift"] - lifted @ np.linalg.solve(K, lifted), row

    def leave(self, p, state):
        """The twin at place p of S goes to a plateau; those behind move up."""
        v, S = self.views, self.S
        i = S[p]
        v["state"][i] = state
        v["gamma"][i] = self.plateau(state, v["s_minus"][i], v["s_plus"][i])
        S[p:-1] = S[p + 1 :].copy()
        v["m"] -= 1

    def enter(self, i, step, direction):
        """Twin i comes upon a step, its gamma about to move in `direction`.

        Where its kernel function is a combination of those on S already, it changes places with
        one of them instead: along the null direction, in which no g changes.
        """
        v = self.views
        v["state"][i] = step
        for _ in range(MANY_EXCHANGES):
            u, delta, row = self.sensitivity(i)
            if delta > SINGULAR * (row[i] + v["lift"]):
                if len(self.S) == self.room:
                    v["state"][i] = step + direction
                    raise MarginFull
                v["S"][int(v["m"])] = i
                v["m"] += 1
                return
            if not self.exchange(i, direction, u, row):
                return
        v["state"][i] = step + direction
        raise PathError

    def exchange(self, i, direction, u, row):
        """Along the null direction until a twin on S comes to its bound, and leaves (True), or
        twin i comes to the other end of its step."""
        v = self.views
        self.count("n_exchanges")
        low, high = self.step_bounds(i)
        gamma, state = v["gamma"], v["state"]
        room, first, end = (high - gamma[i] if direction > 0 else gamma[i] - low), None, None
        for p, j in enumerate(self.S):
            rate = -direction * u[1 + p]
            low, high = self.step_bounds(j)
            gap = max(high - gamma[j] if rate > 0 else gamma[j] - low, 0.0)
            if abs(rate) > NOTHING and gap < room * abs(rate):
                room, first, end = gap / abs(rate), p, state[j] + (-1 if rate > 0 else 1)
        rows = self.k(v["vectors"][self.S], self.held("vectors"))
        gamma[i] += direction * room
        gamma[self.S] -= direction * room * u[1:]
        v["b"] -= direction * room * u[0]
        self.held("g")[:] += direction * room * (row - u[1:] @ rows - u[0])
        if first is not None:
            self.leave(first, end)
            return True
        state[i] -= direction
        gamma[i] = self.plateau(state[i], v["s_minus"][i], v["s_plus"][i])
        return False

    # -- the path ----------------------------------------------------------------------------------

    def follow(self, moving, mu):
        """Let the weights of some twins and mu go linearly to new values, the KT conditions kept.

        Parameters
        ----------
        moving : list of (slot, s_minus, s_plus)
        mu : float

        Returns
        -------
        bool : False where the margin set would have outgrown its room; all is as it was then
        """
        v = self.views
        self.count("paths")
        if int(v["paths"]) % REFRESH == 0:
            self.refresh()
        before = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        mu_before = self.mu
        self.loosen(moving)
        loose = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        try:
            self.walk(moving, mu)
            for polish in range(POLISHES):
                if self.is_sound():
                    break
                self.refresh()
                if polish:
                    self.count("n_refactored")
                    self.rebuild()
                self.walk([], mu)
        except MarginFull:
            self.count("n_overflowed")
            self.walk_back(loose, before, mu_before)
            return False
        except (PathError, np.linalg.LinAlgError):
            self.solve_at(moving, mu)
        return True

    def solve_at(self, weights, mu):
        for i, s_minus, s_plus in weights:
            self.views["s_minus"][i], self.views["s_plus"][i] = s_minus, s_plus
        self.views["mu"][...] = mu
        self.from_scratch()

    def walk_back(self, loose, before, mu):
        """The weights as they were; on the way there the margin set had room."""
        v = self.views
        try:
            self.walk(loose, mu)
            for i, s_minus, s_plus in before:
                v["s_minus"][i], v["s_plus"][i] = s_minus, s_plus
                if v["state"][i] % 2 == 0:
                    self.settle(i)
        except (PathError, MarginFull, np.linalg.LinAlgError):
            self.solve_at(before, mu)

    def loosen(self, moving):
        """A twin that is to go keeps no more weight than its gamma needs, which is none of its
        neighbours' business, and leaves the margin set."""
        v = self.views
        for i, s_minus, s_plus in moving:
            if s_minus == s_plus == 0.0:
                gamma = float(v["gamma"][i])
                v["s_minus"][i], v["s_plus"][i] = max(-gamma, 0.0), max(gamma, 0.0)
                if v["state"][i] % 2:
                    self.leave(int(np.flatnonzero(i == self.S)[0]), 2)

    def is_sound(self):
        """Whether the g that was kept up is that of the definition, at two twins on S."""
        v, n = self.views, self.n
        for i in self.S[[0, -1]] if len(self.S) else ():
            aim = self.mu if v["state"][i] == 3 else -self.mu
            g = self.row(i) @ v["gamma"][:n] + v["b"]
            if abs(g - aim) > DRIFT * self.mu:
                return False
        return True

    def walk(self, moving, mu):
        v, n = self.views, self.n
        path = SimpleNamespace(t=0.0, d_mu=mu - self.mu, d_minus=np.zeros(n), d_plus=np.zeros(n))
        for i, to_minus, to_plus in moving:
            path.d_minus[i] = to_minus - v["s_minus"][i]
            path.d_plus[i] = to_plus - v["s_plus"][i]
        self.tell_sides_apart(path.d_minus, path.d_plus)
        path.off, path.total = self.offsets(), v["gamma"][:n].sum()
        path.K = self.k(v["vectors"][:n], v["vectors"][:n])
        for _ in range(MANY_EVENTS * (n + 4) - 1):
            push = self.rates_of_plateaus(path)
            if len(self.S) == 0:
                surplus = push.sum() - path.total
                size = np.abs(push).sum() + np.abs(v["gamma"][:n]).sum()
                if abs(surplus) > ROUNDING * size and self.shift(surplus, path):
                    continue
            self.direct(path, push)
            length, event = self.first_event(path)
            self.advance(moving, path, length, arrived=event is None)
            if event is None:
                v["mu"][...] = mu
                return
            self.count("n_path_events")
            event()
        raise PathError

    def rates_of_plateaus(self, path):
        states = self.held("state")
        return np.array(
            [
                self.plateau(int(s), minus, plus)
                for s, minus, plus in zip(states, path.d_minus, path.d_plus, strict=True)
            ]
        )

    def direct(self, path, push):
        """What b, gamma_S and g do per unit of t."""
        S, K = self.S, path.K
        if len(S) == 0:
            path.db, path.step, path.rhs, path.dg = 0.0, np.zeros(0), np.zeros(1), K @ push
            return
        aim = np.where(self.views["state"][S] == 3, path.d_mu, -path.d_mu) - path.off[S]
        path.rhs = np.concatenate([[-path.total - push.sum()], aim - K[S] @ push])
        solution = np.linalg.solve(self.bordered(), path.rhs)
        path.db, path.step = solution[0], solution[1:]
        path.dg = K[:, S] @ path.step + K @ push + path.db

    def first_event(self, path):
        """How far to the first event, and what then happens; None where the end comes first."""
        v, n, rest = self.views, self.n, 1.0 - path.t
        norms, gamma = path.K.diagonal(), v["gamma"]
        length, event = rest, None
        for p, i in enumerate(self.S):
            low, high = self.step_bounds(i)
            state, step = v["state"][i], path.step[p]
            d_low, d_high = (
                self.plateau(to, path.d_minus[i], path.d_plus[i]) for to in (state + 1, state - 1)
            )
            size = abs(path.rhs[1 + p] - path.db) + 0.01 * abs(path.db)
            hair = ROUNDING * (abs(gamma[i]) + abs(step) + size / (norms[i] + v["lift"]))
            for gap, rate, to in (
                (high - gamma[i], step - d_high, state - 1),
                (gamma[i] - low, d_low - step, state + 1),
            ):
                if comes_first(gap, rate, rest, hair, length):
                    length = gap / rate if gap > hair else 0.0
                    event = partial(self.leave, p, to)
        sums = np.abs(gamma[:n]) @ np.sqrt(norms) * np.sqrt(norms.max(initial=0.0))
        hair = HAIR * self.mu + NOISE * sums
        for i in range(n):
            for gap, rate, to, direction in self.edges(i, path, path.dg[i]):
                if comes_first(gap, rate, rest, hair, length):
                    length = gap / rate if gap > hair else 0.0
                    event = partial(self.enter, i, to, direction)
        return length, event

    def advance(self, moving, path, length, arrived):
        v, n = self.views, self.n
        path.t += length
        v["gamma"][self.S] += length * path.step
        v["g"][:n] += length * path.dg
        v["b"] += length * path.db
        v["mu"] += length * path.d_mu
        for i, to_minus, to_plus in moving:
            v["s_minus"][i] = to_minus if arrived else v["s_minus"][i] + length * path.d_minus[i]
            v["s_plus"][i] = to_plus if arrived else v["s_plus"][i] + length * path.d_plus[i]
            if v["state"][i] % 2 == 0:
                v["gamma"][i] = self.plateau(v["state"][i], v["s_minus"][i], v["s_plus"][i])

    def tell_sides_apart(self, d_minus, d_plus):
        """A twin without weight on one side has no step there; where it gets one, it is told on
        which side of it it is."""
        v = self.views
        for i in range(self.n):
            if v["s_plus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] > 0:
                v["state"][i] = self.side(v["g"][i], False, d_plus[i] > 0)
            if v["s_minus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] < 4:
                v["state"][i] = self.side(v["g"][i], d_minus[i] > 0, False)

    def offsets(self):
        """What each g is beyond its place at the start: rounding, which the path brings to 0."""
        v, mu = self.views, self.mu
        off = np.zeros(self.n)
        for i in range(self.n):
            g, state = v["g"][i], v["state"][i]
            if state == 1:
                off[i] = g + mu
            elif state == 3:
                off[i] = g - mu
            elif state == 0:
                off[i] = max(g + mu, 0.0)
            elif state == 4:
                off[i] = min(g - mu, 0.0)
            elif g > mu and v["s_plus"][i] > 0:
                off[i] = g - mu
            elif g < -mu and v["s_minus"][i] > 0:
                off[i] = g + mu
        return off

    def edges(self, i, path, dg=0.0):
        """Of a twin on a plateau, each step at its end: gap, rate, the step, the way gamma would
        go."""
        v, off, d_mu = self.views, path.off[i], path.d_mu
        state, g, mu, rest = int(v["state"][i]), v["g"][i], self.mu, 1.0 - path.t
        has_lower = v["s_minus"][i] > 0 or path.d_minus[i] > 0
        has_upper = v["s_plus"][i] > 0 or path.d_plus[i] > 0
        if state == 0 and has_lower:
            yield -mu + off * rest - g, dg + d_mu + off, 1, -1
        elif state == 4 and has_upper:
            yield g - mu - off * rest, -dg + d_mu - off, 3, 1
        elif state == 2:
            up, down = max(off, 0.0), min(off, 0.0)
            if has_upper:
                yield mu + up * rest - g, dg - d_mu + up, 3, -1
            if has_lower:
                yield g + mu - down * rest, -dg - d_mu - down, 1, 1

    def shift(self, surplus, path):
        """Nobody is on a step and the coefficients would not sum to 0: b moves until one is."""
        v = self.views
        nearest, found = np.inf, None
        for i in range(self.n):
            for gap, _, to, direction in self.edges(i, path):
                if direction * surplus < 0 and gap < nearest:
                    nearest, found = gap, (i, to, direction)
        if found is None:
            raise PathError
        move = max(nearest, 0.0) * np.sign(surplus)
        v["b"] += move
        self.held("g")[:] += move
        self.count("n_path_events")
        self.enter(*found)
        return True

    # -- when rounding has gathered ----------------------------------------------------------------

    def refresh(self):
        """g from its definition"""
        self.count("n_refreshed")
        K = self.k(self.held("vectors"), self.held("vectors")) if self.n else np.zeros((0, 0))
        self.held("g")[:] = K @ self.held("gamma") + self.views["b"]

    def from_scratch(self):
        """Sequential minimal optimisation from gamma = 0, then the margin set built anew."""
        self.count("n_from_scratch")
        v, n, mu = self.views, self.n, self.mu
        gamma, g = self.held("gamma"), self.held("g")
        s_minus, s_plus = self.held("s_minus"), self.held("s_plus")
        K = self.k(self.held("vectors"), self.held("vectors"))
        gamma[:], g[:] = 0.0, 0.0
        middle = s_plus - s_minus
        for _ in range(10_000 + 2000 * n):
            up = np.where(gamma < middle, mu, -mu) - g
            down = np.where(gamma > middle, -mu, mu) - g
            up[gamma >= s_plus], down[gamma <= -s_minus] = -np.inf, np.inf
            i, j = int(np.argmax(up)), int(np.argmin(down))
            if not up[i] - down[j] > 1e-3 * HAIR * mu:
                break
            top = middle[i] if gamma[i] < middle[i] else s_plus[i]
            bottom = middle[j] if gamma[j] > middle[j] else -s_minus[j]
            curve = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-14 * (K[i, i] + K[j, j]))
            step = (up[i] - down[j]) / curve
            to_i, to_j = gamma[i] + step, gamma[j] - step
            if step >= top - gamma[i] or step >= gamma[j] - bottom:
                if top - gamma[i] <= gamma[j] - bottom:
                    step = top - gamma[i]
                    to_i, to_j = top, gamma[j] - step
                else:
                    step = gamma[j] - bottom
                    to_i, to_j = gamma[i] + step, bottom
            gamma[i], gamma[j] = to_i, to_j
            g += step * (K[i] - K[j])
        high, low = up.max(), down.min()
        b = (high + low) / 2 if np.isfinite(high + low) else high if np.isfinite(high) else low
        v["b"][...] = b if np.isfinite(b) else 0.0
        g[:] = K @ gamma + v["b"]
        self.rebuild()

    def rebuild(self):
        """The margin set: all whose gamma is strictly between two plateaus."""
        v = self.views
        v["m"][...] = 0
        v["state"][: self.n] = 2
        for i in range(self.n):
            try:
                self.settle(i)
            except (PathError, MarginFull):  # it stays where it is
                v["state"][i] += v["state"][i] % 2

    def settle(self, i):
        """The state of a twin whose gamma and g are right, from its weights."""
        v, gamma, g = self.views, self.views["gamma"][i], self.views["g"][i]
        low, high = -v["s_minus"][i], v["s_plus"][i]
        middle = high + low
        if low < gamma < middle:
            self.enter(i, 3, 1)
        elif middle < gamma < high:
            self.enter(i, 1, 1)
        elif gamma == middle == high and g < -self.mu and low < 0:
            v["state"][i] = 0
        elif gamma == middle == low and g > self.mu and high > 0:
            v["state"][i] = 4
        elif gamma == middle:
            v["state"][i] = 2
        else:
            v["state"][i] = 0 if gamma >= high else 4

    def kt_residual(self):
        """Largest violation of the KT conditions, in units of the margin, from the definition."""
        v, n, mu = self.views, self.n, self.mu
        if n == 0:
            return 0.0
        gamma, s_minus, s_plus = self.held("gamma"), self.held("s_minus"), self.held("s_plus")
        f = (self.k(self.held("vectors"), self.held("vectors")) @ gamma + v["b"]) / mu
        return residual(f, gamma, s_minus, s_plus)


def comes_first(gap, rate, rest, hair, length):
    """Whether a gap closing at this rate comes before `length`.

    It has to be overrun by more than a hair until the end; a gap below a hair is none, so that of
    events at one place the first in order comes first, whatever the rounding.
    """
    return rate * rest > gap + hair and (gap if gap > hair else 0.0) < rate * length


def residual(f, gamma, s_minus, s_plus):
    """How far the pairs (f_i, gamma_i) are from the staircase and sum(gamma) from 0.

    Each pair's distance is the least, over the five pieces of the staircase, of how far f has to
    move plus how far gamma has to, as a share of the twin's weight.
    """
    middle, weight = s_plus - s_minus, s_plus + s_minus
    pieces = [
        (-np.inf, -1.0, s_plus, s_plus),
        (-1.0, -1.0, middle, s_plus),
        (-1.0, 1.0, middle, middle),
        (1.0, 1.0, -s_minus, middle),
        (1.0, np.inf, -s_minus, -s_minus),
    ]
    distance = np.full(len(f), np.inf)
    for f_low, f_high, low, high in pieces:
        away = np.maximum(np.maximum(f_low - f, f - f_high), 0.0)
        outside = np.maximum(np.maximum(low - gamma, gamma - high), 0.0)
        distance = np.minimum(distance, away + outside / np.maximum(weight, 1e-300))
    return float(max(distance.max(), abs(gamma.sum()) / max(weight.sum(), 1e-300)))
