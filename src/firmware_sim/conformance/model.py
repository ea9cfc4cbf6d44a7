"""Whether a run's model is the one that the rows which arrived teach, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import edgesvm
from edgesvm.data import SampleSource
from firmware_sim.conformance.edge_run import Run
from firmware_sim.conformance.expected import Expected

_CHUNK = 4096
_REACH = 1024  # samples that may arrive out of order by at most so many


def model_is_that_of(run: Run, want: Expected) -> bool:
    """Whether the edge's snapshot equals one taught here, the same rows in the same order."""
    learner = edgesvm.load(run.snapshot)
    twin = type(learner)(**learner.get_params(deep=False))
    for X, y in _rows_of(run.make_source(), want.learned):
        twin.partial_fit(X.astype(twin.dtype), y)
    own = run.snapshot.with_name("twin.esvm")
    twin.save(own)
    return own.read_bytes() == run.snapshot.read_bytes()


def _rows_of(
    source: SampleSource, wanted: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Rows of a stream by index, in an order that is nearly the stream's own."""
    chunks = source.chunks(_CHUNK)
    X, y = next(chunks)
    assert y is not None
    base = 0
    for start in range(0, len(wanted), _CHUNK):
        rows = wanted[start : start + _CHUNK]
        while rows.max() >= base + len(y):
            more_X, more_y = next(chunks)
            assert more_y is not None
            X, y = np.concatenate([X, more_X]), np.concatenate([y, more_y])
        yield X[rows - base], y[rows - base]
        cut = max(0, int(rows.min()) - _REACH - base)
        X, y, base = X[cut:], y[cut:], base + cut
