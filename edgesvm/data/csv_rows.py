"""Rows of a CSV file, read line by line."""

from __future__ import annotations

import math
import os
import re
import statistics
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from edgesvm.core.text import tidied
from edgesvm.data._cells import number
from edgesvm.data.columns import (
    KEPT,
    MOST_QUOTED,
    Survey,
    integer,
    is_missing,
    is_none,
    same_word,
    seconds,
    separator_of,
)
from edgesvm.data.lines import READ, UTF16, Lines, blocks, foreign
from edgesvm.data.rows import NAME, NO_LABEL, Rows, Stream, printable, value_of
from edgesvm.errors import RowsError

HEAD_LINES = 32  # that show the separator and the number of columns; of a pipe, 3
LONGEST_LABEL = 256  # characters
FEW = 8  # lines that may be left out, of however few
# A line with colours, of JSON, with a sample's number, or with names before values, or units
UNTIDY = re.compile(
    rf"\x1b\[|^\s*[{{[]|^@\d+ |^\s*{NAME.pattern}\s*[-+.\d]|\d ?[°%]|\d [a-zA-Z]{{1,3}}\s*[,;|\t]"
    r"|^[^ ]+[,;|\t][^ ]*\d [a-zA-Z]{1,3}$"
)
_LABEL_NAMES = ("label", "class", "target", "y")


class _Labels:
    """Class numbers of labels: an integer is its own number, words are numbered in order of
    appearance. Which of both they are the first says, if it is not known."""

    def __init__(self, numeric: bool | None) -> None:
        self.names: list[str] = []
        self.known: dict[str, float] = {}  # the number of each text
        self._numeric = numeric

    def add(self, text: str) -> float:
        """The number of a text that is not known yet; NaN for no label, ValueError for a word among
        numbers."""
        value = integer(text)
        if self._numeric is None and not is_missing(text):
            self._numeric = value is not None
        if is_none(text, numeric=self._numeric is not False):
            return math.nan
        if (self._numeric and value is None) or len(text) > LONGEST_LABEL:
            raise ValueError(f"label {text[:MOST_QUOTED]!r} is no integer, or too long a word")
        if self._numeric and value is not None:
            return self.known.setdefault(text, value)
        name = same_word(text)
        if name not in self.known:
            self.known[name] = len(self.names)
            self.names.append(printable(text))
        return self.known.setdefault(text, self.known[name])


class CsvRows(Stream):
    """Rows of a CSV file, one line in memory at a time; the file may be a pipe.

    Parameters
    ----------
    path : path
        UTF-8, or UTF-16 by its mark; a byte that is no UTF-8 is one of cp1252. Separated by
        semicolons, tabs, commas, ``|`` or blanks, whichever most of its first lines have, or as
        ``sep=;`` says. Where it is not the comma, numbers may have a decimal comma.
    label_column : str or int or None
        Name or index (negative from the end) of the label column; ``"none"`` if there is no label.
        By default the column named label, class, target or y (not among x, y, z), else the last.
    drop_columns : sequence of str or int
        Columns that are not features, such as dates or row numbers.
    header : bool, optional
        Whether the first line has names. By default it does if a cell other than its last one is
        not a number. If only the last cell is a word, it does if that word is a usual or given
        column name, or the line below ends with a number, or the cells before are 0, 1, 2 and so
        on. A first line of three or more numbers has names if they are 0, 1, 2 and so on.
    keep_columns : sequence of str or int
        Columns that are features, even if they are constant or rise with every row.
    encode : int
        A column of words of so many values at most is as many features, 1 for the row's value and 0
        for others.
    missing : {"skip", "mean", "error", "keep"}
        What is done with a row that has a missing cell: empty, or such as na, nan, null, ?, - or
        ERR, or anything that is no number in a column of numbers. A label is missing if the cell
        is empty or, where labels are integers, such a word; in a column of words all are labels.
        "skip": its features are all NaN, so that whoever reads the rows refuses and counts it, and
        windows of raw samples have a gap there. "mean": the cell is the mean of its column so far;
        without a label the row is passed over. "error": `RowsError`. "keep": the cell is NaN, and
        so may be a target; a class is `NO_LABEL`.
    targets : bool
        The labels are numbers, float64, and not classes.
    bad_lines : float
        Share of lines that may be no rows, as a line cut short is none; 8 always may, unless it is
        0. Comments, from ``#`` on, may be any number.

    Attributes
    ----------
    n_missing : int
        Rows read that have a missing cell.
    first_missing : int
        Line of the first of them; 0 if there is none.
    class_names : list of str
        Labels if they are not all integers, in order of appearance: the class is the index. True,
        yes, on and their opposites are the same in upper and lower case.
    feature_names : tuple of str
        Names of the features, if the file has a header; else empty.
    notes : list of str
        What was found out about the file: separators, columns that are left out, or made several.
        Files that are no pipe are looked through for that: their first 10,000 rows, and all labels.
        A column that is constant (where there are labels), rises with every row, or holds times is
        left out.
    times : list of float
        Of the rows that `read` gave last, seconds since 1970, if there is a column of time stamps.
    seconds_apart : float
        Between two rows, by the time stamps; 0 without.

    Raises
    ------
    RowsError
        There are no rows or no such column; or columns have words with more than `encode` values,
        and the message names them all. From `read`: more than `bad_lines` are no rows, or a cell
        is missing with ``missing="error"``. The message names the line.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        label_column: str | int | None = None,
        drop_columns: tuple[str | int, ...] = (),
        keep_columns: tuple[str | int, ...] = (),
        encode: int = 16,
        header: bool | None = None,
        missing: str = "skip",
        targets: bool = False,
        bad_lines: float = 0.1,
    ) -> None:
        if missing not in ("skip", "mean", "error", "keep"):
            raise ValueError(f"missing={missing!r} must be 'skip', 'mean', 'error' or 'keep'")
        self.targets, self._missing_cells, self._bad_lines = targets, missing, bad_lines
        self.n_missing = self.first_missing = self.n_bad = 0
        self._path = Path(path)
        self.notes: list[str] = []
        self.times: list[float] = []
        self._had_header = False
        self._odd: dict[str, list[Any]] = {}  # how many there are of each kind, and the first
        self._file = self._path.open("rb")
        try:
            self._begin(header, (label_column, *drop_columns))
            self._label_at = self._find_label(label_column)
            left_out = {self._find(column) for column in drop_columns} | {self._label_at}
            self._features = [j for j in range(self._width) if j not in left_out]
            self._codes: dict[int, list[str]] = {}  # values of the columns that are words
            self._time_at: int | None = None
            self.seconds_apart = 0.0
            self._n_rows: int | None = None
            self._labels = _Labels(None)
            if self._path.is_file():
                kept = [self._find(column) for column in keep_columns]
                self._look(kept, encode, guessed=label_column is None)
            if not self._features:
                raise RowsError(f"{self._path} has no column left for features")
        except BaseException:
            self._file.close()
            raise
        names = self._names()
        self.n_features, self.feature_names = len(names), names if self._header else ()
        self._sums = np.zeros((2, self.n_features))  # of each feature, and of how many
        self._last = np.full(self._width, math.nan)  # the row before
        self._read_by = self._readers()

    def _lines_of(self, chunks: Iterable[bytes]) -> Lines:
        """The lines behind the one that says the separator, if there is one."""
        lines = Lines(chunks, self._separator, tidies=self._tidies)
        if self._says_separator:
            lines.row()
        return lines

    def _begin(self, header: bool | None, given: tuple[Any, ...]) -> None:
        """Find the separator, the columns and the header."""
        n_lines = HEAD_LINES if self._path.is_file() else 3
        head = b"".join(islice(iter(partial(self._file.readline, READ), b""), n_lines))
        begin = [line for line in "".join(blocks(iter([head]))).split("\n") if line.strip()]
        if begin and "\0" in begin[0]:
            raise RowsError(f"{self._path} is no text: a CSV has lines of numbers and words")
        self._tidies = 2 * sum(map(bool, map(UNTIDY.search, begin))) > len(begin)
        names = NAME.findall("".join(begin[:1]))
        begin = [tidied(line) for line in begin] if self._tidies else begin
        self._separator = separator_of(begin)
        self._says_separator = "".join(begin[:1]).strip('"')[:4] == "sep="
        rows = list(iter(self._lines_of([head]).row, None))
        if not rows:
            raise RowsError(f"{self._path} has no rows")
        self._width = width = statistics.mode(map(len, rows))
        first, *below = [cells for cells in rows if len(cells) == width]
        is_named = self._tidies and len(names) == width  # each line has the names
        if header is None:
            header = not is_named and _is_header(first, below[:1], given)
        if header and not below:
            raise RowsError(f"{self._path} has a header but no rows")
        self._head = first if header else []  # as it is written
        names = names if is_named else [printable(cell.strip()) for cell in self._head]
        self._header = names or None
        if head[:2] in UTF16:
            self.notes.append("read as UTF-16")
        self._lines = self._lines_of(chain([head], iter(partial(self._file.read1, READ), b"")))

    @property
    def class_names(self) -> list[str]:
        return self._labels.names

    @property
    def columns(self) -> list[str]:
        """Names of all columns, or their numbers."""
        return [self._column(j) for j in range(self._width)]

    @property
    def line(self) -> int:
        """Number of the line read last, from 1."""
        return self._lines.number

    @property
    def header_line(self) -> int:
        """Number of the line with the names; 0 if there is none."""
        return (1 + self._says_separator) * bool(self._head)

    @property
    def separator(self) -> str:
        return self._separator

    def text_lines(self) -> Iterator[str]:
        """All lines of the file as they are."""
        with self._path.open("rb") as file:
            for block in blocks(iter(partial(file.read, READ), b"")):
                yield from block.split("\n")[:-1]

    @property
    def labelled(self) -> bool:
        """Whether rows have labels."""
        return self._label_at is not None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, counted in a pass of its own; None for a pipe."""
        return self._n_rows

    def _look(self, kept: list[int], encode: int, *, guessed: bool) -> None:
        """Look through the file for what its columns hold."""
        before = foreign[0]
        with self._path.open("rb") as file:
            lines = self._lines_of(iter(partial(file.read1, READ), b""))
            found = Survey(lines, self._width, self._label_at, self._head)
        if foreign[0] > before:
            self.notes.append("bytes that are no UTF-8 are read as cp1252")
        filled = [j for j, column in enumerate(found.columns) if column.values]
        if guessed and set(found.labels) == {""} and filled:
            self._label_at = filled[-1]  # lines end with a separator
            self._features = [j for j in self._features if j != self._label_at]
            return self._look(kept, encode, guessed=False)
        fraction = found.fraction(comma=lines.comma)
        if fraction and not self.targets and self._label_at is not None:
            raise RowsError(
                f"{self._path}: labels are integers or words, but {self._name(self._label_at)} has "
                f"{fraction}; without labels: label_column='none', or edgesvm watch; numbers "
                "to predict: targets=True"
            )
        self._labels = _Labels(found.numeric)
        self._n_rows = found.n_rows
        self.n_classes = 0 if self.targets else found.n_classes
        columns, features = found.columns, self._features
        no_times = {*kept, self._label_at}
        times = [j for j in range(self._width) if columns[j].is_time and j not in no_times]
        if times:
            self._time_at, self.seconds_apart = times[0], columns[times[0]].seconds_apart
            self._seconds = partial(seconds, form=columns[times[0]].time_format)
        out = {
            j: columns[j].of_no_use(str(self._column(j)), labelled=self.labelled)
            for j in features
            if j not in kept
        }
        out = {j: why for j, why in out.items() if why}
        words = [j for j in features if j not in out and columns[j].is_words]
        if wide := [j for j in words if len(columns[j].values) > encode]:
            told = ", ".join(f"{self._name(j)} ({_many(columns[j].values)} values)" for j in wide)
            options = " ".join(f"drop_columns='{self._column(j)}'" for j in wide)
            raise RowsError(
                f"{self._path}: not numbers, and too many values to encode: {told}; leave them out "
                f"by {options}, or give encode=N"
            )
        self._codes = {j: sorted(columns[j].values) for j in words}
        self._features = [j for j in features if j not in out]
        self._note(out)

    def _note(self, out: dict[int, str]) -> None:
        if self._separator != ",":
            name = {";": "semicolon", "\t": "tab", " ": "blanks"}.get(self._separator, "|")
            self.notes.append(f"separated by {name}; numbers may have a decimal comma")
        if out:
            told = ", ".join(f"{self._column(j)} ({why})" for j, why in out.items())
            self.notes.append(f"columns left out: {told}; keep_columns=NAME takes one in")
        for j, values in self._codes.items():
            told = ", ".join(printable(value) for value in values)
            self.notes.append(f"column {self._column(j)} is {len(values)} features: {told}")

    def _names(self) -> tuple[str, ...]:
        """Of the features; a column of words has one for each value."""
        codes = self._codes
        return tuple(
            f"{self._column(j)}={value}" if j in codes else self._column(j)
            for j in self._features
            for value in codes.get(j, [""])
        )

    def _column(self, j: int) -> str:
        return self._header[j] if self._header else str(j)

    def _find_label(self, column: str | int | None) -> int | None:
        if column == "none":
            return None
        if column is not None:
            return self._find(column)
        names = [name.lower() for name in self._header or ()]
        for name in _LABEL_NAMES:
            if name in names and not (name == "y" and "z" in names):
                return names.index(name)
        return self._width - 1

    def _find(self, column: str | int) -> int:
        if self._header and (name := printable(str(column))) in self._header:
            return self._header.index(name)
        try:
            at = int(column)
        except ValueError:
            known = f"it has {', '.join(self._header)}" if self._header else "it has no header"
            raise RowsError(f"{self._path} has no column {column!r}: {known}") from None
        if not -self._width <= at < self._width:
            raise RowsError(f"{self._path} has {self._width} columns; there is no index {at}")
        return at % self._width

    def _readers(self) -> list[Any]:
        """What reads the cells of each column, if anything does."""
        found: list[Any] = [None] * self._width
        for j in self._features:
            found[j] = self._codes[j].index if j in self._codes else number
        if self._label_at is not None:
            known = self._labels.known.__getitem__
            found[self._label_at] = number if self.targets else known
        if self._time_at is not None:
            found[self._time_at] = self._seconds
        return found

    def _fill(self, found: np.ndarray, is_whole: np.ndarray) -> int:
        """Read rows into `found`, from the second on, and whether each is whole. Returns the number
        of the row after them."""
        n, label_at = 1, self._label_at
        while True:
            n, cells = self._lines.read(n, self._read_by, found)
            if cells is None:
                return n
            if cells == self._head and not self._had_header:
                self._had_header = True
                continue
            try:
                row = self._row(cells)
            except ValueError as why:
                self._leave_out(cells, str(why))
                continue
            whole, before = self._is_whole(row), found[n - 1]
            if whole or label_at is None or not math.isnan(before[label_at]):
                found[n] = row if whole else before
                if self._time_at is not None:
                    found[n, self._time_at] = row[self._time_at]
                is_whole[n] = whole
                n += 1

    def _row(self, cells: list[str]) -> np.ndarray:
        """The numbers of a line, NaN for what is missing; ValueError if it is no row."""
        if len(cells) != self._width:
            raise ValueError(f"{len(cells)} columns, not {self._width}")
        if cells == self._head:
            raise ValueError("the header again")
        row, odd = np.full(self._width, math.nan), []
        for j, cell in enumerate(cells):
            try:
                row[j] = self._cell(j, cell.strip())
            except ValueError:
                if j == self._label_at or "\0" in cell:
                    raise
                odd.append(f"{cell[:MOST_QUOTED]!r} in {self._name(j)}")
        if odd and np.isnan(row[self._features]).all():
            raise ValueError(f"{odd[0]} is not a number")
        for one in odd:
            self._tell("cells are no numbers, and count as missing", one)
        return row

    def _cell(self, j: int, text: str) -> float:
        """The number for a cell of column j: NaN for one that is missing, -1 for a new word."""
        read = self._read_by[j]
        if j in self._codes and text not in self._codes[j] and not is_missing(text):
            self._tell(f"cells of {self._name(j)} are new words, for which no feature is 1", text)
            return -1
        if read is None or (j != self._label_at and is_missing(text)):
            return math.nan
        if read is number:
            return number(text, self._lines.comma)
        try:
            return read(text)
        except KeyError:
            value = self._labels.add(text)
            if math.isnan(value):
                self._tell("rows have no label", repr(text))
            return value
        except ValueError:  # no time stamp
            return math.nan

    def _leave_out(self, cells: list[str], why: str) -> None:
        """Count a line that is no row. Raises RowsError if too many are not."""
        text = self._separator.join(cells)
        self._tell("lines are no rows, and left out", f"{text[:MOST_QUOTED]!r} ({why})")
        self.n_bad += not text.startswith("#")
        if self.n_bad > max(FEW * (self._bad_lines > 0), self._bad_lines * self._lines.number):
            raise RowsError(
                f"{self._path}: {self.told[0]}; of {self._lines.number:,} lines at most "
                f"{self._bad_lines:.0%} may be so: bad_lines=SHARE"
            )

    def _tell(self, kind: str, what: str) -> None:
        found = self._odd.setdefault(kind, [0, f"line {self._lines.number:,}: {what}"])
        found[0] += 1

    @property
    def told(self) -> list[str]:
        """What was odd in the lines read so far: how many of each kind, and the first."""
        return [f"{n:,} {kind}; the first in {first}" for kind, (n, first) in self._odd.items()]

    def _is_whole(self, row: np.ndarray) -> bool:
        """Whether a row has a label and all features, or those that are missing are made up for."""
        used = self._features if self._label_at is None else [*self._features, self._label_at]
        column = next((j for j in used if math.isnan(row[j])), None)
        if column is None:
            return True
        if self._missing_cells == "error":
            raise RowsError(
                f"{self._path}, line {self._lines.number}: no value in {self._name(column)}; to "
                "pass over such rows: missing='skip'"
            )
        self.n_missing += 1
        self.first_missing = self.first_missing or self._lines.number
        has_label = self._label_at is None or not math.isnan(row[self._label_at])
        return self._missing_cells == "keep" or (self._missing_cells == "mean" and has_label)

    def _features_of(self, found: np.ndarray, is_whole: np.ndarray) -> np.ndarray:
        """The features of rows; NaN if they are not whole."""
        X = found[:, self._features]
        if self._codes:
            columns = [
                X[:, [k]] == np.arange(len(self._codes[j])) if j in self._codes else X[:, [k]]
                for k, j in enumerate(self._features)
            ]
            X = np.concatenate(columns, axis=1, dtype=np.float64)
        X[~is_whole] = math.nan
        if self._missing_cells == "mean":  # of the rows before; 0 before the first
            known = np.isfinite(X)
            steps = np.stack([np.where(known, X, 0), known], axis=1)
            sums = np.add.accumulate(np.concatenate([self._sums[None], steps]))
            self._sums, means = sums[-1], sums[:-1, 0] / np.maximum(sums[:-1, 1], 1)
            X = np.where(np.isnan(X) & is_whole[:, None], means, X)
        return X

    def _name(self, column: int) -> str:
        return f"column {self._header[column]!r}" if self._header else f"column {column}"

    def read(self, n: int) -> Rows:
        """See `Stream.read`; X is float32, y int32, or float64 targets."""
        found, is_whole = np.empty((n + 1, self._width)), np.ones(n + 1, np.bool_)
        found[0] = self._last
        try:
            end = self._fill(found, is_whole)
        except BaseException:
            self.close()
            raise
        if end <= n:
            self.close()
            if end == 1 and self.n_bad and np.isnan(self._last).all():
                raise RowsError(f"{self._path} has no rows: {self.told[0]}")
        self._last, found = found[end - 1].copy(), found[1:end]
        self.times = [] if self._time_at is None else found[:, self._time_at].tolist()
        with np.errstate(over="ignore"):  # overflow gives inf, which the learner refuses
            X = self._features_of(found, is_whole[1:end]).astype(np.float32)
        if self._label_at is None:
            return Rows(X)
        y = found[:, self._label_at]
        return Rows(X, y if self.targets else np.where(np.isnan(y), NO_LABEL, y).astype(np.int32))

    def close(self) -> None:
        """Close the file. Reading its last row, or an error, closes it too."""
        self._file.close()
        self._lines = Lines([])


def _many(values: set[str]) -> str:
    return f"{len(values)}" + ("+" if len(values) == KEPT else "")


def _is_header(first: list[str], below: list[list[str]], given: tuple[Any, ...]) -> bool:
    """Whether the first line of a file has names; see `CsvRows`."""
    *others, last = (cell.strip() for cell in first)
    if not others or not all(map(_is_number, others)):
        return not all(map(_is_number, first))
    numbered = [str(j) for j in range(len(others))]  # pandas names unnamed columns so
    if _is_number(last):
        return len(others) > 1 and [*others, last] == [*numbered, str(len(others))]
    is_name = last.lower() in _LABEL_NAMES or last in given
    has_number_below = any(cells and _is_number(cells[-1]) for cells in below)
    return is_name or has_number_below or (len(others) > 1 and others == numbered)


def _is_number(text: str) -> bool:
    return text != "" and value_of(text, comma=True) is not None
