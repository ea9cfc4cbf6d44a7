"""Labels of any kind; one class so far; classes named up front; predicting too early."""

import datetime

import numpy as np
import pytest
from each import each, each_of
from registry import OWN_METHODS
from test_stream import state

import edgesvm
from edgesvm import ByteSVM, StreamSVM

pytestmark = [pytest.mark.entries(*OWN_METHODS), pytest.mark.labels]

N = 120

# rising, so that decision values keep their sign and their columns
KINDS = {
    "ints": (0, 1, 2, 3),
    "negative": (-7, -3, -2, -1),
    "far": (-(2**62), 2**62, 2**62 + 1, 2**62 + 2),
    "strings": ("cold", "hot", "mild", "off"),
    "text beyond ASCII": ("gesund", "Überlast", "Übermaß", "überhitzt"),
    "bools": (False, True),
    "floats": (-0.5, 2.25, 2.5, 1e300),
    "NumPy ints": tuple(np.arange(4)),
    "NumPy bytes": tuple(np.array([3, 7, 254, 255], np.uint8)),
    "NumPy strings": tuple(np.array(["a", "b", "c", "d"])),
    "NumPy floats": tuple(np.arange(4, dtype=np.float32) + 0.5),
    "tuples": ((0, 1), (1, 0), (1, 1), (2, 0)),
    "dates": tuple(datetime.date(2026, 1, day) for day in range(1, 5)),
}
WORDS = KINDS["strings"]


def as_column(labels):
    column = np.empty(len(labels), object)
    column[:] = labels
    return column


@each_of("subject")
@each("kind", KINDS.values(), ids=KINDS)
def test_labels_of_any_kind(subject, kind):
    n = subject.entry.n_classes
    if n > len(kind):
        return  # there are fewer labels of this kind
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    labels = subject.entry.renamed(y, kind)
    batch = subject.make().partial_fit(X, as_column(labels))
    single = subject.make()
    for row, label in zip(X, labels, strict=True):
        single.learn_one(row, label)
    for learner in (batch, single):
        assert state(learner)[0] == state(plain)[0]
        expected = [as_python(v) for v in kind[:n]]
        assert list(map(tuple_or_self, learner.classes_.tolist())) == expected
        assert learner.decision_function(X).tolist() == plain.decision_function(X).tolist()
        predicted = [learner.predict_one(row) for row in X]
        renamed = subject.entry.renamed(plain.predict(X), kind)
        assert predicted == [as_python(v) for v in renamed]
        assert all(type(p) is type(as_python(kind[0])) for p in predicted)
        assert list(map(tuple_or_self, learner.predict(X).tolist())) == predicted


UNFIT = {
    "bytes": (b"a", "it is bytes"),
    "NumPy bytes": (np.bytes_(b"a"), "it is bytes"),
    "beyond 64 bits": (2**63, "64 bits"),
    "below 64 bits": (-(2**63) - 1, "64 bits"),
    "unsigned": (np.uint64(2**63), "64 bits"),
    "half a pair": ("\ud800", "surrogate"),
    "ends with NUL": ("a\0", "ends with a NUL"),
    "long": ("ü" * 513, "more than 1024 bytes"),
    "none": (None, "None, NaN or infinite"),
    "not a number": (float("nan"), "None, NaN or infinite"),
}


@each_of("subject")
@each("label, why", UNFIT.values(), ids=UNFIT)
def test_what_a_snapshot_or_an_array_could_not_hold_is_refused_at_its_first_row(
    subject, label, why
):
    X, y = subject.stream(N)
    kind = WORDS if isinstance(label, str) else KINDS["ints"]
    labels = subject.entry.renamed(y, kind)
    first = labels.index(kind[subject.entry.n_classes - 1])
    labels[first] = label
    learner = subject.make()
    with pytest.raises(ValueError, match=f"row {first} .*{why}"):
        learner.partial_fit(X, labels)
    assert learner.n_seen_ == first or not learner.is_fitted
    before = None if first == 0 else state(learner)
    with pytest.raises(ValueError, match=why):
        learner.learn_one(X[first], label)
    with pytest.raises(ValueError, match=why):
        learner.partial_fit(X[:1], as_column([label]))
    with pytest.raises(ValueError, match=why):
        subject.make().fit(X, labels)
    assert before is None or state(learner) == before


@each("kind", ["S1", "U"])
def test_a_whole_column_of_bytes_is_refused_and_one_of_text_taken(kind):
    learner, column = StreamSVM(), np.array(["a", "b"] * 5, kind)
    if kind == "U":
        assert learner.partial_fit(np.ones((10, 2)), column).classes_.tolist() == ["a", "b"]
        return
    with pytest.raises(ValueError, match=r"row 0 .*it is bytes"):
        learner.partial_fit(np.ones((10, 2)), column)
    with pytest.raises(ValueError, match="b'a' is no label: it is bytes"):
        learner.allocate(2, classes=[b"a", b"b"])


@each_of("subject")
def test_a_tuple_is_one_label_among_others(subject):
    """Compared with an array it would be a row of labels."""
    X, _ = subject.stream(5)
    labels = [(0, 1, 0), "a", (0, 1, 0), "b", "c"][: subject.entry.n_classes + 1]
    X = X[: len(labels)]
    learner = subject.make().partial_fit(X, as_column(labels))
    assert set(learner.classes_.tolist()) == set(labels)
    assert len(X) * learner.score(X, as_column(labels)) in range(len(X) + 1)
    if subject.entry.takes_more:
        return  # 0 and 1 may be new labels
    before = state(learner)
    for others in ([0, 1, 0], as_column([0, 1, 0]), np.array(["0", "1", "0"])):
        with pytest.raises(ValueError, match="row 0"):
            learner.partial_fit(X[:3], others)
    assert state(learner) == before


def as_python(label):
    return label.item() if isinstance(label, np.generic) else label


def tuple_or_self(label):
    return tuple(label) if isinstance(label, list) else label


@each_of("subject")
def test_swapped_labels_turn_the_decisions(subject):
    X, y = subject.stream(N)
    plain = subject.make().partial_fit(X, y)
    turned = subject.entry.labels[::-1]
    swapped = subject.make().partial_fit(X, subject.entry.renamed(y, turned))
    decisions = plain.decision_function(X)
    if decisions.ndim == 1:
        assert swapped.decision_function(X).tolist() == (-decisions).tolist()
    else:  # sums run in the order in which labels sort
        np.testing.assert_allclose(
            swapped.decision_function(X), decisions[:, ::-1], rtol=1e-12, atol=1e-12
        )
    assert swapped.predict(X).tolist() == subject.entry.renamed(plain.predict(X), turned)
    assert swapped.classes_.tolist() == sorted(turned)


@each_of("subject")
def test_mixed_batches_of_equal_labels(subject):
    """1, 1.0, True and np.int8(1) are equal, so they are one label."""
    X, _y = subject.stream(4)
    labels = [0, 1, 1.0, True]
    learner = subject.make()
    for row, label in zip(X, labels, strict=True):
        learner.learn_one(row, label)
    learner.partial_fit(X, np.array([0, 1, 1, 0], np.int8))
    assert learner.classes_.tolist() == [0, 1] and learner.n_seen_ == 8


@each_of("subject")
@each("label", [0, 1, "only"])
def test_one_class_so_far_predicts_that_class(subject, label):
    X, _ = subject.stream(40)
    others = ["a", "z", "p"] if label == "only" else [2, -1, 5]
    names = [label, *others[: subject.entry.n_classes - 1]]
    for learner in (
        subject.make().partial_fit(X, [label] * 40),
        subject.make().partial_fit(X, [label] * 40, classes=names),
    ):
        assert learner.predict(X).tolist() == [label] * 40
        assert [learner.predict_one(row) for row in X] == [label] * 40
        assert np.isfinite(learner.decision_function(X)).all()
        assert learner.score(X, [label] * 40) == 1.0


@each_of("subject")
def test_classes_may_come_late(subject):
    X, y = subject.stream(N)
    names = subject.entry.labels
    learner = subject.make()
    for i, label in enumerate(names):
        learner.partial_fit(X[y == label], y[y == label])
        assert learner.classes_.tolist() == list(names[: i + 1])
    order = np.argsort(y, kind="stable")
    assert state(learner) == state(subject.make().partial_fit(X[order], y[order]))
    if subject.entry.grows:
        return  # where classes are named, they are laid out from the start
    named = subject.make().partial_fit(X[order], y[order], classes=names)
    assert named.decision_function(X).tolist() == learner.decision_function(X).tolist()


@each_of("subject")
def test_named_classes(subject):
    X, y = subject.stream(N)
    names = list(subject.entry.labels)
    learner = subject.make().partial_fit(X, y, classes=names[::-1])
    assert learner.classes_.tolist() == names
    found, expected = (m.decision_function(X) for m in (learner, subject.make().partial_fit(X, y)))
    if subject.entry.grows or (subject.entry.kind is ByteSVM and len(names) > 2):
        # named, they have their room from the start, and are rounded in another order
        assert learner.score(X, y) > 0.6
    elif len(names) == 2:
        assert found.tolist() == expected.tolist()
    else:  # of some pairs the sides are swapped, and a solver ends elsewhere within its tolerance
        np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)
    learner.partial_fit(X, y, classes=np.array(names))
    for other in ([0, *names[1:]], [*names[:-1], 2], names[1:], [*names, 2]):
        before = state(learner)
        with pytest.raises(ValueError, match="classes"):
            learner.partial_fit(X, y, classes=other)
        assert state(learner) == before


@each_of("subject")
@each(
    "classes",
    [[], [1], [1, 1], [1, 2, 3], [1, 1.0], [None, 1], [float("nan"), 1], [0.0, float("inf")]],
)
def test_classes_must_be_two_labels_or_more(subject, classes):
    if subject.entry.takes_more and classes == [1, 2, 3]:
        return
    X, y = subject.stream(10)
    learner = subject.make()
    if len(classes) > 1:
        classes = [*classes, *range(10, 8 + subject.entry.n_classes)]
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


@each_of("subject")
def test_a_reset_may_keep_the_labels_seen_in_their_places(subject, tmp_path):
    """It then learns as one that has forgotten them, and is saved before and after."""
    learner, anew = subject.learned(), subject.learned().reset()
    at, labels = learner.arena.memory.ctypes.data, learner.classes_.tolist()
    slots = learner.core.labels.in_slots
    learner.reset(keep_labels=True)
    assert learner.arena.memory.ctypes.data == at and bytes(learner.arena) == bytes(anew.arena)
    assert learner.classes_.tolist() == labels and not learner.is_fitted
    learner.save(tmp_path / "m.esvm")
    loaded = edgesvm.load(tmp_path / "m.esvm")
    assert loaded.classes_.tolist() == labels and loaded.n_seen_ == 0
    X, y = subject.stream(60)
    for model in (learner, loaded):
        model.partial_fit(X, y)
        assert model.core.labels.in_slots[: len(slots)] == slots
    assert bytes(learner.arena) == bytes(loaded.arena)


@each_of("subject")
def test_predicting_before_learning_is_a_clear_error(subject):
    X, _ = subject.stream(3)
    names = list(range(subject.entry.n_classes))
    named = subject.make().allocate(subject.n_features, classes=names)
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
    assert named.classes_.tolist() == names
