"""Chain: equal to its parts pushed and learned by hand, in one block, however cut. What holds for
all that takes raw samples is in tests/conformance/test_raw.py."""

import numpy as np
import pytest
from each import each

from edgesvm import (
    AdaGradSVM,
    Chain,
    CorruptModelError,
    KernelNovelty,
    OneVsOne,
    Standardized,
    StreamSVM,
    WindowFeatures,
)

RATE = 1000.0
WINDOWS = WindowFeatures(window=60, hop=25, rate=RATE, bands="10-50,50-200")
LEARNERS = [
    Standardized(learner=StreamSVM()),
    Standardized(learner=AdaGradSVM(n_classes=3)),
    OneVsOne(learner=StreamSVM(), n_classes=3),
]


def tones(n, n_classes=2, seed=0):
    """Raw samples of two channels, and the label of each: a tone for a while, then another."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, n_classes, n // 90 + 1), 90)[:n]
    hertz = np.array([30, 120, 300])[y]
    X = np.sin(2 * np.pi * hertz * np.arange(n) / RATE)[:, None] + rng.standard_normal((n, 2)) / 2
    return X.astype(np.float32), y


def by_hand(learner, label, X, y, classes):
    """Answers of the windows, and the learner; None in y is no label."""
    windows, learner = WindowFeatures(**vars_of(WINDOWS)), learner.like_new()
    learner.allocate(len(WINDOWS.names(2)), classes)
    answers = []
    for i, x in enumerate(X):
        row = windows.push(x)
        if row is None:
            continue
        answers.append(learner.predict_with_score(row) if learner.n_seen_ else (None, 0.0))
        inside = [one for one in y[i - 59 : i + 1] if one is not None]
        if label == "last":
            inside = [] if y[i] is None else [y[i]]
        if inside:
            counts = [inside.count(one) for one in classes]
            learner.learn_one(row, classes[int(np.argmax(counts))])
    return answers, learner


def test_a_learner_without_labels_learns_every_window():
    X, y = tones(3000)
    learner = KernelNovelty(max_vectors=8, warm_up=20)
    chain = Chain(windows=WINDOWS, learner=learner).allocate(2)
    answers = [chain.push(x, one) for x, one in zip(X, y, strict=True)]
    alone = KernelNovelty(max_vectors=8, warm_up=20).allocate(len(WINDOWS.names(2)))
    rows = WindowFeatures(**vars_of(WINDOWS)).allocate(2).push_many(X)
    expected = []
    for row in rows:
        expected.append(alone.predict_with_score(row) if alone.n_seen_ else (None, 0.0))
        alone.learn_one(row)
    assert [answer for answer in answers if answer is not None] == expected
    assert chain.learner_.n_seen_ == len(rows) == chain.windows_.n_rows_


def vars_of(windows):
    return {name: getattr(windows, name) for name in ("window", "hop", "rate", "bands")}


@each("learner", LEARNERS, ids=repr)
@each("label", ["majority", "last"])
def test_equals_its_parts_by_hand(learner, label):
    n_classes = learner.n_classes_planned
    X, y = tones(1500, n_classes)
    labels = [None if i % 7 == 0 or 400 < i < 600 else int(one) for i, one in enumerate(y)]
    classes = list(range(n_classes))
    expected, alone = by_hand(learner, label, X, labels, classes)
    chain = Chain(windows=WINDOWS, learner=learner, label=label).allocate(2, classes)
    pushed = [chain.push(x, one) for x, one in zip(X, labels, strict=True)]
    answers = [answer for answer in pushed if answer is not None]
    assert chain.learner_.n_seen_ == alone.n_seen_ < len(answers)
    assert answers == expected and bytes(chain.learner_.arena) == bytes(alone.arena)


def test_predictions_change_nothing():
    X, y = tones(1200)
    chain = Chain(windows=WINDOWS).partial_fit(X[:700], y[:700])
    before = bytes(chain.arena)
    rows = WindowFeatures(**vars_of(WINDOWS)).push_many(X[700:])
    assert chain.predict(X[700:]).tolist() == chain.learner_.predict(rows).tolist()
    assert chain.predict(X[700:], n_jobs=2).tolist() == chain.learner_.predict(rows).tolist()
    with pytest.raises(ValueError, match="n_jobs=0"):
        chain.predict(X[700:], n_jobs=0)
    assert bytes(chain.arena) == before


def test_wrong_parameters_and_snapshots(tmp_path):
    for params, message in (
        ({"windows": Standardized()}, "give WindowFeatures"),
        ({"learner": WINDOWS}, "such as ByteSVM"),
        ({"windows": WindowFeatures(dtype="float64")}, "dtype"),
        ({"label": "first"}, "label='first'"),
    ):
        with pytest.raises(ValueError, match=message):
            Chain(**params).plan(2)
    with pytest.raises(AttributeError, match="allocate"):
        Chain().gap()
    path = tmp_path / "chain.esvm"
    for value in (61, -1):
        chain = Chain(windows=WINDOWS).partial_fit(*tones(100))
        chain.plan(2).cut(chain.arena.memory)["votes"][0, 0] = value
        with pytest.raises(CorruptModelError, match="votes"):
            chain.save(path)


def test_of_two_labels_with_as_many_samples_the_first_class_is_the_windows():
    X, _ = tones(60)
    for classes in ([0, 1], None):
        chain = Chain(windows=WINDOWS).allocate(2, classes)
        for i, x in enumerate(X):
            chain.push(x, int(i < 30))
        assert chain.learner_.predict(np.zeros((1, 40))) == [0 if classes else 1]
