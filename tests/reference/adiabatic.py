"""The adiabatic solver and the learners on it in plain NumPy: every linear system is solved from
scratch, without a factor. What the compiled core does where rounding has broken a path is not here.

The names and the order of events are those of _adiabatic.pyx, where the problems are stated.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from edgesvm.core.constants import LARGEST_NORM, LEAST_NORM
from edgesvm.core.packed_factor import packed_length
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.learners.constants import LEAST_SHARE, LEAST_TOTAL, OF_TWINS, OPEN_FOR
from edgesvm.learners.twin._adiabatic import CANDIDATES
from edgesvm.learners.twin.constants import (
    EDGE,
    EVENT_TOLERANCE,
    GOLDEN,
    LARGEST_SQUARE,
    LARGEST_TARGET,
    MANY_EVENTS,
    MANY_EXCHANGES,
    MAX_SHIFT,
    NOISE,
    NULL_TOLERANCE,
    PLACES,
    ROUNDING,
    SECTIONS,
    SINGULAR,
    TIE,
)
from reference.forgetting import ForgettingRef
from reference.kernel_core import KernelCoreRef


class PathError(ArithmeticError):
    """The path cannot continue."""


class MarginFull(ArithmeticError):
    """The margin set would overflow its room."""


def comes_first(gap, rate, rest, tolerance, length):
    """Whether a gap closing at this rate comes before `length`.

    An event counts only if it is overrun by more than the tolerance before the end. Smaller gaps
    count as zero, so that coinciding events are handled in slot order whatever the rounding.
    """
    return rate * rest > gap + tolerance and (gap if gap > tolerance else 0.0) < rate * length


class AdiabaticCoreRef(KernelCoreRef):
    """Twins q_i with weights s+_i, s-_i and the coefficients coef_i, b that keep the KT
    conditions."""

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.slots = len(self.views["coef"])
        pool = len(self.views["pool"])
        self.room = max(m for m in range(self.slots + 1) if packed_length(m) <= pool)

    # -- the state by name -------------------------------------------------------------------------

    def count(self, name):
        self.views[name][...] += 1

    @property
    def S(self):
        return self.views["S"][: int(self.views["m"])]

    @property
    def mu(self):
        return float(self.views["mu"])

    # -- kernel values -----------------------------------------------------------------------------

    def row(self, i):
        return self.k(self.views["vectors"][i], self.held("vectors"))[0]

    def norm(self, x):
        """k(x, x), or NaN if the sample must be refused"""
        k_xx = self.self_kernel(x)
        return k_xx if float(x @ x) <= LARGEST_SQUARE and k_xx <= LARGEST_NORM else np.nan

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
            v["lift"][...] = row[i] if row[i] > LEAST_NORM else 1.0
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

    # -- paths -------------------------------------------------------------------------------------

    def follow(self, moving, mu):
        """Move weights, of (slot, s_minus, s_plus), and mu linearly to new values, keeping the KT
        conditions; False, and nothing changed, where the margin set has no room."""
        v = self.views
        self.count("paths")
        before = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        mu_before = self.mu
        self.release_unused_weight(moving)
        released = [(i, float(v["s_minus"][i]), float(v["s_plus"][i])) for i, *_ in moving]
        try:
            self.walk(moving, mu)
        except MarginFull:
            self.count("n_overflowed")
            self.walk_back(released, before, mu_before)
            return False
        return True

    def walk_back(self, released, before, mu):
        """Restore the weights; the margin set had room on the way here."""
        v = self.views
        self.walk(released, mu)
        for i, s_minus, s_plus in before:
            v["s_minus"][i], v["s_plus"][i] = s_minus, s_plus
            if v["state"][i] % 2 == 0:
                self.restore_state(i)

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
        push = K @ rates
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


class TwinVectorMachineCoreRef(AdiabaticCoreRef, ForgettingRef):
    """The arena's arrays by name: vectors, s_minus, s_plus, coef, g, state, S; scalars mu, b."""

    def __init__(
        self,
        *common,
        C,
        m1,
        m2,
        eta,
        merge,
        merge_side,
        rejection,
        control_C,
        forgetting,
        kernel,
    ):
        super().__init__(*common, kernel=kernel)
        self.forgets, self.half_life, self.threshold = forgetting >= 0, forgetting, OF_TWINS
        self.C, self.m1, self.m2, self.eta = C, m1, m2, eta
        self.in_feature_space = merge == "feature"
        self.one_sided, self.rejection = merge_side == "one", bool(rejection)
        self.as_printed, self.control_C = rejection == "paper", control_C
        self.max_twins = self.slots - 2

    def step(self, x, y, weight):
        if not np.isfinite(self.norm(x)):
            return Status.NOT_FINITE
        v = self.views
        if self.n == 0:
            v["mu"][...] = self.mu_for(weight)
        if not self.beneficial(x, y):
            return Status.UNCHANGED
        self.count("n_accepted")
        same = [i for i in range(self.n) if (v["vectors"][i] == x).all()]
        if same:
            self.count("n_absorbed")
            learned = self.update([(same[0], *self.with_weight(same[0], y, weight))])
        else:
            learned = self.update_twins(x, y, weight)
        if learned is None:  # no pair could be merged: the new sample is ignored
            return Status.UNCHANGED
        return Status.CHANGED if learned or self.merge_on_margin() else Status.UNCHANGED

    def merge_on_margin(self):
        """The margin set has no room: drop the new sample and merge two margin twins instead."""
        if len(self.S) < 2 or self.n < 3:
            return False
        before = self.counted()
        moving, removed = self.merge(of_margin=True)
        return self.change(moving, removed, before)

    def counted(self):
        """The counters to restore when a path is undone."""
        return {name: int(self.views[name]) for name in ("n_merged", "n_removed", "n_forced")}

    def change(self, moving, removed, before):
        """Follow one path, then remove the twins without weight: `removed`, or, if the path was
        undone, the new ones; restore the counters then."""
        learned = self.update(moving)
        if not learned:
            removed = [i for i, *to in moving if any(to)]
            for name, count in before.items():
                self.views[name][...] = count
        for k in sorted(removed, reverse=True):
            self.drop(k)
        return learned

    def beneficial(self, x, y):
        """Algorithm 2; after a drift an error is beneficial too. What is held is aged before."""
        if self.n == 0:
            return True
        full, g = self.n == self.max_twins, self.g_of(x)
        near = abs(g) <= self.m1 * self.mu * (1 + EDGE)
        if self.forgets:
            self.forget(y * g <= 0)
        return near or not full or self.is_open(y * g)

    def is_open(self, yg):
        """Whether a sample is learned, however far it is from the margin."""
        return self.forgets and yg <= 0 and self.after_a_drift(OPEN_FOR)

    def age(self, part):
        """Multiply the weight of all that is held by a power of 2: the same solution, exactly."""
        v = self.views
        weight = self.held("s_minus") + self.held("s_plus")
        if not weight.sum() * part > LEAST_TOTAL:
            return
        heavy = weight > LEAST_SHARE
        for name in ("s_minus", "s_plus", "coef"):
            self.held(name)[heavy] *= part
        for name in ("g", "distortion_bound"):
            self.held(name)[:] *= part
        v["b"] *= part
        v["mu"] *= part

    def update_twins(self, x, y, weight):
        """Algorithm 3: make room for the new sample by removing a twin far from the margin, or by a
        merge."""
        moving, removed, before = [], [], self.counted()
        if self.n == self.max_twins:
            far = np.abs(self.held("g"))
            k = int(np.argmax(far))
            if far[k] > self.m2 * self.mu * (1 + EDGE):
                self.count("n_removed")
                moving, removed = [(k, 0.0, 0.0)], [k]
            elif self.max_twins > 1:
                moving, removed = self.merge()
                if not moving:
                    return None
            else:
                moving, removed = [(0, 0.0, 0.0)], [0]
                self.count("n_removed")
        i = self.place(x)
        return self.change([*moving, (i, *self.with_weight(i, y, weight))], removed, before)

    def with_weight(self, i, y, weight):
        s_minus, s_plus = float(self.views["s_minus"][i]), float(self.views["s_plus"][i])
        return (s_minus, s_plus + weight) if y > 0 else (s_minus + weight, s_plus)

    def update(self, moving):
        """UpdateTVM: follow one path, keeping C * sum(s) constant if C is controlled."""
        total = sum(self.held("s_minus")) + sum(self.held("s_plus"))
        for i, s_minus, s_plus in moving:
            total += s_minus + s_plus - self.views["s_minus"][i] - self.views["s_plus"][i]
        return self.follow(moving, self.mu_for(total))

    def mu_for(self, total):
        """1 / C for this sum of all weights (4.3)"""
        return total / (self.C * self.max_twins) if self.control_C else 1 / self.C

    # -- merging -----------------------------------------------------------------------------------

    def merge(self, of_margin=False):
        """Merge the best pair that passes the test; if none passes, the best of all, or, as
        printed, none."""
        v = self.views
        best: Any = None
        least, passed = np.inf, False
        printed = self.as_printed and not of_margin
        for i, j in self.candidates(of_margin, every=printed):
            q, error = self.joined(i, j)
            if best is None:
                best = i, j, q
            if not passed and error < least * (1 - TIE):
                best, least = (i, j, q), error
            if not self.rejection or error < self.eta:
                if not self.rejection or printed or self.is_gentle(i, j, q):
                    best = i, j, q
                    break
                if not passed:
                    best, passed = (i, j, q), True
            self.count("n_rejected")
        else:
            if printed:
                return [], []
            if not passed:
                self.count("n_forced")
        self.count("n_merged")
        i, j, q = best
        new = self.place(q)
        return [
            (i, 0.0, 0.0),
            (j, 0.0, 0.0),
            (new, v["s_minus"][i] + v["s_minus"][j], v["s_plus"][i] + v["s_plus"][j]),
        ], [i, j]

    def candidates(self, of_margin, every):
        """The pairs of smallest distortion, in ascending order; only those on one side of the
        boundary if there are any; only margin twins if `of_margin`. All that there are if `every`,
        and then none across the boundary."""
        n, s, g = self.n, self.held("s_minus") + self.held("s_plus"), self.held("g")
        vectors = self.held("vectors").astype(np.float64)
        if self.in_feature_space:
            K = self.k(vectors, vectors)
            square = K.diagonal()[:, None] + K.diagonal() - 2 * K
        else:
            square = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
        distortion = s[:, None] * s / (s[:, None] + s) * square
        pairs = [(distortion[i, j], i, j) for i in range(n) for j in range(i + 1, n)]
        if of_margin:
            pairs = [p for p in pairs if p[1] in self.S and p[2] in self.S]
        sided = [p for p in pairs if (g[p[1]] > 0) == (g[p[2]] > 0)]
        ordered = sorted(sided if self.one_sided and (sided or every) else pairs)
        return [(i, j) for _, i, j in ordered[: None if every else CANDIDATES]]

    def joined(self, i, j):
        """The merged vector and the relative error of its g against the line between the two."""
        v = self.views
        s = self.held("s_minus") + self.held("s_plus")
        part = self.on_the_line(i, j) if self.in_feature_space else s[j] / (s[i] + s[j])
        x, z = v["vectors"][i].astype(np.float64), v["vectors"][j].astype(np.float64)
        q = (x + part * (z - x)).astype(self.dtype)
        expected = (s[i] * v["g"][i] + s[j] * v["g"][j]) / (s[i] + s[j])
        return q, abs(self.g_of(q) - expected) / max(abs(expected), 1e-300)

    def is_gentle(self, i, j, q):
        """Whether g at q moves by at most MAX_SHIFT when q gets the coefficients of the two;
        bounded by the norm of the change in feature space times that of q."""
        v = self.views
        points = np.stack([v["vectors"][i], v["vectors"][j], q])
        K = self.k(points, points)
        change = np.array([v["coef"][i], v["coef"][j], 0.0])
        change[2] = -change.sum()
        return np.sqrt(max(change @ K @ change, 0.0) * K[2, 2]) <= MAX_SHIFT * self.mu

    def on_the_line(self, i, j):
        """The place on the line from q_i to q_j of smallest distortion in feature space: the best
        of `PLACES`, then golden sections between its neighbours."""
        v = self.views
        x, z = v["vectors"][i].astype(np.float64), v["vectors"][j].astype(np.float64)
        s = self.held("s_minus") + self.held("s_plus")

        def costs(*parts):
            q = (x + np.array(parts)[:, None] * (z - x)).astype(self.dtype)
            k_x, k_z = self.k(q, [x, z]).T
            return (s[i] + s[j]) * self.k(q, q).diagonal() - 2 * (s[i] * k_x + s[j] * k_z)

        places = np.arange(PLACES) / (PLACES - 1.0)
        best, least = 0, np.inf
        for c, cost in enumerate(costs(*places)):
            if cost < least - TIE * abs(least if c else 0.0):
                best, least = c, cost
        low, high = places[max(best - 1, 0)], places[min(best + 1, PLACES - 1)]
        for _ in range(SECTIONS):
            a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            at_a, at_b = costs(a, b)
            low, high = (low, b) if at_a <= at_b else (a, high)
        return (low + high) / 2


class IncrementalDecrementalSVMCoreRef(AdiabaticCoreRef):
    """The arena's arrays by name: vectors, s_minus, s_plus, coef, g, state, S; scalars mu, b."""

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        self.max_vectors = self.slots - 1
        if self.views["mu"] == 0.0:
            self.views["mu"][...] = 1.0 / C

    def step(self, x, y, weight):
        if not np.isfinite(self.norm(x)):
            return Status.NOT_FINITE
        full = self.n == self.max_vectors
        if full and self.when_full == "ignore":
            self.count("n_ignored")
            return Status.UNCHANGED
        moving, removed = [], None
        if full:
            moving, removed = [(0, 0.0, 0.0)], 0
        i, *weights = self.take(x, y, weight)
        if not self.follow([*moving, (i, *weights)], self.mu):
            self.drop(i)
            return Status.UNCHANGED
        if removed is not None:
            self.count("n_forgotten")
            self.drop(removed)
        return Status.CHANGED

    def take(self, x, y, weight):
        """Place a new sample: its slot, and the weights it is to get."""
        i = self.place(x)
        return (i, 0.0, weight) if y > 0 else (i, weight, 0.0)


class IncrementalDecrementalSVRCoreRef(IncrementalDecrementalSVMCoreRef):
    """The arena's arrays by name, besides those of the SVM: targets; a scalar nu = 1 / C."""

    regresses = True

    def __init__(self, *common, C, epsilon, when_full, kernel):
        super().__init__(*common, C=C, when_full=when_full, kernel=kernel)
        if self.views["nu"] == 0.0:
            self.views["nu"][...] = self.views["nu_to"][...] = 1.0 / C
            self.views["mu"][...] = epsilon / C

    def target(self):
        return self.views["nu"] * self.held("targets")

    @property
    def scale(self):
        return float(self.views["nu"])

    def step(self, x, y, weight):
        if not abs(y) <= LARGEST_TARGET:
            return Status.BAD_TARGET
        return super().step(x, y, weight)

    def take(self, x, y, weight):
        v, i = self.views, self.place(x)
        v["targets"][i] = y
        v["g"][i] -= v["nu"] * y
        v["state"][i] = self.side(v["g"][i], True, True)
        return i, weight, weight

    def drop(self, i):
        targets = self.held("targets")
        targets[i:-1] = targets[i + 1 :].copy()
        super().drop(i)


class SimpleSVMCoreRef(AdiabaticCoreRef):
    """The arena's arrays by name: vectors, s_minus, s_plus, coef, g, state, S; scalars mu, b."""

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        self.n_moves = 0
        if self.views["mu"] == 0.0:
            self.views["mu"][...] = 1.0 / C

    # -- one sample --------------------------------------------------------------------------------

    def step(self, x, y, weight):
        status = self.refuses(x)
        if status != Status.UNCHANGED or not self.violates(x, y):
            return status
        if self.n == self.slots and not self.make_room():
            return Status.UNCHANGED
        self.take(x, y, weight, int(self.views["n_seen"]))
        self.views["converged"][...] = 0
        return Status.CHANGED

    def refuses(self, x):
        return Status.UNCHANGED if np.isfinite(self.norm(x)) else Status.NOT_FINITE

    def violates(self, x, y):
        """Whether y f(x) < 1, by more than rounding"""
        gap = self.mu - y * self.g_of(x)
        return gap > 0 and gap > self.tolerance(self.begin([], self.mu))

    def take(self, x, y, weight, number):
        """Store a sample and solve."""
        v, i = self.views, self.place(x)
        v["number"][i] = number
        v["s_plus"][i], v["s_minus"][i] = (weight, 0.0) if y > 0 else (0.0, weight)
        v["state"][i] = 4 if y > 0 else 0
        self.solve_stored()

    def make_room(self):
        """Remove a sample that the solution does not need, or else the oldest; False: none."""
        spare = np.flatnonzero(self.is_spare)
        if len(spare):
            best = spare[0]
            for i in spare[1:]:
                if self.beyond[i] > self.beyond[best] + TIE * self.mu:
                    best = i
            self.remove(int(best))
            return True
        if self.when_full == "ignore":
            self.count("n_ignored")
            return False
        self.follow([(0, 0.0, 0.0)], self.mu)
        self.remove(0)
        self.count("n_forgotten")
        return True

    @property
    def is_spare(self):
        """Which stored samples are beyond the margin, without a coefficient"""
        return np.isin(self.held("state"), (0, 4))

    @property
    def beyond(self):
        """How far the stored samples are beyond the margin: y g - mu"""
        return np.where(self.held("s_plus") > 0, 1.0, -1.0) * self.held("g") - self.mu

    def remove(self, i):
        """Remove a sample without a coefficient; later ones move down by one."""
        number, n = self.views["number"], self.n
        number[i : n - 1] = number[i + 1 : n]
        number[n - 1] = 0
        self.drop(i)

    # -- the active set ----------------------------------------------------------------------------

    def solve_stored(self):
        """Make the solution that of the stored samples."""
        self.count("paths")
        self.improve()

    def improve(self):
        """Let the worst violator into the working set until there is none."""
        for _ in range(MANY_EVENTS * (self.n + 4)):
            walk = self.to_optimum()
            i = self.worst(self.tolerance(walk))
            if i is None:
                return
            self.n_moves += 1
            self.count("n_path_events")
            step = 3 if self.views["s_plus"][i] > 0 else 1
            self.enter(i, step, int(self.views["state"][i]) - step)
        raise PathError

    def to_optimum(self):
        """Move the coefficients of the working set to the solution of their linear system; those
        that reach a bound on the way leave it."""
        while True:
            walk = self.begin([], self.mu)
            self.direct(walk, np.zeros(self.n))
            length, leaves = self.first_at_bound(walk.step)
            self.advance(walk, length, arrived=leaves is None)
            if leaves is None:
                return walk
            self.count("n_path_events")
            self.leave(*leaves)

    def first_at_bound(self, steps):
        """What share of the step leads to the first bound, and whose: its place on S and its
        plateau; None: the whole step is free."""
        v, length, leaves = self.views, 1.0, None
        for p, (i, step) in enumerate(zip(self.S, steps, strict=True)):
            low, high = self.step_bounds(i)
            room = max(high - v["coef"][i] if step > 0 else v["coef"][i] - low, 0.0)
            least = room + ROUNDING * (high - low)
            if abs(step) > least and room < abs(step) * length * (1.0 - ROUNDING):
                length = room / abs(step)
                leaves = p, int(v["state"][i]) + (-1 if step > 0 else 1)
        return length, leaves

    def worst(self, least):
        """The stored sample off the working set that violates most, by more than `least`, the first
        of equals; None: there is none."""
        gap = np.where(self.is_spare, -1.0, 1.0) * self.beyond
        found, most = None, least
        for i in np.flatnonzero(self.held("state") % 2 == 0):
            if gap[i] > most:
                found, most = int(i), gap[i] + TIE * self.mu
        return found

    # -- a pass over rows --------------------------------------------------------------------------

    def sweep(self, X, slots, weights, first):
        """Take in the rows of X that violate, one by one; False: there was no room for one."""
        for i, slot in enumerate(slots):
            x, weight = X[i], 1.0 if weights is None else float(weights[i])
            y = 1.0 if slot else -1.0
            if weight == 0.0:
                continue
            status = self.refuses(x)
            if status != Status.UNCHANGED:
                sample = f"{self.owner}: row {first + i}"
                raise refusal(status, sample, self.dtype, self.labels.in_slots)
            if self.violates(x, y) and first + i not in self.held("number"):
                if self.n == self.slots:
                    return False
                self.take(x, y, weight, first + i)
                for p in np.flatnonzero(self.is_spare)[::-1]:
                    self.remove(int(p))
        return True
