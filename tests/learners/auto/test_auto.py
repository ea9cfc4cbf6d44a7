"""Auto: who answers, who ends, and what becomes of the bytes."""

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import Auto, FourierSVM, KernelStreamSVM, Standardized, StreamSVM
from edgesvm.data import Checkerboard
from edgesvm.errors import MemoryBudgetError


class OnReference(Auto):
    _engine = "reference"


def board(n, dtype="float32", seed=1):
    X, y = Checkerboard(seed=seed).read(n)
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype), y


def plane(n, dtype="float32", seed=2, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    y = np.where(X @ [1, -2, 0.5, 1, 0, 0] > 0, 1, -1)
    return X.astype(dtype), np.where(rng.random(n) < noise, -y, y)


@each("n_bytes", [1200, 3000, 16384])
@each("n_features", [2, 20])
def test_it_takes_what_it_is_given(n_bytes, n_features):
    learner = Auto.within(n_bytes, n_features=n_features)
    assert n_bytes - 64 <= learner.plan(n_features).total <= n_bytes
    with pytest.raises(MemoryBudgetError):
        Auto.within(600, n_features=20)


def test_a_plane_does_not_learn_a_board_and_ends_first():
    X, y = board(9000)
    learner = Auto(max_bytes=16384).allocate(2)
    learner.partial_fit(X[:1999], y[:1999])
    assert set(learner.candidates_) == {"StreamSVM", "KernelStreamSVM", "FourierSVM"}
    before = learner.candidates_["FourierSVM"].n_directions
    learner.partial_fit(X[1999:2000], y[1999:2000])
    assert set(learner.candidates_) == {"KernelStreamSVM", "FourierSVM"}
    left = StreamSVM(lookahead=0).as_part().plan(2).total  # FourierSVM cannot have it yet
    assert not learner.core.views["pool"][:left].any()
    learner.partial_fit(X[2000:], y[2000:])
    assert list(learner.candidates_) == ["FourierSVM"] == [learner.answers_]
    assert learner.candidates_["FourierSVM"].n_directions > 1.8 * before
    assert learner.score(*board(3000, seed=9)) > 0.96


def test_the_answer_is_that_of_the_candidate_with_the_least_lapses():
    X, y = plane(1500)
    learner = Auto(max_bytes=8000).partial_fit(X, y)
    lapses = learner.lapses_
    assert learner.answers_ == min(lapses, key=lapses.get)
    answering = learner.candidates_[learner.answers_]
    sign = learner.core.labels.sign
    assert learner.decision_function(X).tolist() == (sign * answering.decision_function(X)).tolist()


def test_candidates_are_what_they_would_be_alone():
    """Each learns the whole stream, to the bit."""
    X, y = plane(1500)
    learner = Auto(max_bytes=8000, seed=5).partial_fit(X, y)
    first = learner.core.labels.in_slots
    slots = np.array([first.index(label) for label in y.tolist()])
    for candidate in learner.candidates_.values():
        alone = candidate.like_new().allocate(6, classes=[0, 1]).partial_fit(X, slots)
        assert bytes(alone.arena)[:-8] == bytes(candidate.arena)  # without the mean weight


def test_lapses_are_the_share_of_recent_samples_each_had_wrong():
    X, y = plane(900)
    learner = Auto(max_bytes=8000).allocate(6, classes=[-1, 1])
    wrong = {"StreamSVM": [], "KernelStreamSVM": [], "FourierSVM": []}
    for x, label in zip(X, y, strict=True):
        for name, candidate in learner.candidates_.items():
            fitted = candidate.is_fitted
            wrong[name].append(candidate.predict_one(x) != (label > 0) if fitted else label > 0)
        learner.learn_one(x, label)
    for name, share in learner.lapses_.items():  # fewer than 1,000: the plain mean
        assert share == pytest.approx(np.mean(wrong[name]), abs=2 / 900)


@each("n_features, n_before, n_after", [(2, 4, 5), (2, 60, 71), (3, 64, 129), (40, 70, 300)])
@each("dtype", ["float32", "float64"])
@each("n_classes", [2, 3])
def test_growing_changes_no_answer(n_features, n_before, n_after, dtype, n_classes):
    """Further directions begin with weights of zero, in memory where both end at one place."""
    rng = np.random.default_rng(n_after)
    X = rng.standard_normal((300, n_features)).astype(dtype)
    y = np.digitize((X**2).sum(axis=1), [n_features, 1.3 * n_features][: n_classes - 1])
    params = {"dtype": dtype, "n_classes": n_classes}
    small, large = (FourierSVM(n_directions=n, **params) for n in (n_before, n_after))
    sizes = [learner.plan(n_features).total for learner in (small, large)]
    memory = np.zeros(sizes[1], np.uint8)
    classes = list(range(n_classes))
    large.allocate(n_features, classes, memory)
    small.allocate(n_features, classes, memory[sizes[1] - sizes[0] :]).partial_fit(X, y)
    before, n_weights = small.decision_function(X), np.count_nonzero(small.core.views["w"])
    large.core.go_on_as(small.core)
    rtol = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(large.decision_function(X), before, rtol=rtol, atol=rtol)
    assert np.count_nonzero(large.core.views["w"]) == n_weights
    assert (large.n_seen_, large.n_updates_) == (300, 300)
    large.core.check()
    large.partial_fit(X, y)
    assert (large.predict(X) == y).mean() > 0.7


@each("dtype", ["float64"])
def test_the_twin_ends_and_grows_alike(dtype):
    X, y = board(4100, dtype)
    fast = Auto(max_bytes=9000, dtype=dtype).allocate(2, classes=[-1, 1])
    plain = OnReference(max_bytes=9000, dtype=dtype).allocate(2, classes=[-1, 1])
    for part in (slice(0, 1990), slice(1990, 2010), slice(2010, 3990), slice(3990, 4100)):
        for learner in (fast, plain):
            learner.partial_fit(X[part], y[part])
        assert fast.candidates_.keys() == plain.candidates_.keys()
        assert fast.lapses_ == pytest.approx(plain.lapses_, abs=2e-3)
        np.testing.assert_allclose(
            fast.decision_function(X[:200]), plain.decision_function(X[:200]), atol=2e-3
        )
    assert list(fast.candidates_) == ["FourierSVM"]


def test_saved_in_the_middle_it_goes_on_as_if_it_had_not_been(tmp_path):
    X, y = board(5000)
    whole = Standardized.within("12KiB", n_features=2, learner=Auto())
    whole.partial_fit(X[:2500], y[:2500]).save(tmp_path / "m.esvm")
    again = edgesvm.load(tmp_path / "m.esvm")
    for learner in (whole, again):
        learner.partial_fit(X[2500:], y[2500:])
    assert bytes(whole.arena) == bytes(again.arena)
    assert whole.learner_.candidates_.keys() == again.learner_.candidates_.keys()


def test_one_that_ended_is_forgotten_and_a_reset_brings_it_back():
    X, y = board(5000)
    learner = Auto(max_bytes=9000).partial_fit(X, y)
    assert "StreamSVM" not in learner.candidates_
    fresh = Auto(max_bytes=9000).partial_fit(X, y)
    learner.reset()
    assert not bytes(learner.arena).strip(b"\0")
    assert bytes(learner.partial_fit(X, y).arena) == bytes(fresh.arena)


def test_a_budget_too_small_for_a_store_has_two_candidates():
    learner = Auto.within(1500, n_features=4).partial_fit(*plane_of(4))
    assert set(learner.candidates_) == {"StreamSVM", "FourierSVM"}
    kinds = [type(candidate) for candidate in learner.candidates_.values()]
    assert kinds == [StreamSVM, FourierSVM] and KernelStreamSVM not in kinds


def plane_of(n_features):
    X = np.random.default_rng(3).standard_normal((50, n_features)).astype("float32")
    return X, X[:, 0] > 0
