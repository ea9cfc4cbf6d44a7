"""StreamSVM and KernelStreamSVM in plain NumPy, to be read next to the paper; the same methods as
in `_stream.pyx`, but of KernelStreamSVM every squared length is computed from its definition, none
updated."""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import LARGEST_NORM, LEAST_NORM
from edgesvm.core.status import Status
from edgesvm.learners.constants import FACTOR_EXISTS, THRESHOLD
from edgesvm.learners.stream._stream import NOTED, RECENT
from edgesvm.learners.stream.constants import (
    AT_POINT,
    LARGEST_PENALTY,
    LEVEL,
    LOWER_STEPS,
    LOWER_TOLERANCE,
    MAX_SQUARE,
    RIDGE,
    UPPER_STEPS,
    UPPER_TOLERANCE,
)
from reference.core import ReferenceCore, mean_decides, note_errors
from reference.forgetting import ForgettingRef
from reference.kernel_core import KernelCoreRef


def check_point(square, wz, xi2):
    """Whether a point can be learned: sums of a few such squared lengths do not overflow."""
    if not square <= MAX_SQUARE or not np.isfinite(wz):
        return Status.NOT_FINITE
    return Status.UNCHANGED if xi2 <= MAX_SQUARE else Status.BAD_WEIGHT


def first_smallest(values):
    """Index of the smallest of values >= 0; of those equal up to rounding, the first."""
    return int(np.argmax(values <= values.min() * (1 + LEVEL)))


def grown(R, R_z, d, step, off):
    """The radius after a step; `off` is a weighted point's squared distance from the space that the
    centre moves in."""
    if off == 0:
        return 0.5 * (R + R_z + d)
    way = np.sqrt(max(d**2 - off, 0.0))
    return max(R + step * way, np.sqrt(max(((1 - step) * way) ** 2 + off, 0.0)))


class StreamSVMCoreRef(ReferenceCore):
    """The arena's arrays by name: R, xi2, ww, q, w; and the stored balls: centres, gram, square,
    radius, share."""

    def __init__(
        self,
        *common,
        C,
        slack,
        bound,
        normalize,
        fit_intercept,
        lookahead,
        join,
        average,
    ):
        super().__init__(*common)
        self.C, self.paper_slack, self.lower = C, slack == "paper", bound == "lower"
        self.normalize, self.intercept, self.flush = normalize, fit_intercept, lookahead > 0
        self.several, self.averages = "n_held" in self.views, average
        self.by_reach = join == "reach" and not self.lower

    def features(self, x, y):
        """y times the sample with the constant appended, scaled to unit norm."""
        z = np.append(x, 1.0) if self.intercept else x
        norm = np.sqrt(np.float64(z @ z))
        return y * z / (norm if self.normalize and norm > 0 else 1.0)

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        z = self.features(x, y)
        xi2 = 1 / weight if self.paper_slack else 1 / (self.C * weight)
        point = z, z @ z + xi2, z @ z + 1 / self.C, xi2, 0.0
        status = check_point(point[2], z @ self.views["w"], xi2)
        if status > Status.CHANGED:
            return status
        self.note_errors(z)
        if not self.several:
            return self.take(*point)
        if self.views["n_held"] and self.inside(z, z @ z + 1 / self.C):
            return Status.UNCHANGED
        return self.hold(*point)

    # -- one ball ----------------------------------------------------------------------------------

    def take(self, z, zz, square, xi2_z, R_z):
        v = self.views
        w, R, xi2, q = v["w"], float(v["R"]), float(v["xi2"]), float(v["q"])
        off = 0.0 if self.paper_slack else square - zz
        if v["n_per_class"].sum() == 0:
            step, R, xi2, q = 1.0, R_z + np.sqrt(max(off, 0.0)), xi2_z, square
        else:
            cc = float(v["ww"]) + xi2
            d2 = cc - 2 * float(w @ z) + square
            if self.lower:
                if d2 <= R**2:
                    return Status.UNCHANGED
                step = min(0.5 * (d2 - R**2) / max(d2 - square + zz, 0.5 * (d2 - R**2)), 1.0)
            else:
                d = np.sqrt(max(d2, 0.0))
                if d + R_z <= R:
                    return Status.UNCHANGED
                if d + R <= R_z:
                    step, R = 1.0, R_z
                else:
                    step = 0.5 * (1 - (R - R_z) / d)
                    R = grown(R, R_z, d, step, off)
            q += step * (square - q)
            xi2 = (1 - step) ** 2 * xi2 + step**2 * xi2_z
        self.take_mean()
        w[:] = (1 - step) * w + step * z
        v["ww"][...] = ww = w @ w
        v["xi2"][...], v["q"][...] = xi2, q
        v["R"][...] = np.sqrt(max(q - ww - xi2, 0.0)) if self.lower else R
        return Status.CHANGED

    # -- several balls -----------------------------------------------------------------------------

    def hold(self, z, zz, square, xi2, R_z):
        v = self.views
        m = int(v["n_held"])
        v["gram"][m, :m] = v["gram"][:m, m] = v["centres"][:m] @ z
        v["gram"][m, m], v["square"][m], v["radius"][m], v["share"][m] = (
            zz,
            square,
            R_z,
            float(m == 0),
        )
        v["centres"][m] = z
        v["n_held"] += 1
        self.enclose()
        return Status.CHANGED

    def inside(self, z, square):
        v = self.views
        m = int(v["n_held"])
        if self.lower:
            return v["ww"] + v["xi2"] - 2 * (v["w"] @ z) + square <= v["R"] ** 2
        d2 = np.diag(v["gram"])[:m] - 2 * (v["centres"][:m] @ z) + square
        return bool(((d2 <= v["radius"][:m] ** 2) & (v["radius"][:m] > 0)).any())

    def enclose(self):
        v = self.views
        full = v["n_held"] == len(v["radius"])
        if full and not self.flush and not self.lower:
            if self.by_reach:
                self.solve()
            self.merge_cheapest()
        v["R"][...] = self.solve()
        self.take_mean()
        m = int(v["n_held"])
        a = v["share"][:m]
        v["w"][:] = a @ v["centres"][:m]
        v["q"][...] = a @ v["square"][:m]
        v["ww"][...] = v["w"] @ v["w"]
        v["xi2"][...] = max(a @ v["gram"][:m, :m] @ a - v["ww"], 0.0)
        if full and self.flush:
            self.collapse()
        elif full and self.lower:
            self.merge_cheapest()

    def reach(self, a, m):
        """How far each ball reaches from the centre with shares `a`: upper, its farthest point;
        lower, its mean squared distance."""
        v = self.views
        pull = v["gram"][:m, :m] @ a
        d2 = np.maximum(a @ pull - 2 * pull + v["square"][:m], 0.0)
        return pull, (d2 if self.lower else np.sqrt(d2) + v["radius"][:m])

    def solve(self):
        v = self.views
        m = int(v["n_held"])
        G, a, R = v["gram"][:m, :m], v["share"][:m], v["radius"][:m]
        for step in range(LOWER_STEPS if self.lower else UPPER_STEPS):
            pull, reach = self.reach(a, m)
            i = int(np.argmax(reach >= reach.max() * (1 - LEVEL)))
            j = first_smallest(np.where(a > 0, reach, np.inf))
            gap = reach[i] - reach[j]
            slack = (
                LOWER_TOLERANCE * (a @ pull) * (step > 0)
                if self.lower
                else UPPER_TOLERANCE * reach[i]
            )
            if gap <= slack:
                break
            apart = G[i, i] + G[j, j] - 2 * G[i, j]
            if self.lower:
                slope = 2 * apart
            else:
                r_i, r_j, moved = reach[i] - R[i], reach[j] - R[j], pull[i] - pull[j]
                slope = (
                    np.sqrt(max(apart, 0.0))
                    if r_j <= AT_POINT * reach[i]
                    else (moved - G[i, j] + G[j, j]) / r_j
                )
                slope -= (moved - G[i, i] + G[i, j]) / r_i
            t = a[j] if not slope * a[j] > gap else gap / slope
            if not t > 0:
                break
            a[i] += t
            a[j] -= t
        pull, reach = self.reach(a, m)
        return np.sqrt(max(a @ v["square"][:m] - a @ pull, 0.0)) if self.lower else reach.max()

    def collapse(self):
        v = self.views
        cc = v["ww"] + v["xi2"]
        v["centres"][0] = v["w"]
        v["gram"][0, 0], v["share"][0], v["n_held"][...] = cc, 1.0, 1
        v["square"][0] = v["q"] if self.lower else cc
        v["radius"][0] = 0.0 if self.lower else v["R"]

    def joint_reach(self, m, d):
        """How far the smallest ball around each pair reaches from the centre of the ball around
        all; `d` are the distances of their centres."""
        v = self.views
        G, R = v["gram"][:m, :m], v["radius"][:m]
        inner, outer = np.minimum(R[:, None], R), np.maximum(R[:, None], R)
        apart = d + inner > outer  # otherwise one lies in the other
        t = np.where(R[:, None] < R, 1.0, 0.0)
        np.divide(R[:, None] - R, d, out=t, where=apart)
        t = np.where(apart, 0.5 * (1 - t), t)
        pull = G @ v["share"][:m]
        norm = np.diag(G)
        cc = v["share"][:m] @ pull
        d2 = cc - 2 * ((1 - t) * pull[:, None] + t * pull)
        d2 += (1 - t) ** 2 * norm[:, None] + 2 * t * (1 - t) * G + t**2 * norm
        d2[d2 <= LEVEL * cc] = 0.0
        return np.sqrt(d2) + np.where(apart, (d + inner + outer) / 2, outer)

    def merge_cheapest(self):
        v = self.views
        m = int(v["n_held"])
        G, a, R, square, centres = v["gram"], v["share"], v["radius"], v["square"], v["centres"]
        norms = np.diag(G)[:m]
        d2 = np.maximum(norms[:, None] + norms - 2 * G[:m, :m], 0.0)
        if self.lower:
            total = a[:m, None] + a[:m]
            cost = d2 * np.divide(a[:m, None] * a[:m], total, out=np.zeros((m, m)), where=total > 0)
        elif self.by_reach:
            cost = self.joint_reach(m, np.sqrt(d2))
        else:
            cost = np.maximum(
                (np.sqrt(d2) + R[:m, None] + R[:m]) / 2, np.maximum(R[:m, None], R[:m])
            )
        cost[np.tril_indices(m)] = np.inf
        i, j = divmod(first_smallest(cost), m)
        d = np.sqrt(d2[i, j])
        if self.lower:
            t = a[j] / (a[i] + a[j]) if a[i] + a[j] > 0 else 0.0
            square[i] += t * (square[j] - square[i])
        elif d + R[j] <= R[i]:
            t = 0.0
        elif d + R[i] <= R[j]:
            t, R[i] = 1.0, R[j]
        else:
            t = 0.5 * (1 - (R[i] - R[j]) / d)
            R[i] = max(
                np.sqrt(max((t * d) ** 2 + square[i] - G[i, i], 0.0)) + R[i],
                np.sqrt(max(((1 - t) * d) ** 2 + square[j] - G[j, j], 0.0)) + R[j],
            )
        centres[i] = (1 - t) * centres[i] + t * centres[j]
        merged = (1 - t) ** 2 * G[i, i] + 2 * t * (1 - t) * G[i, j] + t**2 * G[j, j]
        G[i, :m] = G[:m, i] = (1 - t) * G[i, :m] + t * G[j, :m]
        G[i, i], a[i] = merged, a[i] + a[j]
        if not self.lower:
            square[i] = merged
        last = m - 1  # moves to the free slot
        for per_ball in (centres, square, R, a):
            per_ball[j] = per_ball[last]
        G[j, :m] = G[last, :m]
        G[:m, j] = G[:m, last]
        v["n_held"] -= 1

    # -- the mean of w over the stream -------------------------------------------------------------

    def pending(self):
        if not self.averages:
            return 1.0
        n, s = int(self.views["n_per_class"].sum()), int(self.views["n_averaged"])
        return (n - s) * (n + s + 1) / (n * (n + 1)) if n > s else 0.0

    def take_mean(self):
        if self.averages:
            v = self.views
            v["average"] += v["w"].dtype.type(self.pending()) * (v["w"] - v["average"])
            v["n_averaged"][...] = v["n_per_class"].sum()

    def mean_of_w(self):
        return self.weights(self.pending())

    def weights(self, share_of_last):
        v = self.views
        w = v["w"].astype(np.float64)
        return w + (1 - share_of_last) * (v.get("average", w) - w)

    def note_errors(self, z):
        n = int(self.views["n_per_class"].sum())
        if not self.averages or n % NOTED:
            return
        wrong = [self.weights(1.0) @ z <= 0, self.mean_of_w() @ z <= 0]
        note_errors(self.views["error_rates"], wrong, n // NOTED + 1, RECENT)

    def deciding(self):
        by_mean = not self.averages or mean_decides(self.views["error_rates"])
        return self.weights(self.pending() if by_mean else 1.0)

    # -- entry points ------------------------------------------------------------------------------

    def absorb(self, other, flipped):
        v, o = self.views, other.views
        z = o["w"] * (-1.0 if flipped else 1.0)
        zz = float(o["ww"] + o["xi2"])
        square = float(o["q"]) if self.lower else zz
        R = 0.0 if self.lower else float(o["R"])
        self.take_mean()
        (self.hold if self.several else self.take)(z, zz, square, float(o["xi2"]), R)
        if self.averages:
            n = int(v["n_per_class"].sum() + o["n_per_class"].sum())
            theirs = other.mean_of_w() * (-1.0 if flipped else 1.0)
            share = o["n_per_class"].sum() / n
            v["average"] += share * (theirs - v["average"])
            v["error_rates"] += share * (o["error_rates"] - v["error_rates"])
            v["n_averaged"][...] = n
        v["n_seen"] += o["n_seen"]
        v["n_updates"] += o["n_updates"]
        v["n_per_class"] += o["n_per_class"][::-1] if flipped else o["n_per_class"]

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        z = self.features(x, 1.0)
        return float(self.deciding() @ z) if z @ z + 1 / self.C <= MAX_SQUARE else np.nan


class KernelStreamSVMCoreRef(KernelCoreRef, ForgettingRef):
    """The arena's arrays by name: R, xi2, ww, q; and of the stored vectors: vectors, share, sign;
    with when_full="share" norm and own, with "newton" weight and L.
    """

    def __init__(self, *common, C, bound, when_full, forgetting, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.lower, self.newton = C, bound == "lower", when_full == "newton"
        self.half_life, self.threshold = forgetting, THRESHOLD
        self.forgets = forgetting >= 0 and self.newton
        self.slots = len(self.views["share"])

    def held(self, *more):
        m = int(self.views["n_held"])
        return [self.views[name][:m] for name in ("vectors", "share", "sign", *more)]

    @property
    def at_newton(self):
        return self.newton and self.views["n_held"] == self.slots

    def project(self, x):
        vectors, share, sign = self.held()
        return float(self.k(x, vectors)[0] @ (share * sign)) if len(vectors) else 0.0

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        return self.refine(x, y, weight) if self.at_newton else self.enclose(x, y, weight)

    # -- the ball ----------------------------------------------------------------------------------

    def enclose(self, x, y, weight):
        v = self.views
        k_xx, f = float(self.k(x, x)[0, 0]), self.project(x)
        square, own_x = k_xx + 1 / self.C, 1 / (self.C * weight)
        status = check_point(square, f, own_x)
        if status > Status.CHANGED:
            return status
        if self.newton and k_xx > LARGEST_NORM:
            return Status.NOT_FINITE
        m, R, step = int(v["n_held"]), float(v["R"]), 1.0
        off = square - (k_xx + own_x)
        if m == 0:
            R = np.sqrt(max(off, 0.0))
        else:
            if self.forgets:
                self.forget(self.error(y, f, weight))
            cc = float(v["ww"] + v["xi2"])
            d2 = cc - 2 * y * f + square
            if d2 <= R**2:
                return Status.UNCHANGED
            if self.lower:
                step = min(
                    0.5 * (d2 - R**2) / max(d2 - square + k_xx + own_x, 0.5 * (d2 - R**2)), 1.0
                )
            else:
                d = np.sqrt(d2)
                step = 0.5 * (1 - R / d)
                R = grown(R, 0.0, d, step, off)
        v["share"][:m] *= 1 - step
        v["vectors"][m] = x
        v["share"][m], v["sign"][m] = step, y
        if self.newton:
            v["weight"][m] = weight
        else:
            v["norm"][m], v["own"][m] = k_xx, own_x
        v["n_held"] += 1
        if not self.newton and v["n_held"] == self.slots:
            R += self.drop_one()
        vectors, share, sign, last = self.held("weight" if self.newton else "own")
        own = 1 / (self.C * last) if self.newton else last
        K = self.k(vectors, vectors)
        v["ww"][...] = ww = (share * sign) @ K @ (share * sign)
        v["xi2"][...] = xi2 = own @ share**2
        v["q"][...] = q = share @ np.diag(K) + 1 / self.C
        v["R"][...] = np.sqrt(max(q - ww - xi2, 0.0)) if self.lower else R
        if self.at_newton:
            self.start()
        return Status.CHANGED

    def drop_one(self):
        """Remove the older vector of the smallest share, which goes to the nearest; return how far
        the centre moves."""
        vectors, share, sign, norm, own = self.held("norm", "own")
        i = first_smallest(share[:-1])
        d2 = norm[i] + norm - 2 * sign[i] * sign * self.k(vectors[i], vectors)[0]
        d2 = np.maximum(d2, 0) + own[i] + own
        d2[i] = np.inf
        j = first_smallest(d2)
        moved = share[i] * np.sqrt(d2[j])
        share[j] += share[i]
        for per_vector in (vectors, share, sign, norm, own):
            per_vector[i] = per_vector[-1]
        self.views["n_held"] -= 1
        return moved

    # -- after the ball ----------------------------------------------------------------------------

    def refine(self, x, y, weight):
        """Learn a sample with the vectors that there are."""
        v = self.views
        if not self.self_kernel(x) <= LARGEST_NORM:
            return Status.NOT_FINITE
        if not 1 / (self.C * weight) <= MAX_SQUARE:
            return Status.BAD_WEIGHT
        if not (v["sign"] == y).any():  # the first of its sign replaces the newest vector
            v["vectors"][-1], v["sign"][-1], v["weight"][-1] = x, y, weight
            self.start()
            return Status.CHANGED
        k = self.k(x, v["vectors"])[0]
        if self.forgets:
            self.forget(self.error(y, k @ (v["share"] * v["sign"]), weight))
        return self.newton_step(k, y, weight)

    def error(self, y, f, weight):
        """1 where f is wrong; less of what weighs less than a sample held, and with balanced
        classes less of the larger one, by its weight."""
        if not y * f <= 0:
            return 0.0
        if self.balanced:
            return min(self.class_weight(y) / self.class_weight(-y), 1.0)
        return weight / max(weight, *self.views["weight"][: int(self.views["n_held"])])

    def start(self):
        """A = K, and a step for each vector."""
        vectors, share, sign, weights = self.held("weight")
        K = self.k(vectors, vectors)
        self.L = np.linalg.cholesky(self.ridged(K))
        share[:] = 0.0
        for k, y, weight in zip(K, sign, weights, strict=True):
            self.newton_step(k, y, weight)

    def ridged(self, K):
        norm = np.diag(K)
        return K + np.diag(np.where(norm > LEAST_NORM, RIDGE * norm, 1.0 - norm))

    def age(self, part):
        """A keeps a part of what is not K; a ball keeps all."""
        if self.at_newton:
            vectors = self.views["vectors"]
            K = self.ridged(self.k(vectors, vectors))
            A = part * (self.L @ self.L.T) + (1 - part) * K
            self.L = np.linalg.cholesky(A + FACTOR_EXISTS * np.diag(A.diagonal()))

    def newton_step(self, k, y, weight):
        """Learn a sample, given its kernel values with the vectors."""
        _, share, sign = self.held()
        f, penalty, largest = k @ (share * sign), self.C * weight, abs(k).max()
        if not y * f < 1:
            return Status.UNCHANGED
        penalty = min(penalty, LARGEST_PENALTY / largest) if largest else penalty
        _, R = np.linalg.qr(np.vstack([self.L.T, np.sqrt(penalty) * k]))  # A += penalty k k'
        self.L = R.T * np.sign(np.diag(R))
        gain = np.linalg.solve(self.L.T, np.linalg.solve(self.L, k))
        share += penalty * (1 - y * f) * y * sign * gain
        return Status.CHANGED

    @property
    def L(self):
        """A = K + C sum_t k_t k_t' = L L'; the arena has L column by column."""
        L = np.zeros((self.slots, self.slots))
        L.T[np.triu_indices(self.slots)] = self.views["L"]
        return L

    @L.setter
    def L(self, L):
        self.views["L"][:] = L.T[np.triu_indices(self.slots)]

    def decide(self, x):
        return self.project(x) if self.self_kernel(x) <= MAX_SQUARE else np.nan
