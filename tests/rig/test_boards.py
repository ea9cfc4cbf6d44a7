"""What a board reports is compared to the bit."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from edgesvm import Standardized, StreamSVM
from rig.boards import HOSTS, compare, hard_samples, missing, run
from rig.boards.board import NATIVE


def taught():
    X, slots, _ = hard_samples(60, 4, "float32", 1)
    sound = np.isfinite(X).all(axis=1) & (np.abs(X).max(axis=1) < 1e6)
    return Standardized(learner=StreamSVM()).partial_fit(X[sound], slots[sound], classes=[0, 1])


def test_a_single_bit_would_be_found(tmp_path):
    if reason := missing(HOSTS[NATIVE]):
        pytest.skip(reason)
    learner, samples = taught(), hard_samples(50, 4, "float32", 2)
    there = run(learner, HOSTS[NATIVE], tmp_path, samples)
    assert compare(copy.deepcopy(learner), there, samples) == (50, [])
    values = there.values.copy()
    values.view(np.uint64)[7] ^= 1
    wrong = {
        "decisions": {"values": values},
        "what was learned": {"learned": there.learned + 1},
        "arena": {"arena": there.arena[:-1] + bytes([there.arena[-1] ^ 1])},
        "self-test": {"self_test": False},
    }
    for name, change in wrong.items():
        equal, differs = compare(copy.deepcopy(learner), replace(there, **change), samples)
        assert differs == [name]
        assert equal == 50 - (name == "decisions")
