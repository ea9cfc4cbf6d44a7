"""KernelPerceptron and Forgetron against the formulas of their papers, in plain loops."""

import numpy as np
from each import each

from edgesvm import RBF, Forgetron, KernelPerceptron, Linear, Polynomial

CLASSES = [-1, 1]
KERNELS = (RBF(0.5), Linear(), Polynomial(2, 0.2, 1.0))


def stream(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where((X**2).sum(axis=1) + 0.7 * rng.standard_normal(n) > 2.5, 1, -1)
    return X, y, rng.choice([0.5, 1.0, 2.0], n)


def expansion(model):
    """Coefficients by stored sample, in any order."""
    return sorted(zip(map(tuple, model.support_vectors_), model.dual_coef_[0], strict=True))


def assert_is_expansion(model, X, coefficients):
    expected = sorted((tuple(X[i]), c) for i, c in coefficients.items())
    assert [x for x, _ in expansion(model)] == [x for x, _ in expected]
    np.testing.assert_allclose(
        [c for _, c in expansion(model)], [c for _, c in expected], rtol=1e-9
    )


def learned(kind, X, y, s, **params):
    model = kind(dtype="float64", **params)
    return model.partial_fit(X, y, classes=CLASSES, sample_weight=s)


# -- kernel perceptron -----------------------------------------------------------------------------


def perceptron(K, y, s, budget, when_full):
    """Coefficients by sample, in the order in which they were stored, and the mistakes."""
    alpha, mistakes = {}, 0
    for t in range(len(y)):
        if y[t] * sum(a * K[i, t] for i, a in alpha.items()) > 0:
            continue
        mistakes += 1
        if len(alpha) == budget:
            if when_full == "ignore":
                continue
            del alpha[min(alpha)]
        alpha[t] = s[t] * y[t]
    return alpha, mistakes


@each("kernel", KERNELS, ids=str)
@each("budget", [1, 13, 300])
@each("when_full", ["oldest", "ignore"])
def test_kernel_perceptron_stores_each_mistake(kernel, budget, when_full):
    X, y, s = stream()
    alpha, mistakes = perceptron(kernel(X, X), y, s, budget, when_full)
    params = {"max_vectors": budget, "kernel": kernel, "when_full": when_full}
    model = learned(KernelPerceptron, X, y, s, **params)
    assert_is_expansion(model, X, alpha)
    assert model.n_updates_ + model.n_ignored_ == mistakes > 30
    f = kernel(X, X[list(alpha)]) @ np.array(list(alpha.values()))
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-8, atol=1e-9)


def test_each_vector_is_as_likely_to_be_replaced():
    """Orthogonal samples are all mistakes: one stored k replacements ago is there with probability
    (1 - 1/M)^k."""
    X, y, M, draws = np.eye(16), np.ones(16, int), 4, 1500
    held = np.zeros(16)
    for seed in range(draws):
        params = {"kernel": Linear(), "when_full": "random", "seed": seed, "dtype": "float64"}
        model = KernelPerceptron(max_vectors=M, **params)
        held += model.partial_fit(X, y, classes=CLASSES).support_vectors_.sum(axis=0)
    expected = (1 - 1 / M) ** np.minimum(15 - np.arange(16), 16 - M)
    error = 4 * np.sqrt(expected * (1 - expected) / draws)
    assert (np.abs(held / draws - expected) <= error).all()


# -- forgetron -------------------------------------------------------------------------------------


def forgetron(K, y, s, budget):
    """The self-tuned forgetron of Dekel et al. 2008: coefficients by sample, Q, M, and all phi."""
    sigma, Q, M, phis = {}, 0.0, 0, []

    def f(t):
        return sum(c * y[i] * K[i, t] for i, c in sigma.items())

    def psi(lam, mu):
        return lam**2 + 2 * lam - 2 * lam * mu

    for t in range(len(y)):
        if y[t] * f(t) > 0:
            continue
        M += 1
        full = len(sigma) == budget
        sigma[t] = s[t]
        if not full:
            continue
        r = min(sigma)
        mu = y[r] * f(r)
        # psi(phi sigma, phi mu) + Q - 15/32 M as a polynomial in phi
        terms = [sigma[r] ** 2 - 2 * sigma[r] * mu, 2 * sigma[r], Q - 15 / 32 * M]
        roots = np.roots(terms)
        among = [1.0, *roots[(np.abs(roots.imag) < 1e-12)].real]
        phi = max(p for p in among if 0 < p <= 1 and np.polyval(terms, p) <= 1e-9)
        phis.append(phi)
        Q += psi(phi * sigma[r], phi * mu)
        sigma = {i: phi * c for i, c in sigma.items() if i != r}
    return {i: c * y[i] for i, c in sigma.items()}, Q, M, phis


@each("kernel", KERNELS, ids=str)
@each("budget", [1, 13, 40])
@each("weighted", [False, True])
def test_forgetron_shrinks_and_removes_as_the_paper_does(kernel, budget, weighted):
    X, y, s = stream()
    s = s if weighted else np.ones(len(X))
    coefficients, Q, M, phis = forgetron(kernel(X, X), y, s, budget)
    model = learned(Forgetron, X, y, s, max_vectors=budget, kernel=kernel)
    assert_is_expansion(model, X, coefficients)
    assert model.n_updates_ == M
    np.testing.assert_allclose(float(model.core.views["Q"]), Q, rtol=1e-8, atol=1e-9)
    assert Q <= 15 / 32 * M + 1e-9
    assert len(phis) > 20 and (min(phis) < 0.9 or kernel != RBF(0.5))
