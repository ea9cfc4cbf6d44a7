"""Counters of an arena that no stream can have made."""

import numpy as np
import pytest
from each import each

from edgesvm import StreamSVM
from edgesvm.errors import CorruptModelError


@each(
    "name, value",
    [("n_seen", 5), ("n_seen", -1), ("n_updates", 7), ("n_updates", -1), ("n_per_class", -1)],
)
def test_counters_that_contradict_one_another_are_refused(name, value):
    """Six samples were seen and learned; each counter alone is set to what cannot be."""
    X = np.eye(6, 2, dtype=np.float32)
    learner = StreamSVM().partial_fit(X, [0, 1, 0, 1, 0, 1])
    learner.core.check()
    learner.core.views[name].flat[0] = value
    with pytest.raises(CorruptModelError, match="counter"):
        learner.core.check()
