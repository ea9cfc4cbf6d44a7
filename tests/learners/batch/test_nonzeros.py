"""Stores of non-zeros: the optimum of dense rows, and a budget that holds to the byte."""

import numpy as np
import pytest
from each import each
from problems import assert_optimal, duplicates, svm

from edgesvm import RBF, Linear, Polynomial, RandSVM
from edgesvm.data import SparseRows
from edgesvm.errors import SampleRefused


def words(n, width=40, seed=0, noise=0.3):
    """Rows of which one feature in eight is not zero."""
    rng = np.random.default_rng([seed, n])
    X = rng.random((n, width)) * (rng.random((n, width)) < 0.125)
    f = X @ rng.standard_normal(width)
    return X, f + noise * f.std() * rng.standard_normal(n) > 0.3 * f.std()


def csr(X):
    row, column = np.nonzero(X)
    ends = np.searchsorted(row, np.arange(len(X) + 1))
    return SparseRows(X[row, column], column, ends, X.shape)


@each("kernel", [Linear(), RBF(0.5), Polynomial(2, 1.0, 1.0)])
@each("C", [0.1, 10.0])
def test_the_optimum_is_that_of_dense_rows(kernel, C):
    X, y = words(150)
    options = {"kernel": kernel, "C": C, "tol": 1e-6}
    dense = svm(150, **options, by_plane=False).fit(X, y)
    sparse = svm(150, **options, max_nonzeros=np.count_nonzero(X)).fit(csr(X), y)
    assert sparse.converged_ and sparse.gap_ < 1e-6
    assert_optimal(sparse, X, y, C, 1e-6)
    np.testing.assert_allclose(sparse.objective_, dense.objective_, rtol=1e-6)
    np.testing.assert_allclose(
        sparse.decision_function(csr(X)), dense.decision_function(X), atol=1e-4
    )
    rows = sparse.support_vectors_
    assert isinstance(rows, SparseRows)
    np.testing.assert_array_equal(rows.toarray(), X[sparse.support_])


@each("shrinking", [True, False])
def test_linear_rows_of_weights_and_a_warm_start(shrinking):
    X, y = words(120)
    weights = np.random.default_rng(3).uniform(0.2, 3.0, 120)
    options = {"kernel": Linear(), "max_nonzeros": X.size, "shrinking": shrinking}
    cold = svm(120, **options).fit(X, y, sample_weight=weights)
    assert_optimal(cold, X, y, 10.0 * weights, 1e-5)
    warm = svm(120, **options).fit(X, y, weights, alpha=cold.alpha_)
    assert_optimal(warm, X, y, 10.0 * weights, 1e-5)
    assert warm.n_iter_ < cold.n_iter_ / 2


@each("problem", ["duplicates", "zeros", "one class"])
def test_linear_rows_that_are_singular(problem):
    X, y = duplicates(80)
    if problem == "zeros":
        X = np.zeros_like(X)
    if problem == "one class":
        y = np.ones(80, bool)
    options = {"kernel": Linear(), "C": 1.0}
    sparse = svm(80, max_nonzeros=X.size, **options).fit(X, y)
    dense = svm(80, **options, by_plane=False).fit(X, y)
    plane = svm(80, **options).fit(X, y)
    np.testing.assert_allclose(plane.decision_function(X), dense.decision_function(X), atol=1e-3)
    assert sparse.converged_
    np.testing.assert_allclose(sparse.objective_, dense.objective_, atol=1e-4)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-3)


def test_the_budget_is_kept_to_the_byte():
    model = svm(4, kernel=Linear(), max_nonzeros=10)
    views = model.allocate(7).core.views
    assert views["columns"].nbytes == 4 * 14 and views["values"].nbytes == 8 * 14
    x = np.arange(7.0)
    model.learn_one(x, 0)
    model.learn_one(np.eye(7)[3], 1)
    before = bytes(model.arena)
    why = r"takes 84 bytes for its 6 non-zeros, and 60 of 168 are free; give a larger max_nonzeros$"
    with pytest.raises(SampleRefused, match=why):
        model.learn_one(x, 0)
    assert bytes(model.arena) == before
    model.learn_one(np.minimum(x, 4 * (x < 5)), 0)
    assert views["taken"].tolist() == [14, 14], "the last entry is taken"
    with pytest.raises(ValueError, match=r"7 non-zeros take 84 bytes, max_nonzeros=6 is 72;"):
        svm(4, kernel=Linear(), max_nonzeros=6).fit(np.ones((1, 7)), [0])


def test_rows_come_and_go_in_a_full_block():
    """Against a list of the last rows; the block has room for just these."""
    X, y = words(300, width=12)
    model = svm(9, kernel=Linear(), when_full="oldest", max_nonzeros=9 * 5)
    held, refused = [None] * 9, 0
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        try:
            model.learn_one(x, label)
        except SampleRefused:
            refused += 1
            others = [r for k, r in enumerate(held) if k != (n - refused + 1) % 9 and r is not None]
            assert np.count_nonzero(others) + len(others) + np.count_nonzero(x) + 1 > 9 * 6
            continue
        held[(n - refused) % 9] = x
        if n % 5 == 0 and n > 9:
            model.solve()
            assert sorted(map(tuple, held)) == sorted(map(tuple, rows_of(model.core.views, 9, 12)))
    assert n - refused > 150


def rows_of(views, n, width, prefix=""):
    """The first n rows, dense, from the arrays as FORMATS.md describes them."""
    start, length, column, value = (
        views[prefix + name] for name in ("starts", "lengths", "columns", "values")
    )
    dense = np.zeros((n, width))
    for t, x in enumerate(dense):
        part = slice(start[t], start[t] + length[t])
        x[column[part] - 1] = value[part]
    return dense


def test_randsvm_finds_the_optimum_of_all_rows():
    X, y = words(600, noise=0.05)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-9)[:, None]
    options = {"kernel": Linear(), "C": 1.0}
    whole = svm(600, **options).fit(X, y)
    solver = svm(500, max_nonzeros=4000, **options)
    found = RandSVM(solver=solver, k=480, c=1.0).fit(csr(X), y)
    dense = RandSVM(solver=svm(500, **options), k=480, c=1.0).fit(X, y)
    assert found.stop_ == dense.stop_ == "optimal" and found.n_passes_ > 1
    np.testing.assert_allclose(found.objective_, whole.objective_, rtol=1e-5)
    assert found.nbytes < dense.nbytes / 2
    with pytest.raises(ValueError, match=r"row \d+ does not fit .* of 7,200 bytes; give a larger"):
        RandSVM(solver=svm(500, max_nonzeros=100, **options), k=480).fit(csr(X), y)
