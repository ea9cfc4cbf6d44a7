"""Stores of non-zeros: the ball of dense rows, and a budget that holds to the byte."""

import warnings

import numpy as np
import pytest
from balls import (
    ENGINES,
    MACHINES,
    assert_state_is_true,
    coefficients,
    machine,
    square_distances,
    transformed_kernel,
)
from each import each, first_of

from edgesvm import (
    RBF,
    BallVectorMachine,
    CoreVectorMachine,
    Linear,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
    Polynomial,
)
from edgesvm.data import SparseRows
from edgesvm.errors import ConvergenceWarning, CorruptModelError, SampleRefused

KERNELS = [
    {"kernel": RBF(0.5)},
    {"kernel": Linear(), "normalize": True},
    {"kernel": Polynomial(2, 1.0, 1.0), "normalize": "kernel"},
]


def words(n, width=40, seed=0):
    """Rows of which one feature in eight is not zero, and none is empty."""
    rng = np.random.default_rng([seed, n])
    X = rng.random((n, width)) * (rng.random((n, width)) < 0.125)
    X[np.arange(n), rng.integers(width, size=n)] = 0.5
    f = X @ rng.standard_normal(width)
    return X, f + 0.3 * f.std() * rng.standard_normal(n) > 0.3 * f.std()


def csr(X):
    row, column = np.nonzero(X)
    ends = np.searchsorted(row, np.arange(len(X) + 1))
    return SparseRows(X[row, column], column, ends, X.shape)


@each("kind", MACHINES)
@each("options", KERNELS)
@each("as_rows", [csr, np.asarray])
def test_the_ball_is_that_of_dense_rows(kind, options, as_rows):
    X, y = words(150)
    options = options | {"epsilon": 1e-5, "max_core": 150}
    dense = machine(kind, **options).fit(X, y)
    sparse = machine(kind, **options, max_nonzeros=2 * X.size).fit(as_rows(X), y)
    assert sparse.converged_ and sparse.core_.tolist() == dense.core_.tolist()
    np.testing.assert_allclose(sparse.margin_, dense.margin_, rtol=1e-5)
    np.testing.assert_allclose(
        sparse.decision_function(as_rows(X)), dense.decision_function(X), atol=1e-5
    )
    rows = sparse.support_vectors_
    assert isinstance(rows, SparseRows)
    np.testing.assert_allclose(rows.toarray(), dense.support_vectors_, atol=1e-12)


@each("kind", MACHINES)
@each("options", KERNELS[:2])
@pytest.mark.parametrize("budget", first_of([30, 100, 200, 300, 500, 900]))
@each("bulk", [True, False])
def test_a_full_store_is_told_or_all_rows_are_inside(kind, options, budget, bulk):
    X, y = words(200)
    if kind is CoreVectorMachine:
        options = options | {"bulk": bulk}
    model = machine(kind, **options, max_core=300, n_probes=20, max_nonzeros=budget)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(csr(X), y)
    model.core.check()
    assert_state_is_true(model, X, y)
    views = model.core.views
    assert views["taken"][1] == views["lengths"].sum() + model.n_core_ <= budget + 320
    K = transformed_kernel(model, X, y)
    outside = square_distances(K, coefficients(model, len(X))) - model.radius_**2
    assert model.enclosed_ == (outside.max() < 1e-6)
    assert [f"max_nonzeros={budget}" in str(t.message) for t in told] == [True] * len(told)
    assert bool(told) != model.enclosed_
    assert all(issubclass(t.category, ConvergenceWarning) for t in told)


@each("options", KERNELS[:2])
def test_the_reference_fills_its_store_alike(options):
    X, y = words(200)
    found = []
    for engine in ENGINES:
        model = machine(BallVectorMachine, engine, **options, max_core=100, max_nonzeros=100)
        with pytest.warns(ConvergenceWarning, match="max_nonzeros=100"):
            model.fit(csr(X), y)
        views = model.core.views
        found.append([views[name].tolist() for name in ("number", "starts", "columns", "taken")])
    assert found[0] == found[1]


@each("kind", MACHINES)
@each("options", KERNELS)
def test_a_stream_in_a_small_store(kind, options):
    """A ball drops what is lightest, of either limit; a core set keeps what it has."""
    X, y = words(120, width=20)
    options = options | {"max_core": 50, "n_probes": 1, "max_nonzeros": 30, "C": 0.2}
    model = machine(kind, **options).allocate(20)
    learned = [model.learn_one(x, int(label)) for x, label in zip(X, y, strict=True)]
    model.core.check()
    assert 0 < model.n_core_ < 50 and learned[0]
    assert model.n_given_up_ > 10 if kind is BallVectorMachine else not all(learned[-30:])
    assert 60 < model.core.views["taken"][1] <= 81, "most of the store is in use"


@each("kind", MACHINES)
def test_a_row_of_more_than_half_is_refused(kind):
    X, y = words(60)
    model = machine(kind, max_nonzeros=400).fit(csr(X), y)
    wide = np.ones(500)
    wide[:40] = X[0]
    why = r"does not fit: its 201 non-zeros are more than half of max_nonzeros=400; give a larger"
    small = machine(kind, max_nonzeros=400).allocate(500)
    small.learn_one(np.arange(500) % 5 == 0, 1)
    before = bytes(small.arena)
    with pytest.raises(SampleRefused, match=r"the sample \(label 0\) " + why):
        small.learn_one(np.arange(500) < 201, 0)
    assert bytes(small.arena) == before
    model = machine(kind, max_nonzeros=10).fit(csr(X[:2] * (np.arange(40) < 9)), y[:2])
    before = bytes(model.arena)
    with pytest.raises(ValueError, match=r"row 3 does not fit: its 40 .* max_nonzeros=10; give"):
        model.fit(np.vstack([X[:3] * 0, np.ones(40)]), y[:4])
    assert bytes(model.arena) == before


@each("kind", MACHINES)
@each("name", ["starts", "lengths", "columns", "values", "taken", "w"])
def test_a_damaged_store_is_refused(kind, name):
    X, y = words(60)
    model = machine(kind, kernel=Linear(), normalize=True, max_nonzeros=X.size).fit(csr(X), y)
    model.core.check()
    place, by = {"values": (1, 1e30), "taken": (1, 1)}.get(name, (0, 1))
    model.core.views[name][place] += by
    with pytest.raises(CorruptModelError):
        model.core.check()


@each("kind", [OneClassCoreVectorMachine, OneClassBallVectorMachine])
@each("options", KERNELS)
def test_one_class(kind, options):
    X = words(150)[0]
    options = options | {"dtype": "float64", "max_core": 150}
    dense, sparse = kind(**options).fit(X), kind(**options, max_nonzeros=X.size).fit(csr(X))
    assert sparse.converged_
    np.testing.assert_allclose(
        sparse.decision_function(csr(X)), dense.decision_function(X), atol=1e-4
    )
    if kind is OneClassCoreVectorMachine:
        refused = kind(**options, max_nonzeros=40)
        with pytest.raises(ValueError, match=r"max_nonzeros=40 has no room for nu=0.1 of 150 rows"):
            refused.fit(csr(X))
        assert not refused.is_fitted
