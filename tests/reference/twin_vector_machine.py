"""TwinVectorMachine in plain NumPy: Algorithms 1 to 3 of Wang & Vucetic 2009."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.constants import LEAST_SHARE, LEAST_TOTAL, OPEN_FOR
from edgesvm.learners.twin._twin_vector_machine import CANDIDATES
from edgesvm.learners.twin.constants import (
    EDGE,
    GOLDEN,
    MAX_SHIFT,
    PLACES,
    SECTIONS,
    TIE,
)
from reference.adiabatic import AdiabaticCoreRef
from reference.forgetting import ForgettingRef


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
        half_life,
        threshold,
        kernel,
    ):
        super().__init__(*common, kernel=kernel)
        self.forgets, self.half_life, self.threshold = half_life >= 0, half_life, threshold
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
