"""Snapshot files: saved atomically, read whole, and restored by the learner that they name."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import Any, Protocol

from edgesvm.budget import MemoryPlan, format_bytes
from edgesvm.contract.registry import kind_of
from edgesvm.errors import CorruptModelError, MemoryBudgetError
from edgesvm.persist.exclusive import create_temporary, open_regular
from edgesvm.persist.folders import folder_of, followed, naming, sync_folder
from edgesvm.persist.format import (
    CRC_BYTES,
    HEADER_BYTES,
    Snapshot,
    head,
    max_labels_bytes,
    pack,
    stated_lengths,
    unpack,
)

MAX_FILE_BYTES = 1 << 32


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

    If only the last step fails, the new file is in place and complete, but a power cut may bring
    the old one back. A symbolic link stays: the file it points to is replaced.
    """
    with model._guard:
        data = pack(model.snapshot())
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
            if os.name == "posix":
                os.fchmod(file.fileno(), _mode(path))
            else:
                file.close()  # an open file cannot be renamed
            os.replace(temporary, path)  # still locked: no other save takes it for abandoned
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(folder_of(path))


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
    snapshot = unpack(read_file(path))
    return snapshot, *kind_of(snapshot.learner)._claimed(snapshot)


def restore(data: bytes) -> Any:
    """The learner in a snapshot's bytes. Raises as `edgesvm.load` does."""
    snapshot = unpack(data)
    return kind_of(snapshot.learner)._of_snapshot(snapshot)


def read_file(path: str | os.PathLike[str], max_bytes: int | None = None) -> bytes:
    """The bytes of a snapshot's file; nothing is read after a header that does not fit the file.

    Raises
    ------
    CorruptModelError, FormatVersionError
        The file is not a snapshot, or its size is not the one its header states.
    MemoryBudgetError
        The learner in it has more than `max_bytes`.
    OSError
        It cannot be read, or is not a regular file.
    """
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
