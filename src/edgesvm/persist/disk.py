"""The file operations a checkpoint is made of: few, so that a model of a disk can stand in for
them.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Protocol

from edgesvm.persist.folders import sync_folder


class Disk(Protocol):
    """What a checkpoint asks of a file system. All raise OSError; paths are absolute or relative
    names.
    """

    def open(self, path: str, *, writable: bool = True) -> int:
        """An existing regular file; FileNotFoundError where there is none."""

    def create(self, path: str) -> int:
        """A new, empty file, or an old one emptied."""

    def close(self, descriptor: int) -> None: ...

    def lock(self, descriptor: int) -> None:
        """Keep other processes from writing it; BlockingIOError where one does already."""

    def size(self, descriptor: int) -> int:
        """Bytes."""

    def is_at(self, descriptor: int, path: str) -> bool:
        """Whether the open file is still the one of that name."""

    def pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        """At most so many bytes; fewer at the end of the file."""

    def pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """How many of the bytes were written, at least 1."""

    def fdatasync(self, descriptor: int) -> None:
        """Returns when what was written is on the medium."""

    def fsync(self, descriptor: int) -> None:
        """As `fdatasync`, and the file's metadata."""

    def forget_cache(self, descriptor: int) -> None:
        """Let the next read come from the medium. After a failed sync a system may hold what never
        got there.
        """

    def replace(self, source: str, target: str) -> None:
        """Rename over."""

    def sync_folder(self, path: str) -> None:
        """Returns when the names in the folder of `path` are on the medium."""

    def unlink(self, path: str) -> None: ...


class OsDisk:
    """The operating system's files; see `Disk`. POSIX."""

    def open(self, path: str, *, writable: bool = True) -> int:
        # Without O_NONBLOCK opening a named pipe waits for its other end.
        descriptor = os.open(
            path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK
        )
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file", path)
        return descriptor

    def create(self, path: str) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def lock(self, descriptor: int) -> None:
        import fcntl  # not there on Windows

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems have no locks; that is no reason not to save.
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise BlockingIOError(error.errno, "another process saves to it") from None

    def size(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    def is_at(self, descriptor: int, path: str) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        return os.pread(descriptor, n_bytes, offset)

    def pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        return os.pwrite(descriptor, data, offset)

    def fdatasync(self, descriptor: int) -> None:
        getattr(os, "fdatasync", os.fsync)(descriptor)  # macOS has only the latter

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def forget_cache(self, descriptor: int) -> None:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    def sync_folder(self, path: str) -> None:
        sync_folder(os.path.dirname(path) or ".")

    def unlink(self, path: str) -> None:
        os.unlink(path)
