"""OneVsOne and OneVsRest: which part learns what, how they vote, who competes; all or nothing."""

import copy
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    BatchSVM,
    IncrementalDecrementalSVM,
    KernelStreamSVM,
    Linear,
    NotFittedError,
    OneVsOne,
    OneVsRest,
    RandSVM,
    Standardized,
    StreamSVM,
)
from edgesvm.data import Rows
from edgesvm.persist.format import pack
from edgesvm.persist.store import restore

KINDS = (OneVsOne, OneVsRest)
LOWER = StreamSVM(bound="lower", dtype="float64")


def clouds(n, n_classes=4, seed=0, dtype=np.float64):
    """Class 0 first, then 1, and so on by turns, so that slots are the labels."""
    rng = np.random.default_rng([seed, n])
    y = np.arange(n) % n_classes
    angle = 2 * np.pi * y / n_classes
    X = rng.standard_normal((n, 3)) + 2 * np.stack([np.cos(angle), np.sin(angle), 0 * y], axis=1)
    return X.astype(dtype), y


def sides(kind, n_classes):
    """Labels on the -1 side and on the +1 side of each part, as the parts lie in memory."""
    if kind is OneVsOne:
        return [([i], [j]) for j in range(n_classes) for i in range(j)]
    return [([j for j in range(n_classes) if j != k], [k]) for k in range(n_classes)]


def parts_alone(kind, learner, X, y, n_classes):
    """Learners of two classes, each taught the rows of its part."""
    for low, high in sides(kind, n_classes):
        rows = np.isin(y, low + high)
        alone = copy.deepcopy(learner).allocate(X.shape[1], classes=[0, 1])
        yield alone.partial_fit(X[rows], np.isin(y[rows], high).astype(int))


# -- which part learns what ------------------------------------------------------------------------


@each("kind", KINDS)
@each(
    "learner",
    [
        LOWER,
        KernelStreamSVM(max_vectors=6, gamma=0.5),
        BatchSVM(max_samples=30, when_full="oldest", cache="8KiB"),
        Standardized(learner=LOWER),
        IncrementalDecrementalSVM(max_vectors=9, gamma=0.5),
    ],
)
def test_each_part_is_a_learner_taught_its_rows(kind, learner):
    X, y = clouds(160, dtype=learner.dtype)
    whole = kind(learner=learner, n_classes=4).partial_fit(X, y)
    alone = list(parts_alone(kind, learner, X, y, 4))
    assert len(whole.parts_) == len(alone)
    for part, expected in zip(whole.parts_, alone, strict=True):
        assert bytes(part.arena) == bytes(expected.arena)[:-8]  # without the mean weight
        assert part.n_seen_ == expected.n_seen_ and repr(part) == repr(learner)
    assert whole.n_seen_ == 160 and whole.n_left_out_ == 0
    moved = [sum(part.n_updates_ for part in whole.parts_), whole.n_updates_]
    assert 0 < moved[1] <= moved[0] <= len(alone) * 160


# -- how they decide -------------------------------------------------------------------------------


def test_votes_are_those_of_scikit_learn():
    multiclass = pytest.importorskip("sklearn.utils.multiclass")
    X, y = clouds(200)
    model = OneVsOne(learner=LOWER, n_classes=4).partial_fit(X, y)
    new = np.random.default_rng(3).standard_normal((300, 3)) * 2
    values = dict(
        zip(
            [(i, j) for j in range(4) for i in range(j)],
            [part.decision_function(new) for part in model.parts_],
            strict=True,
        )
    )
    confidences = np.stack([values[pair] for pair in combinations(range(4), 2)], axis=1)
    expected = multiclass._ovr_decision_function(confidences > 0, confidences, 4)
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-12, atol=1e-12)
    assert model.predict(new).tolist() == expected.argmax(axis=1).tolist()


def test_one_against_rest_compares_the_parts():
    X, y = clouds(200)
    model = OneVsRest(learner=LOWER, n_classes=4).partial_fit(X, y)
    expected = np.stack([part.decision_function(X) for part in model.parts_], axis=1)
    assert model.decision_function(X).tolist() == expected.tolist()
    assert model.predict(X).tolist() == expected.argmax(axis=1).tolist()


@each("kind", KINDS)
def test_two_classes_are_decided_as_the_learner_decides_them(kind):
    X, y = clouds(200, 2)
    model = kind(learner=LOWER, n_classes=5).partial_fit(X, y)
    alone = LOWER.like_new().partial_fit(X, y)
    assert model.decision_function(X).tolist() == alone.decision_function(X).tolist()
    assert model.predict(X).tolist() == alone.predict(X).tolist()
    assert isinstance(model.decision_one(X[0]), float)


# -- classes that are late, or never come ----------------------------------------------------------


@each("kind", KINDS)
def test_classes_without_a_sample_do_not_compete(kind):
    X, y = clouds(240)
    names = ["a", "b", "c", "d", "e"]
    words = np.array(names)[y]
    model = kind(learner=LOWER, n_classes=5).allocate(3, classes=names)
    with pytest.raises(NotFittedError):
        model.predict(X)
    for n_seen in range(1, 5):
        model.partial_fit(X[y < n_seen], words[y < n_seen])
        values = model.decision_function(X)
        assert values.shape == (240, 5) and np.isfinite(values).all()
        assert (values[:, n_seen:] < values[:, :n_seen].min(axis=1, keepdims=True)).all()
        assert set(model.predict(X)) <= set(names[:n_seen])
        assert [model.predict_one(x) for x in X] == model.predict(X).tolist()
        if n_seen < 4:
            model.reset()
    with pytest.raises(ValueError, match="'f'"):
        model.learn_one(X[0], "f")


# -- all or nothing --------------------------------------------------------------------------------


@each("kind", KINDS)
def test_a_full_part_keeps_the_others_from_learning(kind):
    """The part of classes 0 and 1 is full: class 2 goes on against either, 0 and 1 do not."""
    X, y = clouds(30, 3, dtype=np.float32)
    learner = BatchSVM(max_samples=20, cache="4KiB", kernel=Linear())
    model = kind(learner=learner, n_classes=3)
    rows = y < 2
    model.partial_fit(X[rows], y[rows]).solve()
    before = bytes(model.arena)
    for label in (0, 1):
        with pytest.raises(ValueError, match="the store already holds max_samples samples"):
            model.learn_one(X[0], label)
        with pytest.raises(
            ValueError, match=r"row 0 .*the store already holds max_samples samples"
        ):
            model.partial_fit(X[:1], [label])
    assert bytes(model.arena) == before
    if kind is OneVsOne:
        assert model.learn_one(X[2], 2)
        assert [part.n_seen_ for part in model.parts_] == [20, 11, 11]
    else:
        with pytest.raises(ValueError, match="the store already holds max_samples samples"):
            model.learn_one(X[2], 2)


@each("kind", KINDS)
@each("source", [False, True])
def test_fit_refuses_more_than_a_part_can_hold_before_it_forgets(kind, source):
    X, y = clouds(60, 3, dtype=np.float32)
    most = 40 if kind is OneVsOne else 60
    learner = BatchSVM(max_samples=most, cache="16KiB")
    model = kind(learner=learner, n_classes=3).fit(X, y)
    before = bytes(model.arena)
    more = np.concatenate([X, X[:1]]), np.concatenate([y, y[:1]])
    with pytest.raises(ValueError, match=rf"{most + 1} rows.*max_samples={most}"):
        model.fit(*([Chunks(*more, 7)] if source else more))
    assert bytes(model.arena) == before
    assert (
        kind(learner=learner, n_classes=3)
        .fit(*more, sample_weight=[1.0] * 60 + [0.0])
        .decision_function(X)
        .tolist()
        == model.decision_function(X).tolist()
    )


def test_what_a_part_alone_cannot_take_is_counted():
    """Each part has its own standardizer. In one, whose mean is near the largest numbers, a feature
    that the others take is too far from the mean."""
    learner = Standardized(learner=StreamSVM(dtype="float64"), clip=None)
    model = OneVsOne(learner=learner, n_classes=3).allocate(1, classes=[0, 1, 2])
    huge = 1.3e154
    for x, label in ((1.0, 0), (2.0, 0), (-huge, 1), (-huge, 1)):
        model.learn_one(np.array([x]), label)
    between_0_and_1, between_0_and_2 = model.parts_[0], model.parts_[1]
    before = bytes(between_0_and_1.arena)
    assert model.n_left_out_ == 0
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one(np.array([huge]), 0)  # the first to be asked refuses: nobody learns
    assert bytes(between_0_and_1.arena) == before and between_0_and_2.n_seen_ == 2
    model.learn_one(np.array([huge]), 2)
    assert model.n_left_out_ == 1
    assert model.n_seen_ == 5 and between_0_and_2.n_seen_ == 3


# -- fit: in passes, of arrays, files and sources --------------------------------------------------


class Chunks:
    """Rows that are read again and again, some at a time."""

    def __init__(self, X, y, rows):
        self.X, self.y, self.rows, self.n_features = X, y, rows, X.shape[1]
        self.n_passes = 0

    def chunks(self, rows):
        self.n_passes += 1
        step = min(rows, self.rows)
        for at in range(0, len(self.X), step):
            yield Rows(self.X[at : at + step], self.y[at : at + step])


@pytest.fixture
def on_disk(tmp_path):
    def write(X):
        np.save(tmp_path / "X.npy", X)
        return np.load(tmp_path / "X.npy", mmap_mode="r")

    return write


RAND = RandSVM(solver=BatchSVM(max_samples=60, cache="64KiB", C=5.0, gamma=0.5), max_passes=4)
BATCH = BatchSVM(max_samples=400, cache="128KiB", C=5.0, gamma=0.5)


@each("weighted", [False, True])
@each("learner", [RAND, BATCH, LOWER], ids=lambda m: type(m).__name__)
@each("kind", KINDS)
def test_arrays_files_and_sources_give_the_same(kind, learner, weighted, on_disk):
    X, y = clouds(300, 3, dtype=learner.dtype)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 300) if weighted else None
    in_order = {"shuffle": False} if learner.shuffles else {}  # as a source is read
    models = [
        kind(learner=learner, n_classes=3).fit(rows, y, sample_weight=weights, **in_order)
        for rows in (X, on_disk(X))
    ]
    if not weighted:
        source = Chunks(X, y, 37)
        models.append(kind(learner=learner, n_classes=3).fit(source))
        assert source.n_passes > 1
    for model in models:
        assert bytes(model.arena) == bytes(models[0].arena)
        assert model.n_seen_ == 300 and model.classes_.tolist() == [0, 1, 2]
        assert model.score(X, y) > 0.75


@each("kind", KINDS)
def test_several_passes_are_made_part_by_part(kind, tmp_path):
    X, y = clouds(300, 3, dtype=np.float32)
    told = []
    model = kind(learner=RAND, n_classes=3)
    model.fit(X, y, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    for part, (low, high) in zip(model.parts_, sides(kind, 3), strict=True):
        rows = np.isin(y, low + high)
        alone = RAND.like_new().allocate(3, classes=[0, 1])
        alone.fit(X[rows], np.isin(y[rows], high).astype(int))
        assert bytes(part.arena) == bytes(alone.arena)[:-8]
        assert part.stop_ == alone.stop_ and part.n_passes_ > 0
    model.save(tmp_path / "m.esvm")
    again = edgesvm.load(tmp_path / "m.esvm")
    assert bytes(again.arena) == bytes(model.arena)
    np.testing.assert_allclose(
        again.decision_function(X), model.decision_function(X), rtol=1e-4, atol=1e-4
    )


@each("learner", [RAND, BATCH], ids=lambda m: type(m).__name__)
def test_an_interrupted_fit(learner):
    X, y = clouds(300, 3, dtype=np.float32)
    model = OneVsOne(learner=learner, n_classes=3).fit(X, y)
    address = model.arena.memory.ctypes.data

    def interrupt(done, of):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::-1], y[::-1], progress=interrupt)
    if learner is RAND:  # half of its parts are fitted: nothing is known
        assert not model.is_fitted and not model.arena.memory[:40].any()
        with pytest.raises(NotFittedError):
            model.predict(X)
    model.fit(X, y)
    assert model.arena.memory.ctypes.data == address
    assert bytes(model.arena) == bytes(OneVsOne(learner=learner, n_classes=3).fit(X, y).arena)


def test_several_passes_of_fewer_classes_than_there_is_room_for():
    X, y = clouds(200, 3, dtype=np.float32)
    model = OneVsOne(learner=RAND, n_classes=5).fit(X, y)
    assert [part.is_fitted for part in model.parts_] == [True] * 3 + [False] * 7
    assert model.score(X, y) > 0.75
    model.partial_fit(X[:5], [3] * 5)  # of parts that have not seen the others: they abstain
    assert np.isfinite(model.decision_function(X)).all() and model.classes_.tolist() == [0, 1, 2, 3]


# -- memory ----------------------------------------------------------------------------------------


@each("n_classes", [2, 3, 26, 127])
@each("kind", KINDS)
def test_the_plan_is_the_sum_of_the_parts(kind, n_classes):
    learner = KernelStreamSVM(max_vectors=5)
    plan = kind(learner=learner, n_classes=n_classes).plan(16)
    n_parts = len(sides(kind, n_classes))
    assert plan.total == 32 + 24 * n_classes + n_parts * (learner.plan(16).total - 8)
    assert plan.part == learner.as_part().plan(16)
    assert len(str(plan).splitlines()) < 40
    assert f"each of the {n_parts} parts" in str(plan)
    leaves = list(plan.leaves())
    assert len({leaf.name for leaf in leaves}) == len(leaves) > n_parts
    end = 0
    for leaf in leaves:
        assert leaf.offset >= end
        end = leaf.offset + leaf.nbytes
    assert end <= plan.total


# -- snapshots -------------------------------------------------------------------------------------


def test_scratch_that_a_part_left_behind_is_refused():
    """`best_alpha` is no array of the solver's own: its wrapper looks after it."""
    X, y = clouds(90, 3, dtype=np.float32)
    model = OneVsOne(learner=RAND, n_classes=3).fit(X, y)
    leaves = {leaf.name: leaf for leaf in model.plan(3).leaves()}
    for name in ("part2/best_alpha", "part0/stop", "part1/n_held", "sums", "scores", "n_left_out"):
        at = leaves[name].offset
        snapshot = model.snapshot()
        arena = bytearray(snapshot.arena)
        arena[at : at + 8] = b"\xff" * 7 + b"\x7f" if name == "part0/stop" else b"\xff" * 8
        with pytest.raises(edgesvm.CorruptModelError):
            restore(pack(replace(snapshot, arena=bytes(arena))))
