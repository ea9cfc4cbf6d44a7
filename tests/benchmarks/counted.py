"""What test_boards.py has counted in an emulator."""

import numpy as np

from benchmarks.ledger.entry_points import EntryPoint, over
from edgesvm import StreamSVM


def entry_points():
    X = np.random.default_rng(0).standard_normal((1024, 784)).astype(np.float32)
    ask = StreamSVM().partial_fit(X, np.arange(1024) % 2).predict_one
    yield EntryPoint("once", lambda n: over(ask, list(X)[:n]), 512)
    yield EntryPoint("twice", lambda n: over(ask, [x for x in X[:n] for _ in "ab"]), 512)
