"""Snapshots on a file system: saved atomically, read whole, given to the learner they claim to be
of."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from edgesvm.budget import MemoryPlan, format_bytes
from edgesvm.contract.registry import kind_of
from edgesvm.errors import CorruptModelError
from edgesvm.persist.folders import sync_folder
from edgesvm.persist.format import CRC_BYTES, Snapshot, head, max_labels_bytes, pack, unpack

MAX_FILE_BYTES = 1 << 32


class Model(Protocol):
    """What can be saved: a learner, of which no more is known here."""

    @property
    def _most_labels(self) -> int:
        """Labels there can be."""

    def _snapshot(self) -> Snapshot: ...


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a snapshot to `path`: a new file, synced, then renamed over the old one, then the
    folder synced.

    Where only the last fails, the new file is in place and whole, but a power cut may yet bring the
    old one back. A symbolic link stays: the file it points at is replaced.
    """
    data = pack(model._snapshot())
    path = _followed(Path(path))
    if path.exists() and not path.is_file():
        # The rename would put a file in the place of a device or a pipe.
        raise FileExistsError(f"{path} is no plain file: a snapshot would take its place")
    descriptor, temporary = tempfile.mkstemp(
        prefix=path.name + ".", suffix=".tmp", dir=path.parent or "."
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":
                os.fchmod(file.fileno(), _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def _followed(path: Path) -> Path:
    """The file that a symbolic link leads to; `path` itself where it is none."""
    if not path.is_symlink():
        return path
    try:
        return path.resolve(strict=True)
    except (FileNotFoundError, RuntimeError) as error:  # RuntimeError: before 3.13, a loop
        raise FileNotFoundError(
            f"{path} is a symbolic link to {os.readlink(path)}, where there is no file"
        ) from error


def describe(model: Model) -> bytes:
    """All of a snapshot of `model` that comes before its arena; TypeError for a label the format
    has no place for.
    """
    return head(model._snapshot())


def snapshot_bytes(model: Model) -> int:
    """Most bytes a snapshot of `model`, which has its memory, can have, whatever labels come."""
    snapshot = model._snapshot()
    without_labels = len(head(replace(snapshot, labels=()))) - 1
    n_labels = max_labels_bytes(model._most_labels)
    return without_labels + n_labels + len(snapshot.arena) + CRC_BYTES


def _mode(path: Path) -> int:
    """Permissions as the old file has them, or as any new file would; those of a temporary file
    are the owner's only."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def inspect(path: str | os.PathLike[str]) -> tuple[Snapshot, Any, MemoryPlan]:
    """What a snapshot says, checked but for the learned numbers: snapshot, empty learner, plan."""
    snapshot = unpack(read_file(path))
    return snapshot, *kind_of(snapshot.learner)._claimed(snapshot)


def restore(data: bytes) -> Any:
    """The learner in a snapshot's bytes; raises as `edgesvm.load` does."""
    snapshot = unpack(data)
    return kind_of(snapshot.learner)._of_snapshot(snapshot)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The file's bytes; CorruptModelError where it is longer than any of ours."""
    with open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes > MAX_FILE_BYTES:
            raise CorruptModelError(f"{path} has {format_bytes(n_bytes)}, more than any snapshot")
        return file.read(n_bytes)
