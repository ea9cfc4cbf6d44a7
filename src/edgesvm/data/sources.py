"""Training data that is read more than once, a chunk at a time: arrays, memory-mapped files,
recordings.

A learner that makes several passes asks for `chunks` anew each time; memory stays at one chunk,
however long the data is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import as_floats, as_labels, as_weights
from edgesvm.contract.params import whole

CHUNK_ROWS = 1024


@runtime_checkable
class Rereadable(Protocol):
    """What gives labelled rows as often as it is asked: a `Recording`, or one's own reader."""

    @property
    def n_features(self) -> int: ...

    def labelled_chunks(self, rows: int) -> Iterator[tuple[np.ndarray, ...]]:
        """A pass from the first row on: X of shape (n, n_features) and y, 1 <= n <= `rows`; and,
        where rows have them, weights."""
        ...


@dataclass(frozen=True)
class Chunk:
    """Some rows of a source.

    at : index of the first; X : ndarray of shape (n, n_features), of the dtype asked for; y :
    labels, ndarray of shape (n,); weight : float64 of shape (n,), or None.
    """

    at: int
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None


class Source:
    """Rows, labels and weights, read in chunks as often as wanted.

    Parameters
    ----------
    X : ndarray or np.memmap of shape (n_samples, n_features), or Rereadable
        A source of chunks brings its labels, and weights if it has them; arrays are cut, not
        copied, and rows that are of another dtype are converted a chunk at a time.
    y : array of shape (n_samples,), labels; None for a source of chunks
    sample_weight : array of shape (n_samples,), optional; None for a source of chunks
    owner : str
        Who asks, for messages.

    Raises
    ------
    TypeError
        Sparse arrays; labels or weights beside a source of chunks.
    ValueError
        Shapes that do not agree.
    """

    def __init__(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, owner: str = "the learner"
    ) -> None:
        self._owner = owner
        self._source: Rereadable | None = None
        if is_rereadable(X):
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

    def take(self, numbers: ArrayLike, dtype: Any = np.float32) -> Chunk:
        """Rows by number, in that order; `at` of the chunk is the first of them.

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
        return Chunk(int(places[0]) if len(places) else 0, X, self._y[places], weight)

    def chunks(self, rows: int = CHUNK_ROWS, dtype: Any = np.float32) -> Iterator[Chunk]:
        """One pass, from the first row, at most `rows` a chunk.

        Raises
        ------
        ValueError
            The source gives more rows than it was asked for.
        """
        whole("rows", rows, 1, 1 << 40)
        parts: Iterator[tuple[Any, ...]]
        parts = self._source.labelled_chunks(rows) if self._source else self._slices(rows)
        at = 0
        for rows_of_part, y, *weight in parts:
            if len(rows_of_part) > rows:
                raise ValueError(
                    f"the source gave {len(rows_of_part)} rows where {rows} were asked for"
                )
            X = as_floats(rows_of_part, np.dtype(dtype), 2, self.n_features, self._owner)
            part = as_weights(weight[0], len(X)) if weight else None
            yield Chunk(at, X, as_labels(y, len(X), self._owner), part)
            at += len(X)

    def _slices(self, rows: int) -> Iterator[tuple[Any, ...]]:
        columns = (self._X, self._y) if self._weight is None else (self._X, self._y, self._weight)
        for at in range(0, len(self._X), rows):
            yield tuple(column[at : at + rows] for column in columns)


def is_rereadable(X: Any) -> bool:
    """Whether `X` is a source of chunks, not an array."""
    return not isinstance(X, np.ndarray) and isinstance(X, Rereadable)
