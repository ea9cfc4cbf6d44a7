"""The novelty learners in plain NumPy, with whole matrices where the cores have factors."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.learners.novelty.novelty import ALARM, CODES_PER_UNIT
from reference.core import ReferenceCore, into

MEAN, VARIANCE, LEVEL, EXCESS, N_ABOVE, SHIFT = range(6)  # of the array "tail"
INTEGRAL, SHARE, ON, STRANGE, AGE, HIGHEST, IS_LOST, CALM_FOR, N_LOST, N_STUCK = range(len(ALARM))
FORMER = "former_"

# As _novelty.pyx says.
REACH, CLIP, SETTLED, SCALED, TINY, FARTHEST = 24.0, 8.0, 10, 20, 1e-300, 1e100
ABOVE, Z_ABOVE, DENSITY = 0.1, 1.2815515655446004, 0.17549833193248682
FIRST_EXCESS, LEVEL_AFTER, EXCESS_AFTER = 0.5, 20.0, 4.0
STUCK_AFTER, COSTS, MOST_LIVELY = 50, 9, 30_000
GAIN, LASTS, GROWS, LATELY = 2.0, 10, 1.25, np.log(2) / 250
MOST_EXCESS, ENOUGH, EASES, CALM, SINKS, KNOWN = 9.2, 4, 0.5, 5, 0.1, 250


class NoveltyCoreRef(ReferenceCore):
    """The arena's arrays by name: mean, spread, tail, n_scored, alarm, ... A subclass adds, of a
    sample in deviations, `score`, how strange it is, `learn_scaled`, and `drops`, how much less
    strange it is with each feature as the others say; some below 0 is 0.
    """

    one_class = True

    def __init__(self, *common, rate, warm_up, learns_all, until, k, n, gate):
        super().__init__(*common)
        self.rate, self.warm_up, self.k, self.n, self.above = rate, warm_up, k, n, gate
        self.learns_all, self.until = learns_all, until
        self.looks_back, self.only_looks_on = "values" in self.views, False
        self.takes_as_normal = False

    @property
    def n_kept(self):
        return int(self.views["n_kept"])

    @property
    def n_fitted(self):
        return max(self.n_kept - SETTLED, 0)

    @property
    def frozen(self):
        return self.only_looks_on or 0 < self.until <= self.n_kept

    @property
    def warm(self):
        return self.n_kept >= self.warm_up

    @property
    def n_apart(self):
        return int(self.views[FORMER + "n_kept"])

    def step(self, x, _y, _weight):
        v, x64 = self.views, x.astype(float)
        if not np.isfinite(x @ x) or not np.isfinite(v["spread"] + (x64 - v["mean"]) ** 2).all():
            return Status.NOT_FINITE
        if self.takes_as_normal:
            self.learn_kept(x64)
            return Status.CHANGED
        if self.looks_back and self.repeats_itself(x):
            return Status.UNCHANGED
        warm, held, familiar = self.warm, False, False
        score, judged = self.judge(x64)
        v["n_strange"][...] += warm and score > self.threshold
        chooses = warm and not self.learns_all
        if chooses and self.holds(score > self.gate):
            familiar = self.learn_apart(x64)
            held = self.n_apart <= self.n_kept
        self.turn(warm, judged, familiar)
        if not held and not (warm and self.frozen):
            self.follow(judged)
        strange = chooses and self.n_apart == 0 and score > self.gate
        if held or self.frozen or strange:
            return Status.UNCHANGED
        self.learn_kept(x64)
        return Status.CHANGED

    def judge(self, x):
        """The score, and the k-th largest of the last n."""
        score, recent = self.score(self.bent(x)), self.views["recent"]
        recent[:] = [*recent[1:], score]
        return score, np.sort(recent)[-self.k]

    def holds(self, strange):
        a = self.views["alarm"]
        if self.n_apart == 0:
            a[STRANGE] = max(a[STRANGE] + (1 if strange else -EASES), 0)
            if a[STRANGE] < ENOUGH:
                return False
            a[STRANGE] = 0
        a[CALM_FOR] = 0 if strange else a[CALM_FOR] + 1
        if a[CALM_FOR] >= CALM:
            a[IS_LOST] = 0
            for name in self.model:
                self.views[FORMER + name][...] = 0
        return self.n_apart > 0 or strange

    def learn_apart(self, x):
        a = self.views["alarm"]
        self.exchange()
        score, judged = self.judge(x)
        if self.n_kept == KNOWN:
            a[IS_LOST] = 1
            a[N_LOST] += 1
        familiar = a[IS_LOST] and judged <= self.threshold
        if not a[IS_LOST] or a[AGE] >= LASTS or score <= self.gate:
            self.learn_kept(x)
        self.follow(judged)
        self.exchange()
        return familiar

    def turn(self, warm, judged, familiar):
        a = self.views["alarm"]
        sunk = self.threshold - SINKS * self.n_apart * self.mean_excess
        on = judged > max(sunk, min(self.threshold, self.gate))
        if self.n_apart == 0:
            a[CALM_FOR] = 0 if on else a[CALM_FOR] + 1
        if familiar or (self.n_apart == 0 and a[CALM_FOR] >= CALM):
            on = False
            a[[AGE, HIGHEST]] = 0
        elif a[AGE] >= LASTS:
            on = on and judged > self.gate + GROWS * (a[HIGHEST] - self.gate)
        begins = on and not a[ON] and (a[AGE] == 0 or a[AGE] >= LASTS)
        a[AGE] += on
        a[HIGHEST] = max(a[HIGHEST], judged)
        a[ON] = warm and on
        a[SHARE] += LATELY * (a[ON] - a[SHARE])
        self.views["n_alarms"][...] += warm and begins
        if self.views["tail"][VARIANCE] > 0:
            a[INTEGRAL] += begins - self.rate
            a[INTEGRAL] = max(a[INTEGRAL], -np.log(ABOVE / self.rate) / GAIN)

    @property
    def model(self):
        """Names of the model's arrays."""
        return [name[len(FORMER) :] for name in self.views if name.startswith(FORMER)]

    def exchange(self):
        for name in self.model:
            one, other = self.views[name], self.views[FORMER + name]
            one[...], other[...] = other.copy(), one.copy()

    def learn_kept(self, given):
        v, reach = self.views, np.full(len(given), np.inf)
        if self.n_kept >= SCALED:
            reach = CLIP * np.sqrt(v["spread"] / self.n_kept)
            reach[reach == 0] = np.inf
        x = given.clip(v["mean"] - reach, v["mean"] + reach)
        delta = x - v["mean"]
        v["n_kept"][...] += 1
        v["mean"] += delta / self.n_kept
        v["spread"] += delta * (x - v["mean"])
        if self.n_kept > SETTLED:
            self.learn_scaled(self.scaled(given, self.n_kept))

    def repeats_itself(self, x):
        v = self.views
        changed = (x != v["values"]) | (v["n_per_class"][1] == 0)
        changed = np.append(changed, changed.any())
        v["repeats"][:] = np.where(changed, 0, np.minimum(v["repeats"] + 1, STUCK_AFTER))
        v["values"][:] = x + 0.0  # of -0.0 it makes 0.0
        if self.are_stuck().any():
            v["alarm"][N_STUCK] += 1
            return True
        lively = v["lively"].astype(int) + np.where(changed, 1, -COSTS)
        v["lively"][:] = lively.clip(-MOST_LIVELY, MOST_LIVELY)
        return False

    def are_stuck(self):
        """Which features are, and last, whether the sample is."""
        least = np.append(np.full(self.n_features, STUCK_AFTER), 0)
        before = self.views["lively"].astype(int) + COSTS * (STUCK_AFTER - 1)
        return (self.views["repeats"] >= STUCK_AFTER) & (before >= least)

    @property
    def stuck(self):
        if not self.looks_back:
            return []
        *each, together = self.are_stuck().tolist()
        return [j for j, one in enumerate(each) if one or together]

    def scaled(self, x, n):
        """The sample in deviations of the n kept, cut at CLIP, in the learner's dtype."""
        far = x - self.views["mean"]
        deviation = np.sqrt(self.views["spread"] / max(n, 1))
        there = deviation > 0
        inside = np.divide(far, deviation, out=np.zeros(len(far)), where=there)
        return np.where(there, inside.clip(-CLIP, CLIP), CLIP * np.sign(far)).astype(self.dtype)

    def bent(self, x):
        """`scaled` to be scored: beyond CLIP the logarithm goes on."""
        cut = self.scaled(x, self.n_kept)
        deviation = np.sqrt(self.views["spread"] / max(self.n_kept, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.abs(x - self.views["mean"]) / deviation
            bent = np.sign(cut) * np.minimum(CLIP + np.log(np.minimum(far, 1e300) / CLIP), REACH)
        return np.where((deviation > 0) & (far > CLIP), bent, cut).astype(self.dtype)

    @property
    def mean_excess(self):
        t = self.views["tail"]
        return np.sqrt(t[VARIANCE]) * (FIRST_EXCESS + t[EXCESS])

    @property
    def threshold(self):
        u = self.views["alarm"][INTEGRAL]
        return float(self.settled + self.mean_excess * u * (GAIN + 0.5 * max(u, 0) ** 2))

    @property
    def gate(self):
        return self.level + self.above * self.mean_excess

    @property
    def settled(self):
        shift = np.log(ABOVE / self.rate) + self.views["tail"][SHIFT]
        return self.level + self.mean_excess * shift

    @property
    def level(self):
        t = self.views["tail"]
        return t[MEAN] + np.sqrt(t[VARIANCE]) * (Z_ABOVE + t[LEVEL])

    def follow(self, score):
        t, n = self.views["tail"], int(self.views["n_scored"])
        level, deviation = self.level, np.sqrt(t[VARIANCE])
        if self.n_kept < SETTLED:
            return
        if n >= SCALED and deviation > 0:
            score = min(score, level + MOST_EXCESS * self.mean_excess)
        above, far_above = score > level, score > self.settled
        if deviation > 0:
            t[SHIFT] += (far_above / self.rate - 1) / (n + 1 / self.rate)
            t[SHIFT] = max(t[SHIFT], -np.log(ABOVE / self.rate))
            t[LEVEL] += 2 * (above - ABOVE) / (DENSITY * (n + LEVEL_AFTER))
            if above:
                t[N_ABOVE] += 1
                far = (score - level) / deviation - FIRST_EXCESS
                t[EXCESS] += 2 / (t[N_ABOVE] + EXCESS_AFTER) * (far - t[EXCESS])
        share, far = 2 / (n + 2), score - t[MEAN]
        t[MEAN] += share * far
        t[VARIANCE] = (1 - share) * (t[VARIANCE] + share * far * far)
        self.views["n_scored"][...] += 1

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        return (self.threshold - self.score(self.bent(x.astype(float)))) or TINY

    def shares_one(self, x, out=None):
        self.check_fitted()
        x = as_floats(x, self.dtype, 1, self.n_features, self.owner)
        if not np.isfinite(x @ x):
            raise self.not_finite()
        drops = np.maximum(self.drops(self.bent(x.astype(float))), 0)
        return into(out, drops / drops.sum() if drops.any() else np.full(len(x), 1 / len(x)))


class GaussianNoveltyCoreRef(NoveltyCoreRef):
    """The arena's arrays by name: factor, packed by rows, unless the covariance is diagonal."""

    def score(self, z):
        z = z.astype(float)
        if "factor" not in self.views:
            square = z @ z
        elif self.n_fitted == 0:
            square = 0.0
        else:
            y = np.linalg.solve(self.L, z)
            square = (self.n_fitted + 1) * (y @ y)
        return float(np.sqrt(square / len(z)))

    def drops(self, z):
        z = z.astype(float)
        if "factor" not in self.views or self.n_fitted == 0:
            return z * z
        inverse = np.linalg.inv(self.L @ self.L.T)
        return (inverse @ z) ** 2 / np.diagonal(inverse)

    @property
    def L(self):
        D = self.n_features
        L = np.zeros((D, D))
        L[np.tril_indices(D)] = self.views["factor"]
        return L

    def learn_scaled(self, z):
        if "factor" in self.views:
            z = z.astype(float)
            L = self.L if self.n_fitted > 1 else np.eye(len(z))
            A = L @ L.T + np.outer(z, z)
            self.views["factor"][:] = np.linalg.cholesky(A)[np.tril_indices(len(z))]


class KernelNoveltyCoreRef(NoveltyCoreRef):
    """The arena's arrays by name: n_held, centres, counts, cost, partner, factor."""

    def __init__(self, *common, gamma, noise, compact, **params):
        super().__init__(*common, **params)
        self.gamma, self.noise, self.compact = gamma, noise, compact
        self.unit = 1 / CODES_PER_UNIT if compact else 1.0

    def stored(self, z):
        """As centres are: whole numbers of the unit, if compact."""
        return np.rint(z) if self.compact else z

    def sample(self, z):
        """A sample in that unit."""
        return self.stored(z.astype(float) / self.unit) if self.compact else z

    def held(self):
        m = int(self.views["n_held"])
        return self.views["centres"][:m].astype(float), self.views["counts"][:m]

    def kernel(self, squares):
        return np.exp(-self.gamma * self.unit**2 * squares)

    def score(self, z):
        centres, _ = self.held()
        if len(centres) == 0:
            return 0.0
        if self.compact:
            return min(float(self.far_score(self.sample(z))), FARTHEST)
        k = self.kernel(distances(centres, z[None])[:, 0])
        y = np.linalg.solve(self.L, k)
        return -float(np.log(max(float(y @ y), TINY)))

    def drops(self, z):
        centres, counts = self.held()
        if len(centres) == 0:
            return np.zeros(len(z))
        z, found = self.sample(z), np.empty(len(z))
        for j in range(len(z)):
            expected = z.astype(float)
            others = np.delete(centres, j, 1), np.delete(expected, j)
            squares = distances(others[0], others[1][None])[:, 0]
            weights = counts * self.kernel(squares - squares.min())
            expected[j] = weights @ centres[:, j] / weights.sum()
            found[j] = self.far_score(z) - self.far_score(expected)
        return found

    def far_score(self, z):
        """`score` of a sample read, without its end at TINY."""
        squares = distances(self.held()[0], z[None])[:, 0]
        y = np.linalg.solve(self.L, self.kernel(squares - squares.min()))
        return 2 * self.gamma * self.unit**2 * squares.min() - np.log(y @ y)

    @property
    def L(self):
        m = int(self.views["n_held"])
        L = np.zeros((m, m))
        L[np.tril_indices(m)] = self.views["factor"][: m * (m + 1) // 2]
        return L

    def learn_scaled(self, z):
        centres, counts = self.held()
        z = self.sample(z)
        to_z = counts / (counts + 1) * distances(centres, z[None])[:, 0]
        if len(centres) and to_z.min() == 0:
            counts[to_z.argmin()] += 1
            self.hold(centres, counts)
        elif len(centres) < len(self.views["counts"]):
            self.hold(np.vstack([centres, z]), np.append(counts, 1))
        else:
            i, j = int(to_z.argmin()), int(self.views["cost"].argmin())
            if self.unit**2 * to_z[i] <= self.views["cost"][j]:
                rows, counts_of, gone = (centres[i], z), (counts[i], 1), [i]
            else:
                p = int(self.views["partner"][j])
                rows, counts_of, gone = centres[[j, p]], counts[[j, p]], [j, p]
            total = sum(counts_of)
            mean = self.stored(rows[0] + counts_of[1] / total * (rows[1] - rows[0]))
            behind = [mean] if len(gone) == 1 else [mean, z]
            more = [total] if len(gone) == 1 else [total, 1]
            self.hold(
                np.vstack([np.delete(centres, gone, 0), *behind]),
                np.append(np.delete(counts, gone), more),
            )

    def hold(self, centres, counts):
        """Keep these centres, and what follows from them."""
        v, m = self.views, len(centres)
        v["n_held"][...] = m
        v["centres"][:m], v["counts"][:m] = centres, counts
        centres, counts = self.held()
        squares = distances(centres, centres)
        cost = counts[:, None] * counts / (counts[:, None] + counts) * squares
        np.fill_diagonal(cost, np.inf)
        v["partner"][:m] = cost.argmin(axis=1) if m > 1 else -1
        v["cost"][:m] = self.unit**2 * cost.min(axis=1) if m > 1 else 0.0
        L = np.linalg.cholesky(self.kernel(squares) + self.noise * np.eye(m))
        v["factor"][: m * (m + 1) // 2] = L[np.tril_indices(m)]


def distances(rows, others):
    """Squared, ndarray of shape (len(rows), len(others))."""
    return ((rows[:, None] - others[None].astype(float)) ** 2).sum(axis=2)
