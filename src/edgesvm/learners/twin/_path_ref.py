"""The path in plain NumPy; the names and the order of events are those of _path.pyx."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np

from edgesvm.learners.twin._margin_set_ref import MarginFull, MarginSetCoreRef, PathError
from edgesvm.learners.twin.constants import (
    DRIFT,
    HAIR,
    MANY_EVENTS,
    NOISE,
    POLISHES,
    REFRESH,
    ROUNDING,
)


def comes_first(gap, rate, rest, hair, length):
    """Whether a gap closing at this rate comes before `length`.

    It has to be overrun by more than a hair until the end; a gap below a hair is none, so that of
    events at one place the first in order comes first, whatever the rounding.
    """
    return rate * rest > gap + hair and (gap if gap > hair else 0.0) < rate * length


class PathCoreRef(MarginSetCoreRef):
    """Paths from one set of weights to another."""

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
        """Restore the weights; the margin set had room on the way here."""
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
        """A twin to be removed gives up the weight that its gamma does not use, which changes no
        other twin, and leaves the margin set."""
        v = self.views
        for i, s_minus, s_plus in moving:
            if s_minus == s_plus == 0.0:
                gamma = float(v["gamma"][i])
                v["s_minus"][i], v["s_plus"][i] = max(-gamma, 0.0), max(gamma, 0.0)
                if v["state"][i] % 2:
                    self.leave(int(np.flatnonzero(i == self.S)[0]), 2)

    def is_sound(self):
        """Whether g as updated agrees with its definition, at two twins on S."""
        v, n = self.views, self.n
        for i in self.S[[0, -1]] if len(self.S) else ():
            aim = self.mu if v["state"][i] == 3 else -self.mu
            g = self.row(i) @ v["gamma"][:n] + v["b"]
            if abs(g - aim) > DRIFT * self.mu:
                return False
        return True

    def walk(self, moving, mu):
        """One path, from event to event"""
        walk = self.begin(moving, mu)
        for _ in range(MANY_EVENTS * (self.n + 4) - 1):
            rates = self.plateau_rates(walk)
            if len(self.S) == 0:
                surplus = rates.sum() - walk.total
                if abs(surplus) > ROUNDING * self.size(rates) and self.shift(surplus, walk):
                    continue
            self.direct(walk, rates)
            length, event = self.first_event(walk)
            self.advance(walk, length, arrived=event is None)
            if event is None:
                return
            self.count("n_path_events")
            event()
        raise PathError

    # -- at the start ------------------------------------------------------------------------------

    def begin(self, moving, mu):
        """Rates, sides and offsets at t = 0"""
        v, n = self.views, self.n
        walk = SimpleNamespace(moving=moving, t=0.0, mu=mu, d_mu=mu - self.mu)
        walk.d_minus, walk.d_plus = np.zeros(n), np.zeros(n)
        for i, to_minus, to_plus in moving:
            walk.d_minus[i] = to_minus - v["s_minus"][i]
            walk.d_plus[i] = to_plus - v["s_plus"][i]
        self.resolve_sides(walk.d_minus, walk.d_plus)
        walk.off, walk.total = self.offsets(), v["gamma"][:n].sum()
        walk.K = self.k(v["vectors"][:n], v["vectors"][:n])
        return walk

    def resolve_sides(self, d_minus, d_plus):
        """A twin without weight of one class has no step on that side; before it gets one, decide
        on which plateau next to it the twin is."""
        v = self.views
        for i in range(self.n):
            if v["s_plus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] > 0:
                v["state"][i] = self.side(v["g"][i], False, d_plus[i] > 0)
            if v["s_minus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] < 4:
                v["state"][i] = self.side(v["g"][i], d_minus[i] > 0, False)

    def offsets(self):
        """What each g is beyond its place: rounding, which the path brings to 0."""
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

    # -- rates -------------------------------------------------------------------------------------

    def plateau_rates(self, walk):
        """The rate of gamma of each moving twin on a plateau"""
        states = self.held("state")
        return np.array(
            [
                self.plateau(int(s), minus, plus)
                for s, minus, plus in zip(states, walk.d_minus, walk.d_plus, strict=True)
            ]
        )

    def size(self, rates):
        """The rounding error of a sum of coefficients and rates, in units of `ROUNDING`"""
        return np.abs(rates).sum() + np.abs(self.held("gamma")).sum()

    def direct(self, walk, rates):
        """What b, gamma_S and g do per unit of t: db, step and dg."""
        S, K = self.S, walk.K
        if len(S) == 0:
            walk.db, walk.step, walk.rhs, walk.dg = 0.0, np.zeros(0), np.zeros(1), K @ rates
            return
        aim = np.where(self.views["state"][S] == 3, walk.d_mu, -walk.d_mu) - walk.off[S]
        walk.rhs = np.concatenate([[-walk.total - rates.sum()], aim - K[S] @ rates])
        solution = self.solve(walk.rhs)
        walk.db, walk.step = solution[0], solution[1:]
        walk.dg = K[:, S] @ walk.step + K @ rates + walk.db

    # -- events ------------------------------------------------------------------------------------

    def first_event(self, walk):
        """How far to the first event, and what then happens; None where the end comes first."""
        length, event = self.first_to_leave(walk, 1.0 - walk.t, None)
        return self.first_to_enter(walk, length, event)

    def first_to_leave(self, walk, length, event):
        """The twin on a step that comes to an end of it before the event so far, if any."""
        v, rest = self.views, 1.0 - walk.t
        norms, gamma = walk.K.diagonal(), v["gamma"]
        for p, i in enumerate(self.S):
            low, high = self.step_bounds(i)
            state, step = v["state"][i], walk.step[p]
            d_low, d_high = (
                self.plateau(to, walk.d_minus[i], walk.d_plus[i]) for to in (state + 1, state - 1)
            )
            size = abs(walk.rhs[1 + p] - walk.db) + 0.01 * abs(walk.db)
            hair = ROUNDING * (abs(gamma[i]) + abs(step) + size / (norms[i] + v["lift"]))
            for gap, rate, to in (
                (high - gamma[i], step - d_high, state - 1),
                (gamma[i] - low, d_low - step, state + 1),
            ):
                if comes_first(gap, rate, rest, hair, length):
                    length = gap / rate if gap > hair else 0.0
                    event = partial(self.leave, p, to)
        return length, event

    def first_to_enter(self, walk, length, event):
        """The twin on a plateau that comes upon a step before the event so far, if any."""
        hair, rest = self.hair(walk), 1.0 - walk.t
        for i in range(self.n):
            for gap, rate, to, direction in self.edges(walk, i, walk.dg[i]):
                if comes_first(gap, rate, rest, hair, length):
                    length = gap / rate if gap > hair else 0.0
                    event = partial(self.enter, i, to, direction)
        return length, event

    def hair(self, walk):
        """How far g may pass a step before that is an event"""
        norms = walk.K.diagonal()
        sums = np.abs(self.held("gamma")) @ np.sqrt(norms) * np.sqrt(norms.max(initial=0.0))
        return HAIR * self.mu + NOISE * sums

    def edges(self, walk, i, dg):
        """Of a twin on a plateau, each step at its end that it has, or is about to get: gap, rate,
        the step, the way gamma would go."""
        v, off, d_mu = self.views, walk.off[i], walk.d_mu
        state, g, mu, rest = int(v["state"][i]), v["g"][i], self.mu, 1.0 - walk.t
        has_lower = v["s_minus"][i] > 0 or walk.d_minus[i] > 0
        has_upper = v["s_plus"][i] > 0 or walk.d_plus[i] > 0
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

    def advance(self, walk, length, arrived):
        """On to the event, or to the end"""
        v, n = self.views, self.n
        walk.t += length
        v["gamma"][self.S] += length * walk.step
        v["g"][:n] += length * walk.dg
        v["b"] += length * walk.db
        v["mu"][...] = walk.mu if arrived else v["mu"] + length * walk.d_mu
        for i, to_minus, to_plus in walk.moving:
            v["s_minus"][i] = to_minus if arrived else v["s_minus"][i] + length * walk.d_minus[i]
            v["s_plus"][i] = to_plus if arrived else v["s_plus"][i] + length * walk.d_plus[i]
            if v["state"][i] % 2 == 0:
                v["gamma"][i] = self.plateau(v["state"][i], v["s_minus"][i], v["s_plus"][i])

    def shift(self, surplus, walk):
        """No twin is on a step and the coefficients would not sum to 0: move b until one is."""
        v = self.views
        nearest, found = np.inf, None
        for i in range(self.n):
            for gap, _, to, direction in self.edges(walk, i, 0.0):
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
