"""SharedTwinSVM: what its twins are, and what its coefficients are learned by."""

import numpy as np
import pytest

from edgesvm import RBF, SharedTwinSVM, load
from edgesvm.errors import CorruptModelError, SampleRefused
from edgesvm.learners.twin.constants import RIDGE

rng = np.random.default_rng(3)
CENTRES = 3 * np.eye(4, 6)
y = rng.integers(0, 4, 900)
X = (rng.standard_normal((900, 6)) + CENTRES[y]).astype(np.float32)
KERNEL = RBF(0.1)


def of_four(**params):
    return SharedTwinSVM(max_twins=20, n_classes=4, kernel=KERNEL, **params)


def test_twins_are_means_of_samples_of_one_class():
    model = of_four(dtype="float64").partial_fit(X[:300], y[:300])
    assert len(model.twins_) == 20
    assert model.n_merged_ == 280
    for label in range(4):
        own, rows = model.twin_labels_ == label, X[:300][y[:300] == label].astype(float)
        assert model.weights_[own, label].sum() == len(rows)
        mean = model.weights_[own, label] @ model.twins_[own] / len(rows)
        assert np.allclose(mean, rows.mean(axis=0), rtol=1e-12)


def test_the_two_of_least_distortion_become_one():
    model = SharedTwinSVM(max_twins=3, kernel=KERNEL)
    model.partial_fit([[0.0], [4.0], [9.0], [8.5]], [0, 0, 0, 1])
    assert sorted(model.twins_[:, 0]) == [2.0, 8.5, 9.0]
    model.learn_one([8.0], 0, weight=3.0)  # 3 / 4 against 2 * 3.5^2 of the other two
    assert sorted(model.twins_[:, 0]) == [2.0, 8.25, 8.5]
    assert sorted(model.weights_.sum(axis=1)) == [1.0, 2.0, 4.0]


def test_equal_samples_need_one_twin():
    model = SharedTwinSVM(max_twins=9).partial_fit([[1.0, 2.0]] * 5 + [[0.0, 0.0]], [0] * 5 + [1])
    assert model.weights_.tolist() == [[5.0, 0.0], [0.0, 1.0]]


def test_a_class_without_room_is_not_learned_until_there_is_some():
    model = SharedTwinSVM(max_twins=2, n_classes=3, kernel=KERNEL, settle_after=6)
    model.partial_fit([[0.0], [1.0], [5.0]], [0, 1, 2])
    assert model.n_updates_ == 2
    assert model.predict([[5.0]]).tolist() == [1]
    model.partial_fit([[0.0], [1.0], [5.0]] * 20, [0, 1, 2] * 20)
    assert model.settled_at_ == 6
    assert model.predict([[0.0], [1.0], [5.0]]).tolist() == [0, 1, 2]


def test_the_nearest_twin_answers_until_they_settle():
    model = of_four().partial_fit(X[:200], y[:200])
    squares = ((X[200:, None].astype(float) - model.twins_) ** 2).sum(axis=2)
    assert (model.predict(X[200:]) == model.twin_labels_[squares.argmin(axis=1)]).all()


def test_classes_share_the_precision():
    """P is the prior's and the samples' since; f is that of the formula."""
    model = of_four(settle_after=300, dtype="float64").partial_fit(X, y)
    assert model.settled_at_ == 300
    K = KERNEL(model.twins_, model.twins_)
    views = model.core.views
    L = np.zeros((20, 20))
    L[np.tril_indices(20)] = views["pool"]
    added = np.linalg.eigvalsh(L @ L.T - (K + 1 + RIDGE * np.eye(20)))
    assert added.min() > -1e-8
    v = KERNEL(X.astype(float), model.twins_)
    scores = v @ model.dual_coef_.T + model.intercept_
    assert np.allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)


def test_a_coefficient_too_large_is_refused_before_it_is_in_use():
    model = SharedTwinSVM(max_twins=7, kernel=KERNEL, dtype="float64")
    model.partial_fit(X[:20], y[:20] % 2)
    model.core.views["coef"][0, 3] = 1e300
    with pytest.raises(CorruptModelError, match="decision value"):
        model.core.check()


def test_a_damaged_factor_refuses_what_it_cannot_learn_and_nothing_is_lost(tmp_path):
    model = SharedTwinSVM(max_twins=7, kernel=KERNEL, settle_after=60, dtype="float64")
    model.partial_fit(X[:300], y[:300] % 2)
    pool = model.core.views["pool"]
    pool[13] = -9e151  # of row 4, not on the diagonal
    model.save(tmp_path / "damaged.esvm")
    damaged = load(tmp_path / "damaged.esvm")
    decided = damaged.decision_function(X)
    with pytest.raises(SampleRefused):
        for x, label in zip(X, y % 2, strict=True):
            damaged.learn_one(x, label)
    damaged.save(tmp_path / "again.esvm")
    assert (damaged.decision_function(X) == decided).all()
