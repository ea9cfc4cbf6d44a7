"""What the columns of a CSV hold, found in its first rows: numbers, words, times, or no use."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime, timezone
from itertools import pairwise

LOOKED_AT = 10_000  # rows; of labels, all
TIMED = 200  # of these, that must be times
CLOCKS = {"time", "timestamp", "ts", "date", "datetime", "unixtime", "epoch"}  # names of times
ENOUGH = 50  # rows that show that a column is constant or rises
KEPT = 128  # values of a column that are told apart
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")
FORMATS = ("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S")
SEPARATORS = ";\t,"  # in the order they are tried: numbers may have a decimal comma


def separator_of(lines: list[str]) -> str:
    """The separator of these lines: the first that all of them have, as often as the first line."""
    filled = [line for line in lines if line.strip()]
    for one in SEPARATORS:
        counts = {line.count(one) for line in filled}
        if len(counts) == 1 and counts != {0}:
            return one
    return ","


def number(cell: str, *, comma: bool) -> float:
    """The number in a cell, with a decimal comma if there may be one; else ValueError."""
    try:
        return float(cell)
    except ValueError:
        if comma and "," in cell and "." not in cell:
            return float(cell.replace(",", "."))
        raise


def seconds(cell: str) -> float:
    """A time stamp in seconds since 1970 (UTC where it names no zone); else ValueError."""
    cell = cell.strip()
    for form in (None, *FORMATS):
        try:
            at = datetime.strptime(cell, form) if form else datetime.fromisoformat(cell)
        except ValueError:
            continue
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()
    raise ValueError(f"{cell!r} is no time stamp")


class Column:
    """Tallies of the cells of one column.

    Attributes
    ----------
    n_numbers, n_words : int
        Cells that are numbers, and others; missing ones are neither.
    values : set of str
        At most 128 of those that are words.
    rises : bool
        Each number is larger than the one before.
    falls : bool
        A number is smaller than the one before.
    """

    def __init__(self) -> None:
        self.n_numbers = self.n_words = 0
        self.values: set[str] = set()
        self.rises, self.falls, self.constant = True, False, True
        self.times: list[float] | None = []
        self._first: float | None = None
        self._last = 0.0

    def add(self, cell: str, *, comma: bool) -> None:
        cell = cell.strip()
        if cell.lower() in MISSING:
            return
        try:
            value = number(cell, comma=comma)
        except ValueError:
            self.n_words += 1
            if len(self.values) < KEPT:
                self.values.add(cell)
            self._time(cell)
            return
        self.n_numbers += 1
        if self._first is None:
            self._first = value
        else:
            self.constant = self.constant and value == self._first
            self.rises = self.rises and value > self._last
            self.falls = self.falls or value < self._last
        self._last = value

    def _time(self, cell: str) -> None:
        if self.times is None or len(self.times) == TIMED:
            return
        try:
            self.times.append(seconds(cell))
        except ValueError:
            self.times = None

    @property
    def is_words(self) -> bool:
        return self.n_words > 0 and self.n_numbers == 0

    @property
    def is_time(self) -> bool:
        return self.is_words and bool(self.times)

    @property
    def seconds_apart(self) -> float:
        """Between two time stamps, the median; 0 if there are none."""
        times = self.times or []
        apart = [b - a for a, b in pairwise(times)]
        return max(statistics.median(apart), 0.0) if apart else 0.0

    def of_no_use(self, name: str, *, labelled: bool) -> str:
        """Why the column of this name is left out; empty if it is not."""
        if self.is_time:
            return f"times, {self.seconds_apart:g} s apart"
        if self.n_words or self.n_numbers < ENOUGH:
            return ""
        if self.rises:
            return "it rises with every row"
        if name.strip().lower() in CLOCKS and not (self.falls or self.constant):
            return "a time that never falls"
        return "constant" if self.constant and labelled else ""


class Survey:
    """The columns of a file, how many labels it has (0: too many to be classes), its rows, and a
    label that cannot be one."""

    def __init__(self, columns: list[Column], n_classes: int, n_rows: int, fraction: str) -> None:
        self.columns, self.n_classes, self.n_rows = columns, n_classes, n_rows
        self.fraction = fraction


def surveyed(rows: Iterable[list[str]], width: int, label_at: int | None, *, comma: bool) -> Survey:
    """Look through rows; those of another width are passed over."""
    columns, labels, n = [Column() for _ in range(width)], set[str](), 0
    for cells in rows:
        n += 1
        if len(cells) != width:
            continue
        if n <= LOOKED_AT:
            for column, cell in zip(columns, cells, strict=True):
                column.add(cell, comma=comma)
        if label_at is not None and len(labels) < KEPT:
            labels.add(cells[label_at].strip())
    known = {label for label in labels if label.lower() not in MISSING}
    return Survey(columns, 0 if len(labels) == KEPT else len(known), n, _fraction(known, comma))


def _fraction(labels: set[str], comma: bool) -> str:
    """One of the labels that is a number and no integer, if there is one."""
    for label in sorted(labels):
        try:
            value = number(label, comma=comma)
        except ValueError:
            continue
        if value % 1:
            return label
    return ""
