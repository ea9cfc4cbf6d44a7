"""ByteSVM in C: byte.h as it is, in integers all through."""

import re
import shutil

import numpy as np
import pytest
from each import each
from on_host import Compiled, at, differences

from edgesvm import ByteSVM
from edgesvm.export.folder import export
from edgesvm.persist import restore
from edgesvm.persist.format import pack
from rig.boards import hard_samples

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

BAD_SNAPSHOT = 8


def trying(n, n_features, n_classes, seed=0):
    """Hard samples of whole weights, with spikes, ties and a stuck feature; the last class comes
    late."""
    X, slots, _ = hard_samples(n, n_features, "float32", seed, range(n_classes))
    rng = np.random.default_rng(seed)
    X[rng.random(n) < 0.05, 0] *= 1e6
    X[1::97] = X[0::97][: len(X[1::97])]
    X[n // 2 : n // 2 + 300, -1] = -0.0
    if n_classes > 2:
        slots[: n // 3][slots[: n // 3] == n_classes - 1] = 0
    return X, slots, np.ones(n)


@each(
    "params, n_features, n_classes",
    [
        ({"n_bytes": 1024}, 9, 2),
        ({"n_bytes": 2048}, 9, 2),
        ({"n_bytes": 600, "class_weight": "balanced"}, 2, 2),
        ({"n_bytes": 400, "scale": "common", "learn_directions": False}, 64, 2),
        ({"n_bytes": 1500, "n_classes": 5, "class_weight": "balanced"}, 5, 4),
        ({"n_bytes": 1500, "seed": 7}, 5, 4),
    ],
)
@pytest.mark.timeout(600)
def test_ten_thousand_hard_samples_and_its_snapshots(params, n_features, n_classes, tmp_path):
    learner = ByteSVM(**params).allocate(n_features, classes=list(range(n_classes)))
    compiled = Compiled(learner, tmp_path)
    samples = trying(10_000, n_features, n_classes)
    assert differences(learner, compiled, samples, 2500) == ""
    assert learner.n_updates_ > 9000

    data = pack(learner.snapshot())
    whole = np.zeros(len(data), np.uint8)
    compiled.library.snapshot(at(compiled.memory), 0, at(whole), len(data))
    assert whole.tobytes() == data
    there = restore(whole.tobytes())
    bytes_of_it = np.frombuffer(data, np.uint8).copy()
    compiled.library.restart(at(compiled.memory))
    assert compiled.library.restore(at(compiled.memory), at(bytes_of_it), len(data)) == 0
    more = trying(200, n_features, n_classes, 1)
    assert differences(there, compiled, more) == ""
    spoiled = compiled.arena.copy()
    spoiled.view(np.uint8)[learner.plan(n_features).offsets["model"] + 40] ^= 1  # classes
    compiled.memory[: len(spoiled)] = spoiled
    compiled.library.snapshot(at(compiled.memory), 0, at(whole), len(data))
    assert compiled.library.restore(at(compiled.memory), at(whole), len(data)) == BAD_SNAPSHOT


def test_the_source_is_the_host_s(tmp_path):
    export(ByteSVM().allocate(3, classes=[0, 1]), tmp_path, "mod")
    root = re.sub("tests.*", "", __file__)
    with open(f"{root}/edgesvm/learners/byte/byte.h", encoding="utf-8") as file:
        assert (tmp_path / "edgesvm/byte.h").read_text(encoding="utf-8") == file.read()


def test_a_class_that_has_no_room_yet_is_named(tmp_path):
    learner = ByteSVM(n_bytes=600)
    learner.partial_fit(np.eye(2, dtype=np.float32), [0, 1])
    grown = restore(pack(learner.snapshot())).partial_fit(np.ones((1, 2), np.float32), [2])
    export(grown, tmp_path, "mod")
    assert "#define MOD_N_LABELS 3" in (tmp_path / "mod.h").read_text()
