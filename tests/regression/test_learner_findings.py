"""What was found wrong in the public class of the learners."""

import copy
import os
import pickle

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    RBF,
    BatchSVM,
    IncrementalDecrementalSVM,
    MemoryBudgetError,
    OneVsOne,
    RandSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.contract.registry import LEARNERS


def stream(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] > 0).astype(int)


COPIES = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"]
)


@COPIES
@pytest.mark.parametrize(("name", "value"), [("lookahead", 8), ("C", 50.0), ("bound", "lower")])
def test_a_copy_is_of_the_model_that_was_learned_whatever_was_set_since(copied, name, value):
    X, y = stream()
    model = StreamSVM(lookahead=4, bound="upper").partial_fit(X[:40], y[:40])
    setattr(model, name, value)
    again = copied(model)
    assert getattr(again, name) == value
    assert bytes(again.arena) == bytes(model.arena)
    for learner in (model, again):
        learner.partial_fit(X[40:], y[40:])
    assert bytes(again.arena) == bytes(model.arena)


@COPIES
def test_a_copy_of_a_wrapped_learner_set_since(copied):
    X, y = stream()
    model = Standardized(learner=StreamSVM(lookahead=4)).partial_fit(X[:40], y[:40])
    model.learner.lookahead = 8
    again = copied(model)
    assert again.learner.lookahead == 8
    for learner in (model, again):
        learner.partial_fit(X[40:], y[40:])
    assert bytes(again.arena) == bytes(model.arena)


@each(
    "model, refused",
    [
        (StreamSVM(), {"C": 2.0, "nope": 1}),
        (Standardized(learner=StreamSVM()), {"learner__nope": 1}),
        (Standardized(learner=StreamSVM()), {"learner__C": 2.0, "nope": 1}),
        (Standardized(), {"learner__C": 2.0}),
        (OneVsOne(learner=StreamSVM(), n_classes=2), {"n_classes": 3, "learner__nope": 1}),
        (
            Standardized(learner=OneVsOne(learner=StreamSVM(), n_classes=2)),
            {"learner__n_classes": 3, "learner__learner__nope": 1},
        ),
        (RandSVM(solver=BatchSVM(cache="1MiB")), {"k": 5, "solver__nope": 1}),
        (Standardized(learner=StreamSVM()), {"learner": None, "learner__C": 1.0}),
    ],
)
def test_a_refused_parameter_leaves_parameters_and_model_as_they_were(model, refused):
    model.partial_fit(*stream())
    before, memory = repr(model.get_params()), bytes(model.arena)
    with pytest.raises(ValueError, match=r"nope|it is None"):
        model.set_params(**refused)
    assert repr(model.get_params()) == before and bytes(model.arena) == memory


def narrow():
    """A learner whose margin set has no room for one more."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    params = {"max_vectors": 40, "kernel": RBF(0.5), "max_margin": 1}
    return IncrementalDecrementalSVM(**params).partial_fit(X, y)


@pytest.mark.parametrize("act", [lambda m: m.set_C(1000.0), lambda m: m.unlearn(1)])
def test_a_full_margin_set_says_how_many_bytes_would_do(act):
    model = narrow()
    memory = bytes(model.arena)
    with pytest.raises(MemoryBudgetError, match="larger max_margin") as caught:
        act(model)
    assert len(model.vectors_) == 30 and len(memory) == caught.value.available
    roomy = IncrementalDecrementalSVM(max_vectors=40, kernel=RBF(0.5), max_margin=None)
    assert caught.value.required == roomy.plan(3).total > caught.value.available


def test_classes_may_be_named_in_the_first_call_after_allocate():
    X, y = stream()
    model = StreamSVM().allocate(3)
    model.partial_fit(X, y, classes=[0, 1])
    named = StreamSVM().allocate(3, classes=[0, 1]).partial_fit(X, y)
    assert bytes(model.arena) == bytes(named.arena)
    with pytest.raises(ValueError, match="not one of the classes"):
        model.learn_one(X[0], 2)
    with pytest.raises(ValueError, match=r"classes=\[0, 2\] differ from .* \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 2])


def test_classes_named_with_a_refused_first_row_are_forgotten_with_it():
    X, y = stream()
    model = StreamSVM().allocate(3)
    memory = model.arena
    with pytest.raises(ValueError, match="row 0"):
        model.partial_fit(X * np.nan, y, classes=[0, 1])
    assert model.arena is memory
    model.partial_fit(X, np.where(y, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]


def test_save_through_a_symbolic_link_replaces_the_file_it_points_at(tmp_path):
    X, y = stream()
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "m.esvm", tmp_path / "current.esvm"
    StreamSVM(C=3.0).partial_fit(X[:9], y[:9]).save(target)
    link.symlink_to(os.path.join("models", "m.esvm"))
    model = StreamSVM(C=7.0).partial_fit(X, y)
    model.save(link)
    assert link.is_symlink() and not target.is_symlink()
    assert edgesvm.load(target).C == edgesvm.load(link).C == 7.0
    assert os.listdir(tmp_path / "models") == ["m.esvm"]
    assert sorted(os.listdir(tmp_path)) == ["current.esvm", "models"]


def test_a_subclass_that_cannot_be_loaded_is_not_saved(tmp_path):
    class Mine(StreamSVM):
        """A learner of one's own."""

    for model in (Mine(), Standardized(learner=Mine())):
        model.partial_fit(*stream())
        with pytest.raises(TypeError, match=r"cannot save a .*Mine: decorate the class"):
            model.save(tmp_path / "m.esvm")
    assert LEARNERS["StreamSVM"] is StreamSVM and "Mine" not in LEARNERS
    assert not os.listdir(tmp_path)


def test_a_registered_subclass_is_saved_and_loaded(tmp_path, monkeypatch):
    class Mine(TwinVectorMachine):
        """A learner of one's own."""

    monkeypatch.setitem(LEARNERS, "Mine", Mine)
    model = Mine(max_twins=5).partial_fit(*stream())
    model.save(tmp_path / "m.esvm")
    again = edgesvm.load(tmp_path / "m.esvm")
    assert isinstance(again, Mine) and bytes(again.arena) == bytes(model.arena)
