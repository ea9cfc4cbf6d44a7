"""The file operations that a checkpoint uses: few, so that a simulated disk can replace them."""

from __future__ import annotations

import errno
import os
import stat
from typing import Protocol

from edgesvm.persist.folders import followed, sync_folder


class Disk(Protocol):
    """The file operations that a checkpoint uses. All raise OSError."""

    def open(self, path: str, *, writable: bool = True) -> int:
        """Open an existing regular file; FileNotFoundError if there is none."""

    def create(self, path: str) -> int:
        """Create an empty file, or truncate an existing one."""

    def close(self, descriptor: int) -> None: ...

    def lock(self, descriptor: int) -> None:
        """Lock the file against other processes; BlockingIOError if one has locked it."""

    def size(self, descriptor: int) -> int:
        """Size in bytes."""

    def is_at(self, descriptor: int, path: str) -> bool:
        """Whether the open file is still the one at `path`."""

    def pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        """Read at most `n_bytes`; fewer at the end of the file."""

    def pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write at least 1 byte. Returns the number of bytes written."""

    def fdatasync(self, descriptor: int) -> None:
        """Returns when the written data is on the medium."""

    def fsync(self, descriptor: int) -> None:
        """Like `fdatasync`, for the file's metadata too."""

    def forget_cache(self, descriptor: int) -> None:
        """Make the next read come from the medium. After a failed sync the system's cache may hold
        data that never reached it.
        """

    def followed(self, path: str) -> str:
        """The path that a symbolic link points to, or `path`; FileNotFoundError if the link points
        to no file.
        """

    def replace(self, source: str, target: str) -> None:
        """Rename `source` to `target`, replacing it."""

    def sync_folder(self, path: str) -> None:
        """Returns when the names in the folder of `path` are on the medium."""

    def unlink(self, path: str) -> None: ...


class OsDisk:
    """The operating system's files; see `Disk`. POSIX."""

    def open(self, path: str, *, writable: bool = True) -> int:
        # Without O_NONBLOCK, opening a named pipe waits for its other end.
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
        import fcntl  # does not exist on Windows

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems have no locks; save there without one.
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise BlockingIOError(
                    error.errno, "another process has it open for writing"
                ) from None

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

    def followed(self, path: str) -> str:
        return os.fspath(followed(path))

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    def sync_folder(self, path: str) -> None:
        sync_folder(os.path.dirname(path) or ".")

    def unlink(self, path: str) -> None:
        os.unlink(path)
