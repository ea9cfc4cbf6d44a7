"""What the studies compare with is what it says it is."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

svm = pytest.importorskip("sklearn.svm")
pytest.importorskip("liblinear")

from benchmarks.common.rivals import Liblinear  # noqa: E402


@pytest.mark.parametrize("first", [False, True])
def test_liblinear_is_the_svm_of_scikit_learn(first):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] + 0.5 * rng.standard_normal(300) + 0.3 > 0
    first_row = int(np.flatnonzero(y == first)[0])  # its package takes the first label as positive
    order = [first_row, *(i for i in range(300) if i != first_row)]
    X, y = X[order], y[order]
    X = np.hstack([X, np.zeros((300, 2))])  # columns that its package does not count
    ours = Liblinear(C=0.5, solver=2).partial_fit(X, y, [False, True])
    theirs = svm.LinearSVC(C=0.5, tol=1e-6).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 0.05
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
