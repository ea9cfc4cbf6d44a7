"""Data in partitions: what a worker reads one from, and its name in messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from edgesvm.data.files import CsvRows
from edgesvm.data.npz import NpzArrays
from edgesvm.data.rows import Rows
from edgesvm.data.sources import Source
from edgesvm.link.files import open_rows

KINDS = (".npz", ".csv", ".parquet", ".rec")


class PartitionError(ValueError):
    """A partition cannot be learned; the message names it."""


class NamedError(PartitionError):
    """The worker has put the name into the message already."""


def npz_array(path: str, name: str) -> np.ndarray:
    """An array of an npz file, mapped where it lies unless it is compressed: a worker then has
    memory for the rows at hand only, and rows by number are had without reading the others."""
    with ZipFile(path) as archive:
        arrays = NpzArrays(archive, path)
        try:
            member, header_bytes, shape, is_fortran, dtype = arrays.header(name)
        except KeyError:
            raise PartitionError(f"there is no {name} in it") from None
        if member.compress_type != ZIP_STORED or 0 in shape:
            return arrays[name]
    with open(path, "rb") as raw:  # the local header has lengths of its own
        raw.seek(member.header_offset + 26)
        lengths = sum(np.frombuffer(raw.read(4), "<u2").tolist())
    offset = member.header_offset + 30 + lengths + header_bytes
    return np.memmap(path, dtype, "r", offset, shape, "F" if is_fortran else "C")


@dataclass(frozen=True)
class File:
    """A file that every worker can read, read anew in each pass."""

    path: str
    label_column: str | None = None

    def source(self, owner: str) -> Source:
        suffix = Path(self.path).suffix.lower()
        if suffix == ".parquet":
            return Source(*self._parquet(), owner=owner)
        if suffix == ".npz":
            return Source(*(npz_array(self.path, name) for name in ("X", "y")), owner=owner)
        return Source(_Reopened(self), owner=owner)

    def _parquet(self) -> tuple[np.ndarray, np.ndarray]:
        from pyarrow import parquet

        table = parquet.read_table(self.path)
        label = self.label_column or table.column_names[-1]
        features = [name for name in table.column_names if name != label]
        X = np.column_stack([table[name].to_numpy() for name in features])
        return X, table[label].to_numpy(zero_copy_only=False)

    def opened(self) -> Any:
        is_csv = Path(self.path).suffix.lower() == ".csv"
        return open_rows(self.path, label_column=self.label_column if is_csv else None)


class _Reopened:
    """A CSV file or a recording, opened for each pass; words as labels stay words, since each file
    would number them in its own order."""

    def __init__(self, file: File) -> None:
        self._file = file
        with closing(file.opened()) as rows:
            self.n_features = rows.n_features

    def chunks(self, rows: int) -> Iterator[Rows]:
        with closing(self._file.opened()) as opened:
            for part in opened.chunks(rows):
                if isinstance(opened, CsvRows) and opened.class_names:
                    yield Rows(part.X, np.array(opened.class_names)[part.y], part.weight)
                else:
                    yield part


@dataclass(frozen=True)
class Block:
    """Rows and labels of a Dask collection, which Dask puts in their place when a task runs."""

    X: Any
    y: Any

    def source(self, owner: str) -> Source:
        X = np.asarray(self.X)
        return Source(X, np.asarray(self.y), owner=owner)


def source_of(part: Any, owner: str) -> Source:
    """The rows of a partition: a file, or rows and labels."""
    found: Source = (Block(*part) if isinstance(part, tuple) else part).source(owner)
    return found


def files_of(paths: Sequence[Any], label_column: str | None) -> list[tuple[str, File]]:
    """Names and files; ValueError for an ending that is not known."""
    found = []
    for path in map(str, paths):
        if Path(path).suffix.lower() not in KINDS:
            raise ValueError(f"{path}: give files that end in {', '.join(KINDS)}")
        found.append((path, File(path, label_column)))
    return found


def blocks_of(X: Any, y: Any) -> list[tuple[str, tuple[Any, Any]]]:
    """Names, and delayed rows and labels, of a Dask array or data frame; ValueError if the
    partitions of X and y do not match."""
    if y is None:
        raise ValueError("y: give the labels, a Dask array or series in the partitions of X")
    if hasattr(X, "rechunk") and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    if hasattr(X, "rechunk") and not hasattr(y, "to_delayed"):
        import dask.array

        y = dask.array.from_array(np.asarray(y), chunks=(X.chunks[0],))
    rows, labels = (np.ravel(part.to_delayed()) for part in (X, y))
    if len(rows) != len(labels):
        raise ValueError(f"X has {len(rows)} partitions, y has {len(labels)}: give y those of X")
    return [(f"partition {k}", pair) for k, pair in enumerate(zip(rows, labels, strict=True))]
