"""Two-slot checkpoints: a learner on disk that survives a power cut at any moment. FORMATS.md gives
every byte.

One file, created once and never resized, has two slots. A save is written to the slot that does not
hold the newest state, and returns when it is on the medium; the newest valid slot is loaded. So the
newest state is never overwritten.
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
from edgesvm.errors import CorruptModelError, FormatVersionError
from edgesvm.persist.files import BrokenLink, Disk, naming, open_regular, write_all
from edgesvm.persist.format import CRC_BYTES, refuse_newer, stated_lengths
from edgesvm.persist.format import HEADER_BYTES as SNAPSHOT_HEADER_BYTES
from edgesvm.persist.store import (
    MAX_FILE_BYTES,
    Image,
    Model,
    check_budget,
    restore,
    snapshot_bytes,
)

MAGIC = b"ESVMSLOT"
VERSION = 1
# magic, version, header bytes, 4 reserved, sequence, slot bytes, snapshot bytes, CRC-32 of the
# snapshot, CRC-32 of this header. One CRC over header and snapshot is not enough: data followed by
# its own CRC leaves any CRC of the same polynomial at a constant, so a new header on an older
# snapshot, both valid, would pass.
HEADER = struct.Struct("<8sHH4xQQQII")
HEADER_BYTES = HEADER.size
ALIGNMENT = 4096  # a file system's page, so that writing one slot does not touch the other
MAX_SEQUENCE = 1 << 62  # more than any device saves, so that counting on never overflows
MIN_SNAPSHOT = SNAPSHOT_HEADER_BYTES + CRC_BYTES
CHUNK = 1 << 16


def slot_bytes(learner: Model) -> int:
    """Bytes per slot for snapshots of `learner` with the longest possible labels. The file has two
    slots.
    """
    return _aligned(HEADER_BYTES + snapshot_bytes(learner))


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Slot:
    """The header of one slot of a file.

    ``sequence`` is None if the slot was never written or is invalid; ``problem`` is None if it is
    valid or was never written.
    """

    path: str
    index: int
    sequence: int | None = None
    snapshot_bytes: int = 0
    problem: CorruptModelError | None = None


class Checkpoint:
    """The two slots of one file, or of two files on two media.

    Guarantees, each checked by a test:

    * A power cut, or the end of the process, at any moment of save n leaves save n or save n - 1.
    * A save that has returned is not lost.
    * A failed save leaves the newest state in place; so does every failed save after it.

    A medium that lies about a sync breaks them; a second file on another medium protects against
    that.

    Parameters
    ----------
    path : path
    second : path, optional
        Every save is written to this file too, after the first.
    fresh : bool
        Start over: do not load the files; the first saves overwrite them.
    disk : Disk, optional
        Replaces the operating system's files, for tests.

    Attributes
    ----------
    saves : int
        Saves written to at least one file.
    save_failed : int
        Failed writes, counted per file.
    slot_rejected : int
        Slots found damaged or invalid.
    sequence : int
        Number of the newest save, loaded or written; 0 before the first.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        second: str | os.PathLike[str] | None = None,
        fresh: bool = False,
        disk: Disk | None = None,
    ) -> None:
        disk = Disk() if disk is None else disk
        paths = [os.fspath(path)] + ([] if second is None else [os.fspath(second)])
        if len({os.path.realpath(p) for p in paths}) < len(paths):
            raise ValueError(
                f"second={second!r} is the same file as the first: give a file on another medium"
            )
        self.fresh = fresh
        self.saves = self.save_failed = self.slot_rejected = self.sequence = 0
        self._files = [_File(p, disk) for p in paths]
        self._loaded = False
        self._image: _Image | None = None

    def load(self, max_bytes: int | None = None) -> Any:
        """Load the learner of the newest valid slot; None if there is no file yet, or no save in
        it, or with ``fresh``.

        Parameters
        ----------
        max_bytes : int, optional
            Memory of the largest learner that may be loaded.

        Raises
        ------
        CorruptModelError, FormatVersionError
            The files have no valid slot; nothing is written to them.
        MemoryBudgetError
            The newest learner is larger than `max_bytes`. Only its snapshot's header was read.
        OSError
            A file cannot be read, and no other has a state.
        """
        slots, failures = self._slots()
        rejected: list[Exception] = [slot.problem for slot in slots if slot.problem]
        valid = sorted(
            (slot for slot in slots if slot.sequence is not None), key=_sequence, reverse=True
        )
        learner = None
        for slot in valid:
            try:
                learner = None if self.fresh else self._file(slot).restore(slot, max_bytes)
            except CorruptModelError as error:
                rejected.append(error)
            else:
                self.sequence, self._loaded = _sequence(slot), True
                break
        self.slot_rejected += len(rejected)
        # If a file could not be read, it may hold a save: None would be wrong.
        if learner is None and not self.fresh and (failures or (rejected and not self._loaded)):
            raise (failures or rejected)[0]
        self._loaded = True
        return learner

    def claim(self) -> None:
        """Lock the files against other processes. Call it before `load`, so that no other process
        can save in between; `prepare` and `save` claim them otherwise.

        A file that cannot be opened for now is left to `prepare`.

        Raises
        ------
        BlockingIOError
            Another process has a file; none is locked.
        """
        for file in self._files:
            try:
                file.claim()
            except BlockingIOError:
                self.close()
                raise
            except OSError:
                continue  # `prepare` tries again, and counts and reports it

    def prepare(self, learner: Model) -> None:
        """Allocate the memory for one save of `learner`, and create the files that do not exist.

        The first `save` calls it. Call it before the first sample to allocate the memory, and to
        see errors, in advance.

        Raises
        ------
        ValueError
            A file has slots too small for this learner.
        CorruptModelError
            As in `load`, if that was not called before.
        OSError
            A file cannot be created or written. It is counted in ``save_failed``; the next `save`
            tries again.
        """
        self._load_first()
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
            A label is not a bool, int, float or str.
        ValueError
            As in `prepare`.
        CorruptModelError
            As in `prepare`; or `load` would refuse the learner, and the last save is kept.
        OSError
            A file could not be written; its last save is kept. With two files, ``saves`` shows
            whether the other was written.
        """
        self.take(learner)
        self.commit()

    def take(self, learner: Model) -> None:
        """Copy the learner's bytes. After `prepare` this does not touch the disk."""
        if self._image is None:
            self._load_first()
            with contextlib.suppress(OSError):  # counted; `commit` tries again and raises
                self.prepare(learner)
        assert self._image is not None
        self._image.take(learner)

    def commit(self) -> None:
        """Write the copy, if it could be loaded again; returns when it is on a medium. May run in
        another thread than `take`."""
        assert self._image is not None, "call take first"
        image, newest = self._image, self.sequence
        if newest + 1 >= MAX_SEQUENCE:
            raise ValueError(f"save {newest} is the last that a checkpoint can number; start over")

        try:
            image.completed()
        except CorruptModelError:
            self.save_failed += len(self._files)
            raise

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
        """Release the files to other processes."""
        for file in self._files:
            file.close()

    @property
    def nbytes(self) -> int:
        """Bytes allocated for a save; 0 before `prepare`."""
        return 0 if self._image is None else self._image.nbytes

    def _load_first(self) -> None:
        if not self._loaded:
            try:
                self.load()
            except OSError:
                self.save_failed += 1
                raise

    def _each(self, act: Callable[[_File], None]) -> list[Exception]:
        """Apply an operation to every file, even if one fails. Counts and returns the failures."""
        failed: list[Exception] = []
        for file in self._files:
            try:
                with naming(file.path):
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
            except OSError as error:
                if isinstance(error, FileNotFoundError) and not isinstance(error, BrokenLink):
                    continue
                failures.append(error)
        return slots, failures

    def _file(self, slot: Slot) -> _File:
        return next(file for file in self._files if file.path == slot.path)


def inspect_slots(path: str | os.PathLike[str], *, disk: Disk | None = None) -> list[Slot]:
    """The slots of a checkpoint file, in the order of the file; OSError if it cannot be read."""
    return _File(os.fspath(path), Disk() if disk is None else disk).read()


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether either half of the file starts with a slot's magic."""
    with naming(path), open(open_regular(path), "rb") as file:
        first = file.read(len(MAGIC))
        file.seek(file.seek(0, os.SEEK_END) // 2)
        return MAGIC in (first, file.read(len(MAGIC)))


def read_slot(slot: Slot) -> bytes:
    """The snapshot in a valid slot; empty if it has none yet."""
    return _File(slot.path, Disk()).snapshot(slot)


def _sequence(slot: Slot) -> int:
    assert slot.sequence is not None
    return slot.sequence


class _Image(Image):
    """The bytes of one slot."""

    def __init__(self, nbytes: int) -> None:
        super().__init__(nbytes, HEADER_BYTES)

    def sealed(self, sequence: int, n_slot: int) -> memoryview:
        """The used bytes of a slot of `n_slot` bytes, once the snapshot is completed."""
        begin, n_snapshot = self.begin - HEADER_BYTES, len(self.snapshot)
        (crc,) = struct.unpack("<I", self.snapshot[-CRC_BYTES:])
        self.memory[begin : self.begin] = _header(sequence, n_slot, n_snapshot, crc)
        return self.memory[begin : self.begin + n_snapshot]


def _header(sequence: int, n_slot: int, n_snapshot: int, snapshot_crc: int) -> bytes:
    fields = MAGIC, VERSION, HEADER_BYTES, sequence, n_slot, n_snapshot, snapshot_crc
    return HEADER.pack(*fields, zlib.crc32(HEADER.pack(*fields, 0)[:-CRC_BYTES]))


def _check_start(header: bytes, what: str) -> None:
    """Check the magic and refuse a newer version, whose other bytes this release does not know."""
    if header[: len(MAGIC)] != MAGIC:
        raise CorruptModelError(f"{what} is not a checkpoint slot, or its start is damaged")
    refuse_newer(header[len(MAGIC) : len(MAGIC) + 2], VERSION, what)


class _File:
    """One file of two slots."""

    def __init__(self, path: str, disk: Disk) -> None:
        self.path = path
        self._disk = disk
        self._target = path  # the file itself, where `path` is a link
        self._descriptor: int | None = None  # claimed, by the process `_pid`
        self._pid = 0
        self._newest = 0  # index of the slot that must not be overwritten
        self._n_slot = 0  # 0: not known yet
        self._known: set[bytes] = set()  # headers of slots that were loaded or written here
        self._was_attached = False

    # -- reading

    def read(self) -> list[Slot]:
        """The slots as they are on the medium; none if the file is empty."""
        with self._opened() as descriptor:
            slots = self._read(descriptor)
            self._known |= {self._header(descriptor, slot.index) for slot in slots}
            return slots

    def restore(self, slot: Slot, max_bytes: int | None) -> Any:
        """The learner in a slot; None if it has none yet."""
        if not slot.snapshot_bytes:
            return None
        _, arena_bytes = stated_lengths(self._start(slot, SNAPSHOT_HEADER_BYTES))
        check_budget(self.path, arena_bytes, max_bytes)
        return restore(self.snapshot(slot))

    def snapshot(self, slot: Slot) -> bytes:
        return self._start(slot, slot.snapshot_bytes)

    def _start(self, slot: Slot, n_bytes: int) -> bytes:
        """The first bytes of a slot's snapshot."""
        with self._opened() as descriptor:
            at = slot.index * (self._disk.size(descriptor) // 2) + HEADER_BYTES
            return self._pread(descriptor, n_bytes, at)

    def _header(self, descriptor: int, index: int) -> bytes:
        return self._pread(descriptor, HEADER_BYTES, index * (self._disk.size(descriptor) // 2))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        with naming(self.path):
            descriptor = self._disk.open(self._disk.followed(self.path))
            try:
                yield descriptor
            finally:
                self._disk.close(descriptor)

    def _read(self, descriptor: int) -> list[Slot]:
        # Data that an earlier process wrote and did not sync is read from the cache and looks
        # valid. Taking it for the newest slot, the next save would overwrite the one that is on the
        # medium. So write it to the medium first, then read from there.
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
            _check_start(self._pread(descriptor, HEADER_BYTES, 0), self.path)
            raise CorruptModelError(
                f"{self.path} is not a checkpoint: {n_bytes:,} bytes are not two slots"
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
        """Sequence and snapshot bytes of a slot, after checking it. The slot's lengths do not
        decide how much memory this uses.
        """
        slot = f"slot {index} of {self.path}"
        _, version, n_header, sequence, stated, n_snapshot, snapshot_crc, crc = HEADER.unpack(
            header
        )
        _check_start(header, slot)
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
            raise CorruptModelError(f"{slot} has an invalid header")
        if sequence >= MAX_SEQUENCE or (
            n_snapshot < MIN_SNAPSHOT and (n_snapshot, sequence, snapshot_crc) != (0, 0, 0)
        ):
            raise CorruptModelError(f"{slot} has an invalid sequence or length")
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

    def claim(self) -> None:
        """Lock the file against other processes; an empty one is created if there is none."""
        if self._descriptor is not None and not (
            self._pid == os.getpid() and self._disk.is_at(self._descriptor, self.path)
        ):
            # The claim is that of the process that forked this one; or the file was removed or
            # replaced, or the medium exchanged.
            self.close()
        if self._descriptor is None:
            self._target = self._disk.followed(self.path)
            self._descriptor, self._pid = self._disk.claim(self._target), os.getpid()

    def attach(self, n_slot: int, newest: int, fresh: bool) -> None:
        """Claim the file, create it if needed with slots of `n_slot` bytes, and find its newest
        slot up to `newest`.

        The file stays attached: after a failed write the newest slot is not read again, since the
        cache may show data that never reached the medium.
        """
        self.claim()
        assert self._descriptor is not None
        try:
            size = self._disk.size(self._descriptor)
            lost = size == 0 or size < 2 * self._n_slot  # never written, or emptied or cut since
            if self._n_slot and not lost and self._is_as_left(size):
                return
            if lost or not self._can_continue(self._descriptor, n_slot, newest, fresh):
                self._create(n_slot)
        except BaseException:
            self.close()
            raise
        self._was_attached = True

    def _is_as_left(self, size: int) -> bool:
        """Whether the newest slot is where and what it was after the last save."""
        assert self._descriptor is not None
        header = self._header(self._descriptor, self._newest)
        return size == 2 * self._n_slot and header in self._known

    def _can_continue(self, descriptor: int, n_slot: int, newest: int, fresh: bool) -> bool:
        """Whether the file can be used as it is; otherwise it must be created again. Raises for a
        file of another kind, which must not be touched.
        """
        slots = self._read(descriptor)
        self._check_size(descriptor)
        own = self._disk.size(descriptor) // 2
        if all(self._pread(descriptor, len(MAGIC), at) != MAGIC for at in (0, own)):
            raise CorruptModelError(
                f"{self.path} is not a checkpoint: neither half starts like a slot"
            )
        if any(self._is_foreign(descriptor, slot, newest) for slot in slots):
            raise FileExistsError(
                f"{self.path} has saves of another process, newer than what was loaded; "
                "load it again, or use another file"
            )
        valid = [slot for slot in slots if slot.sequence is not None and slot.sequence <= newest]
        if not valid:  # damaged; the state came from the other file, or starts over
            return False
        if own < n_slot and not fresh:
            raise ValueError(
                f"{self.path} has slots of {format_bytes(own)}, "
                f"this learner needs {format_bytes(n_slot)}; start over, or use another file"
            )
        self._newest, self._n_slot = max(valid, key=_sequence).index, own
        self._disk.sync_folder(self._target)
        return own >= n_slot

    def _is_foreign(self, descriptor: int, slot: Slot, newest: int) -> bool:
        """Whether another process has saved to this slot since it was loaded or written here."""
        if not slot.sequence or self._header(descriptor, slot.index) in self._known:
            return False
        return slot.sequence > newest or self._was_attached

    def _create(self, n_slot: int) -> None:
        """Write a file of two empty slots under another name, then rename it, so that a file of
        this name is complete from the start. A symbolic link stays; its file is replaced.
        """
        assert self._descriptor is not None  # claimed, so the name is ours to give
        descriptor, temporary = self._disk.create_temporary(self._target)
        try:
            empty = _header(0, n_slot, 0, 0)
            for at in range(0, 2 * n_slot, ALIGNMENT):
                page = (empty if at == 0 else b"").ljust(ALIGNMENT, b"\0")
                write_all(self._disk.pwrite, descriptor, page, at)
            self._disk.fsync(descriptor)
            self._disk.replace(temporary, self._target)
            self._disk.sync_folder(self._target)
        except BaseException:
            with contextlib.suppress(OSError):
                self._disk.unlink(temporary)
            self._disk.close(descriptor)
            raise
        self._disk.close(self._descriptor)
        self._descriptor, self._newest, self._n_slot = descriptor, 0, n_slot
        self._known = {empty}

    def write(self, image: _Image, sequence: int) -> None:
        """Write the slot that does not hold the newest state; once synced, it is the newest."""
        assert self._descriptor is not None
        index = 1 - self._newest
        data = image.sealed(sequence, self._n_slot)
        self._known = {self._header(self._descriptor, at) for at in (0, 1)}
        self._known.add(bytes(data[:HEADER_BYTES]))
        write_all(self._disk.pwrite, self._descriptor, data, index * self._n_slot)
        self._disk.fdatasync(self._descriptor)
        if not self._disk.is_at(self._descriptor, self.path):
            raise FileNotFoundError(f"{self.path} was removed or replaced during the save")
        self._newest = index

    def close(self) -> None:
        if self._descriptor is not None:
            if self._pid == os.getpid():
                self._disk.release(self._descriptor, self._target)
            else:
                self._disk.close(self._descriptor)
            self._descriptor, self._n_slot = None, 0
