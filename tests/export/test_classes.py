"""Class indices of exported C: those of the host's `classes_`, whichever label came first."""

import shutil

import numpy as np
import pytest
from each import each
from on_host import Compiled, at, built

from edgesvm import Calibrated, FourierSVM, GaussianNovelty, Standardized, StreamSVM
from rig.boards import hard_samples

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")


@each(
    "make, seen",
    [
        (lambda: Standardized(learner=StreamSVM()), (9, 4)),
        (StreamSVM, (True, False)),
        (FourierSVM, ("b", "a")),
        (lambda: FourierSVM(n_classes=4), (9, -1, 4)),
        (lambda: Calibrated(learner=StreamSVM(), cost={4: 9.0}), (9, 4)),
    ],
)
def test_classes_are_counted_as_they_sort(make, seen, tmp_path):
    learner, order = make(), np.argsort(np.argsort(seen))
    X, came, weights = hard_samples(400, 5, "float32", 3, range(len(seen)))
    fine = np.isfinite(X).all(axis=1) & (np.abs(X) < 1e6).all(axis=1)
    X, came, weights = X[fine], came[fine], np.ones(fine.sum())
    came[: len(seen)] = range(len(seen))
    learner.partial_fit(X[:9], np.array(seen)[came[:9]])
    assert learner.core.labels.in_slots == seen
    compiled = Compiled(learner, tmp_path / "c")
    compiled.arena[:] = np.frombuffer(bytes(learner.arena), np.uint64)
    indices = order[came].astype(np.int8)
    compiled.run(X[9:].copy(), indices[9:].copy(), weights[9:].copy())
    learner.partial_fit(X[9:], np.array(seen)[came[9:]])
    assert bytes(learner.arena) == compiled.arena.tobytes()
    in_flash, score = built(learner, tmp_path / "flash"), np.zeros(1)
    for x in X[:50]:
        index = compiled.library.predict(at(compiled.memory), at(x.copy()), at(score))
        assert (learner.classes_[index], score[0]) == learner.predict_with_score(x)
        assert in_flash.predict(at(x.copy()), at(score)) == index
    x = np.full(5, np.nan, "f4")
    assert compiled.library.predict(at(compiled.memory), at(x), at(score)) == -1
    text = (tmp_path / "c/mod.c").read_text()
    numbers = [y if isinstance(y, int) else i for i, y in enumerate(sorted(seen))]
    assert f"mod_labels[MOD_N_LABELS] = {{{', '.join(str(int(n)) for n in numbers)}}};" in text


def test_the_only_class_seen_is_counted_as_it_sorts(tmp_path):
    learner = StreamSVM().allocate(2, classes=[4, 9])
    learner.partial_fit(np.ones((3, 2), np.float32), [9, 9, 9])
    x = np.ones(2, np.float32)
    assert built(learner, tmp_path).predict(at(x), at(np.zeros(1))) == 1


def test_a_model_without_labels_learns_index_1_alone(tmp_path):
    compiled = Compiled(GaussianNovelty().allocate(2), tmp_path)
    said = " ".join((tmp_path / "mod.h").read_text().replace(" *", " ").split())
    assert "@param index always 1: this model has no labels" in said
    assert "0 is refused, as ESVM_UNKNOWN_LABEL" in said
    X, weights = np.ones((4, 2), np.float32), np.ones(4)
    before = compiled.arena.tobytes()
    _, _, learned = compiled.run(X, np.array([0, 2, -1, -128], np.int8), weights)
    assert learned.tolist() == [4, 4, 4, 4]
    assert compiled.arena.tobytes() == before
    _, _, learned = compiled.run(X, np.ones(4, np.int8), weights)
    assert max(learned) <= 1
    assert compiled.arena.tobytes() != before
