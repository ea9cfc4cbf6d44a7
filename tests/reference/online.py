"""The online learners in plain NumPy: perceptrons, passive-aggressive, Pegasos, LASVM."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.papers.online.constants import (
    AT_BOUND,
    FORGETRON_SHARE,
    LEAST_WEIGHT,
    LEVEL,
    MOST,
    MOST_WW,
)
from reference.core import ReferenceCore
from reference.kernel_core import KernelCoreRef
from reference.rng import below, seeded


class LinearCoreRef(ReferenceCore):
    """The arena's arrays by name: w, whose last is the constant feature's weight, and ww = w.w."""

    def __init__(self, *common, fit_intercept):
        super().__init__(*common)
        self.intercept = fit_intercept
        self.most_ww = MOST_WW[self.dtype.name]

    def features(self, x):
        """The sample with the constant appended."""
        return np.append(x, self.dtype.type(1)) if self.intercept else x

    def move(self, step, z, weight):
        """w += step z, unless w would become too long."""
        w = self.views["w"]
        norm = np.sqrt(self.views["ww"]) + abs(step) * np.sqrt(np.float64(z @ z))
        if not norm * norm <= self.most_ww:
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        w += self.dtype.type(step) * z
        self.views["ww"][...] = w @ w
        return Status.CHANGED

    def decide(self, x):
        return float(self.features(x) @ self.views["w"]) if np.isfinite(x @ x) else np.nan


class PerceptronCoreRef(LinearCoreRef):
    """The step of Rosenblatt 1958."""

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        z = self.features(x)
        if y * (z @ self.views["w"]) > 0:
            return Status.UNCHANGED
        return self.move(weight * y, z, weight)


class PassiveAggressiveCoreRef(LinearCoreRef):
    """The step of Crammer et al. 2006, Figure 1."""

    def __init__(self, *common, fit_intercept, C, variant):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.C, self.variant = C, variant

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        z, C = self.features(x), self.C * weight
        zz = np.float64(z @ z)
        loss = 1 - y * np.float64(z @ self.views["w"])
        if loss <= 0 or zz == 0:
            return Status.UNCHANGED
        tau = {"PA": loss / zz, "PA-I": min(C, loss / zz), "PA-II": loss / (zz + 0.5 / C)}
        return self.move(tau[self.variant] * y, z, weight)


class PegasosCoreRef(LinearCoreRef):
    """The step of Shalev-Shwartz, Singer & Srebro 2007, Figure 1, for the next k of a stream."""

    def __init__(self, *common, fit_intercept, lambda_, batch_size, project):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.lambda_, self.batch_size, self.project = lambda_, batch_size, project

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        v, z = self.views, self.features(x)
        most = weight * np.sqrt(np.float64(z @ z)) * max(1 / self.lambda_, self.batch_size)
        if not most * most <= self.most_ww:
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        violates = y * (z @ v["w"]) < 1
        if violates:
            v["gradient"] += self.dtype.type(weight * y) * z
        v["n_waiting"] += 1
        if v["n_waiting"] < self.batch_size:
            return Status.CHANGED if violates else Status.UNCHANGED
        self.descend()
        return Status.CHANGED

    def descend(self):
        v, real = self.views, self.dtype.type
        v["n_steps"] += 1
        t, w = int(v["n_steps"]), v["w"]
        w[:] = real(1 - 1 / t) * w + real(1 / (self.lambda_ * t * self.batch_size)) * v["gradient"]
        if self.project and w @ w > 1 / self.lambda_:
            w *= real(1 / np.sqrt(self.lambda_ * np.float64(w @ w)))
        v["ww"][...] = w @ w
        v["gradient"][:] = 0
        v["n_waiting"][...] = 0


class ExpansionCoreRef(KernelCoreRef):
    """The arena's arrays by name: n_held, coef, vectors."""

    def held(self, *names):
        m = int(self.views["n_held"])
        return [self.views[name][:m] for name in names]

    def project(self, x):
        coef, vectors = self.held("coef", "vectors")
        return float(self.k(x, vectors)[0] @ coef) if len(coef) else 0.0

    def refuses(self, x, weight):
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        if not self.self_kernel(x) <= MOST:
            return Status.NOT_FINITE
        return Status.UNCHANGED if LEAST_WEIGHT <= weight <= MOST else Status.BAD_WEIGHT

    def put(self, i, x, coef):
        self.views["vectors"][i], self.views["coef"][i] = x, coef

    def decide(self, x):
        return self.project(x) if self.self_kernel(x) <= MOST else np.nan


class KernelPerceptronCoreRef(ExpansionCoreRef):
    """The perceptron's step, and what happens when there is no room."""

    def __init__(self, *common, kernel, when_full, seed):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        if not self.views["rng"].any():
            self.views["rng"][:] = seeded(seed)

    def step(self, x, y, weight):
        status = self.refuses(x, weight)
        if status > Status.CHANGED:
            return status
        if y * self.project(x) > 0:
            return Status.UNCHANGED
        v, M = self.views, len(self.views["coef"])
        i = int(v["n_held"])
        if i < M:
            v["n_held"] += 1
        elif self.when_full == "ignore":
            v["n_ignored"] += 1
            return Status.UNCHANGED
        elif self.when_full == "random":
            i = below(v["rng"], M)
        else:
            i = int(v["oldest"])
            v["oldest"][...] = (i + 1) % M
        self.put(i, x, y * weight)
        return Status.CHANGED


class ForgetronCoreRef(ExpansionCoreRef):
    """The self-tuned forgetron of Dekel, Shalev-Shwartz & Singer 2008."""

    def step(self, x, y, weight):
        status = self.refuses(x, weight)
        if status > Status.CHANGED:
            return status
        if y * self.project(x) > 0:
            return Status.UNCHANGED
        v, M = self.views, len(self.views["coef"])
        if v["n_held"] < M:
            self.put(int(v["n_held"]), x, y * weight)
            v["n_held"] += 1
            return Status.CHANGED
        r = int(v["oldest"])
        x_r, coef_r = v["vectors"][r], float(v["coef"][r])
        f_r = self.project(x_r) + y * weight * float(self.k(x, x_r)[0, 0])
        sigma, mu = abs(coef_r), np.sign(coef_r) * f_r
        room = FORGETRON_SHARE * (int(v["n_updates"]) + 1) - float(v["Q"])
        a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
        phi = 1.0
        if a + b > room:
            phi = 2 * room / (b + np.sqrt(max(b**2 + 4 * a * room, 0.0)))
        v["Q"] += phi**2 * a + phi * b
        v["coef"][:] *= phi
        self.put(r, x, phi * y * weight)
        v["oldest"][...] = (r + 1) % M
        return Status.CHANGED


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
