"""The solution is the optimum: by its definition, by scikit-learn's SVC, and by the NumPy twin."""

import pickle

import numpy as np
import pytest
from each import each
from problems import assert_optimal, clouds, duplicates, kernel_matrix, ring, svm, true_gap

from edgesvm import RBF, Linear, Polynomial
from reference.smo import SMORef

PROBLEMS = {"ring": ring(150), "clouds": clouds(170), "duplicates": duplicates(120)}
KERNELS = [RBF(0.5), RBF(30.0), Linear(), Polynomial(2, 0.5, 1.0)]


@pytest.fixture(params=PROBLEMS, ids=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@each("kernel", KERNELS, ids=str)
@each("C", [0.01, 1.0, 100.0])
def test_kkt_conditions(problem, kernel, C, engine):
    X, y = problem
    model = svm(len(X), engine, kernel=kernel, C=C, tol=1e-3).fit(X, y)
    assert model.converged_ and model.gap_ < 1e-3
    scale = max(1.0, np.abs(kernel_matrix(model, X)).max() * model.alpha_.sum())
    assert_optimal(model, X, y, C, 1e-3, slack=1e-7 * scale)


@each("dtype", ["float32", "float64"])
@each("shrinking", [True, False])
@each("C", [0.1, 10.0])
def test_equals_svc(problem, C, shrinking, dtype):
    svc = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed").SVC
    X, y = problem
    X = X.astype(dtype)
    peer = svc(C=C, gamma=0.5, tol=1e-8).fit(X.astype(np.float64), y)
    model = svm(len(X), C=C, tol=1e-8, shrinking=shrinking, dtype=dtype).fit(X, y)
    assert model.converged_
    decisions = peer.decision_function(X.astype(np.float64))
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-4)
    coefficients = np.zeros(len(X))
    coefficients[peer.support_] = peer.dual_coef_[0]
    K = kernel_matrix(model, X)
    objective = 0.5 * coefficients @ K @ coefficients - np.abs(coefficients).sum()
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)


def test_objective_from_its_definition(problem):
    X, y = problem
    model = svm(len(X)).fit(X, y)
    beta = np.where(y, 1.0, -1.0) * model.alpha_
    expected = 0.5 * beta @ kernel_matrix(model, X) @ beta - model.alpha_.sum()
    np.testing.assert_allclose(model.objective_, expected, rtol=1e-6)


@each("n", [2, 3, 15, 16, 17, 31, 32, 33])
@each("dtype", ["float32", "float64"])
def test_every_count_about_a_tile(n, dtype):
    X, y = clouds(40, seed=3, width=3)
    X, y = X[:n].astype(dtype), np.arange(n) % 2 == 0
    model = svm(n, dtype=dtype).fit(X, y)
    assert_optimal(model, X, y, 10.0, 1e-5)


def test_weight_two_is_two_rows():
    X, y = ring(90)
    twice = np.arange(90) % 3 == 0
    weighted = svm(90, C=1.0).fit(X, y, sample_weight=1.0 + twice)
    repeated = svm(120, C=1.0).fit(np.vstack([X, X[twice]]), np.concatenate([y, y[twice]]))
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-6)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-3
    )


@each("only", [False, True])
def test_one_class(only):
    X, _ = ring(50)
    model = svm(50).fit(X, [only] * 50)
    assert len(model.support_) == 0 and model.converged_ and model.n_iter_ == 0
    assert model.predict(X).tolist() == [only] * 50
    assert np.abs(model.decision_function(X)).tolist() == [1.0] * 50


@each("dtype", ["float32", "float64"])
def test_a_cache_of_two_rows_finds_the_same(dtype):
    """Every size of cache holds the same numbers, so the way is the same to the last bit."""
    X, y = ring(300)
    models = [
        svm(300, cache=cache, dtype=dtype, tol=1e-6).fit(X, y)
        for cache in (2 * 4 * 304, 3 * 4 * 304, 20_000, "8MiB")
    ]
    for model in models[1:]:
        assert model.n_iter_ == models[0].n_iter_
        assert model.alpha_.tolist() == pytest.approx(models[0].alpha_.tolist(), rel=1e-9)
    assert models[0].arena.nbytes < models[-1].arena.nbytes


@each("seed", range(10))
def test_shrinking_with_a_small_cache(seed):
    """Columns are swapped, slots recut, rows extended: none of it may mix up a kernel value."""
    X, y = ring(160, seed, noise=0.8)
    model = svm(160, cache=4 * 160 * 5, tol=1e-6, C=3.0).fit(X, y)
    K = kernel_matrix(model, X)
    plain = SMORef(K, np.where(y, 3.0, -3.0), tol=1e-6, shrinking=False)
    assert plain.run(10**6)
    np.testing.assert_allclose(model.objective_, plain.objective, rtol=1e-7)
    assert_optimal(model, X, y, 3.0, 1e-6)


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
def test_large_numbers_end():
    """Rounding hides the last of the gap where kernel values are large; that is told."""
    X, y = clouds(100)
    model = svm(100, kernel=Linear(), C=1e3, tol=1e-12, max_iter=200_000).fit(1e6 * X, y)
    assert not model.converged_ and model.n_iter_ <= 200_000
    assert np.isfinite(model.decision_function(1e6 * X)).all()


def large_values(n=4000, scale=300.0):
    """A disk in a plane, with kernel values up to 1e12 under `Polynomial(2)`."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    return (scale * X).astype(np.float32), (X**2).sum(axis=1) > 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convergence_is_that_of_the_true_gap(dtype):
    """Kernel rows are float32; what they hide of the gradient was 0.02 here."""
    X, y = large_values()
    model = svm(len(X), kernel=Polynomial(2), C=1.0, dtype=dtype, tol=1e-3, cache="64MiB")
    model.fit(X, y)
    assert model.converged_ and model.gap_ < 1e-3
    assert true_gap(model, X, y) == pytest.approx(model.gap_, abs=1e-5)


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
@each("engine", ["compiled", "reference"])
@each("n_iter", [100, 1000, 5000])
def test_a_solution_cut_short_tells_the_true_gap_too(engine, n_iter):
    X, y = large_values(500)
    params = {"kernel": Polynomial(2), "C": 1.0, "dtype": "float32", "max_iter": n_iter}
    model = svm(500, engine, **params).fit(X, y)
    gap = true_gap(model, X, y)
    assert not model.converged_ and model.gap_ == pytest.approx(gap, rel=1e-6)


def test_decisions_of_large_values_are_those_of_float64():
    """Sums in float32 were off by 0.08; saved and loaded, the bytes stay equal."""
    X, y = large_values()
    model = svm(len(X), kernel=Polynomial(2), C=1.0, dtype="float32", tol=1e-3, cache="64MiB")
    found = model.fit(X, y).decision_function(X)
    wide = X.astype(np.float64)
    K = model.kernel(wide, model.support_vectors_.astype(np.float64))
    expected = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(found, expected, atol=5e-4)
    again = pickle.loads(pickle.dumps(model))
    assert again.decision_function(X).tolist() == found.tolist()
