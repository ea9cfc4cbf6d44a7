"""What test_boards.py has counted in an emulator."""

import numpy as np

from benchmarks.ledger.entry_points import EntryPoint, over
from edgesvm import StreamSVM


def entry_points():
    X = np.random.default_rng(0).standard_normal((1024, 784)).astype(np.float32)
    ask = StreamSVM().partial_fit(X, np.arange(1024) % 2).predict_one
    for name, times in (("once", 1), ("twice", 2)):
        yield EntryPoint(name, lambda n, times=times: over(ask, list(X[:n]) * times), 512)
