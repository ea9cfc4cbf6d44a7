"""Rows of a CSV file, read line by line."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from edgesvm.data._plain import plain_rows
from edgesvm.data.columns import KEPT, MISSING, number, seconds, separator_of, surveyed
from edgesvm.data.rows import INT16, Rows, Stream, printable
from edgesvm.errors import RowsError

HEAD_LINES = 3  # that show the separator
_LABEL_NAMES = ("label", "class", "target", "y")


class _Labels:
    """Class numbers of labels: an integer is its own number, other labels are numbered in order of
    appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.known: dict[str, int] = {}  # the number of each text
        self._numeric: bool | None = None

    def add(self, text: str, where: str) -> int:
        """The number of a text that is not known yet."""
        value = _integer(text)
        if self._numeric is None:
            self._numeric = value is not None
        if not self._numeric:
            self.names.append(printable(text))
            value = len(self.names) - 1
        if value is None:
            raise RowsError(
                f"{where}: label {text!r} is not an integer, but the labels before it are"
            )
        if not INT16.min <= value <= INT16.max:
            raise RowsError(f"{where}: label {value} does not fit the link's 16 bits")
        self.known[text] = value
        return value


def _integer(text: str) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None


class CsvRows(Stream):
    """Rows of a CSV file, one line in memory at a time; the file may be a pipe.

    Parameters
    ----------
    path : path
        UTF-8, with or without a byte order mark; separated by semicolons, tabs or commas, whichever
        its first lines have. Where it is not the comma, numbers may have a decimal comma.
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
        What is done with a row that has a missing cell: empty, or na, n/a, nan, null, none, ? or -.
        "skip": its features are all NaN, so that whoever reads the rows refuses and counts it, and
        windows of raw samples have a gap there. "mean": the cell is the mean of its column so far;
        without a label the row is passed over. "error": `RowsError`. "keep": the cell is NaN, and
        so may be a target.
    targets : bool
        The labels are numbers, float64, and not classes.

    Attributes
    ----------
    n_missing : int
        Rows read that have a missing cell.
    first_missing : int
        Line of the first of them; 0 if there is none.
    class_names : list of str
        Labels that are not integers, in order of appearance: the class is the index.
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
        and the message names them all. From `read`: a row has another length, a cell is not a
        number, or missing with ``missing="error"``, or a label does not fit in 16 bits. The
        message names the line.
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
    ) -> None:
        if missing not in ("skip", "mean", "error", "keep"):
            raise ValueError(f"missing={missing!r} must be 'skip', 'mean', 'error' or 'keep'")
        if missing == "keep" and not targets:
            raise ValueError("missing='keep' is for targets: a label that is missing is no class")
        self.targets, self._missing_cells = targets, missing
        self.n_missing = self.first_missing = 0
        self._path = Path(path)
        self._file = self._open()
        self.notes: list[str] = []
        self.times: list[float] = []
        try:
            begin = list(islice(self._file, HEAD_LINES))
            if "\0" in "".join(begin):
                raise RowsError(f"{self._path} is no text: a CSV has lines of numbers and words")
            self._separator = separator_of(begin)
            self._comma = self._separator != ","
            self._number = partial(number, comma=self._comma)
            ahead, lines = tee(chain(begin, self._file))
            start = list(islice(self._filled(csv.reader(ahead, delimiter=self._separator)), 2))
            if not start:
                raise RowsError(f"{self._path} has no rows")
            first, *below = start
            if header is None:
                header = _is_header(first, below, (label_column, *drop_columns))
            self._header = [printable(cell.strip()) for cell in first] if header else None
            if header and not below:
                raise RowsError(f"{self._path} has a header but no rows")
            self._reader = csv.reader(lines, delimiter=self._separator)
            self._rows = self._filled(self._reader, header)
            self._width = len(first)
            self._label_at = self._find_label(label_column)
            left_out = {self._find(column) for column in drop_columns} | {self._label_at}
            self._features = [j for j in range(self._width) if j not in left_out]
            self._codes: dict[int, list[str]] = {}  # values of the columns that are words
            self._time_at: int | None = None
            self.seconds_apart = 0.0
            self._n_rows: int | None = None
            if self._path.is_file():
                self._look(header, [self._find(column) for column in keep_columns], encode)
            if not self._features:
                raise RowsError(f"{self._path} has no column left for features")
        except BaseException:
            self._file.close()
            raise
        names = self._names()
        self.n_features, self.feature_names = len(names), names if self._header else ()
        self._sums = np.zeros((2, self.n_features))  # of each feature, and of how many
        self._last = np.full(self._width, math.nan)  # the row before
        self._labels = _Labels()
        self._read_by = self._readers()

    @property
    def class_names(self) -> list[str]:
        return self._labels.names

    @property
    def labelled(self) -> bool:
        """Whether rows have labels."""
        return self._label_at is not None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, counted in a pass of its own; None for a pipe."""
        return self._n_rows

    def _look(self, header: bool, kept: list[int], encode: int) -> None:
        """Look through the file for what its columns hold."""
        with self._open() as file:
            reader = csv.reader(file, delimiter=self._separator)
            rows = self._filled(reader, header)
            found = surveyed(rows, self._width, self._label_at, comma=self._comma)
        if found.fraction and not self.targets and self._label_at is not None:
            raise RowsError(
                f"{self._path}: labels are integers or words, but {self._name(self._label_at)} has "
                f"{found.fraction}; without labels: --label-column none, or edgesvm watch; numbers "
                "to predict: --regress"
            )
        self._n_rows = found.n_rows
        self.n_classes = 0 if self.targets else found.n_classes
        columns, features = found.columns, self._features
        no_times = {*kept, self._label_at}
        times = [j for j in range(self._width) if columns[j].is_time and j not in no_times]
        if times:
            self._time_at, self.seconds_apart = times[0], columns[times[0]].seconds_apart
        out = {
            j: columns[j].of_no_use(str(self._column(j)), labelled=self.labelled)
            for j in features
            if j not in kept
        }
        out = {j: why for j, why in out.items() if why}
        words = [j for j in features if j not in out and columns[j].is_words]
        if wide := [j for j in words if len(columns[j].values) > encode]:
            told = ", ".join(f"{self._name(j)} ({_many(columns[j].values)} values)" for j in wide)
            options = " ".join(f"--drop-column {self._column(j)}" for j in wide)
            raise RowsError(
                f"{self._path}: not numbers, and too many values to encode: {told}; leave them out "
                f"(drop_columns: {options}), or give encode (--encode N)"
            )
        self._codes = {j: sorted(columns[j].values) for j in words}
        self._features = [j for j in features if j not in out]
        self._note(out)

    def _note(self, out: dict[int, str]) -> None:
        if self._comma:
            name = {";": "semicolon", "\t": "tab"}[self._separator]
            self.notes.append(f"separated by {name}; numbers may have a decimal comma")
        if out:
            told = ", ".join(f"{self._column(j)} ({why})" for j, why in out.items())
            self.notes.append(f"columns left out: {told}; --keep-column takes one in")
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

    def _open(self) -> TextIO:
        return self._path.open(newline="", encoding="utf-8-sig", errors="replace")

    def _find_label(self, column: str | int | None) -> int | None:
        if column == "none":
            return None
        if column is not None:
            return self._find(column)
        names = [name.lower() for name in self._header or ()]
        for at, name in enumerate(names):
            if name in _LABEL_NAMES and not (name == "y" and "z" in names):
                return at
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

    def _filled(self, reader: Any, header: bool = False) -> Iterator[list[str]]:
        """The cells of each line that is not empty, but those of a header."""
        try:
            yield from islice(filter(None, reader), int(header), None)
        except csv.Error as error:
            raise RowsError(f"{self._path}, line {reader.line_num}: {error}") from error

    def _readers(self) -> list[Any]:
        """What reads the cells of each column, if anything does."""
        found: list[Any] = [None] * self._width
        for j in self._features:
            found[j] = self._codes[j].index if j in self._codes else self._number
        if self._label_at is not None:
            known = self._labels.known.__getitem__
            found[self._label_at] = self._number if self.targets else known
        if self._time_at is not None:
            found[self._time_at] = seconds
        return found

    def _fill(self, found: np.ndarray, is_whole: np.ndarray) -> int:
        """Read rows into `found`, from the second on, and whether each is whole. Returns the number
        of the row after them."""
        n, label_at = 1, self._label_at
        while True:
            n, cells = plain_rows(self._rows, n, self._read_by, self._number, found)
            if cells is None:
                return n
            whole, before = self._is_whole(cells), found[n - 1]
            if whole or label_at is None or not math.isnan(before[label_at]):
                for j, cell in enumerate(cells):
                    is_read = whole or j == self._time_at
                    found[n, j] = self._cell(j, cell) if is_read else before[j]
                is_whole[n] = whole
                n += 1

    def _is_whole(self, cells: list[str]) -> bool:
        """Whether a row has a label and all features, or those that are missing are made up for."""
        if len(cells) != self._width:
            raise RowsError(
                f"{self._where}: {len(cells)} columns, but the first row has {self._width}"
            )
        column = self._missing(cells)
        if column is None:
            return True
        if self._missing_cells == "error":
            raise RowsError(
                f"{self._where}: no value in {self._name(column)}; to pass over such rows: "
                "missing='skip' (--missing skip)"
            )
        self.n_missing += 1
        self.first_missing = self.first_missing or self._reader.line_num
        has_label = self._label_at is None or cells[self._label_at].strip().lower() not in MISSING
        return self._missing_cells == "keep" or (self._missing_cells == "mean" and has_label)

    def _cell(self, j: int, cell: str) -> float:
        """The number for a cell of column j: NaN for one that is missing, -1 for a new word."""
        text, read = cell.strip(), self._read_by[j]
        try:
            return math.nan if read is None else read(text)
        except KeyError:
            return self._labels.add(text, self._where)
        except ValueError:
            if j in self._codes:
                return -1
            if j == self._time_at or text.lower() in MISSING:
                return math.nan
            is_target, advice = j == self._label_at, "drop_columns (--drop-column) leaves it out"
            raise RowsError(
                f"{self._where}: {cell!r} in {self._name(j)} is not a number "
                f"({'a target must be one' if is_target else advice})"
            ) from None

    def _features_of(self, found: np.ndarray, is_whole: np.ndarray) -> np.ndarray:
        """The features of rows; NaN if they are not whole."""
        columns = [
            found[:, [j]] == np.arange(len(self._codes[j])) if j in self._codes else found[:, [j]]
            for j in self._features
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

    @property
    def _where(self) -> str:
        return f"{self._path}, line {self._reader.line_num}"

    def _name(self, column: int) -> str:
        return f"column {self._header[column]!r}" if self._header else f"column {column}"

    def _missing(self, row: list[str]) -> int | None:
        """The first column used that has no value in this row."""
        used = self._features if self._label_at is None else [*self._features, self._label_at]
        return next((j for j in used if row[j].strip().lower() in MISSING), None)

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
        self._last, found = found[end - 1].copy(), found[1:end]
        self.times = [] if self._time_at is None else found[:, self._time_at].tolist()
        with np.errstate(over="ignore"):  # overflow gives inf, which the learner refuses
            X = self._features_of(found, is_whole[1:end]).astype(np.float32)
        if self._label_at is None:
            return Rows(X)
        return Rows(X, found[:, self._label_at].astype(np.float64 if self.targets else np.int32))

    def close(self) -> None:
        """Close the file. Reading its last row, or an error, closes it too."""
        self._file.close()
        self._rows = iter(())


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
    try:
        float(text)
    except ValueError:
        return False
    return True
