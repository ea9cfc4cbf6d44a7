"""A disk that loses power: each un-synced sector is kept, dropped, torn or reordered on its own.

It is deliberately harsher than file systems and promises only what POSIX does. A sync brings what
was written before it to the medium. Of everything else, each sector, each file's length and each
change of a name survives a cut or not, independently.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
from dataclasses import dataclass, field

SECTOR = 512
TORN = 0.3  # share of un-synced sectors that are left half written


class PowerCut(BaseException):
    """The power is cut. A BaseException: no handler may clean up what a real cut would leave."""


@dataclass
class Fault:
    """An operation that fails.

    ``operation`` is a method's name ("any": each that changes something); its n-th call from now on
    fails, and with ``for_ever`` all later ones.
    """

    operation: str
    error: int
    nth: int = 1
    for_ever: bool = False
    seen: int = 0

    def strikes(self, operation: str) -> bool:
        if self.operation not in ("any", operation):
            return False
        self.seen += 1
        return self.seen == self.nth or (self.for_ever and self.seen > self.nth)


@dataclass
class _Inode:
    content: bytearray = field(default_factory=bytearray)  # as programs see it
    medium: bytearray = field(default_factory=bytearray)
    medium_size: int = 0
    sizes: list[int] = field(default_factory=list)  # un-synced
    sectors: dict[int, list[bytes]] = field(default_factory=dict)  # un-synced, in the order written
    lost: set[int] = field(default_factory=set)  # dropped by a failed sync; only in the cache

    def write(self, data: bytes, offset: int) -> None:
        end = offset + len(data)
        if end > len(self.content):
            self.content.extend(bytes(end - len(self.content)))
            self.sizes.append(end)
        self.content[offset:end] = data
        for sector in range(offset // SECTOR, -(-end // SECTOR)):
            self.sectors.setdefault(sector, []).append(self._sector(self.content, sector))
            self.lost.discard(sector)

    def truncate(self) -> None:
        self.content.clear()
        self.sizes.append(0)
        self.sectors.clear()

    def sync(self) -> None:
        for sector, versions in self.sectors.items():
            self._put(sector, versions[-1])
        self.medium_size = len(self.content)
        self.sectors.clear()
        self.sizes.clear()

    def lose_unsynced(self, rng: random.Random) -> None:
        """A sync failed: some sectors were written, the others count as clean and will not be."""
        for sector, versions in self.sectors.items():
            if rng.random() < 0.5:
                self._put(sector, versions[-1])
            else:
                self.lost.add(sector)
        self.sectors.clear()

    def forget_clean(self) -> None:
        """Drop cached sectors that will never be written: read the medium instead."""
        for sector in self.lost:
            begin = sector * SECTOR
            end = min(begin + SECTOR, len(self.content))
            self.content[begin:end] = self._sector(self.medium, sector)[: end - begin]
        self.lost.clear()

    def cut(self, rng: random.Random) -> None:
        for sector, versions in self.sectors.items():
            candidates = [self._sector(self.medium, sector), *versions]
            chosen = rng.choice(candidates)
            if rng.random() < TORN:
                other, at = rng.choice(candidates), rng.randrange(1, SECTOR)
                chosen = chosen[:at] + other[at:]
            self._put(sector, chosen)
        self.medium_size = rng.choice([self.medium_size, *self.sizes])
        self.content = bytearray(self.medium[: self.medium_size].ljust(self.medium_size, b"\0"))
        self.sectors.clear()
        self.sizes.clear()
        self.lost.clear()

    @staticmethod
    def _sector(content: bytearray, sector: int) -> bytes:
        return bytes(content[sector * SECTOR : (sector + 1) * SECTOR]).ljust(SECTOR, b"\0")

    def _put(self, sector: int, data: bytes) -> None:
        end = (sector + 1) * SECTOR
        if len(self.medium) < end:
            self.medium.extend(bytes(end - len(self.medium)))
        self.medium[end - SECTOR : end] = data


class SimulatedDisk:
    """Files in memory with the methods of `edgesvm.persist.Disk`; one folder.

    `seed` decides what survives a cut. `PowerCut` is raised during operation `cut_at`, from 0, of
    those that change something. A write accepts at most `max_write` bytes, as with a full pipe.

    Attributes
    ----------
    operations : int
        Number of operations so far.
    faults : list of Fault
        Checked in this order; add some to make operations fail.
    """

    def __init__(
        self, seed: int = 0, *, cut_at: int | None = None, max_write: int | None = None
    ) -> None:
        self.cut_at = cut_at
        self.max_write = max_write
        self.operations = 0
        self.faults: list[Fault] = []
        self._rng = random.Random(seed)
        self._names: dict[str, _Inode] = {}
        self._medium_names: dict[str, _Inode] = {}
        self._name_changes: list[dict[str, _Inode | None]] = []
        self._open: dict[int, _Inode] = {}
        self._writable: set[int] = set()
        self._locks: dict[int, int] = {}  # inode to descriptor
        self._next_descriptor = 3

    # -- power cuts and kills

    def cut_power(self) -> None:
        """Keep what survives on the medium, then restart: nothing open, cached or faulty."""
        inodes = {
            id(inode): inode for inode in (*self._names.values(), *self._medium_names.values())
        }
        inodes.update(
            (id(inode), inode)
            for change in self._name_changes
            for inode in change.values()
            if inode
        )
        for inode in inodes.values():
            inode.cut(self._rng)
        changes = [change for change in self._name_changes if self._rng.random() < 0.5]
        self._rng.shuffle(changes)
        for change in changes:
            _apply(change, self._medium_names)
        self._names = dict(self._medium_names)
        self._name_changes.clear()
        self.faults.clear()
        self.cut_at = None
        self.kill()

    def kill(self) -> None:
        """End the process: its files are closed, what it wrote stays in the cache."""
        self._open.clear()
        self._writable.clear()
        self._locks.clear()

    def _operate(self, operation: str) -> None:
        """Count an operation, or raise the error of a fault that is due."""
        if self._cut_now:
            raise PowerCut  # it is still off: a handler of the first one changes nothing
        for fault in self.faults:
            if fault.strikes(operation):
                raise OSError(fault.error, os.strerror(fault.error))
        self.operations += 1

    @property
    def _cut_now(self) -> bool:
        return self.cut_at is not None and self.operations > self.cut_at

    # -- files

    def open(self, path: str) -> int:
        return self._descriptor(self._found(path), False)

    def claim(self, path: str) -> int:
        if path not in self._names:
            self.close(self.create(path))
        for fault in self.faults:
            if fault.operation == "open" and fault.strikes("open"):
                raise OSError(fault.error, os.strerror(fault.error), path)
        return self._locked(self._descriptor(self._found(path), True))

    def release(self, descriptor: int, path: str) -> None:
        if not self.size(descriptor) and self.is_at(descriptor, path):
            with contextlib.suppress(OSError):
                self.unlink(path)
        self.close(descriptor)

    def create_temporary(self, path: str) -> tuple[int, str]:
        name = path + ".tmp"
        return self._locked(self.create(name)), name

    def create(self, path: str) -> int:
        self._operate("create")
        if path in self._names:
            self._names[path].truncate()
        else:
            self._change_names({path: _Inode()})
        if self._cut_now:
            raise PowerCut
        return self._descriptor(self._names[path], True)

    def close(self, descriptor: int) -> None:
        inode = self._open.pop(descriptor)
        self._writable.discard(descriptor)
        if self._locks.get(id(inode)) == descriptor:
            del self._locks[id(inode)]

    def _found(self, path: str) -> _Inode:
        if path not in self._names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._names[path]

    def _locked(self, descriptor: int) -> int:
        holder = self._locks.setdefault(id(self._open[descriptor]), descriptor)
        if holder != descriptor:
            self.close(descriptor)
            raise BlockingIOError(errno.EWOULDBLOCK, "another process saves to it")
        return descriptor

    def size(self, descriptor: int) -> int:
        return len(self._open[descriptor].content)

    def is_at(self, descriptor: int, path: str) -> bool:
        return self._names.get(path) is self._open[descriptor]

    def pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        return bytes(self._open[descriptor].content[offset : offset + n_bytes])

    def pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if descriptor not in self._writable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._operate("pwrite")
        n_bytes = len(data) if self.max_write is None else min(len(data), self.max_write)
        self._open[descriptor].write(bytes(data[:n_bytes]), offset)
        if self._cut_now:
            raise PowerCut
        return n_bytes

    def fdatasync(self, descriptor: int) -> None:
        self._sync("fdatasync", descriptor)

    def fsync(self, descriptor: int) -> None:
        self._sync("fsync", descriptor)

    def _sync(self, operation: str, descriptor: int) -> None:
        inode = self._open[descriptor]
        try:
            self._operate(operation)
        except OSError:
            inode.lose_unsynced(self._rng)
            raise
        if self._cut_now:
            raise PowerCut
        inode.sync()

    def forget_cache(self, descriptor: int) -> None:
        self._open[descriptor].forget_clean()

    # -- names

    def replace(self, source: str, target: str) -> None:
        self._operate("replace")
        self._change_names({target: self._names[source], source: None})
        if self._cut_now:
            raise PowerCut

    def unlink(self, path: str) -> None:
        self._operate("unlink")
        if path not in self._names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._change_names({path: None})
        if self._cut_now:
            raise PowerCut

    def followed(self, path: str) -> str:
        return path  # it has no links

    def sync_folder(self, path: str) -> None:
        self._operate("sync_folder")
        if self._cut_now:
            raise PowerCut
        self._medium_names = dict(self._names)
        self._name_changes.clear()

    def _change_names(self, change: dict[str, _Inode | None]) -> None:
        _apply(change, self._names)
        self._name_changes.append(change)

    def _descriptor(self, inode: _Inode, writable: bool) -> int:
        descriptor = self._next_descriptor
        self._next_descriptor += 1
        self._open[descriptor] = inode
        if writable:
            self._writable.add(descriptor)
        return descriptor


def _apply(change: dict[str, _Inode | None], names: dict[str, _Inode]) -> None:
    for name, inode in change.items():
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode
