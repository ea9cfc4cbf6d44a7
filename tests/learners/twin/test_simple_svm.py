"""SimpleSVM: the optimum of all rows, what is stored of a stream, and where there is no room."""

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_problems import KERNELS, PROBLEM, broken, by_side, stream, violations

from edgesvm import RBF, CorruptModelError, SimpleSVM

RESIDUAL = 1e-6


def made(**params):
    return SimpleSVM(**{"kernel": RBF(0.5), "dtype": "float64", **params})


def noisy(n, seed=0):
    """Rows with a curved boundary, labels -1 and 1, near it at random."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 - 0.7 + 0.7 * rng.standard_normal(n) > 0, 1, -1)


def residual(model, kernel, X, y, bound):
    """By how much the rows break the KT conditions, by definition: y f off 1, a coefficient off its
    bounds 0 and C weight as a share of the upper one, or their sum."""
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    f = kernel(X.astype(np.float64), X.astype(np.float64)) @ beta + model.intercept_
    worst = 0.0
    for g, a, most in zip(y * f - 1.0, y * beta, bound, strict=True):
        off = max(-a, a - most, 0.0) / max(most, 1e-300)
        worst = max(worst, off + broken(g, a, most))
    return max(worst, abs(beta.sum()) / max(bound.sum(), 1e-300))


@settings(max_examples=80, derandomize=True)
@given(
    *PROBLEM,
    st.integers(0, 2**20),
)
def test_a_fit_is_the_optimum_of_all_rows(features, labels, kernel, C, seed):
    X, y, weights = stream(features, labels, 50, seed)
    model = SimpleSVM(max_vectors=50, kernel=KERNELS[kernel], C=C).fit(X, y, weights)
    assert model.converged_
    assert residual(model, KERNELS[kernel], X, y, C * weights) <= RESIDUAL
    unneeded = (model.dual_coef_[0] == 0.0) & ~model.margin_
    assert not unneeded.any() and (np.diff(np.sort(model.support_)) > 0).all()


@settings(max_examples=60, derandomize=True)
@given(
    *PROBLEM,
    st.sampled_from([2, 5, 12, 50]),
    st.sampled_from(["oldest", "ignore"]),
    st.integers(0, 2**20),
)
def test_a_stream_is_the_optimum_of_what_is_stored(  # noqa: PLR0917
    features, labels, kernel, C, max_vectors, when_full, seed
):
    X, y, weights = stream(features, labels, 50, seed)
    model = SimpleSVM(max_vectors=max_vectors, kernel=KERNELS[kernel], C=C, when_full=when_full)
    model.allocate(X.shape[1], classes=[-1, 1])
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
        assert not model.is_fitted or model.kt_residual() <= RESIDUAL
    if model.is_fitted:
        assert violations(model, KERNELS[kernel], model.vectors_, by_side(model)) <= RESIDUAL
        np.testing.assert_array_equal(model.vectors_, X[model.support_])
        np.testing.assert_array_equal(model.sample_weights_, weights[model.support_])


def violating(model, X, y):
    """The first row that violates, and the first beyond the margin, as (x, y)."""
    margins = y * model.decision_function(X)
    inside, beyond = np.flatnonzero(margins < 0.9)[0], np.flatnonzero(margins > 1.1)[0]
    return (X[inside], y[inside]), (X[beyond], y[beyond])


def test_of_a_stream_the_violators_are_stored():
    X, y = noisy(120)
    model = made(max_vectors=100).partial_fit(X[:60], y[:60])
    inside, beyond = violating(model, X[60:], y[60:])
    before = bytes(model.arena)[32:]
    assert model.learn_one(*beyond) is False
    assert bytes(model.arena)[32:] == before  # but for the counters common to all
    assert model.learn_one(*inside) is True
    assert model.support_[-1] == 61 and (model.vectors_[-1] == inside[0]).all()


def test_where_there_is_no_room_a_sample_beyond_the_margin_goes_first():
    X, y = noisy(300)
    model = made(max_vectors=60, C=10.0)
    n_spare = 0
    for x, label in zip(X, y.tolist(), strict=True):
        n_held = len(model.vectors_) if model.is_fitted else 0
        if n_held < 60:
            model.learn_one(x, label)
            continue
        held, margins = model.support_, model.labels_ * model.decision_function(model.vectors_)
        spare = (model.dual_coef_[0] == 0.0) & ~model.margin_
        n_forgotten = model.n_forgotten_
        if not model.learn_one(x, label):
            continue
        gone = set(held) - set(model.support_)
        n_spare += bool(spare.any())
        if spare.any():
            assert gone == {held[spare][margins[spare].argmax()]}
        else:
            assert gone == {held[0]} and model.n_forgotten_ == n_forgotten + 1
    assert n_spare > 5 and model.n_forgotten_ > 5


@each("weight", [1e-101, 1e101])
def test_a_weight_out_of_range_loses_nothing(weight):
    X, y = noisy(50)
    model = made(max_vectors=50).fit(X, y)
    state, weights = bytes(model.arena), np.ones(50)
    weights[7] = weight
    with pytest.raises(ValueError, match="row 7"):
        model.fit(X, y, sample_weight=weights)
    assert bytes(model.arena) == state
    with pytest.raises(ValueError, match="row 7"):
        model.partial_fit(X, y, sample_weight=weights)
    assert model.n_seen_ == 57


@each("weight", [1.0, 1e30])
@each("g", [1.7e308, -1e40])
def test_decision_values_far_out_are_refused_beside_a_weight_of_any_size(weight, g, tmp_path):
    model = made(max_vectors=20).partial_fit(*noisy(60))
    arrays = model.core.views
    heavy = np.flatnonzero(arrays["s_plus"])[0]
    arrays["s_plus"][heavy] *= weight
    model.save(tmp_path / "heavy.esvm")
    arrays["g"][1] = g
    with pytest.raises(CorruptModelError, match="decision values"):
        model.save(tmp_path / "broken.esvm")
