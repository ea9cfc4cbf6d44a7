"""The balls of samples without labels: against their definition, and scikit-learn's. Their contract
is in novelty/test_contract.py."""

import numpy as np
import pytest
from balls import ENGINES, minimum_ball, square_distances
from each import each

import edgesvm
from edgesvm import RBF, OneClassBallVectorMachine, OneClassCoreVectorMachine

N, D = 240, 3
KINDS = [OneClassCoreVectorMachine, OneClassBallVectorMachine]
FORMS = [(kind, nu) for kind in KINDS for nu in (0.1, None)]


def rows(n=N, seed=0, width=D):
    """A cloud, and a few rows far out."""
    X = np.random.default_rng([seed, n]).standard_normal((n, width))
    X[::20] *= 3.0
    return X.astype(np.float32)


def make(kind, engine="compiled", **params):
    kind = kind if engine == "compiled" else type(kind.__name__, (kind,), {"_engine": engine})
    return kind(**{"kernel": RBF(0.3), "max_core": 300, **params})


def coefficients(model, n):
    alpha = np.zeros(n)
    alpha[model.support_] = model.dual_coef_[0]
    return alpha


# -- what it is ------------------------------------------------------------------------------------


@each("nu", [0.02, 0.1, 0.4])
@each("max_core", [150, 450, 2000])  # a part of the rows at first; or all of them
@each("dtype", ["float32", "float64"])
def test_the_boundary_is_that_of_scikit_learn(nu, max_core, dtype):
    svm = pytest.importorskip("sklearn.svm")
    X, others = rows(1000), rows(500, 1)
    if nu * len(X) > max_core:
        return
    theirs = svm.OneClassSVM(gamma=0.3, nu=nu, tol=1e-9).fit(X)
    ours = make(OneClassCoreVectorMachine, nu=nu, max_core=max_core, dtype=dtype).fit(X)
    assert ours.converged_ and ours.n_core_ <= max_core
    for some in (X, others):
        expected = theirs.score_samples(some) / theirs.offset_
        found = ours.score_samples(some) / ours.offset_
        np.testing.assert_allclose(found, expected, atol=1e-3)
        clear = np.abs(expected - 1.0) > 1e-3
        assert (ours.predict(some) == theirs.predict(some))[clear].all()
    assert coefficients(ours, len(X)).max() <= 1.0 / (nu * len(X)) + 1e-12


@each("C", [0.1, 10.0])
def test_without_nu_it_is_the_minimum_enclosing_ball(C):
    X = rows(50).astype(np.float64)
    K = RBF(0.3)(X, X) + np.eye(len(X)) / C
    params = {"nu": None, "C": C, "epsilon": 1e-6, "dtype": "float64"}
    model = make(OneClassCoreVectorMachine, **params).fit(X)
    alpha, square = minimum_ball(K)
    np.testing.assert_allclose(coefficients(model, len(X)), alpha, atol=1e-4)
    assert model.radius_**2 == pytest.approx(square, rel=1e-4)
    assert model.margin_ == pytest.approx(alpha @ K @ alpha, rel=1e-3)
    np.testing.assert_allclose(model.offset_, alpha @ K @ alpha, rtol=1e-3)


@each("max_rounds", [1, 100])
def test_a_ball_of_fixed_radius_encloses_all_rows(max_rounds):
    X = rows(60).astype(np.float64)
    params = {"nu": None, "epsilon": 1e-4, "margin_tol": None, "max_rounds": max_rounds}
    model = make(OneClassBallVectorMachine, C=5.0, dtype="float64", **params).fit(X)
    K = RBF(0.3)(X, X) + np.eye(len(X)) / 5.0
    outside = square_distances(K, coefficients(model, len(X))) - model.radius_**2
    assert model.enclosed_ and outside.max() < 1e-6
    _, smallest = minimum_ball(K)
    assert smallest * 0.999 < model.radius_**2 < K[0, 0] * 1.001
    if max_rounds > 1:
        assert model.radius_**2 < smallest * 1.01


@each("nu", [0.05, 0.3])
def test_that_share_of_the_rows_is_outside_the_balls_boundary(nu):
    X = rows(400)
    model = make(OneClassBallVectorMachine, nu=nu).fit(X)
    assert (model.predict(X) < 0).sum() == nu * len(X)
    f = RBF(0.3)(X.astype(float), model.support_vectors_.astype(float)) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.score_samples(X), f, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), f + model.intercept_, atol=1e-6)


def test_a_stream_after_a_fit_keeps_the_largest_coefficient():
    X = rows(400)
    model = make(OneClassCoreVectorMachine, nu=0.2).fit(X[:200])
    assert model.partial_fit(X[200:] + 1.0).n_updates_ > 40
    assert np.abs(model.dual_coef_).max() <= 1.0 / 40 + 1e-12
    model.core.check()


# -- the contract ----------------------------------------------------------------------------------


@each("kind, nu", FORMS)
@each("dtype", ["float32", "float64"])
def test_the_engines_agree(kind, nu, dtype):
    X = rows().astype(dtype)
    for small in (False, True):
        params = {"nu": nu, "dtype": dtype, "n_probes": 7}
        room = {"max_core": 60, "margin_tol": 0.05} if small else {}
        fast, plain = (make(kind, engine, **params, **room) for engine in ENGINES)
        for learner in (fast, plain):
            learner.fit(X) if small else learner.partial_fit(X[:80])
        tol = 0.02 if small else 1e-3
        np.testing.assert_allclose(fast.score_samples(X), plain.score_samples(X), atol=tol * 0.2)
        assert fast.offset_ == pytest.approx(plain.offset_, rel=tol)
        assert type(plain.core).__module__ != type(fast.core).__module__


@each("kind, nu", FORMS)
def test_a_fit_that_is_refused_leaves_no_trace(kind, nu):
    X = rows()
    model = make(kind, nu=nu).fit(X)
    before = bytes(model.arena)
    bad = X.copy()
    bad[7, 1] = np.nan
    for refused in (bad, X[:0]):
        with pytest.raises(ValueError):
            model.fit(refused)
    with pytest.raises(TypeError, match="source of chunks"):
        model.fit(edgesvm.data.Waveform())
    assert bytes(model.arena) == before
