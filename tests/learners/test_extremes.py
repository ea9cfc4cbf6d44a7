"""Squares and reciprocals at the end of float64: a sample is learned whole, or refused whole."""

import zlib

import numpy as np
import pytest
from each import each
from streams import make

from edgesvm import (
    KernelPerceptron,
    KernelStreamSVM,
    Linear,
    Polynomial,
    ReservoirSVM,
    StreamSVM,
)
from edgesvm.errors import CorruptModelError, SampleRefused
from edgesvm.persist.store import describe, restore

SHARES = {"max_vectors": 3, "when_full": "share", "bound": "upper"}
LARGEST = {"newton": 1e15}  # its steps multiply squared lengths
KINDS = {
    "one ball": (StreamSVM, {"normalize": False}),
    "averaged": (StreamSVM, {"normalize": False, "bound": "lower", "average": True}),
    "reach": (StreamSVM, {"normalize": False, "n_balls": 3, "join": "reach"}),
    "lower": (StreamSVM, {"normalize": False, "bound": "lower"}),
    "balls": (StreamSVM, {"normalize": False, "n_balls": 3}),
    "lower balls": (StreamSVM, {"normalize": False, "n_balls": 3, "bound": "lower"}),
    "lookahead": (StreamSVM, {"normalize": False, "lookahead": 3}),
    "linear": (KernelStreamSVM, {**SHARES, "kernel": Linear()}),
    "linear lower": (KernelStreamSVM, {**SHARES, "kernel": Linear(), "bound": "lower"}),
    "polynomial": (KernelStreamSVM, {**SHARES, "kernel": Polynomial(degree=1, coef0=0.0)}),
    "newton": (KernelStreamSVM, {"max_vectors": 2, "kernel": Linear()}),
}


def learner(case):
    kind, params = KINDS[case]
    made = make(kind, **params, dtype="float64")
    return made.allocate(2, classes=[-1, 1]).partial_fit([[1.0, 2.0], [-2.0, 1.0]], [1, -1])


def snapshot(learner):
    return sealed(describe(learner) + bytes(learner.arena))


def sealed(data):
    return data + zlib.crc32(data).to_bytes(4, "little")


@each("case", KINDS)
def test_a_sample_as_large_as_can_be_is_learned_and_one_beyond_refused(case):
    rng = np.random.default_rng(3)
    made = learner(case)
    largest = LARGEST.get(case, 1e150)
    for i in range(40):
        x = rng.standard_normal(2)
        x *= 0.999 * largest / np.linalg.norm(x)
        made.learn_one(x, (-1) ** i)
        assert np.isfinite(made.decision_one(x))
        assert all(np.isfinite(made.decision_function(-np.diag(x))))
    restore(snapshot(made))
    before = bytes(made.arena)
    for far in (1.001 * largest, 1.3e154, 1e200):
        for x in ([far, 0.0], [0.0, -far]):
            with pytest.raises(SampleRefused, match="too large"):
                made.learn_one(x, 1)
            if far < 1e150:
                continue  # what cannot be learned may still be predicted
            with pytest.raises(SampleRefused, match="too large"):
                made.decision_one(x)
    assert bytes(made.arena) == before


@each("new", [KernelPerceptron(), ReservoirSVM()])
def test_an_arena_that_was_never_set_up_is_refused(new):
    made = new.allocate(2, classes=[0, 1])
    restore(snapshot(made))
    with pytest.raises(CorruptModelError):
        restore(sealed(describe(made) + bytes(made.nbytes)))
