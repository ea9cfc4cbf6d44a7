"""Rows of an npz file, which may come from anyone."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from edgesvm.budget import format_bytes
from edgesvm.contract.sparse import SparseRows
from edgesvm.data.rows import INT16, Rows, printable
from edgesvm.errors import RowsError

# What compressed arrays may take in memory: so many bytes, or so many times the file's if that is
# more. A megabyte can unpack to a thousand.
MOST_UNPACKED = 64 << 20
MOST_TIMES = 16
CHUNK = 1 << 16
# What reading a file of another kind raises.
DAMAGED = (ValueError, EOFError, NotImplementedError, RuntimeError, BadZipFile, zlib.error)


class _Arrays(Mapping[str, np.ndarray]):
    """Arrays by name, read when they are asked for. What an array's header states is compared with
    the bytes that are there, and these with the limit, before memory is taken. No pickles.
    """

    def __init__(self, archive: ZipFile, path: str | os.PathLike[str]) -> None:
        self._archive, self._path = archive, path
        self._most = max(MOST_UNPACKED, MOST_TIMES * os.path.getsize(path))
        self._unpacked = 0

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._archive.namelist())

    def __len__(self) -> int:
        return len(self._archive.namelist())

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> np.ndarray:
        member = self._member(name)
        self._unpacked += member.file_size
        if self._unpacked > self._most:
            raise RowsError(
                f"{self._path}: {name} unpacks to {format_bytes(member.file_size)}; compressed"
                f" arrays may take {format_bytes(self._most)}: store them uncompressed (np.savez)"
            )
        with self._archive.open(member) as file:
            array: np.ndarray = npy.read_array(file, allow_pickle=False)
        return array

    def _member(self, name: str) -> ZipInfo:
        """The file in the archive; ValueError if it is no plain array of the size it states."""
        member = self._archive.getinfo(f"{name}.npy")
        with self._archive.open(member) as file:
            is_first = npy.read_magic(file) == (1, 0)
            read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
            shape, _, dtype = read(file)
            n_bytes = member.file_size - file.tell()
        states = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or min(shape, default=0) < 0 or states != n_bytes:
            raise ValueError(f"{name} is not a plain array of the size that its header states")
        return member


def _matrix(arrays: Any, path: Any) -> tuple[str, Any]:
    """The array of rows of an npz file and its name."""
    for name in ("X", "X_train"):
        if name in arrays:
            return name, arrays[name]
        csr = [f"{name}_{part}" for part in ("data", "indices", "indptr")]
        if all(part in arrays for part in (*csr, "n_features")):
            data, indices, indptr = (arrays[part] for part in csr)
            n_features = arrays["n_features"]
            if n_features.shape or n_features.dtype.kind not in "iu":
                raise RowsError(f"{path}: n_features must be an integer")
            shape = np.size(indptr) - 1, int(n_features)
            try:
                return name, SparseRows(data, indices, indptr, shape, f"{path}: {name}")
            except (TypeError, ValueError) as error:
                raise RowsError(str(error)) from error
    raise RowsError(f"{path} has neither X nor X_train: {', '.join(map(printable, arrays))}")


class NpzRows:
    """Rows of ``X`` and ``y``, or ``X_train`` and ``y_train``, of an npz file, in order. With
    `targets`, y is read as float64 numbers and not as classes.

    Only these two arrays are read, in their stored dtype; rows and labels are converted chunk by
    chunk. Pickled arrays are refused, and compressed ones that unpack to more than 64 MiB and 16
    times the file. Instead of ``X`` a file may have the arrays of a CSR matrix,
    ``X_data``, ``X_indices``, ``X_indptr`` and ``n_features``; then X of a chunk is `SparseRows`.

    Raises
    ------
    RowsError
        There are no such arrays, their shapes do not match, or a label does not fit in 16 bits.
    """

    period_us = 0
    feature_names: tuple[str, ...] = ()

    def __init__(self, path: str | os.PathLike[str], *, targets: bool = False) -> None:
        try:
            with ZipFile(path) as archive:
                arrays = _Arrays(archive, path)
                name, self._X = _matrix(arrays, path)
                y_name = name.replace("X", "y")
                y = arrays.get(y_name)
        except RowsError:
            raise
        except DAMAGED as error:
            raise RowsError(f"{path} is not an npz file of plain arrays, or is damaged") from error
        if self._X.ndim != 2 or 0 in self._X.shape or self._X.dtype.kind not in "fiub":
            raise RowsError(
                f"{path}: {name} must be numbers of shape (rows, features), "
                f"not {self._X.dtype} {self._X.shape}"
            )
        if y is not None and y.shape != self._X.shape[:1]:
            raise RowsError(f"{path}: {y_name} has shape {y.shape} for {len(self._X)} rows")
        self.class_names: list[str] = []
        self._y, self._names = y, np.empty(0)
        self.n_features, self.targets, self.n_classes = int(self._X.shape[1]), targets, 0
        if y is not None and targets and y.dtype.kind not in "fiu":
            raise RowsError(f"{path}: {y_name} must be numbers to be targets, not {y.dtype}")
        if y is not None and not targets:
            self.n_classes = self._number(y, f"{path}: {y_name}")

    def _number(self, y: NDArray, what: str) -> int:
        """Check the labels, and name them if they are words. Returns how many there are."""
        parts = [np.unique(y[at : at + CHUNK]) for at in range(0, len(y), CHUNK)]
        found = np.unique(np.concatenate(parts))
        if found.dtype.kind in "fiub" and np.array_equal(found, np.trunc(found)):
            if not (INT16.min <= found[0] and found[-1] <= INT16.max):
                raise RowsError(f"{what} has labels that do not fit the link's 16 bits")
        elif found.dtype.kind in "US":
            self._names = found
            self.class_names = [printable(str(name)) for name in found]
        else:
            raise RowsError(
                f"{what} must be integers or strings, not {y.dtype}; numbers to predict:"
                " targets=True"
            )
        return len(found)

    def _numbers(self, y: NDArray) -> NDArray:
        if self.targets:
            return y.astype(np.float64)
        return (np.searchsorted(self._names, y) if self.class_names else y).astype(np.int32)

    @property
    def labelled(self) -> bool:
        """Whether rows have labels."""
        return self._y is not None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._X)

    def chunks(self, rows: int) -> Iterator[Rows]:
        """A pass from the first row on, at most `rows` per chunk; X float32, y int32 or float64."""
        for at in range(0, len(self._X), rows):
            part = slice(at, at + rows)
            X = self._X[part].astype(np.float32)
            yield Rows(X, None if self._y is None else self._numbers(self._y[part]))

    def close(self) -> None:
        """Does nothing: the arrays are in memory."""
