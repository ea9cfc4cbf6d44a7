"""Snapshot files: saved atomically, read whole, and restored by the learner that they name."""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from edgesvm.budget import ALIGNMENT, MemoryPlan, format_bytes
from edgesvm.contract.registry import kind_of
from edgesvm.errors import CorruptModelError, MemoryBudgetError
from edgesvm.persist.files import (
    create_temporary,
    folder_of,
    followed,
    naming,
    open_regular,
    sync_folder,
)
from edgesvm.persist.format import (
    CRC_BYTES,
    HEADER_BYTES,
    Snapshot,
    Wrapped,
    head,
    max_labels_bytes,
    stated_lengths,
    unpack,
)

MAX_FILE_BYTES = 1 << 32

Arrays = Mapping[str, np.ndarray]
Read = Callable[[Arrays, Arrays], None]


class Model(Protocol):
    """What can be saved: as much of a learner as is needed here."""

    @property
    def n_classes_allocated(self) -> int:
        """Largest number of labels."""

    @property
    def _guard(self) -> Any:
        """To be held while a snapshot's arena is read."""

    def snapshot(self) -> Snapshot: ...


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a snapshot to a new file, sync it, rename it to `path`, and sync the folder.

    A model that `restore` would refuse is not written. If only the last step fails, the new file is
    in place and complete, but a power cut may bring the old one back. A symbolic link stays: the
    file it points to is replaced.
    """
    image = Image(snapshot_bytes(model))
    image.take(model)
    data = image.completed()
    path = followed(path)
    if os.path.exists(path) and not os.path.isfile(path):
        # The rename would replace a device or a pipe by a file.
        raise FileExistsError(f"{path} is not a regular file and would be replaced by the snapshot")
    descriptor, temporary = create_temporary(path, mode=0o600)
    try:
        with naming(path), open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), _mode(path))
            os.replace(temporary, path)  # still locked: no other save takes it for abandoned
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(folder_of(path))


class Image:
    """The bytes of one snapshot: copied from a model between two samples, checked and completed
    later, perhaps by another thread.

    It may have `nbytes`, `ahead` of them for something else before the snapshot.
    """

    def __init__(self, nbytes: int, ahead: int = 0) -> None:
        self.nbytes, self.ahead = nbytes, ahead
        words = np.zeros(nbytes // ALIGNMENT + 2, np.int64)  # the arena begins on a whole one
        self.memory = words.view(np.uint8).data
        self.snapshot = self.memory[:0]

    def take(self, model: Model) -> None:
        with model._guard:
            snapshot = model.snapshot()
            before, arena = head(snapshot), snapshot.arena
            n_bytes = len(before) + len(arena) + CRC_BYTES
            if snapshot.names and self.ahead + n_bytes > self.nbytes:  # named after this was made
                before = head(replace(snapshot, names=()))
                n_bytes = len(before) + len(arena) + CRC_BYTES
            if self.ahead + n_bytes > self.nbytes:
                raise ValueError(
                    f"a snapshot of {format_bytes(n_bytes)} does not fit "
                    f"the slots of {format_bytes(self.nbytes)}"
                )
            at = -(-(self.ahead + len(before)) // ALIGNMENT) * ALIGNMENT
            self.begin = at - len(before)
            self.snapshot = self.memory[self.begin : self.begin + n_bytes]
            self.snapshot[: len(before)] = before
            self.snapshot[len(before) : -CRC_BYTES] = arena

    def completed(self) -> memoryview:
        """The snapshot with its CRC. CorruptModelError if it could not be loaded again."""
        self.snapshot[-CRC_BYTES:] = struct.pack("<I", zlib.crc32(self.snapshot[:-CRC_BYTES]))
        try:
            restore(self.snapshot, in_place=True)
        except CorruptModelError as error:
            raise CorruptModelError(
                f"the model could not be loaded again, so it is not saved: {error}"
            ) from error
        return self.snapshot


def describe(model: Model) -> bytes:
    """Everything before the arena in a snapshot of `model`; TypeError for a label or parameter that
    cannot be saved.
    """
    return head(model.snapshot())


def snapshot_bytes(model: Model) -> int:
    """Size of the largest snapshot of `model`, which is allocated, with the longest labels."""
    snapshot = model.snapshot()
    without_labels = len(head(replace(snapshot, labels=()))) - 1
    n_labels = max_labels_bytes(model.n_classes_allocated)
    return without_labels + n_labels + len(snapshot.arena) + CRC_BYTES


def _mode(path: str) -> int:
    """Permissions of the old file, or of any new file; a temporary file's are the owner's only."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def inspect(path: str | os.PathLike[str]) -> tuple[Snapshot, Any, MemoryPlan]:
    """Read a snapshot and check everything but the learned numbers. Returns the snapshot, its
    unfitted learner and its plan."""
    snapshot = upgraded(unpack(read_file(path)))
    return snapshot, *kind_of(snapshot.learner)._claimed(snapshot)


def restore(data: bytes | memoryview, *, in_place: bool = False) -> Any:
    """The learner in a snapshot's bytes; with `in_place` it works in them. Raises as `edgesvm.load`
    does."""
    snapshot = upgraded(unpack(data))
    return kind_of(snapshot.learner)._of_snapshot(snapshot, in_place=in_place)


def read_file(path: str | os.PathLike[str], max_bytes: int | None = None) -> bytes:
    """The bytes of a snapshot's file; nothing is read after a header that does not fit the file.
    Raises as `edgesvm.load` does."""
    with naming(path), open(open_regular(path), "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes > MAX_FILE_BYTES:
            raise CorruptModelError(f"{path} has {format_bytes(n_bytes)}, too large for a snapshot")
        first = file.read(HEADER_BYTES)
        stated, arena_bytes = stated_lengths(first)
        if stated != n_bytes:
            raise CorruptModelError(
                f"the snapshot is damaged or cut short: its header states {stated:,} bytes,"
                f" the file has {n_bytes:,}"
            )
        check_budget(path, arena_bytes, max_bytes)
        return first + file.read(n_bytes - len(first))


def check_budget(path: str | os.PathLike[str], arena_bytes: int, max_bytes: int | None) -> None:
    """Raise MemoryBudgetError if a saved learner of `arena_bytes` exceeds the limit."""
    if max_bytes is not None and arena_bytes > max_bytes:
        raise MemoryBudgetError(
            f"{path} holds a learner of {format_bytes(arena_bytes)};"
            f" the limit is {format_bytes(max_bytes)}",
            arena_bytes,
            max_bytes,
        )


def upgraded(snapshot: Snapshot) -> Snapshot:
    """A snapshot of an earlier build whose arrays were others, as this build writes it; one of this
    build as it is.
    """
    reads: set[Read] = set()
    params = _today(Wrapped(snapshot.learner, snapshot.params), reads).params
    if not reads:
        return snapshot
    kind = kind_of(snapshot.learner)
    _, before = kind._claimed(snapshot)
    after = kind._of_params(params).plan(snapshot.n_features)
    old, new = np.zeros(before.total, np.uint8), np.zeros(after.total, np.uint8)
    old[: len(snapshot.arena)] = np.frombuffer(snapshot.arena, np.uint8)
    _convert(before, after, old, new, reads)
    return replace(snapshot, params=params, arena=new.data)


def _today(claimed: Wrapped, reads: set[Read]) -> Wrapped:
    """The parameters with those that a class has since its arrays are others."""
    params: dict[str, Any] = {
        name: _today(value, reads) if isinstance(value, Wrapped) else value
        for name, value in claimed.params.items()
    }
    kind = kind_of(claimed.learner)
    since: Mapping[str, Any] = getattr(kind, "_since", {})
    if since and not since.keys() & params.keys():
        params |= since
        reads.add(kind._read_earlier)
    return Wrapped(claimed.learner, params)


def _convert(
    before: MemoryPlan, after: MemoryPlan, old: np.ndarray, new: np.ndarray, reads: set[Read]
) -> None:
    """Fill `new`, zero, with what `old` has."""
    source, target = before.cut(old), after.cut(new)
    for name, view in target.items():
        if name in before.inside:
            _convert(before.inside[name], after.inside[name], source[name], view, reads)
        elif name in source and source[name].shape == view.shape:
            view[...] = source[name]
    for read in reads:
        read(source, target)
