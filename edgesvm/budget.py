"""Sizes in bytes, and the plan of a learner's memory before anything is allocated."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from edgesvm.errors import CorruptModelError, MemoryBudgetError

__all__ = ["MemoryBudgetError", "MemoryPlan", "PlannedArray", "format_bytes", "parse_bytes"]

ALIGNMENT = 8  # of every array: the widest scalar; vector loads need no alignment
LATER = ("mean_weight", "candidates", "copy")  # at the end of arenas since their first build
PARTS = "parts"  # the array that holds a learner's parts
PIECE = 1 << 15  # numbers
MOST_COUNTED = (1 << 62) - 512  # more samples than any stream has; twice it never overflows
MAX_PLAN_BYTES = 1 << 46  # more than any machine has: a corrupt count must not reach the allocator

# A core's arrays are one table, which `_arrays` returns: a line is (name, dtype, shape), and after
# these a role, or the bounds of its numbers: (least, most), or a sequence of these, one for each.
# From it follow the plan, where the core's pointers lead (`self.array(name)`), which arrays a
# reader beside the core needs of its own, and what a snapshot's numbers must be, on a board too:
# if nothing is said, floats are finite and int64 count something.
Line = tuple[Any, ...]
Table = list[Any]
SCRATCH = "scratch"  # zero between samples; may be written while deciding
WORK = "work"  # zero between samples; written while learning only
SIGNED = "signed"  # whole numbers that count nothing, as -1 for none
NOT_NEGATIVE = (0.0, math.inf)
SHARE = (0.0, 1.0)
ANY = (-math.inf, math.inf)


def up_to(most: float) -> tuple[float, float]:
    """The bounds of a size."""
    return -most, most


_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}


def parse_bytes(size: int | str) -> int:
    """Convert ``65536``, ``"64KiB"`` or ``"1.5 MB"`` to bytes.

    Raises
    ------
    ValueError
        `size` is not a size in bytes, or is negative.

    Examples
    --------
    >>> parse_bytes("64KiB")
    65536
    """
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        n_bytes = int(size)
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(size).lower())
        if match is None or match[2] not in _UNITS:
            raise ValueError(f"size {size!r}: give bytes as 65536, '64KiB', '1MiB', '500kB'")
        n_bytes = math.floor(float(match[1]) * _UNITS[match[2]])
    if n_bytes < 0:
        raise ValueError(f"size {size!r}: must not be negative")
    return n_bytes


def format_bytes(n_bytes: int) -> str:
    """``"1.5 KiB (1,536 B)"``: a rounded size and the exact number of bytes."""
    size, unit = float(n_bytes), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{n_bytes:,} B" if unit == "B" else f"{size:.1f} {unit} ({n_bytes:,} B)"


def check_numbers(arrays: Iterable[PlannedArray], views: Mapping[str, np.ndarray]) -> None:
    """Raise CorruptModelError unless all numbers are what the table says."""
    for planned in arrays:
        bounds = planned.bounds
        for piece in pieces(views[planned.name]):
            if planned.is_zero and piece.view("u1").any():
                what = "is not zero between two samples"
            elif bounds is not None and not ((bounds[0] <= piece) & (piece <= bounds[1])).all():
                what = "has a value that is out of range"
            else:
                continue
            kind = "counter" if planned.dtype == np.int64 else "array"
            raise CorruptModelError(f"the snapshot's {kind} {planned.name!r} {what}")


def pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """The array flat, in pieces, so that a check of one takes a fixed amount of memory."""
    flat = array.reshape(-1)
    return (flat[at : at + PIECE] for at in range(0, flat.size, PIECE))


class BeyondAnyMachine(ValueError):
    """A plan of more bytes than any machine has."""


@dataclass(frozen=True)
class PlannedArray:
    """One named array of the arena: its dtype, shape, and offset from the arena's first byte."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    offset: int
    role: str | tuple[Any, ...] = ""  # or the bounds of its numbers

    @property
    def is_zero(self) -> bool:
        """Whether its numbers are, in a snapshot."""
        return self.role in (SCRATCH, WORK)

    @functools.cached_property
    def bounds(self) -> np.ndarray | None:
        """Least and largest number in a snapshot, of its dtype: (2,), or (2, n) for each of n by
        itself. None: its numbers are zero, or any."""
        given = np.array(ANY if isinstance(self.role, str) else self.role).T
        if self.dtype.kind == "f":
            largest = float(np.finfo(self.dtype).max)
            return given.clip(-largest, largest).astype(self.dtype) if not self.is_zero else None
        if self.is_zero or self.role == SIGNED or (self.role == "" and self.dtype != np.int64):
            return None
        return given.clip(0, MOST_COUNTED).astype(self.dtype)

    @functools.cached_property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@functools.lru_cache(maxsize=64)  # the parts of a multiclass learner have one plan
def _laid_out(arrays: tuple[Line, ...]) -> tuple[tuple[PlannedArray, ...], int]:
    """The arrays in their places, and how many bytes they take."""
    placed: list[PlannedArray] = []
    offset = 0
    for name, dtype, shape, *role in arrays:
        array = PlannedArray(name, np.dtype(dtype).newbyteorder("<"), shape, offset, *role)
        placed.append(array)
        offset += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    names = [array.name for array in placed]
    if len(set(names)) < len(names):
        raise ValueError(f"two arrays of a plan have one name: {', '.join(names)}")
    if offset > MAX_PLAN_BYTES:
        raise BeyondAnyMachine(f"the plan needs {offset:,} bytes, more than any machine has")
    return tuple(placed), offset


@dataclass(frozen=True)
class MemoryPlan:
    """The arrays of a learner and their ``total`` in bytes, padding included.

    An array of bytes may hold whole arenas: one, or a row for each. ``inside`` has their plan by
    the array's name. The parts of a learner are in the array ``parts``.
    """

    arrays: tuple[PlannedArray, ...]
    total: int
    inside: Mapping[str, MemoryPlan] = field(default_factory=dict, hash=False)

    @property
    def part(self) -> MemoryPlan | None:
        """The plan of one of a learner's parts; None if it has none."""
        return self.inside.get(PARTS)

    @property
    def totals(self) -> set[int]:
        """Bytes of the same arena in this build and in earlier ones, where it ended before one of
        the arrays that are `LATER`."""
        last = self.arrays[-1]
        if (behind := self.inside.get(last.name)) is not None:
            return {self.total, *(last.offset + total for total in behind.totals)}
        return {self.total, *(array.offset for array in self.arrays if array.name in LATER)}

    @classmethod
    def of(
        cls,
        arrays: Iterable[Line],
        inside: Mapping[str, MemoryPlan] | None = None,
    ) -> MemoryPlan:
        """Lay out the lines of a table one after the other, each on an 8-byte boundary.

        Raises
        ------
        ValueError
            Two arrays have one name: a wrapper and the learner in it would share the memory.
        """
        placed, total = _laid_out(tuple(arrays))
        return cls(placed, total, inside or {})

    def leaves(self) -> Iterator[PlannedArray]:
        """Every array; those of part 0 are named ``part0/w``, and so on, those of one arena inside
        ``learner/w``."""
        for array in self.arrays:
            inside = self.inside.get(array.name)
            if inside is None:
                yield array
                continue
            *n_parts, n_bytes = array.shape
            names = [f"part{p}" for p in range(n_parts[0])] if n_parts else [array.name]
            for p, name in enumerate(names):
                at = array.offset + p * n_bytes
                for leaf in inside.leaves():
                    yield replace(leaf, name=f"{name}/{leaf.name}", offset=at + leaf.offset)

    @property
    def offsets(self) -> Mapping[str, int]:
        return {array.name: array.offset for array in self.arrays}

    def check_buffer(self, buffer: Any, owner: str) -> None:
        """Raise MemoryBudgetError if a caller's buffer is too small for what `owner` plans."""
        available = self.total if buffer is None else memoryview(buffer).nbytes
        if available < self.total:
            raise MemoryBudgetError(
                f"{owner} needs {format_bytes(self.total)}, "
                f"the buffer has {format_bytes(available)}",
                self.total,
                available,
            )

    def cut(self, block: np.ndarray) -> dict[str, np.ndarray]:
        """The arrays by name, as views of ``block``, an ndarray of shape (total,), uint8."""
        return {a.name: np.ndarray(a.shape, a.dtype, block, a.offset) for a in self.arrays}

    def __str__(self) -> str:
        rows = list(self._table())
        width = max(len(name) for name, *_ in rows)
        return "\n".join(
            name
            if n_bytes is None
            else f"{name:<{width}}  {dtype:<8}  {shape:>12}  {n_bytes:>12,} B"
            for name, dtype, shape, n_bytes in rows
        )

    def _table(self) -> Iterator[tuple[str, str, str, int | None]]:
        yield from self._rows()
        yield "total", "", "", self.total
        for array in self.arrays:
            if (plan := self.inside.get(array.name)) is not None:
                n_parts = array.shape[0] if len(array.shape) > 1 else 0
                title = f"each of the {n_parts} parts" if n_parts else array.name
                yield from (("", "", "", None), (title, "", "", None))
                yield from plan._table()

    def _rows(self) -> list[tuple[str, str, str, int | None]]:
        rows: list[tuple[str, str, str, int | None]] = [
            (a.name, a.dtype.name, "x".join(map(str, a.shape)) or "1", a.nbytes)
            for a in self.arrays
        ]
        padding = self.total - sum(a.nbytes for a in self.arrays)
        return [*rows, ("padding", "", "", padding)] if padding else rows
