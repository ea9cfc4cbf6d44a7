"""Snapshots of BallVectorMachine: a radius that no data leads to is refused, every real one is
loaded.
"""

import struct
import zlib

import numpy as np
import pytest
from each import each

from edgesvm import RBF, BallVectorMachine, CorruptModelError, OneVsOne, Standardized
from edgesvm.persist.store import describe, restore

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3))
Y = (X[:, 0] + 0.3 * RNG.standard_normal(200) > 0).astype(int)


def machine(**params):
    return BallVectorMachine(**{"kernel": RBF(0.5), "max_core": 40, "epsilon": 1e-3} | params)


def data(model, **changed):
    """The snapshot's bytes, with numbers of the arena changed and a right CRC."""
    arena = bytearray(bytes(model.arena))
    for array in model.plan(model.n_features_in_).leaves():
        if (name := array.name.rpartition("/")[2]) in changed:
            value = np.array(changed[name], array.dtype).tobytes()
            arena[array.offset : array.offset + len(value)] = value
    body = describe(model) + bytes(arena)
    return body + struct.pack("<I", zlib.crc32(body))


@each("shrunk", [1e-9, 0.5, 0.75, 1.0])
@each("C", [1.0, 10.0])
def test_a_radius_that_no_round_made_is_refused(shrunk, C):
    """No ball of it encloses the samples: each one cost 10,000,000 moves, 4 s."""
    for model in (
        machine(C=C).fit(X, Y),
        machine(C=C).partial_fit(X, Y),
        Standardized(learner=machine(C=C)).partial_fit(X, Y),
        OneVsOne(learner=machine(C=C), n_classes=2).partial_fit(X, Y),
    ):
        with pytest.raises(CorruptModelError, match="radius"):
            restore(data(model, shrunk=shrunk))


@pytest.mark.parametrize("shrunk", [0.5, 0.75, 1.0])
def test_a_radius_too_small_for_the_core_vectors_is_refused(shrunk):
    """Whatever the file says of its rounds."""
    model = machine(max_rounds=5).fit(X, Y)
    with pytest.raises(CorruptModelError, match="radius"):
        restore(data(model, shrunk=shrunk, n_rounds=3))


def stop_after(n):
    calls = iter(range(n))
    return lambda *_: next(calls)


@each("seed", range(4))
@each("max_rounds", [1, 5])
@each("C", [0.5, 100.0])
def test_what_a_machine_has_learned_is_loaded(seed, max_rounds, C):
    """In passes, ended early, as a stream, weighted, and a stream of other data after a fit."""
    rng = np.random.default_rng(seed)
    params = {"C": C, "max_rounds": max_rounds, "max_core": int(rng.integers(2, 200))}
    weight = rng.uniform(0.01, 3.0, len(X))
    tidy = (X[:, 0] > 0).astype(int)
    models = [machine(**params) for _ in range(6)]
    models[0].fit(X, Y)
    models[1].fit(X, tidy, sample_weight=weight)
    with pytest.raises(StopIteration):
        models[2].fit(X, tidy, progress=stop_after(int(rng.integers(1, 4))))
    models[3].partial_fit(X, Y, sample_weight=weight)
    models[4].fit(X, tidy).partial_fit(-4.0 * X[:30], tidy[:30])
    models[5].partial_fit(X[:1], Y[:1], sample_weight=[0.1])
    for model in models:
        assert bytes(restore(data(model)).arena) == bytes(model.arena)
