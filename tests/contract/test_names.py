"""Columns of DataFrames: remembered, and checked."""

import pickle
from contextlib import closing

import numpy as np
import pytest
from each import each

from edgesvm import (
    BatchSVM,
    CoreVectorMachine,
    GaussianNovelty,
    OneVsOne,
    SimpleSVM,
    StreamSVM,
    load,
)
from edgesvm.contract.names import names_of, number_of, word_of
from edgesvm.persist import Checkpoint


class Frame:
    """What is looked at of a DataFrame."""

    def __init__(self, X, columns):
        self.X, self.columns = X, columns

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.X, dtype)


rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
Y = (X[:, 0] > 0).astype(int)
NAMED = Frame(X, ["a", "b", "c"])
KINDS = [StreamSVM, BatchSVM, SimpleSVM, CoreVectorMachine, OneVsOne, GaussianNovelty]


@each("kind", KINDS)
@each("way", ["fit", "partial_fit"])
def test_columns_are_remembered_and_checked(kind, way):
    learner = kind()
    getattr(learner, way)(NAMED, Y)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    assert learner.predict(NAMED).shape == (40,)
    before = bytes(learner.arena)
    wrong = {
        "in the same order": ["b", "a", "c"],
        "unseen at fit time:\n- x\nFeature names seen at fit time, yet now missing:\n- c": "abx",
        "now missing:\n- c": ["a", "b"],
    }
    for told, columns in wrong.items():
        frame = Frame(X[:, : len(columns)], list(columns))
        for call in (
            learner.predict,
            learner.decision_function,
            lambda f: learner.partial_fit(f, Y),
        ):
            with pytest.raises(ValueError, match=told):
                call(frame)
    assert bytes(learner.arena) == before
    copied = pickle.loads(pickle.dumps(learner))
    with pytest.raises(ValueError, match="same order"):
        copied.predict(Frame(X, ["b", "a", "c"]))


def test_one_side_without_names_is_a_warning():
    learner = StreamSVM().fit(NAMED, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but StreamSVM was"):
        learner.predict(X)
    with pytest.warns(UserWarning, match="X has feature names, but StreamSVM was fitted without"):
        StreamSVM().fit(X, Y).predict(NAMED)
    assert learner.predict_one(X[0]) in (0, 1)  # a row has no names


@each("kind", KINDS)
def test_a_new_start_has_new_names(kind):
    learner = kind().fit(NAMED, Y)
    other = Frame(X, ["u", "v", "w"])
    assert learner.fit(other, Y).feature_names_in_.tolist() == ["u", "v", "w"]
    with pytest.raises(ValueError, match="row 3"):
        learner.fit(np.where(np.arange(120).reshape(40, 3) == 9, np.nan, X), Y)
    learner.fit(X, Y)
    assert not hasattr(learner, "feature_names_in_")
    assert learner.reset().partial_fit(NAMED, Y).feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_fit_that_forgets_nothing_keeps_the_names():
    learner = StreamSVM().fit(NAMED, Y)
    with pytest.raises(ValueError, match="sample"):
        learner.fit(Frame(X[:0], ["u", "v", "w"]), Y[:0])
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    learner.predict(NAMED)


def test_names_are_strings_or_none():
    assert names_of(Frame(X, [0, 1, 2])) is None and names_of(X) is None
    with pytest.raises(TypeError, match="string names"):
        names_of(Frame(X, ["a", 1, "c"]))
    many = Frame(X, [f"f{i}" for i in range(12)])
    with pytest.raises(ValueError, match=r"- f2\n- \.\.\.\n"):
        StreamSVM().fit(NAMED, Y).predict(many)


@each("label_kind", [int, str])
def test_labels_in_a_column(label_kind):
    y = Y.astype(label_kind)
    for kind in KINDS[:-1]:
        with pytest.warns(UserWarning, match="A column-vector y was passed"):
            learner = kind().fit(X, y[:, None])
        assert bytes(learner.arena) == bytes(kind().fit(X, y).arena)


@each("kind", [StreamSVM, OneVsOne])
def test_a_snapshot_keeps_the_names(kind, tmp_path):
    kind().partial_fit(NAMED, Y).save(tmp_path / "named.esvm")
    learner = load(tmp_path / "named.esvm")
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="in the same order"):
        learner.predict(Frame(X, ["b", "a", "c"]))
    learner.partial_fit(NAMED, Y).save(tmp_path / "again.esvm")
    kind().partial_fit(X, Y).save(tmp_path / "plain.esvm")
    assert not hasattr(load(tmp_path / "plain.esvm"), "feature_names_in_")


def test_names_can_be_given():
    learner = StreamSVM().allocate(3).name_features(["a", "b", "c"])
    assert learner.partial_fit(X, Y).feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="2 names for 3 features"):
        learner.name_features(["a", "b"])


def test_names_that_come_after_a_checkpoint_was_made_do_not_stop_it(tmp_path):
    learner = StreamSVM().allocate(3)
    with closing(Checkpoint(tmp_path / "m.ckpt")) as checkpoint:
        checkpoint.prepare(learner)
        long = Frame(X, [name * 1000 for name in "abc"])
        checkpoint.save(learner.partial_fit(long, Y))
        assert bytes(checkpoint.load().arena) == bytes(learner.arena)


def test_numbers_stand_for_words_and_back():
    words = ["fine", "worn"]
    assert [word_of(words, 1), word_of(words, -3), word_of([], 1)] == ["worn", "-3", 1]
    assert word_of(words, None) is None and word_of(words, "fine") == "fine"
    assert [number_of(words, y) for y in ("worn", "-3", 7, None)] == [1, -3, 7, None]
    assert number_of(words, "broken") == 2 and words == ["fine", "worn", "broken"]
