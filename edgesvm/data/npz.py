"""The arrays of an npz file, which may come from anyone."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from edgesvm.budget import format_bytes
from edgesvm.errors import RowsError

# What compressed arrays may take in memory: so many bytes, or so many times the file's if that is
# more. A megabyte can unpack to a thousand.
MOST_UNPACKED = 64 << 20
MOST_TIMES = 16


class NpzArrays(Mapping[str, np.ndarray]):
    """Arrays by name, read when they are asked for. What an array's header states is compared with
    the bytes that are there, and these with the limit, before memory is taken. No pickles.

    Parameters
    ----------
    archive : ZipFile
    path : path
        Of the file, for messages.

    Raises
    ------
    KeyError
        There is no such array.
    RowsError
        The arrays read so far and this one unpack to more than the limit.
    ValueError
        It is not an array of plain values, or its header states another size than it has.
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
        member, *_ = self.header(name)
        self._unpacked += member.file_size
        if self._unpacked > self._most:
            raise RowsError(
                f"{self._path}: {name} unpacks to {format_bytes(member.file_size)}; compressed"
                f" arrays may take {format_bytes(self._most)}: store them uncompressed (np.savez)"
            )
        with self._archive.open(member) as file:
            array: np.ndarray = npy.read_array(file, allow_pickle=False)
        return array

    def header(self, name: str) -> tuple[ZipInfo, int, tuple[int, ...], bool, np.dtype[Any]]:
        """Member, bytes of the header, shape, whether it is in Fortran's order, dtype."""
        member = self._archive.getinfo(f"{name}.npy")
        with self._archive.open(member) as file:
            is_first = npy.read_magic(file) == (1, 0)
            read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
            shape, is_fortran, dtype = read(file)
            n_header = file.tell()
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or min(shape, default=0) < 0 or n_bytes != member.file_size - n_header:
            raise ValueError(f"{name} is not a plain array of the size that its header states")
        return member, n_header, shape, is_fortran, dtype
