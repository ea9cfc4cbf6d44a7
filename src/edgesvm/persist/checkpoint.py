"""Two-slot checkpoints: a learner on disk that survives a power cut at any moment. FORMATS.md gives
every byte.

One file, made once and never resized, holds two slots. A save goes into the slot that does not hold
the newest state, and is done when the medium has it; the newest sound slot is what is loaded. So
the state that counts is never written over.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from edgesvm.budget import format_bytes
from edgesvm.errors import CorruptModelError, FormatVersionError, MemoryBudgetError
from edgesvm.persist.disk import Disk, OsDisk
from edgesvm.persist.format import CRC_BYTES, head
from edgesvm.persist.format import HEADER_BYTES as SNAPSHOT_HEADER_BYTES
from edgesvm.persist.store import MAX_FILE_BYTES, Model, restore, snapshot_bytes

MAGIC = b"ESVMSLOT"
VERSION = 1
# magic, version, header bytes, 4 reserved, sequence, slot bytes, snapshot bytes, the snapshot's
# CRC-32, this header's. A CRC over header and snapshot would not do: data with its own CRC behind
# it leaves every CRC of the same polynomial at one value, so that a new header on an older
# snapshot, each whole, would pass.
HEADER = struct.Struct("<8sHH4xQQQII")
HEADER_BYTES = HEADER.size
ALIGNMENT = 4096  # the page of a file system, so that no write of one slot touches the other
MAX_SEQUENCE = 1 << 63
MIN_SNAPSHOT = SNAPSHOT_HEADER_BYTES + CRC_BYTES
CHUNK = 1 << 16


def slot_bytes(learner: Model) -> int:
    """Bytes of each slot for the snapshots of `learner`, whatever labels come; the file has twice
    as many.
    """
    return _aligned(HEADER_BYTES + snapshot_bytes(learner))


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Slot:
    """What one slot of a file says.

    ``sequence`` is None where the slot was never written or is not sound, ``problem`` None where it
    is sound or was never written.
    """

    path: str
    index: int
    sequence: int | None = None
    snapshot_bytes: int = 0
    problem: CorruptModelError | None = None


class Checkpoint:
    """The two slots of one file, or of two files on two media.

    Guarantees, each held by a test:

    * A power cut, or the end of the process, at any moment of save n leaves save n or save n - 1.
    * A save that has returned is not lost.
    * A save that has failed leaves the newest state where it was; so does every save after it.

    A medium that says it is synced when it is not, or loses blocks that were not written, breaks
    them; a second file on another medium is the remedy.

    Parameters
    ----------
    path : path
    second : path, optional
        Every save goes to this file too, after the first.
    fresh : bool
        Begin anew: what the files hold is not loaded, and given up with the first saves.
    disk : Disk, optional
        Stands in for the operating system's files.

    Attributes
    ----------
    saves : int
        Saves that at least one file holds.
    save_failed : int
        Writes of one file that failed.
    slot_rejected : int
        Slots found damaged or foreign.
    sequence : int
        Number of the newest save, loaded or made; 0 before the first.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        second: str | os.PathLike[str] | None = None,
        fresh: bool = False,
        disk: Disk | None = None,
    ) -> None:
        disk = OsDisk() if disk is None else disk
        paths = [os.fspath(path)] + ([] if second is None else [os.fspath(second)])
        if len({os.path.realpath(p) for p in paths}) < len(paths):
            raise ValueError(
                f"second={second!r} is the same file as the first; it helps only on another medium"
            )
        self.fresh = fresh
        self.saves = self.save_failed = self.slot_rejected = self.sequence = 0
        self._files = [_File(p, disk) for p in paths]
        self._loaded = False
        self._image: _Image | None = None

    def load(self, max_bytes: int | None = None) -> Any:
        """The learner of the newest sound slot; None where there is no file yet, or no save in it,
        or with ``fresh``.

        Parameters
        ----------
        max_bytes : int, optional
            The longest snapshot that may be taken into memory.

        Raises
        ------
        CorruptModelError, FormatVersionError
            There are files but no sound slot in them; nothing is written to them.
        MemoryBudgetError
            The newest snapshot is longer than `max_bytes`.
        OSError
            A file cannot be read, and no other holds a state.
        """
        slots, failures = self._slots()
        rejected: list[Exception] = [slot.problem for slot in slots if slot.problem]
        sound = sorted(
            (slot for slot in slots if slot.sequence is not None), key=_sequence, reverse=True
        )
        learner = None
        for slot in sound:
            if max_bytes is not None and slot.snapshot_bytes > max_bytes and not self.fresh:
                raise MemoryBudgetError(
                    f"{slot.path} holds a snapshot of {format_bytes(slot.snapshot_bytes)}, "
                    f"{format_bytes(max_bytes)} are allowed",
                    slot.snapshot_bytes,
                    max_bytes,
                )
            try:
                learner = None if self.fresh else self._file(slot).restore(slot)
            except CorruptModelError as error:
                rejected.append(error)
            else:
                self.sequence, self._loaded = _sequence(slot), True
                break
        self.slot_rejected += len(rejected)
        # With a file that could not be read, "no save yet" is not known.
        if learner is None and not self.fresh and (failures or (rejected and not self._loaded)):
            raise (failures or rejected)[0]
        self._loaded = True
        return learner

    def prepare(self, learner: Model) -> None:
        """Take the memory for one save of `learner`, and make the files that are not there.

        Called by the first `save`; call it before the first sample to have the memory taken, and
        what is wrong said, up front.

        Raises
        ------
        ValueError
            A file has slots too small for this learner.
        CorruptModelError
            As `load`, where that was not called before.
        OSError
            A file cannot be made or written: counted in ``save_failed``, and tried again by the
            next `save`.
        """
        if not self._loaded:
            self.load()
        if self._image is None:
            self._image = _Image(slot_bytes(learner))
        n_slot = self._image.nbytes
        if failed := self._each(lambda file: file.attach(n_slot, self.sequence, self.fresh)):
            raise failed[0]

    def save(self, learner: Model) -> None:
        """`take` and `commit`.

        Raises
        ------
        TypeError
            A label is no bool, int, float or str.
        ValueError, CorruptModelError
            As `prepare`.
        OSError
            A file could not be written; what was saved before stands. With a second file ``saves``
            tells whether that one took it.
        """
        self.take(learner)
        self.commit()

    def take(self, learner: Model) -> None:
        """Copy the learner's bytes as they are; no disk is touched once `prepare` was called."""
        if self._image is None:
            if not self._loaded:
                self.load()
            with contextlib.suppress(OSError):  # counted; `commit` tries again and raises
                self.prepare(learner)
        assert self._image is not None
        self._image.take(learner)

    def commit(self) -> None:
        """Write what was taken; returns when a medium has it. May run in another thread than
        `take`.
        """
        assert self._image is not None, "nothing was taken"
        image, newest = self._image, self.sequence

        def write(file: _File) -> None:
            file.attach(image.nbytes, newest, self.fresh)
            file.write(image, newest + 1)

        failed = self._each(write)
        if len(failed) < len(self._files):
            self.sequence += 1
            self.saves += 1
            self.fresh = False
        if failed:
            raise failed[0]

    def close(self) -> None:
        """Let other processes have the files."""
        for file in self._files:
            file.close()

    @property
    def nbytes(self) -> int:
        """Bytes held for a save, 0 before `prepare`."""
        return 0 if self._image is None else self._image.nbytes

    def _each(self, act: Callable[[_File], None]) -> list[Exception]:
        """Act on every file, whatever becomes of the others; the failures, counted."""
        failed: list[Exception] = []
        for file in self._files:
            try:
                act(file)
            except (OSError, CorruptModelError) as error:
                failed.append(error)
        self.save_failed += len(failed)
        return failed

    def _slots(self) -> tuple[list[Slot], list[OSError]]:
        slots: list[Slot] = []
        failures: list[OSError] = []
        for file in self._files:
            try:
                slots += file.read()
            except FileNotFoundError:
                continue
            except OSError as error:
                failures.append(error)
        return slots, failures

    def _file(self, slot: Slot) -> _File:
        return next(file for file in self._files if file.path == slot.path)


def inspect_slots(path: str | os.PathLike[str], *, disk: Disk | None = None) -> list[Slot]:
    """What the slots of a checkpoint file say, in the order they lie in it.

    Raises
    ------
    OSError
        It cannot be read.
    """
    return _File(os.fspath(path), OsDisk() if disk is None else disk).read()


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether either half of the file begins as a slot does."""
    with open(path, "rb") as file:
        first = file.read(len(MAGIC))
        file.seek(file.seek(0, os.SEEK_END) // 2)
        return MAGIC in (first, file.read(len(MAGIC)))


def read_slot(slot: Slot) -> bytes:
    """The snapshot in a sound slot; empty where it holds none yet."""
    return _File(slot.path, OsDisk()).snapshot(slot)


def _sequence(slot: Slot) -> int:
    assert slot.sequence is not None
    return slot.sequence


class _Image:
    """One slot as it will be written: taken from a learner between two samples, sealed later."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self._bytes = memoryview(bytearray(nbytes))
        self._n_snapshot = 0

    def take(self, learner: Model) -> None:
        snapshot = learner._snapshot()
        before, arena = head(snapshot), snapshot.arena
        n_snapshot = len(before) + len(arena) + CRC_BYTES
        if HEADER_BYTES + n_snapshot > self.nbytes:
            raise ValueError(
                f"a snapshot of {format_bytes(n_snapshot)} does not fit "
                f"the slots of {format_bytes(self.nbytes)}"
            )
        begin = HEADER_BYTES + len(before)
        self._bytes[HEADER_BYTES:begin] = before
        self._bytes[begin : begin + len(arena)] = arena
        self._n_snapshot = n_snapshot

    def sealed(self, sequence: int, n_slot: int) -> memoryview:
        """The bytes of a slot of `n_slot` bytes, as far as they are used."""
        end = HEADER_BYTES + self._n_snapshot
        crc = zlib.crc32(self._bytes[HEADER_BYTES : end - CRC_BYTES])
        struct.pack_into("<I", self._bytes, end - CRC_BYTES, crc)
        self._bytes[:HEADER_BYTES] = _header(sequence, n_slot, self._n_snapshot, crc)
        return self._bytes[:end]


def _header(sequence: int, n_slot: int, n_snapshot: int, snapshot_crc: int) -> bytes:
    fields = MAGIC, VERSION, HEADER_BYTES, sequence, n_slot, n_snapshot, snapshot_crc
    return HEADER.pack(*fields, zlib.crc32(HEADER.pack(*fields, 0)[:-CRC_BYTES]))


class _File:
    """One file of two slots."""

    def __init__(self, path: str, disk: Disk) -> None:
        self.path = path
        self._disk = disk
        self._descriptor: int | None = None
        self._newest = 0  # index of the slot that must not be written over
        self._n_slot = 0

    # -- reading

    def read(self) -> list[Slot]:
        """Its slots as the medium has them; none where it is empty."""
        with self._opened() as descriptor:
            return self._read(descriptor)

    def restore(self, slot: Slot) -> Any:
        return restore(self.snapshot(slot)) if slot.snapshot_bytes else None

    def snapshot(self, slot: Slot) -> bytes:
        with self._opened() as descriptor:
            at = slot.index * (self._disk.size(descriptor) // 2) + HEADER_BYTES
            return self._pread(descriptor, slot.snapshot_bytes, at)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        descriptor = self._disk.open(self.path, writable=False)
        try:
            yield descriptor
        finally:
            self._disk.close(descriptor)

    def _read(self, descriptor: int) -> list[Slot]:
        # What an earlier process wrote and did not sync is read back from the cache, whole; were it
        # taken for the newest, the next save would go over the one the medium has. So: to the
        # medium, then from it.
        with contextlib.suppress(OSError):
            self._disk.fsync(descriptor)
        self._disk.forget_cache(descriptor)
        n_bytes = self._disk.size(descriptor)
        if n_bytes == 0:
            return []
        try:
            self._check_size(descriptor)
        except CorruptModelError as problem:
            return [Slot(self.path, index, problem=problem) for index in (0, 1)]
        return [self._read_slot(descriptor, index, n_bytes // 2) for index in (0, 1)]

    def _check_size(self, descriptor: int) -> None:
        n_bytes = self._disk.size(descriptor)
        if n_bytes % (2 * ALIGNMENT) or n_bytes > MAX_FILE_BYTES:
            raise CorruptModelError(
                f"{self.path} is no checkpoint: {n_bytes:,} bytes are not two slots"
            )

    def _read_slot(self, descriptor: int, index: int, n_slot: int) -> Slot:
        header = self._pread(descriptor, HEADER_BYTES, index * n_slot)
        if not any(header):
            return Slot(self.path, index)
        try:
            sequence, n_snapshot = self._check(descriptor, header, index, n_slot)
        except CorruptModelError as problem:
            return Slot(self.path, index, problem=problem)
        return Slot(self.path, index, sequence, n_snapshot)

    def _check(self, descriptor: int, header: bytes, index: int, n_slot: int) -> tuple[int, int]:
        """Sequence and snapshot bytes of a slot whose CRC is right; takes no memory by what the
        slot says.
        """
        slot = f"slot {index} of {self.path}"
        magic, version, n_header, sequence, stated, n_snapshot, snapshot_crc, crc = HEADER.unpack(
            header
        )
        if magic != MAGIC:
            raise CorruptModelError(f"{slot} is none of ours, or its beginning is lost")
        if zlib.crc32(header[:-CRC_BYTES]) != crc:
            raise CorruptModelError(f"{slot} is damaged (the CRC-32 of its header does not match)")
        if version != VERSION:
            raise FormatVersionError(
                f"{slot} has format version {version}; this release reads version {VERSION}"
            )
        if (
            n_header != HEADER_BYTES
            or stated != n_slot
            or n_snapshot > n_slot - HEADER_BYTES
            or any(header[12:16])
        ):
            raise CorruptModelError(f"{slot} has a header that is not as version 1 has it")
        if sequence >= MAX_SEQUENCE or (
            n_snapshot < MIN_SNAPSHOT and (n_snapshot, sequence, snapshot_crc) != (0, 0, 0)
        ):
            raise CorruptModelError(f"{slot} has a number or a length that no save makes")
        at = index * n_slot + HEADER_BYTES
        if n_snapshot and not self._is_whole(descriptor, at, n_snapshot - CRC_BYTES, snapshot_crc):
            raise CorruptModelError(
                f"{slot} is damaged or half written (the CRC-32 of its snapshot does not match)"
            )
        return sequence, n_snapshot

    def _is_whole(self, descriptor: int, at: int, n_body: int, crc: int) -> bool:
        found = 0
        for begin in range(0, n_body, CHUNK):
            found = zlib.crc32(
                self._pread(descriptor, min(CHUNK, n_body - begin), at + begin), found
            )
        return found == crc and self._pread(descriptor, CRC_BYTES, at + n_body) == struct.pack(
            "<I", crc
        )

    def _pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        parts = []
        while n_bytes and (part := self._disk.pread(descriptor, n_bytes, offset)):
            parts.append(part)
            n_bytes, offset = n_bytes - len(part), offset + len(part)
        return b"".join(parts) + bytes(n_bytes)

    # -- writing

    def attach(self, n_slot: int, newest: int, fresh: bool) -> None:
        """Have the file open, ours alone, of slots of `n_slot` bytes or more, and know its newest
        slot up to `newest`.

        Once attached it stays so: which slot is the newest is not read again after a failed write,
        since the cache may show what the medium never got.
        """
        if self._descriptor is not None:
            if self._disk.is_at(self._descriptor, self.path):
                return
            self.close()  # removed, or another medium put in its place
        try:
            descriptor = self._disk.open(self.path)
        except FileNotFoundError:
            self._create(n_slot)
            return
        try:
            self._disk.lock(descriptor)
            keep = self._take_up(descriptor, n_slot, newest, fresh)
        except BaseException:
            self._disk.close(descriptor)
            raise
        if keep:
            self._descriptor = descriptor
            return
        try:
            self._create(n_slot)
        finally:
            self._disk.close(descriptor)

    def _take_up(self, descriptor: int, n_slot: int, newest: int, fresh: bool) -> bool:
        """Whether the file can go on as it is; else it is to be made anew. A file of another kind
        is left alone.
        """
        slots = self._read(descriptor)
        if not slots:
            return False
        self._check_size(descriptor)
        own = self._disk.size(descriptor) // 2
        if all(self._pread(descriptor, len(MAGIC), at) != MAGIC for at in (0, own)):
            raise CorruptModelError(
                f"{self.path} is no checkpoint: neither half begins as a slot does"
            )
        sound = [slot for slot in slots if slot.sequence is not None and slot.sequence <= newest]
        if not sound:  # damaged, while the state came from the other file, or is begun anew
            return False
        if own < n_slot and not fresh:
            raise ValueError(
                f"{self.path} has slots of {format_bytes(own)}, "
                f"this learner needs {format_bytes(n_slot)}; begin anew, or name another file"
            )
        self._newest, self._n_slot = max(sound, key=_sequence).index, own
        self._disk.sync_folder(self.path)
        return own >= n_slot

    def _create(self, n_slot: int) -> None:
        """A file of two empty slots, written under another name: by its own name it is whole from
        the first.
        """
        temporary = self.path + ".new"
        descriptor = self._disk.create(temporary)
        try:
            self._disk.lock(descriptor)
            empty = _header(0, n_slot, 0, 0)
            for at in range(0, 2 * n_slot, ALIGNMENT):
                self._pwrite(descriptor, (empty if at == 0 else b"").ljust(ALIGNMENT, b"\0"), at)
            self._disk.fsync(descriptor)
            self._disk.replace(temporary, self.path)
            self._disk.sync_folder(self.path)
        except BaseException:
            self._disk.close(descriptor)
            with contextlib.suppress(OSError):
                self._disk.unlink(temporary)
            raise
        self._descriptor, self._newest, self._n_slot = descriptor, 0, n_slot

    def write(self, image: _Image, sequence: int) -> None:
        """Into the slot that does not hold the newest state; that one is only then no longer the
        newest.
        """
        assert self._descriptor is not None
        index = 1 - self._newest
        self._pwrite(self._descriptor, image.sealed(sequence, self._n_slot), index * self._n_slot)
        self._disk.fdatasync(self._descriptor)
        self._newest = index

    def _pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> None:
        view = memoryview(data)
        while view:
            n_written = self._disk.pwrite(descriptor, view, offset)
            view, offset = view[n_written:], offset + n_written

    def close(self) -> None:
        if self._descriptor is not None:
            self._disk.close(self._descriptor)
            self._descriptor = None
