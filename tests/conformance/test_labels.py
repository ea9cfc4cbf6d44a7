"""Two labels of any kind; one class so far; classes named up front; predicting too early."""

import datetime

import numpy as np
import pytest
from test_stream import state

import edgesvm

N = 120

# (lower, higher), so that decision values keep their sign
PAIRS = {
    "ints": (0, 1),
    "negative": (-7, -3),
    "far": (-(2**62), 2**62),
    "strings": ("cold", "hot"),
    "text beyond ASCII": ("gesund", "Überlast"),
    "bools": (False, True),
    "floats": (-0.5, 2.25),
    "NumPy ints": (np.int64(3), np.int64(9)),
    "NumPy bytes": (np.uint8(3), np.uint8(255)),
    "NumPy strings": (np.str_("a"), np.str_("b")),
    "NumPy floats": (np.float32(0.5), np.float32(1.5)),
    "byte strings": (b"a", b"b"),
    "tuples": ((0, 1), (1, 0)),
    "dates": (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)),
}


def relabel(y, pair):
    """y with -1 and 1 replaced, as a list, so that no NumPy type is forced upon the labels."""
    return [pair[int(label > 0)] for label in y]


def as_column(labels):
    column = np.empty(len(labels), object)
    column[:] = labels
    return column


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_labels_of_any_kind(subject, pair):
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    labels = relabel(y, pair)
    batch = subject.make().partial_fit(X, as_column(labels))
    single = subject.make()
    for row, label in zip(X, labels, strict=True):
        single.learn_one(row, label)
    for learner in (batch, single):
        assert state(learner)[0] == state(plain)[0]
        assert learner.classes_.shape == (2,)
        assert list(map(tuple_or_self, learner.classes_.tolist())) == [as_python(v) for v in pair]
        assert learner.decision_function(X).tolist() == plain.decision_function(X).tolist()
        predicted = [learner.predict_one(row) for row in X]
        assert predicted == [as_python(v) for v in relabel(plain.predict(X), pair)]
        assert all(type(p) is type(as_python(pair[0])) for p in predicted)
        assert list(map(tuple_or_self, learner.predict(X).tolist())) == predicted


def test_a_tuple_is_one_label_among_others(subject):
    """Compared with an array it would be a row of labels."""
    X, _ = subject.stream(3)
    learner = subject.make().partial_fit(X, as_column([(0, 1, 0), "a", (0, 1, 0)]))
    assert set(learner.classes_.tolist()) == {(0, 1, 0), "a"}
    assert learner.score(X, as_column(["a", "a", (0, 1, 0)])) in (0.0, 1 / 3, 2 / 3, 1.0)
    before = state(learner)
    for labels in ([0, 1, 0], as_column([0, 1, 0]), np.array(["0", "1", "0"])):
        with pytest.raises(ValueError, match="row 0"):
            learner.partial_fit(X, labels)
    assert state(learner) == before


def as_python(label):
    return label.item() if isinstance(label, np.generic) else label


def tuple_or_self(label):
    return tuple(label) if isinstance(label, list) else label


def test_typed_columns_of_labels(subject):
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    for column in (
        np.where(y > 0, "hot", "cold"),
        (y > 0),
        (y > 0).astype(np.uint8),
        y.astype(np.float32),
        y.astype(">i4"),
        y.tolist(),
        np.where(y > 0, "hot", "cold").tolist(),
    ):
        assert bytes(subject.make().partial_fit(X, column).arena) == bytes(plain.arena)


def test_swapped_labels_turn_the_decisions(subject):
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    swapped = subject.make().partial_fit(X, -y)
    assert swapped.decision_function(X).tolist() == (-plain.decision_function(X)).tolist()
    assert swapped.predict(X).tolist() == (-plain.predict(X)).tolist()
    assert swapped.classes_.tolist() == [-1, 1]


def test_mixed_batches_of_equal_labels(subject):
    """1, 1.0, True and np.int8(1) are equal, so they are one label."""
    X, _y = subject.stream(4)
    labels = [0, 1, 1.0, True]
    learner = subject.make()
    for row, label in zip(X, labels, strict=True):
        learner.learn_one(row, label)
    learner.partial_fit(X, np.array([0, 1, 1, 0], np.int8))
    assert learner.classes_.tolist() == [0, 1] and learner.n_seen_ == 8


@pytest.mark.parametrize("label", [0, 1, "only"])
def test_one_class_so_far_predicts_that_class(subject, label):
    X, _ = subject.stream(40)
    for learner in (
        subject.make().partial_fit(X, [label] * 40),
        subject.make().partial_fit(X, [label] * 40, classes=[label, 2 if label != "only" else "a"]),
    ):
        assert learner.predict(X).tolist() == [label] * 40
        assert [learner.predict_one(row) for row in X] == [label] * 40
        assert np.isfinite(learner.decision_function(X)).all()
        assert learner.score(X, [label] * 40) == 1.0


def test_the_second_class_may_come_late(subject):
    X, y = subject.stream(N)
    first, last = np.flatnonzero(y < 0), np.flatnonzero(y > 0)
    learner = subject.make().partial_fit(X[first], y[first])
    assert learner.classes_.tolist() == [-1]
    learner.partial_fit(X[last], y[last])
    assert learner.classes_.tolist() == [-1, 1]
    order = np.concatenate([first, last])
    assert state(learner) == state(subject.make().partial_fit(X[order], y[order]))
    named = subject.make().partial_fit(X[order], y[order], classes=[-1, 1])
    assert named.decision_function(X).tolist() == learner.decision_function(X).tolist()


def test_named_classes(subject):
    X, y = subject.stream(N)
    learner = subject.make().partial_fit(X, y, classes=[1, -1])
    assert learner.classes_.tolist() == [-1, 1]
    assert (
        learner.decision_function(X).tolist()
        == subject.make().partial_fit(X, y).decision_function(X).tolist()
    )
    learner.partial_fit(X, y, classes=np.array([-1, 1]))
    for other in ([0, 1], [-1, 2], [-1], [-1, 1, 2]):
        before = state(learner)
        with pytest.raises(ValueError, match="classes"):
            learner.partial_fit(X, y, classes=other)
        assert state(learner) == before


@pytest.mark.parametrize(
    "classes",
    [[], [1], [1, 1], [1, 2, 3], [1, 1.0], [None, 1], [float("nan"), 1], [0.0, float("inf")]],
)
def test_classes_must_be_two_labels(subject, classes):
    X, y = subject.stream(10)
    learner = subject.make()
    with pytest.raises(ValueError, match="classes"):
        learner.allocate(subject.n_features, classes=classes)
    with pytest.raises(ValueError, match="classes"):
        learner.partial_fit(X, y, classes=classes)
    assert learner.nbytes == 0


def predictions(learner, X):
    return {
        "decision_one": lambda: learner.decision_one(X[0]),
        "predict_one": lambda: learner.predict_one(X[0]),
        "decision_function": lambda: learner.decision_function(X),
        "predict": lambda: learner.predict(X),
        "score": lambda: learner.score(X, [0] * len(X)),
    }


def test_predicting_before_learning_is_a_clear_error(subject):
    X, _ = subject.stream(3)
    named = subject.make().allocate(subject.n_features, classes=[0, 1])
    for learner in (
        subject.make(),
        subject.make().allocate(subject.n_features),
        named,
        subject.learned().reset(),
    ):
        for name, predict in predictions(learner, X).items():
            with pytest.raises(edgesvm.NotFittedError, match="learn"):
                predict()
            assert name
    assert named.classes_.tolist() == [0, 1]
