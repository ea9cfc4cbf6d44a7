"""BatchSVM and ReservoirSVM: the optimum, the ways there, and what is stored."""

import pickle

import numpy as np
import pytest
from each import each
from problems import assert_optimal, clouds, duplicates, kernel_matrix, ring, svm, true_gap

from edgesvm import RBF, BatchSVM, Linear, Polynomial, ReservoirSVM
from reference.smo import SMORef

# -- the optimum -----------------------------------------------------------------------------------

PROBLEMS = {"ring": ring(150), "clouds": clouds(170), "duplicates": duplicates(120)}
KERNELS = [RBF(0.5), RBF(30.0), Linear(), Polynomial(2, 0.5, 1.0)]


@pytest.fixture(params=PROBLEMS, ids=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


@each("kernel", KERNELS, ids=str)
@each("C", [0.01, 1.0, 100.0])
def test_kkt_conditions(problem, kernel, C):
    X, y = problem
    model = svm(len(X), kernel=kernel, C=C, tol=1e-3).fit(X, y)
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


@each("n", [2, 3, 15, 16, 17, 31, 32, 33])
@each("dtype", ["float32", "float64"])
def test_every_count_about_a_tile(n, dtype):
    X, y = clouds(40, seed=3, width=3)
    X, y = X[:n].astype(dtype), np.arange(n) % 2 == 0
    model = svm(n, dtype=dtype).fit(X, y)
    assert_optimal(model, X, y, 10.0, 1e-5)


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
@each("n_iter", [100, 1000, 5000])
def test_a_solution_cut_short_tells_the_true_gap_too(n_iter):
    X, y = large_values(500)
    params = {"kernel": Polynomial(2), "C": 1.0, "dtype": "float32", "max_iter": n_iter}
    model = svm(500, **params).fit(X, y)
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


# -- when it is solved, from where, how far --------------------------------------------------------


def test_a_warm_start_changes_the_way_alone():
    X, y = ring(200)
    cold = svm(200, tol=1e-6).fit(X, y)
    warm = svm(200, tol=1e-6).fit(X, y, alpha=cold.alpha_)
    near = svm(200, tol=1e-6).fit(X, y, alpha=0.97 * cold.alpha_)
    far = svm(200, tol=1e-6).fit(X, y, alpha=np.full(200, 5.0))
    for model in (warm, near, far):
        np.testing.assert_allclose(model.objective_, cold.objective_, rtol=1e-8)
        np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=1e-4)
        assert_optimal(model, X, y, 10.0, 1e-6)
    assert warm.n_iter_ <= 5 < cold.n_iter_
    assert near.n_iter_ < cold.n_iter_


def test_a_start_out_of_the_box_is_put_into_it():
    X, y = ring(100)
    wild = np.random.default_rng(0).uniform(-50, 50, 100)
    model = svm(100).fit(X, y, alpha=wild)
    assert_optimal(model, X, y, 10.0, 1e-5)


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
@each("max_iter", [1, 7, 25])
def test_max_iter_tells(max_iter):
    X, y = ring(200)
    model = svm(200, max_iter=max_iter).fit(X, y)
    assert not model.converged_ and model.n_iter_ == max_iter and model.gap_ > model.tol
    assert abs((np.where(y, 1, -1) * model.alpha_).sum()) < 1e-9
    assert model.decision_function(X).shape == (200,)


@pytest.mark.filterwarnings("ignore:.*ended before it converged")
def test_progress_is_told_and_may_stop_it():
    X, y = ring(200, noise=1.5)
    told = []
    params = {"C": 1e4, "tol": 1e-7}
    model = svm(200, **params).fit(X, y, progress=lambda *now: told.append(now))
    assert [n for n, _ in told] == [1000 * (k + 1) for k in range(len(told))] and len(told) > 2
    assert told[-1][0] <= model.n_iter_ and all(gap > 0 for _, gap in told)

    def stop(n_iter, gap):
        if n_iter >= 2000:
            raise KeyboardInterrupt

    stopped = svm(200, **params).partial_fit(X, y)
    before = bytes(stopped.arena)
    with pytest.raises(KeyboardInterrupt):
        stopped.solve(progress=stop)
    assert bytes(stopped.arena) == before, "the samples are held as before, and nothing else"
    assert stopped.solve().objective_ == model.objective_


def test_a_decision_between_leaves_no_trace():
    X, y = clouds(90)
    plain, asked = svm(91), svm(91)
    for begin in range(0, 90, 9):
        part = slice(begin, begin + 9)
        plain.partial_fit(X[part], y[part])
        asked.partial_fit(X[part], y[part]).predict(X)
        asked.solve(alpha=asked.alpha_)
    last = X[-1], bool(y[-1])
    for model in (plain, asked):
        model.learn_one(*last)
    assert bytes(plain.solve().arena) == bytes(asked.solve().arena)


def test_more_rows_than_there_is_room_for():
    X, y = ring(40)
    model = svm(30)
    with pytest.raises(ValueError, match=r"40 rows .*max_samples=30"):
        model.fit(X, y)
    assert model.nbytes == 0
    model.partial_fit(X[:25], y[:25])
    before = bytes(model.arena)
    for use in (lambda: model.partial_fit(X[:6], y[:6]), lambda: model.fit(X, y)):
        with pytest.raises(ValueError, match="max_samples=30"):
            use()
        assert bytes(model.arena) == before
    model.partial_fit(X[:40], y[:40], sample_weight=np.arange(40) < 5)
    with pytest.raises(ValueError, match="max_samples"):
        model.learn_one(X[0], bool(y[0]))
    assert model.n_held_ == 30


def test_nothing_but_the_samples_and_the_answer_is_left():
    X, y = ring(100)
    model = svm(100).fit(X, y)
    views = model.core.views
    for name in (
        "gradient",
        "diagonal",
        "state",
        "spare",
        "slot",
        "owner",
        "filled",
        "used",
        "cache",
    ):
        assert not views[name].any(), name


# -- a uniform sample of what was seen -------------------------------------------------------------


def reservoir(**params):
    return ReservoirSVM(**{"max_samples": 20, "gamma": 0.5, "cache": "4KiB", **params})


def held(model):
    """The first feature of each sample that is held, in the order of slots."""
    rows = model.core.views["rows"]
    return rows.transpose(0, 2, 1).reshape(-1, rows.shape[1])[: model.n_held_, 0]


def test_every_sample_is_as_likely_as_another():
    """Of 40, 10 are held: each 0.25 of the time, to four deviations of 2,000 trials."""
    X = np.arange(40, dtype=np.float32)[:, None]
    counts = np.zeros(40)
    for seed in range(2000):
        model = reservoir(max_samples=10, seed=seed).partial_fit(X, X[:, 0] > 20)
        counts[held(model).astype(int)] += 1
    assert counts.sum() == 20_000
    assert np.abs(counts / 2000 - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 2000)


def test_it_is_the_svm_of_those_held():
    X, y = ring(300)
    model = reservoir(dtype="float64", tol=1e-6).partial_fit(X, y)
    rows = [np.flatnonzero(X[:, 0] == value)[0] for value in held(model)]
    plain = BatchSVM(gamma=0.5, max_samples=20, dtype="float64", tol=1e-6)
    plain.fit(X[rows], y[rows])
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-4)


def test_samples_of_no_weight_are_not_drawn_among():
    X, y = ring(400)
    weights = np.arange(400) % 2
    model = reservoir().partial_fit(X, y, sample_weight=weights)
    assert held(model).tolist() == held(reservoir().partial_fit(X[1::2], y[1::2])).tolist()
