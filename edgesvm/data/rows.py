"""Rows and their sources: one row type, and one way to read it, in chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from edgesvm.data._cells import number

NO_LABEL = -(1 << 31)  # among numbers of classes
INT16 = np.iinfo(np.int16)  # what a link has for labels
NAME = re.compile(r"(?<!\w)([A-Za-z_][\w./()-]*)\"?\s*[:=](?!\s*[{[])")  # before a value
CLOCKS = {"time", "timestamp", "ts", "date", "datetime", "unixtime", "epoch"}  # names of times
CLOCKS |= {"millis", "micros", "ms", "uptime"}


def printable(name: str) -> str:
    """A name as it is shown: what is no visible character is written as its code."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


def value_of(text: str, *, comma: bool = False) -> float | None:
    """The number, NaN for a missing one; None for a word."""
    try:
        return number(text, comma)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows; unpack them with ``X, y = rows``.

    Attributes
    ----------
    X : ndarray or SparseRows of shape (n, n_features)
        A source of your own may also give a CSR matrix.
    y : ndarray of shape (n,), or None
        Labels; None if the rows have none.
    weight : ndarray of shape (n,), or None
        Sample weights; None if all are 1.
    first : int
        Number of the first row within its pass. Set by `Source`; 0 elsewhere.
    """

    X: Any
    y: Any = None
    weight: np.ndarray | None = None
    first: int = 0

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y


@runtime_checkable
class RowSource(Protocol):
    """Anything that gives rows in chunks: a file, a recording, a stream, or your own reader.

    Learners that make several passes call `chunks` once per pass. Only a `Stream` continues where
    it was.
    """

    @property
    def n_features(self) -> int: ...

    def chunks(self, rows: int) -> Iterator[Rows]:
        """A pass from the first row on, 1 to `rows` rows per chunk."""
        ...


class SampleSource(RowSource, Protocol):
    """A `RowSource` that can replace a sensor."""

    @property
    def n_classes(self) -> int:
        """Number of classes, or 0 if it is not known in advance."""
        ...

    @property
    def period_us(self) -> int:
        """Nominal time between samples in microseconds, 0 if unknown."""
        ...


class Stream:
    """Rows that can be read only once. A subclass defines `read`.

    Attributes
    ----------
    n_features : int
    n_classes : int
        0 if it is not known in advance.
    period_us : int
        Nominal time between samples in microseconds, 0 if unknown.
    """

    n_features: int
    n_classes: int = 0
    period_us: int = 0

    def read(self, n: int) -> Rows:
        """The next `n` rows; fewer at the end, none after it."""
        raise NotImplementedError

    def chunks(self, rows: int) -> Iterator[Rows]:
        """The remaining rows, at most `rows` per chunk."""
        while len((chunk := self.read(rows)).X):
            yield chunk
