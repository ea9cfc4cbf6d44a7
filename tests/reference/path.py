"""The path in plain NumPy; the names and the order of events are those of _path.pyx."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np

from edgesvm.learners.twin.constants import (
    DRIFT,
    EVENT_TOLERANCE,
    MANY_EVENTS,
    NOISE,
    POLISHES,
    REFRESH,
    ROUNDING,
)
from reference.margin_set import MarginFull, MarginSetCoreRef, PathError


def comes_first(gap, rate, rest, tolerance, length):
    """Whether a gap closing at this rate comes before `length`.

    An event counts only if it is overrun by more than the tolerance before the end. Smaller gaps
    count as zero, so that coinciding events are handled in slot order whatever the rounding.
    """
    return rate * rest > gap + tolerance and (gap if gap > tolerance else 0.0) < rate * length


class PathCoreRef(MarginSetCoreRef):
    """Paths from one set of weights to another."""

    def follow(self, moving, mu):
        """Move the weights of some twins and mu linearly to new values, keeping the KT conditions.

        Parameters
        ----------
        moving : list of (slot, s_minus, s_plus)
        mu : float

        Returns
        -------
        bool : False if the margin set would have overflowed its room; nothing has changed then
        """
        v = self.views
        self.count("paths")
        if int(v["paths"]) % REFRESH == 0:
            self.refresh()
        before = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        mu_before = self.mu
        self.release_unused_weight(moving)
        released = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        try:
            self.walk(moving, mu)
            for polish in range(POLISHES):
                if self.is_consistent():
                    break
                self.refresh()
                if polish:
                    self.count("n_refactored")
                    self.rebuild()
                self.walk([], mu)
        except MarginFull:
            self.count("n_overflowed")
            self.walk_back(released, before, mu_before)
            return False
        except (PathError, np.linalg.LinAlgError):
            self.solve_at(moving, mu)
        return True

    def solve_at(self, weights, mu):
        for i, s_minus, s_plus in weights:
            self.views["s_minus"][i], self.views["s_plus"][i] = s_minus, s_plus
        self.views["mu"][...] = mu
        self.from_scratch()

    def walk_back(self, released, before, mu):
        """Restore the weights; the margin set had room on the way here."""
        v = self.views
        try:
            self.walk(released, mu)
            for i, s_minus, s_plus in before:
                v["s_minus"][i], v["s_plus"][i] = s_minus, s_plus
                if v["state"][i] % 2 == 0:
                    self.restore_state(i)
        except (PathError, MarginFull, np.linalg.LinAlgError):
            self.solve_at(before, mu)

    def release_unused_weight(self, moving):
        """Reduce the weight of a twin that will be removed to what its coefficient uses, and take
        it off the margin set. The other twins are not affected."""
        v = self.views
        for i, s_minus, s_plus in moving:
            if s_minus == s_plus == 0.0:
                coef = float(v["coef"][i])
                v["s_minus"][i], v["s_plus"][i] = max(-coef, 0.0), max(coef, 0.0)
                if v["state"][i] % 2:
                    self.leave(int(np.flatnonzero(i == self.S)[0]), 2)

    def is_consistent(self):
        """Whether the maintained g agrees with its definition, at two twins on S."""
        v, n = self.views, self.n
        for i in self.S[[0, -1]] if len(self.S) else ():
            aim = self.mu if v["state"][i] == 3 else -self.mu
            g = self.row(i) @ v["coef"][:n] + v["b"] - self.target()[i]
            if abs(g - aim) > DRIFT * self.mu:
                return False
        return True

    def walk(self, moving, mu):
        """Follow one path from event to event."""
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
        """Set rates, sides and offsets at t = 0."""
        v, n = self.views, self.n
        walk = SimpleNamespace(moving=moving, t=0.0, mu=mu, d_mu=mu - self.mu)
        walk.d_minus, walk.d_plus = np.zeros(n), np.zeros(n)
        for i, to_minus, to_plus in moving:
            walk.d_minus[i] = to_minus - v["s_minus"][i]
            walk.d_plus[i] = to_plus - v["s_plus"][i]
        self.resolve_sides(walk.d_minus, walk.d_plus)
        walk.off, walk.total = self.offsets(), v["coef"][:n].sum()
        walk.K = self.k(v["vectors"][:n], v["vectors"][:n])
        walk.d_target = np.zeros(n)
        return walk

    def resolve_sides(self, d_minus, d_plus):
        """A twin without weight of one class has no step on that side; before it gets one, decide
        which of the adjacent plateaus it is on."""
        v = self.views
        for i in range(self.n):
            if v["s_plus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] > 0:
                v["state"][i] = self.side(v["g"][i], False, d_plus[i] > 0)
            if v["s_minus"][i] == 0 and v["state"][i] % 2 == 0 and v["state"][i] < 4:
                v["state"][i] = self.side(v["g"][i], d_minus[i] > 0, False)

    def offsets(self):
        """How far each g is from its place: rounding, which the path removes."""
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
        """The rate of coef of each moving twin on a plateau"""
        states = self.held("state")
        return np.array(
            [
                self.plateau(int(s), minus, plus)
                for s, minus, plus in zip(states, walk.d_minus, walk.d_plus, strict=True)
            ]
        )

    def size(self, rates):
        """The rounding error of a sum of coefficients and rates, in units of `ROUNDING`"""
        return np.abs(rates).sum() + np.abs(self.held("coef")).sum()

    def direct(self, walk, rates):
        """The rates of b, coef_S and g per unit of t: db, step and dg."""
        S, K = self.S, walk.K
        push = K @ rates - walk.d_target
        if len(S) == 0:
            walk.db, walk.step, walk.rhs, walk.dg = 0.0, np.zeros(0), np.zeros(1), push
            return
        aim = np.where(self.views["state"][S] == 3, walk.d_mu, -walk.d_mu) - walk.off[S]
        walk.rhs = np.concatenate([[-walk.total - rates.sum()], aim - push[S]])
        solution = self.solve(walk.rhs)
        walk.db, walk.step = solution[0], solution[1:]
        walk.dg = K[:, S] @ walk.step + push + walk.db

    # -- events ------------------------------------------------------------------------------------

    def first_event(self, walk):
        """The distance to the first event, and what to do there; None if the end comes first."""
        length, event = self.first_to_leave(walk, 1.0 - walk.t, None)
        return self.first_to_enter(walk, length, event)

    def first_to_leave(self, walk, length, event):
        """The twin on a step that reaches an end of it before the first event found so far, if
        any."""
        v, rest = self.views, 1.0 - walk.t
        norms, coef = walk.K.diagonal(), v["coef"]
        for p, i in enumerate(self.S):
            low, high = self.step_bounds(i)
            state, step = v["state"][i], walk.step[p]
            d_low, d_high = (
                self.plateau(to, walk.d_minus[i], walk.d_plus[i]) for to in (state + 1, state - 1)
            )
            size = abs(walk.rhs[1 + p] - walk.db) + 0.01 * abs(walk.db)
            tolerance = ROUNDING * (abs(coef[i]) + abs(step) + size / (norms[i] + v["lift"]))
            for gap, rate, to in (
                (high - coef[i], step - d_high, state - 1),
                (coef[i] - low, d_low - step, state + 1),
            ):
                if comes_first(gap, rate, rest, tolerance, length):
                    length = gap / rate if gap > tolerance else 0.0
                    event = partial(self.leave, p, to)
        return length, event

    def first_to_enter(self, walk, length, event):
        """The twin on a plateau that reaches a step before the first event found so far, if any."""
        tolerance, rest = self.tolerance(walk), 1.0 - walk.t
        for i in range(self.n):
            for gap, rate, to, direction in self.edges(walk, i, walk.dg[i]):
                if comes_first(gap, rate, rest, tolerance, length):
                    length = gap / rate if gap > tolerance else 0.0
                    event = partial(self.enter, i, to, direction)
        return length, event

    def tolerance(self, walk):
        """How far g may pass a step before it is an event."""
        norms = walk.K.diagonal()
        sums = np.abs(self.held("coef")) @ np.sqrt(norms) * np.sqrt(norms.max(initial=0.0))
        return EVENT_TOLERANCE * self.mu + NOISE * (sums + np.abs(self.target()).max(initial=0.0))

    def edges(self, walk, i, dg):
        """The steps next to a twin's plateau that it has or is about to get: gap, rate, the step,
        the direction of coef."""
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
        """Move to the event, or to the end."""
        v, n = self.views, self.n
        walk.t += length
        v["coef"][self.S] += length * walk.step
        v["g"][:n] += length * walk.dg
        v["b"] += length * walk.db
        v["mu"][...] = walk.mu if arrived else v["mu"] + length * walk.d_mu
        for i, to_minus, to_plus in walk.moving:
            v["s_minus"][i] = to_minus if arrived else v["s_minus"][i] + length * walk.d_minus[i]
            v["s_plus"][i] = to_plus if arrived else v["s_plus"][i] + length * walk.d_plus[i]
            if v["state"][i] % 2 == 0:
                v["coef"][i] = self.plateau(v["state"][i], v["s_minus"][i], v["s_plus"][i])

    def shift(self, surplus, walk):
        """No twin is on a step, and the coefficients would not sum to 0: move b until one twin
        reaches a step."""
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
