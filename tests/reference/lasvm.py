"""LASVM in plain NumPy, to be read next to section 3 of Bordes, Ertekin, Weston & Bottou 2005."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.papers.online.constants import AT_BOUND, LEVEL
from reference.expansion import ExpansionCoreRef

PER_SLOT = ("vectors", "coef", "bound", "gradient")


class LASVMCoreRef(ExpansionCoreRef):
    """The arena's arrays by name: vectors, coef, bound (y C weight), gradient, intercept, gap."""

    def __init__(self, *common, kernel, C, tau):
        super().__init__(*common, kernel=kernel)
        self.C, self.tau = C, tau

    def step(self, x, y, weight):
        status = self.refuses(x, self.C * weight)
        if status > Status.CHANGED:
            return status
        v = self.views
        before = float(v["intercept"])
        moved = self.process(x, y, y * self.C * weight)
        moved |= self.reprocess()
        if v["n_held"] == len(v["coef"]):
            moved |= self.give_up_oldest()
        self.set_intercept()
        return Status(moved or float(v["intercept"]) != before)

    def process(self, x, y, bound):
        v, k = self.views, int(self.views["n_held"])
        v["gradient"][k] = y - self.project(x)
        self.put(k, x, 0.0)
        v["bound"][k] = bound
        v["n_held"] += 1
        i, j = (k, self.lowest()) if y > 0 else (self.highest(), k)
        return self.step_of_pair(i, j)

    def reprocess(self):
        if not self.step_of_pair(self.highest(), self.lowest()):
            return False
        coef, bound, gradient = self.held("coef", "bound", "gradient")
        i, j = self.highest(), self.lowest()
        g_i = gradient[i] if i is not None else np.inf
        g_j = gradient[j] if j is not None else -np.inf
        useless = (coef == 0) & np.where(bound < 0, gradient >= g_i, gradient <= g_j)
        for s in np.flatnonzero(useless)[::-1]:
            self.remove(s)
        return True

    def highest(self, but=None):
        """argmax g_s with alpha_s < B_s"""
        coef, bound, gradient = self.held("coef", "bound", "gradient")
        return first_largest(gradient, coef < np.maximum(0, bound), but)

    def lowest(self, but=None):
        """argmin g_s with alpha_s > A_s"""
        coef, bound, gradient = self.held("coef", "bound", "gradient")
        return first_largest(-gradient, coef > np.minimum(0, bound), but)

    def rows(self, *indices):
        vectors, *_ = self.held("vectors")
        return [self.k(vectors[i], vectors)[0] for i in indices]

    def step_of_pair(self, i, j):
        g = self.views["gradient"]
        if i is None or j is None or not g[i] - g[j] > self.tau:
            return False
        K_i, K_j = self.rows(i, j)
        curvature = K_i[i] + K_j[j] - 2 * K_i[j]
        self.transfer(i, j, (g[i] - g[j]) / curvature if curvature > 0 else np.inf)
        return True

    def transfer(self, i, j, step):
        coef, bound, gradient = self.held("coef", "bound", "gradient")
        B, A = max(0.0, bound[i]), min(0.0, bound[j])
        above, below = B - coef[i], coef[j] - A
        step = min(step, above, below)
        coef[i] = B if above - step <= AT_BOUND * abs(bound[i]) else coef[i] + step
        coef[j] = A if below - step <= AT_BOUND * abs(bound[j]) else coef[j] - step
        K_i, K_j = self.rows(i, j)
        gradient -= step * (K_i - K_j)

    def give_up_oldest(self):
        coef, gradient = self.held("coef", "gradient")
        moved = bool(coef[0] != 0)
        while coef[0] != 0:
            other = self.highest(but=0) if coef[0] > 0 else self.lowest(but=0)
            if other is None:  # rounding has left a rest
                gradient += coef[0] * self.rows(0)[0]
                coef[0] = 0.0
            elif coef[0] > 0:
                self.transfer(other, 0, np.inf)
            else:
                self.transfer(0, other, np.inf)
        self.remove(0)
        self.views["n_given_up"] += 1
        return moved

    def remove(self, i):
        m = int(self.views["n_held"])
        for name in PER_SLOT:
            self.views[name][i : m - 1] = self.views[name][i + 1 : m].copy()
        self.views["n_held"] -= 1

    def set_intercept(self):
        i, j = self.highest(), self.lowest()
        if i is not None and j is not None:
            g = self.views["gradient"]
            self.views["intercept"][...] = (g[i] + g[j]) / 2
            self.views["gap"][...] = g[i] - g[j]

    def finish(self, n):
        done = 0
        while done < n and self.reprocess():
            done += 1
        self.set_intercept()
        return done

    def decide(self, x):
        return super().decide(x) + float(self.views["intercept"])


def first_largest(values, allowed, but=None):
    """Index of the largest of the allowed values, of those equal up to rounding the first, without
    index `but`; None if there is none."""
    best = None
    for s in np.flatnonzero(allowed):
        if s != but and (best is None or clearly_more(values[s], values[best])):
            best = int(s)
    return best


def clearly_more(a, b):
    return a > b + LEVEL * (1 + abs(b))
