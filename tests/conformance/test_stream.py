"""One at a time, in a batch, cut anywhere, saved and continued: the same bytes, bit for bit."""

import copy
import pickle

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS, answer, answers, labels_of, predicted, settings

import edgesvm
from edgesvm import RandSVM
from edgesvm.learners.batch.batch import StoreSVM
from edgesvm.learners.multiclass import Multiclass

N = 240

own_methods = pytest.mark.entries(*OWN_METHODS)


def state(learner):
    """All that was learned, as bytes, and the labels; of what solves on demand, when it has."""
    settle(learner)
    return bytes(learner.arena), labels_of(learner)


def settle(learner):
    """Have what was put off done, so that a prediction has nothing left to change."""
    if isinstance(learner, (StoreSVM, RandSVM, Multiclass)) and learner.is_fitted:
        learner.solve()


def in_chunks(learner, X, y, cuts, weights=None):
    for begin, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        part = None if weights is None else weights[begin:end]
        learner.partial_fit(X[begin:end], y[begin:end], sample_weight=part)
    return learner


def some_weights(rng, n):
    return rng.choice([0.0, 0.25, 1.0, 3.0], n)


def random_cuts(rng, n):
    return sorted(rng.choice(np.arange(1, n), rng.integers(1, 12), replace=False).tolist())


@each_of("subject")
def test_one_at_a_time_equals_batch(subject):
    X, y = subject.stream(N)
    weights = some_weights(np.random.default_rng(5), N)
    for given in (np.ones(N), weights):
        single = subject.make().allocate(subject.n_features)
        for row, label, weight in zip(X, y, given.tolist(), strict=True):
            single.learn_one(row, label, weight)
        whole = subject.make().partial_fit(X, y, sample_weight=given)
        assert state(single) == state(whole)
        assert whole.n_seen_ == N
        assert 0 < whole.n_updates_ <= N


@each_of("subject")
@each("weighted", [False, True])
def test_any_cutting_equals_batch(subject, weighted):
    for seed in subject.some(range(5)):
        rng = np.random.default_rng(seed)
        X, y = subject.stream(N, seed)
        weights = some_weights(rng, N) if weighted else None
        whole = subject.make().partial_fit(X, y, sample_weight=weights)
        cut = in_chunks(subject.make(), X, y, random_cuts(rng, N), weights)
        assert state(cut) == state(whole)


@pytest.mark.labels
@each_of("subject")
def test_label_and_score_are_those_of_the_decision(subject):
    X, _ = subject.stream(20, 9)
    learner = subject.learned(60)
    values = [np.max(learner.decision_one(row)) for row in X]
    expected = list(zip([learner.predict_one(row) for row in X], values, strict=True))
    found = [learner.predict_with_score(row) for row in X]
    assert found == expected and all(type(score) is float for _, score in found)


@pytest.mark.labels
@each_of("subject")
def test_predicting_and_learning_many_equals_one_at_a_time(subject):
    X, y = subject.stream(N)
    weights = some_weights(np.random.default_rng(5), N)
    for engine, n in (("compiled", N), ("reference", 90)):
        single, many = (subject.entry.make(subject.dtype, engine) for _ in range(2))
        for learner in (single, many):
            learner.partial_fit(X[:60], y[:60])
        expected = []
        for row, label, weight in zip(X[60:n], y[60:n], weights[60:n].tolist(), strict=True):
            expected.append(single.predict_one(row))
            single.learn_one(row, label, weight)
        found = []
        while len(found) < n - 60:  # a call ends before a new label
            at = slice(60 + len(found), n)
            some = many.predict_and_learn(X[at], y[at], weights[at]).tolist()
            found += some
            assert some
        assert found == expected and state(many) == state(single)


@own_methods
@each_of("subject")
def test_empty_batch_changes_nothing(subject):
    learner = subject.learned()
    before = state(learner)
    learner.partial_fit(np.empty((0, subject.n_features), subject.dtype), [])
    assert state(learner) == before


@own_methods
@each_of("subject")
def test_learn_one_tells_whether_the_model_moved(subject):
    X, y = subject.stream(N)
    learner = subject.make()
    moved = [learner.learn_one(row, label) for row, label in zip(X, y, strict=True)]
    assert all(type(answer) is bool for answer in moved)
    assert sum(moved) == learner.n_updates_


@each_of("subject")
def test_predictions_one_at_a_time_equal_batch(subject):
    X, _ = subject.stream(80, seed=9)
    learner = subject.learned()
    before = state(learner)
    decisions = answers(learner, X)
    assert decisions.dtype == np.float64
    assert np.isfinite(decisions).all() and len(set(decisions.ravel().tolist())) > 40
    one_by_one = np.array([answer(learner, row) for row in X]).tolist()
    for n in (80, 31, 9, 8, 7):  # of blocks, and what is left over
        assert answers(learner, X[:n]).tolist() == one_by_one[:n]
    assert [learner.predict_one(row) for row in X] == learner.predict(X).tolist()
    assert learner.predict(X).tolist() == predicted(learner, decisions).tolist()
    assert state(learner) == before


@pytest.mark.labels
@each_of("subject")
def test_a_decision_is_a_number_or_one_for_each_class(subject):
    X, _ = subject.stream(80, seed=9)
    learner, n_classes = subject.learned(), subject.entry.n_classes
    shape = (80,) if n_classes == 2 else (80, n_classes)
    assert learner.decision_function(X).shape == shape
    assert type(learner.decision_one(X[0])) is (float if n_classes == 2 else np.ndarray)


@each_of("subject")
def test_it_learns(subject):
    """Loose on purpose."""
    X, y = subject.stream(600, seed=3)
    learner = subject.make().partial_fit(X[:400], y[:400])
    assert learner.score(X[400:], y[400:]) > subject.entry.least_score


@pytest.mark.labels
@each_of("subject")
def test_a_score_is_the_share_of_labels_that_are_right(subject):
    X, y = subject.stream(600, seed=3)
    learner = subject.make().partial_fit(X[:400], y[:400])
    hits = learner.predict(X[400:]) == y[400:]
    assert learner.score(X[400:], y[400:]) == hits.mean()
    assert learner.score(X[400:], y[400:], sample_weight=hits) == 1.0


@each_of("subject")
def test_fit_is_reset_and_one_pass(subject):
    X, y = subject.stream(N)
    in_order = {"shuffle": False, "epochs": 1} if subject.make().shuffles else {}
    fitted = subject.make().fit(X, y, **in_order if subject.entry.one_pass else {})
    if subject.entry.one_pass:
        assert state(fitted) == state(subject.make().partial_fit(X, y))
        fitted = subject.make().fit(X, y)
    other = subject.learned(90).fit(X, y)
    assert state(other) == state(fitted)


@each_of("subject")
def test_reset_is_as_new(subject):
    X, y = subject.stream(N)
    learner = subject.learned(190).reset()
    new = subject.make().allocate(subject.n_features)
    assert state(learner) == state(new)
    assert learner.n_seen_ == learner.n_updates_ == 0
    assert state(learner.partial_fit(X, y)) == state(new.partial_fit(X, y))


@each_of("subject")
def test_weight_one_is_no_weight_and_weight_zero_is_not_there(subject):
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    assert state(subject.make().partial_fit(X, y, sample_weight=np.ones(N))) == state(plain)
    weights = np.tile([1.0, 0.0, 0.0], N // 3)
    thinned = subject.make().partial_fit(X, y, sample_weight=weights)
    kept = subject.make().partial_fit(X[::3], y[::3])
    assert answers(thinned, X).tolist() == answers(kept, X).tolist()
    assert thinned.n_updates_ == kept.n_updates_ and thinned.n_seen_ == N


@own_methods
@each_of("subject")
def test_set_params_forgets_and_is_as_constructed(subject):
    if not subject.entry.tuned:
        pytest.skip("it has no number among its parameters")
    X, y = subject.stream(N)
    changed = {subject.entry.tuned: 0.37}
    learner = subject.learned(50).set_params(**subject.entry.named(**changed))
    with pytest.raises(edgesvm.NotFittedError):
        learner.predict(X)
    assert state(learner.partial_fit(X, y)) == state(subject.make(**changed).partial_fit(X, y))


@each_of("subject")
@each("k", [0, 1, 2, 77, N])
def test_saved_and_continued_equals_never_stopped(subject, k, tmp_path):
    X, y = subject.stream(N)
    learner = subject.make().allocate(subject.n_features).partial_fit(X[:k], y[:k])
    settle(learner)
    path = tmp_path / "model.esvm"
    learner.save(path)
    loaded = edgesvm.load(path)
    assert type(loaded) is type(learner)
    assert settings(loaded) == settings(learner)
    assert state(loaded) == state(learner)
    assert (loaded.n_seen_, loaded.n_features_in_) == (k, subject.n_features)
    loaded.save(tmp_path / "again.esvm")
    assert (tmp_path / "again.esvm").read_bytes() == path.read_bytes()
    whole = subject.make().partial_fit(X, y)
    assert state(loaded.partial_fit(X[k:], y[k:])) == state(whole)
    assert answers(loaded, X).tolist() == answers(whole, X).tolist()


@each_of("subject")
@each("copier", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@each("k", [None, 0, 1, 120])
def test_pickled_and_continued_equals_never_stopped(subject, k, copier):
    X, y = subject.stream(N)
    learner = subject.make()
    if k is not None:
        learner.allocate(subject.n_features).partial_fit(X[:k], y[:k])
    twin = copier(learner)
    assert settings(twin) == settings(learner) and twin.nbytes == learner.nbytes
    before = bytes(learner.arena) if k is not None else None
    assert state(twin.partial_fit(X[k:], y[k:])) == state(subject.make().partial_fit(X, y))
    if before is not None:
        assert bytes(learner.arena) == before, "the copy shares memory with the original"


@own_methods
@pytest.mark.labels
@each_of("subject")
def test_named_classes_are_saved_and_pickled(subject, tmp_path):
    names = ["hot", "cold", "mild", "off"][: subject.entry.n_classes]
    learner = subject.make().allocate(subject.n_features, classes=names)
    learner.save(tmp_path / "model.esvm")
    for copied in (edgesvm.load(tmp_path / "model.esvm"), pickle.loads(pickle.dumps(learner))):
        assert copied.classes_.tolist() == sorted(names)
        with pytest.raises(ValueError, match="cold"):
            copied.learn_one(np.zeros(subject.n_features, subject.dtype), "warm")


@own_methods
@each_of("subject")
def test_save_before_memory_is_a_clear_error(subject, tmp_path):
    with pytest.raises((edgesvm.NotFittedError, AttributeError), match=r"allocate|learn"):
        subject.make().save(tmp_path / "model.esvm")
    assert list(tmp_path.iterdir()) == []


@own_methods
@pytest.mark.labels
@each_of("subject")
def test_a_failed_save_leaves_the_old_file(subject, tmp_path):
    learner = subject.learned()
    path = tmp_path / "model.esvm"
    learner.save(path)
    before = path.read_bytes()
    labels = [(i, i + 1) for i in range(subject.entry.n_classes)]
    tuples = subject.make().allocate(subject.n_features, classes=labels)
    with pytest.raises(TypeError, match="label"):
        tuples.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        learner.save(tmp_path / "no such folder" / "model.esvm")
