"""Balls of any kernel: a matrix, a function, and what the paper wants of them."""

import numpy as np
import pytest
from balls import clouds, machine, minimum_ball, square_distances
from each import each

from edgesvm import RBF, BallVectorMachine, CoreVectorMachine, NotFittedError
from edgesvm.learners.papers.enclosing.gram import GramMachine

KERNEL = RBF(0.5)


def laplace(X, Z):
    return np.exp(-0.5 * np.abs(X[:, None] - Z[None]).sum(axis=2))


def both(method, kernel, X, others, y, **params):
    """Of a matrix and of its function."""
    by_matrix = GramMachine(method=method, **params).fit(kernel(X, X), y)
    by_function = GramMachine(method=method, kernel=kernel, **params).fit(X, y)
    f = by_function.decision_function(others)
    np.testing.assert_allclose(by_matrix.decision_function(kernel(others, X)), f, atol=1e-12)
    assert by_matrix.predict(kernel(others, X)).tolist() == by_function.predict(others).tolist()
    return by_function


@each("method", ["core", "ball"])
@each("C", [0.5, 20.0])
def test_every_row_is_inside_and_the_core_machine_is_optimal(method, C):
    X, y = clouds(60)
    others, _ = clouds(50, 1)
    model = both(method, laplace, X, others, y, C=C, epsilon=1e-6, margin_tol=None)
    sign = np.where(y, 1.0, -1.0)
    K = np.outer(sign, sign) * (laplace(X, X) + 1.0) + np.eye(len(X)) / C
    alpha = np.zeros(len(X))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    best, square = minimum_ball(K)
    far = square_distances(K, alpha).max()
    assert model.converged_ and alpha.sum() == pytest.approx(1.0)
    assert model.margin_ == pytest.approx(alpha @ K @ alpha)
    assert far < (square if method == "core" else K[0, 0]) * (1 + 3e-6)
    if method == "core":
        np.testing.assert_allclose(alpha, best, atol=1e-3)


@each("kind, method", [(CoreVectorMachine, "core"), (BallVectorMachine, "ball")])
def test_it_is_the_machine_in_fixed_bytes_of_the_same_kernel(kind, method):
    X, y = clouds(200)
    ours = GramMachine(method=method, C=2.0, epsilon=1e-5, margin_tol=None).fit(KERNEL(X, X), y)
    fixed = machine(kind, kernel=KERNEL, epsilon=1e-5).fit(X, y)
    f, g = ours.decision_function(KERNEL(X, X)), fixed.decision_function(X)
    clear = np.abs(g) > 0.2 * np.abs(g).max()
    assert (np.sign(f) == np.sign(g))[clear].all()
    if method == "core":
        np.testing.assert_allclose(f, g, atol=5e-3 * np.abs(g).max())


def test_the_conditions_of_the_paper_are_checked():
    X, y = clouds(30)
    K = KERNEL(X, X)
    wrong = {
        "a square matrix": K[:, :-1],
        "NaN or infinite": np.where(K[3, 4] == K, np.nan, K),
        r"between 1 and 2, but must be the same": K + np.diag(np.arange(30) == 7),
        "not symmetric": K + np.triu(np.full_like(K, 1e-3), 1),
        "larger than k": np.where(np.eye(30), 1.0, 2.0),
    }
    for message, matrix in wrong.items():
        with pytest.raises(ValueError, match=message):
            GramMachine().fit(matrix, y)
        with pytest.raises(ValueError, match=message):
            GramMachine(kernel=lambda X, Z, matrix=matrix: matrix).fit(X, y)
    with pytest.raises(ValueError, match="two classes, there are 1"):
        GramMachine().fit(K, np.ones(30))
    for params in ({"C": 0}, {"epsilon": 1}, {"margin_tol": 2}, {"method": "x"}, {"kernel": "rbf"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            GramMachine(**params).fit(K, y)
    with pytest.raises(NotFittedError):
        GramMachine().predict(K)
    assert not GramMachine(max_iter=3).fit(K, y).converged_
