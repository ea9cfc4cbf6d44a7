"""Snapshots on a file system: saved atomically, loaded with the checks of the learner they claim
to be."""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any

from edgesvm.budget import MemoryPlan, format_bytes
from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner
from edgesvm.persist.folders import sync_folder
from edgesvm.persist.format import CRC_BYTES, Snapshot, Wrapped, head, max_labels_bytes, unpack

MAX_FILE_BYTES = 1 << 32


def save(learner: Learner, path: str | os.PathLike[str]) -> None:
    """Write `learner` to `path`: a new file, synced, then renamed over the old one, then the folder
    synced.

    Where only the last fails, the new file is in place and whole, but a power cut may yet bring the
    old one back.
    """
    data = describe(learner) + bytes(learner.arena)
    data += struct.pack("<I", zlib.crc32(data))
    path = Path(path)
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


def describe(learner: Learner) -> bytes:
    """All of a snapshot of `learner` that comes before its arena; TypeError for a label the format
    has no place for.
    """
    core, params = learner._allocated, learner._state[1]
    labels = core.labels
    return head(
        _claim(learner, params), core.n_features, labels.in_slots, labels.closed, core.arena.nbytes
    )


def snapshot_bytes(learner: Learner) -> int:
    """Most bytes a snapshot of `learner`, which has its memory, can have, whatever labels come."""
    core, params = learner._allocated, learner._state[1]
    before_labels = len(head(_claim(learner, params), core.n_features, (), False, 0)) - 1
    return before_labels + max_labels_bytes(core.labels.room) + core.arena.nbytes + CRC_BYTES


def _claim(learner: Learner, params: dict[str, Any]) -> Wrapped:
    """Class name and parameters, those of a wrapped learner in the same way."""
    return Wrapped(
        type(learner).__name__,
        {
            k: _claim(v, v.get_params(deep=False)) if isinstance(v, Learner) else v
            for k, v in params.items()
        },
    )


def _mode(path: Path) -> int:
    """Permissions as the old file has them, or as any new file would; those of a temporary file
    are the owner's only."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def load(path: str | os.PathLike[str]) -> Learner:
    """The learner saved at `path`; it goes on as if it had never stopped.

    Raises
    ------
    CorruptModelError, FormatVersionError
        The file is no sound snapshot.
    OSError
        It cannot be read.
    """
    return restore(read_file(path))


def inspect(path: str | os.PathLike[str]) -> tuple[Snapshot, Learner, MemoryPlan]:
    """What a snapshot says, checked but for the learned numbers: snapshot, empty learner, plan."""
    snapshot = unpack(read_file(path))
    return snapshot, *_claimed(snapshot)


def restore(data: bytes) -> Learner:
    """The learner in a snapshot's bytes; raises as `load` does."""
    snapshot = unpack(data)
    learner, _ = _claimed(snapshot)
    learner._restore(snapshot.n_features, snapshot.labels, snapshot.closed, snapshot.arena)
    return learner


def _claimed(snapshot: Snapshot) -> tuple[Learner, MemoryPlan]:
    """The empty learner a snapshot claims to be, its plan equal to the bytes that are there."""
    try:
        learner = _build(Wrapped(snapshot.learner, snapshot.params))
        plan = learner.plan(snapshot.n_features)
    except (TypeError, ValueError, OverflowError) as error:
        raise CorruptModelError(
            f"the snapshot's parameters are not those of a {snapshot.learner}: {error}"
        ) from error
    if plan.total != len(snapshot.arena):
        raise CorruptModelError(
            f"the snapshot holds {len(snapshot.arena)} bytes, its parameters plan {plan.total}"
        )
    return learner, plan


def _build(claimed: Wrapped) -> Learner:
    from edgesvm.learners import LEARNERS

    kind = LEARNERS.get(claimed.learner)
    if kind is None:
        raise CorruptModelError(
            f"the snapshot is of {claimed.learner!r}, which this release does not have"
        )
    return kind(
        **{k: _build(v) if isinstance(v, Wrapped) else v for k, v in claimed.params.items()}
    )


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The file's bytes; CorruptModelError where it is longer than any of ours."""
    with open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes > MAX_FILE_BYTES:
            raise CorruptModelError(f"{path} has {format_bytes(n_bytes)}, more than any snapshot")
        return file.read(n_bytes)
