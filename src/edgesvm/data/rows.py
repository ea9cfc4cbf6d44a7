"""What rows are and where they come from: one row type, and one way to read them, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows; ``X, y = rows`` takes them apart.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,), or None
        Labels; None where the rows have none.
    weight : ndarray of shape (n,), or None
        Sample weights; None where each is 1.
    first : int
        Number of the first row in its pass. `Source` counts; others leave it at 0.
    """

    X: np.ndarray
    y: Any = None
    weight: np.ndarray | None = None
    first: int = 0

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y


@runtime_checkable
class RowSource(Protocol):
    """Anything that gives rows in chunks: a file, a recording, a stream, or a reader of one's own.

    Learners that make several passes ask for `chunks` anew for each; only a `Stream` goes on
    where it was.
    """

    @property
    def n_features(self) -> int: ...

    def chunks(self, rows: int) -> Iterator[Rows]:
        """A pass from the first row on, 1 to `rows` rows a chunk."""
        ...


class SampleSource(RowSource, Protocol):
    """A `RowSource` that can stand where a sensor does."""

    @property
    def n_classes(self) -> int:
        """Number of classes, or 0 when it is not known in advance."""
        ...

    @property
    def period_us(self) -> int:
        """Nominal time between samples in microseconds, 0 when unknown."""
        ...


class Stream:
    """Rows that come once. A subclass says how to `read` the next ones.

    Attributes
    ----------
    n_features : int
    n_classes : int
        0 when it is not known in advance.
    period_us : int
        Nominal time between samples in microseconds, 0 when unknown.
    """

    n_features: int
    n_classes: int = 0
    period_us: int = 0

    def read(self, n: int) -> Rows:
        """The next `n` rows: fewer at the end, none after it."""
        raise NotImplementedError

    def chunks(self, rows: int) -> Iterator[Rows]:
        """The rows that are left, at most `rows` a chunk."""
        while len((chunk := self.read(rows)).X):
            yield chunk


class Trial(NamedTuple):
    """A sample to be learned, in the order of test-then-train.

    Attributes
    ----------
    x : ndarray of shape (n_features,)
    label : Any
        None where the sample has none.
    weight : float
    predicted : Any
        The label predicted when the sample came; None where nothing had been learned by then.
    sequence : int
        Its number in its source.
    """

    x: np.ndarray
    label: Any
    weight: float
    predicted: Any
    sequence: int


Predict = Callable[[np.ndarray], Any]


@runtime_checkable
class TrialSource(Protocol):
    """A source whose labels may come later than their samples."""

    def trials(self, predict: Predict) -> Iterator[Trial]:
        """A pass: `predict` is asked when a sample comes, the trial is given when its label does.

        A sample for which `predict` raises `SampleRefused` is passed over.
        """
        ...
