"""Check that a run's model equals, byte for byte, one taught the rows that arrived."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import edgesvm
from edgesvm.data import SampleSource
from rig.conformance.edge_run import Run
from rig.conformance.expected import Expected

_CHUNK = 4096
_REACH = 1024  # samples may arrive out of order by at most this many


def model_is_that_of(run: Run, want: Expected) -> bool:
    """Whether the host's snapshot equals that of a learner taught the same rows in this order."""
    learner = edgesvm.load(run.snapshot)
    reference = type(learner)(**learner.get_params(deep=False))
    for X, y in _rows_of(run.make_source(), want.learned):
        reference.partial_fit(X.astype(reference.dtype), y)
    own = run.snapshot.with_name("expected.esvm")
    reference.save(own)
    return own.read_bytes() == run.snapshot.read_bytes()


def _rows_of(
    source: SampleSource, wanted: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Rows of a stream by index, in an order close to that of the stream."""
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
