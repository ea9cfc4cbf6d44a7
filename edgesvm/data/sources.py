"""Training data that is read more than once, a chunk at a time: arrays, memory-mapped files,
recordings, your own readers.

A learner that makes several passes calls `chunks` once per pass. Memory is one chunk, however long
the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.contract.inputs import (
    as_floats,
    as_labels,
    as_rows,
    as_targets,
    as_weights,
    is_sparse,
    sparse_rows,
)
from edgesvm.contract.params import whole
from edgesvm.data.rows import Rows, RowSource, Stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CHUNK_ROWS = 1024


class Source:
    """Rows, labels and weights, read in chunks in any number of passes."""

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        owner: str = "the learner",
        regresses: bool = False,
    ) -> None:
        self._owner = owner
        self._as_labels = as_targets if regresses else as_labels
        self._source: RowSource | None = None
        self.most_weight = math.inf  # what a larger weight is read as
        if is_row_source(X):
            if isinstance(X, Stream):
                raise TypeError(
                    f"{owner}: a stream can be read only once, but `fit` reads its data several"
                    " times; learn its chunks with `partial_fit`"
                )
            if y is not None or sample_weight is not None:
                raise TypeError(
                    f"{owner}: leave out y and sample_weight; a source of chunks has its own"
                )
            self._source, self.n_features = X, whole("n_features", X.n_features, 1, 1 << 24)
            return
        self._X = self._checked(X)
        self.n_features = int(self._X.shape[1])
        self._y = self._as_labels(y, len(self._X), owner)
        self._weight = as_weights(sample_weight, len(self._X))

    def _checked(self, X: Any) -> Any:
        """An array in its own dtype, or `SparseRows`."""
        if is_sparse(X):
            return sparse_rows(X, None, self._owner)
        if not isinstance(X, np.ndarray):
            return as_floats(X, np.dtype(np.float64), 2, None, self._owner)
        as_floats(X[:0] if X.ndim == 2 else X, np.dtype(np.float32), 2, None, self._owner)
        return X

    @property
    def has_rows(self) -> bool:
        """Whether rows can be read by number: those of arrays and memory-mapped files can."""
        return self._source is None

    @property
    def is_weighted(self) -> bool:
        """Whether rows that can be read by number have weights."""
        return self._source is None and self._weight is not None

    @property
    def weights(self) -> np.ndarray | None:
        """Those of rows that can be read by number, if they have any"""
        return self._capped(self._weight) if self.is_weighted else None

    def _capped(self, weight: np.ndarray | None) -> np.ndarray | None:
        return None if weight is None else np.minimum(weight, self.most_weight)

    def take(self, numbers: ArrayLike, dtype: Any = np.float32) -> Rows:
        """Rows by number, in the order given; `first` is the first of these numbers."""
        if self._source is not None:
            raise TypeError(f"{self._owner}: a source of chunks cannot be read by row number")
        places = np.asarray(numbers)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            raise TypeError(f"numbers={numbers!r}: give an array of integers")
        if places.size and not 0 <= places.min() <= places.max() < len(self._X):
            wrong = (places < 0) | (places >= len(self._X))
            raise IndexError(f"{self._owner}: row {places[wrong][0]} of {len(self._X)}")
        places = places.astype(np.int64, copy=False)
        X = as_rows(self._X[places], np.dtype(dtype), self.n_features, self._owner)
        weight = self._capped(None if self._weight is None else self._weight[places])
        return Rows(X, self._y[places], weight, int(places[0]) if len(places) else 0)

    def chunks(self, rows: int = CHUNK_ROWS, dtype: Any = np.float32) -> Iterator[Rows]:
        """One pass from the first row on, at most `rows` per chunk, with labels."""
        whole("rows", rows, 1, 1 << 40)
        parts = self._source.chunks(rows) if self._source else self._slices(rows)
        first = 0
        for part in parts:
            X = as_rows(part.X, np.dtype(dtype), self.n_features, self._owner)
            n = len(X)
            if n > rows:
                raise ValueError(f"the source returned {n} rows, at most {rows} were requested")
            if part.y is None:
                raise ValueError(f"{self._owner}: the source has no labels")
            y = self._as_labels(part.y, n, self._owner)
            weight = self._capped(as_weights(part.weight, n))
            yield replace(part, X=X, y=y, weight=weight, first=first)
            first += n

    def _slices(self, rows: int) -> Iterator[Rows]:
        for at in range(0, len(self._X), rows):
            part = slice(at, at + rows)
            weight = None if self._weight is None else self._weight[part]
            yield Rows(self._X[part], self._y[part], weight)


def is_row_source(X: Any) -> bool:
    """Whether `X` gives rows in chunks, and is not an array."""
    return not isinstance(X, np.ndarray) and isinstance(X, RowSource)
