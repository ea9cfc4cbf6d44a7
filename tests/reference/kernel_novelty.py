"""KernelNovelty in plain NumPy: all costs and the whole matrix anew for every sample."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.novelty.constants import CODES_PER_UNIT, FARTHEST, TINY
from reference.novelty import NoveltyCoreRef


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
