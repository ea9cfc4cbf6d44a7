"""Training data that is read more than once, a chunk at a time: arrays, memory-mapped files,
recordings, readers of one's own.

A learner that makes several passes asks for `chunks` anew each time; memory stays at one chunk,
however long the data is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import as_floats, as_labels, as_weights
from edgesvm.contract.params import whole
from edgesvm.data.rows import Rows, RowSource, Stream

CHUNK_ROWS = 1024


class Source:
    """Rows, labels and weights, read in chunks as often as wanted.

    Parameters
    ----------
    X : ndarray or np.memmap of shape (n_samples, n_features), or RowSource
        A source of chunks brings its labels, and weights if it has them; arrays are cut, not
        copied, and rows of another dtype are converted a chunk at a time.
    y : array of shape (n_samples,), labels; None for a source of chunks
    sample_weight : array of shape (n_samples,), optional; None for a source of chunks
    owner : str
        Who asks, for messages.

    Raises
    ------
    TypeError
        Sparse arrays; a `Stream`, which is read once; labels or weights beside a source of chunks.
    ValueError
        Shapes that do not agree.
    """

    def __init__(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, owner: str = "the learner"
    ) -> None:
        self._owner = owner
        self._source: RowSource | None = None
        if is_row_source(X):
            if isinstance(X, Stream):
                raise TypeError(
                    f"{owner}: a stream is read once, and `fit` reads its data several times;"
                    " learn its chunks with `partial_fit`"
                )
            if y is not None or sample_weight is not None:
                raise TypeError(f"{owner}: a source of chunks brings its own labels and weights")
            self._source, self.n_features = X, whole("n_features", X.n_features, 1, 1 << 24)
            return
        if not isinstance(X, np.ndarray):
            X = as_floats(X, np.dtype(np.float64), 2, None, owner)
        as_floats(X[:0] if X.ndim == 2 else X, np.dtype(np.float32), 2, None, owner)
        self._X, self.n_features = X, int(X.shape[1])
        self._y = as_labels(y, len(X), owner)
        self._weight = as_weights(sample_weight, len(X))

    @property
    def has_rows(self) -> bool:
        """Whether rows can be had by number: those of arrays and memory-mapped files."""
        return self._source is None

    def take(self, numbers: ArrayLike, dtype: Any = np.float32) -> Rows:
        """Rows by number, in that order; `first` is the number of the first of them.

        Parameters
        ----------
        numbers : array of shape (n,), whole numbers
        dtype : of the rows

        Raises
        ------
        TypeError
            A source of chunks has no rows by number; numbers that are not whole.
        IndexError
            There is no such row.
        """
        if self._source is not None:
            raise TypeError(f"{self._owner}: rows of a source of chunks cannot be had by number")
        places = np.asarray(numbers)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            raise TypeError(f"numbers={numbers!r}: give an array of whole numbers")
        wrong = (places < 0) | (places >= len(self._X))
        if wrong.any():
            raise IndexError(f"{self._owner}: row {places[wrong][0]} of {len(self._X)}")
        places = places.astype(np.int64)
        X = as_floats(self._X[places], np.dtype(dtype), 2, self.n_features, self._owner)
        weight = None if self._weight is None else self._weight[places]
        return Rows(X, self._y[places], weight, int(places[0]) if len(places) else 0)

    def chunks(self, rows: int = CHUNK_ROWS, dtype: Any = np.float32) -> Iterator[Rows]:
        """One pass, from the first row, at most `rows` a chunk, each with its labels.

        Raises
        ------
        ValueError
            The source gives more rows than it was asked for, or rows without labels.
        """
        whole("rows", rows, 1, 1 << 40)
        parts = self._source.chunks(rows) if self._source else self._slices(rows)
        first = 0
        for part in parts:
            n = len(part.X)
            if n > rows:
                raise ValueError(f"the source gave {n} rows where {rows} were asked for")
            if part.y is None:
                raise ValueError(f"{self._owner}: the source has no labels")
            X = as_floats(part.X, np.dtype(dtype), 2, self.n_features, self._owner)
            y = as_labels(part.y, n, self._owner)
            yield replace(part, X=X, y=y, weight=as_weights(part.weight, n), first=first)
            first += n

    def _slices(self, rows: int) -> Iterator[Rows]:
        for at in range(0, len(self._X), rows):
            part = slice(at, at + rows)
            weight = None if self._weight is None else self._weight[part]
            yield Rows(self._X[part], self._y[part], weight)


def is_row_source(X: Any) -> bool:
    """Whether `X` gives rows in chunks, and is not an array."""
    return not isinstance(X, np.ndarray) and isinstance(X, RowSource)
