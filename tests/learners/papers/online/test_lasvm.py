"""LASVM against the paper's pseudo-code, every gradient from its definition; and the optimum."""

import numpy as np
from each import each

from edgesvm import LASVM, RBF, BatchSVM, Linear

CLASSES = [-1, 1]


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where((X**2).sum(axis=1) + 0.7 * rng.standard_normal(n) > 2.5, 1, -1)
    return X, y, rng.choice([0.5, 1.0, 2.0], n)


def learned(X, y, s=None, **params):
    model = LASVM(dtype="float64", **params)
    return model.partial_fit(X, y, classes=CLASSES, sample_weight=s)


class Paper:
    """Section 3.2 on a set S of sample numbers."""

    def __init__(self, K, y, C, tau):
        self.K, self.y, self.tau = K, y, tau
        self.A, self.B = np.minimum(0, C * y), np.maximum(0, C * y)
        self.S, self.alpha, self.b, self.delta = [], np.zeros(len(y)), 0.0, 0.0

    def g(self, s):
        return self.y[s] - sum(self.alpha[t] * self.K[s, t] for t in self.S)

    def extremes(self):
        up = [s for s in self.S if self.alpha[s] < self.B[s]]
        down = [s for s in self.S if self.alpha[s] > self.A[s]]
        return self.most(up, 1), self.most(down, -1)

    def most(self, among, sign):
        """The first of the samples whose gradients are equal up to rounding."""
        values = [sign * self.g(s) for s in among]
        return next((s for s, g in zip(among, values, strict=True) if g > max(values) - 1e-9), None)

    def step(self, i, j):
        if i is None or j is None or not self.g(i) - self.g(j) > self.tau:
            return False
        K, alpha = self.K, self.alpha
        curvature = K[i, i] + K[j, j] - 2 * K[i, j]
        lam = min((self.g(i) - self.g(j)) / curvature, self.B[i] - alpha[i], alpha[j] - self.A[j])
        self.add(i, lam)
        self.add(j, -lam)
        return True

    def add(self, s, lam):
        """alpha_s += lam, exactly at a bound or not."""
        self.alpha[s] += lam
        for bound in (self.A[s], self.B[s]):
            if abs(self.alpha[s] - bound) < 1e-13:
                self.alpha[s] = bound

    def process(self, k):
        self.S.append(k)
        i, j = self.extremes()
        return self.step(k, j) if self.y[k] > 0 else self.step(i, k)

    def reprocess(self):
        if not self.step(*self.extremes()):
            return False
        i, j = self.extremes()
        g_i, g_j = self.g(i), self.g(j)
        for s in [s for s in self.S if self.alpha[s] == 0]:
            if (self.y[s] < 0 and self.g(s) >= g_i) or (self.y[s] > 0 and self.g(s) <= g_j):
                self.S.remove(s)
        return True

    def give_up(self):
        """Not in the paper: the docstring's rule for what has no room."""
        S, alpha = self.S, self.alpha
        r = S[0]
        sign = np.sign(alpha[r])
        while alpha[r] != 0:
            room = {s: self.B[s] - alpha[s] if sign > 0 else alpha[s] - self.A[s] for s in S[1:]}
            heir = self.most([s for s in S[1:] if room[s] > 0], sign)
            share = min(abs(alpha[r]), room[heir])
            self.add(heir, sign * share)
            self.add(r, -sign * share)
        S.remove(r)


@each("kernel", [RBF(0.5), Linear()], ids=str)
@each("weighted", [False, True])
@each("max_vectors", [90, 12, 3, 2, 1])
def test_lasvm_is_the_papers(kernel, weighted, max_vectors):
    X, y, s = stream(90)
    s = s if weighted else np.ones(len(X))
    paper = Paper(kernel(X, X), y, 2.0 * s, 1e-3)
    model = LASVM(dtype="float64", max_vectors=max_vectors, kernel=kernel, C=2.0)
    model.allocate(3, classes=CLASSES)
    for k in range(len(X)):
        paper.process(k)
        paper.reprocess()
        if len(paper.S) > max_vectors:
            paper.give_up()
        model.learn_one(X[k], y[k], s[k])
        i, j = paper.extremes()
        if i is not None and j is not None:
            b, delta = (paper.g(i) + paper.g(j)) / 2, paper.g(i) - paper.g(j)
            np.testing.assert_allclose([model.intercept_[0], model.gap_], [b, delta], atol=1e-9)
    found = dict(zip(map(tuple, model.support_vectors_), model.dual_coef_[0], strict=True))
    assert found.keys() == {tuple(X[k]) for k in paper.S} and len(paper.S) < 90
    expected = [paper.alpha[k] for k in paper.S]
    np.testing.assert_allclose([found[tuple(X[k])] for k in paper.S], expected, atol=1e-9)


def test_finished_it_is_the_svm_of_what_it_holds():
    X, y, s = stream()
    model = learned(X, y, s, max_vectors=200, kernel=RBF(0.5), C=2.0, tau=1e-8)
    assert model.gap_ > 1e-2
    assert not model.finish(max_iter=3)
    assert model.finish()
    assert model.gap_ <= 1e-8
    held = [int(np.flatnonzero((v == X).all(axis=1))[0]) for v in model.support_vectors_]
    svm = BatchSVM(kernel=RBF(0.5), C=2.0, tol=1e-9, dtype="float64")
    svm.fit(X[held], y[held], sample_weight=s[held])
    np.testing.assert_allclose(
        model.decision_function(X), svm.decision_function(X), rtol=1e-5, atol=1e-6
    )
