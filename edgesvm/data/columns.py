"""What the columns of a CSV hold, found in its first rows: numbers, words, times, or no use."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timezone
from itertools import chain, pairwise
from typing import Any

import numpy as np

from edgesvm.data.lines import Lines
from edgesvm.data.rows import CLOCKS, value_of

LOOKED_AT = 10_000  # rows; of labels, all
CHUNK = 1024  # rows read together
TIMED = 200  # of these, by which times are known
TRIED = 20  # words, some of which are times if any are
LABELS = {"label", "class", "target", "anomaly", "is_anomaly", "fault", "outlier", "state"}
MOST_LABELS = 16
ENOUGH = 50  # rows that show that a column is constant or rises
KEPT = 128  # values of a column that are told apart
TRUTH = ("true", "false", "yes", "no", "on", "off")
MOST_QUOTED = 60  # characters of a line or cell
DATES = ("%d.%m.%Y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%d")
HOURS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
# How `datetime` has them; an empty one is ISO 8601.
FORMATS = ("", *DATES, *HOURS, *(f"{day} {hour}" for day in DATES for hour in HOURS))
SEPARATORS = ";\t,| "  # in the order they are tried: numbers may have a decimal comma


def separator_of(lines: list[str]) -> str:
    """The separator of these lines: of those that all of them have equally often, or else most,
    the one that makes numbers of most cells."""
    if lines and (told := re.fullmatch(r'"?sep=(.)"?', lines[0])):
        return told[1]
    filled = [line.strip(" ") for line in lines if line.strip()]
    cut = {one: [line.split(None if one == " " else one) for line in filled] for one in SEPARATORS}
    counts = {one: Counter(map(len, lines)) for one, lines in cut.items()}
    for least in (len(filled), len(filled) // 2 + 1):
        fit = [one for one in cut if any(n > 1 and k >= least for n, k in counts[one].items())]
        if fit:
            return max(fit, key=lambda one: _numbers(chain(*cut[one]), comma=one != ","))
    return ","


def _numbers(cells: Iterable[str], *, comma: bool) -> float:
    """The share of cells that are numbers."""
    return statistics.fmean(value_of(cell, comma=comma) is not None for cell in cells)


def seconds(cell: str, form: str) -> float:
    """A time stamp in seconds since 1970 (UTC where it names no zone), or since midnight; else
    ValueError."""
    if form:
        at = datetime.strptime(cell, form)
        at = at if "%d" in form else at.replace(year=1970)
    else:
        at = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", cell))
    return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()


def _fits(cell: str, form: str) -> bool:
    try:
        seconds(cell, form)
    except ValueError:
        return False
    return True


class Column:
    """Tallies of the cells of one column.

    Attributes
    ----------
    n_numbers, n_words : int
        Cells that are numbers, and others; missing ones are neither.
    values : set of str
        At most 128 of both.
    rises : bool
        Each number is larger than the one before.
    falls : bool
        A number is smaller than the one before.
    """

    def __init__(self) -> None:
        self.n_numbers = self.n_words = 0
        self.values: set[str] = set()
        self.rises, self.falls, self.constant = True, False, True
        self._forms: tuple[str, ...] = FORMATS  # of all times so far
        self._times: list[str] = []  # the first
        self._first: float | None = None
        self._last = 0.0

    def add(self, cell: str, *, comma: bool) -> None:
        cell = cell.strip()
        value = value_of(cell, comma=comma)
        if value is not None and math.isnan(value):
            return
        if len(self.values) < KEPT:
            self.values.add(cell)
        if value is None:
            self.n_words += 1
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
        is_clear = len(self._times) == TIMED and len(self._forms) == 1
        if is_clear or self.n_words > TRIED > len(self._times):
            return
        if forms := tuple(form for form in self._forms if _fits(cell, form)):
            self._forms = forms
            self._times += [cell] * (len(self._times) < TIMED)

    @property
    def is_words(self) -> bool:
        return self.n_words > self.n_numbers

    @property
    def is_time(self) -> bool:
        return self.is_words and 2 * len(self._times) > min(self.n_words, TIMED)

    @property
    def time_format(self) -> str:
        """What `seconds` reads its times by: of days and months in doubt, the month is first."""
        return self._forms[0]

    @property
    def seconds_apart(self) -> float:
        """Between two time stamps, the median; 0 if there are none."""
        times = [seconds(cell, self.time_format) for cell in self._times]
        apart = [b - a for a, b in pairwise(times)]
        return max(statistics.median(apart), 0.0) if apart else 0.0

    def of_no_use(self, name: str, *, labelled: bool) -> str:
        """Why the column of this name is left out; empty if it is not."""
        called = name.strip().lower()
        if self.is_time:
            return f"times, {self.seconds_apart:g} s apart"
        if not self.n_words and not self.n_numbers:
            return "empty"
        if not labelled and called in LABELS and len(self.values) <= MOST_LABELS:
            return f"it looks like a label: --label {name}"
        if self.n_words > self.n_numbers or self.n_numbers < ENOUGH:
            return ""
        if self.rises:
            return "it rises with every row"
        is_clock = called in CLOCKS and not (self.falls or self.constant)
        of_no_use = "constant" if self.constant and labelled else ""
        return "a time that never falls" if is_clock else of_no_use


class Survey:
    """What a file holds: its `columns`, by its first rows; how many rows there are, `n_rows`, and
    their `labels`, 128 at most. Rows of another width, and the header, are passed over."""

    def __init__(self, lines: Lines, width: int, label_at: int | None, header: list[str]) -> None:
        self.columns, self.n_rows = [Column() for _ in range(width)], 0
        self.labels: dict[str, float] = {}
        read_by: list[Any] = [None] * width
        found = np.empty((CHUNK, width))
        while True:
            if looks := self.n_rows < LOOKED_AT:
                n, cells = 0, lines.row()
            else:
                n, cells = lines.read(0, read_by, found)
            self.n_rows += n
            if cells is None and n < CHUNK:
                return
            if cells is None or len(cells) != width or cells == header or "\0" in "".join(cells):
                continue
            self.n_rows += 1
            for column, cell in zip(self.columns, cells if looks else [], strict=looks):
                column.add(cell, comma=lines.comma)
            if label_at is not None:
                self.labels[cells[label_at].strip()] = 0.0
                read_by[label_at] = self.labels.__getitem__ if len(self.labels) < KEPT else None

    @property
    def numeric(self) -> bool:
        """Whether the labels are integers: all but those that stand for a missing one."""
        known = [label for label in self.labels if not is_missing(label)]
        return bool(known) and all(integer(label) is not None for label in known)

    @property
    def n_classes(self) -> int:
        """0 if there are too many labels to be classes."""
        numeric = self.numeric
        known = [label for label in self.labels if not is_none(label, numeric=numeric)]
        found = {integer(label) if numeric else same_word(label) for label in known}
        return 0 if len(self.labels) == KEPT else len(found)

    def fraction(self, *, comma: bool) -> str:
        """A label with a fraction, if there are more of them than of words; else empty."""
        values = {label: value_of(label, comma=comma) for label in self.labels}
        n_words = sum(value is None for value in values.values())
        found = [label for label, value in values.items() if (value or 0) % 1 > 0]
        return min(found)[:MOST_QUOTED] if len(found) > n_words else ""


def integer(label: str) -> int | None:
    """The number of a label that is one, such as 7 or -1.0. Codes such as 007 and 1E3 are not."""
    found = re.fullmatch(r"([+-]?(?:0|[1-9][0-9]{0,8}))(?:[.,]0*)?", label)
    return int(found[1]) if found else None


def is_missing(cell: str) -> bool:
    """Whether it stands for a value that is missing: it is empty, nan, ? or such."""
    return math.isnan(value_of(cell) or 0.0)


def same_word(label: str) -> str:
    """The word, in lower case if it is yes or no, as programs write that in many ways."""
    return label.lower() if label.lower() in TRUTH else label


def is_none(label: str, *, numeric: bool) -> bool:
    """Whether this cell holds no label: it is empty or, among numbers, stands for a missing one."""
    return not label or (numeric and is_missing(label))
