"""What the studies compare with is what it says it is."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

svm = pytest.importorskip("sklearn.svm")
pytest.importorskip("liblinear")

from benchmarks.common.rivals import Liblinear  # noqa: E402
from benchmarks.rivals.contestants import (  # noqa: E402
    OF_MANY,
    allocated,
    larger_so_far,
    n_directions,
    ours,
)
from benchmarks.rivals.long import Again  # noqa: E402
from benchmarks.rivals.ordered import fall, shuffled  # noqa: E402
from benchmarks.rivals.streams import THREE_WAVES, running  # noqa: E402
from edgesvm import Standardized, StreamSVM  # noqa: E402
from edgesvm.data import Source  # noqa: E402
from edgesvm.evaluation import PredictThenLearn  # noqa: E402


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


def test_all_are_given_what_our_standardizer_gives():
    rng = np.random.default_rng(1)
    X = rng.normal(1e4, [1.0, 100.0, 1e-3], (300, 3))
    X[:, 1] = 7.0  # says nothing
    scaled, rest = running(X, X[-1:])
    ours = Standardized(learner=StreamSVM(dtype="float64"), clip=None)
    for i in range(300):
        ours.learn_one(X[i], i % 2)
        expected = (X[i] - ours.center_) / np.where(ours.scale_ > 0, ours.scale_, 1.0)
        assert scaled[i, [0, 2]] == pytest.approx(expected[[0, 2]], rel=1e-6, abs=1e-6)
        assert scaled[i, 1] == 0.0
    assert (rest[0] == scaled[-1]).all()


def test_what_is_scored_is_what_the_loop_of_the_package_scores():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 3)).astype(np.float32)
    y = X[:, 0] > 0.2
    found = ours(StreamSVM().allocate(3, classes=[False, True]), X, y, X, 60.0)
    loop = PredictThenLearn(StreamSVM())
    trials = list(loop.run(Source(X, y)))
    assert found.before.tolist() == [t.predicted for t in trials[1:]]
    assert found.after.tolist() == loop.learner.predict(X).tolist()
    assert loop.score.accuracy == (found.before == y[1:]).mean()


def test_the_larger_class_so_far():
    y = np.array([True, False, False, True])
    assert larger_so_far(y).tolist() == [True, False, False]


@pytest.mark.parametrize("name", OF_MANY)
def test_a_learner_of_many_classes_is_as_large_as_fits(name):
    X, y, X_test, y_test = THREE_WAVES.split(0)
    small, large = (allocated(name, n << 10, X.shape[1], n_classes=3) for n in (4, 16))
    assert small.nbytes <= 4 << 10 < large.nbytes <= 16 << 10
    assert 0 < n_directions(small) < n_directions(large)
    assert large.partial_fit(X, y).score(X_test, y_test) > 0.7


def test_shuffled_rows_are_the_same_rows():
    split = THREE_WAVES.split(0)
    X, y, X_test, y_test = shuffled(split, 0)
    assert len(X) == len(split[0])
    kept = [np.column_stack([*pair]) for pair in ((X, y), (X_test, y_test))]
    given = [np.column_stack([*pair]) for pair in (split[:2], split[2:])]
    assert sorted(map(tuple, np.vstack(kept))) == sorted(map(tuple, np.vstack(given)))
    assert not np.array_equal(X, split[0])


def test_the_largest_fall_to_a_larger_budget():
    rising = np.array([50.0, 60.0, np.nan, 60.0, 70.0, 80.0])
    assert fall(rising) == "no"
    assert fall(np.array([90.0, 91.0, 89.0, np.nan, 88.5, 90.5])) == "2.5, 2 KiB to 16 KiB"


def test_again_gives_each_row_once_a_round():
    rows = Again(np.arange(10.0)[:, None], np.arange(10))
    first, second = (np.concatenate([rows.read(n)[1] for n in (3, 7)]) for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first.tolist() != second.tolist()
