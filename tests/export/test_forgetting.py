"""Exported kernel learners find a drift and forget as the host does, to the bit."""

import shutil

import numpy as np
import pytest
from on_host import Compiled, differences

from edgesvm import KernelStreamSVM, TwinVectorMachine

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")


@pytest.mark.parametrize("forgetting", ["drift", 30])
@pytest.mark.parametrize(
    "learner",
    [
        TwinVectorMachine(max_twins=12, gamma=0.5),
        KernelStreamSVM(max_vectors=12, gamma=0.5),
        KernelStreamSVM(max_vectors=12, gamma=0.5, class_weight="balanced"),
    ],
    ids=["twins", "kernel stream", "balanced"],
)
def test_forgets_as_the_host(learner, forgetting, tmp_path):
    X = np.random.default_rng(0).standard_normal((1_200, 2)).astype(np.float32)
    slots = ((X**2).sum(axis=1) < 1.4).astype(np.int8)
    slots[800:] ^= 1
    model = learner.like_new().set_params(forgetting=forgetting).allocate(2, classes=[4, 7])
    assert differences(model, Compiled(model, tmp_path), (X, slots, np.ones(len(X)))) == ""
    assert (model.n_drifts_ > 0) == (forgetting == "drift")
