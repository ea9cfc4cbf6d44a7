"""The file operations that a checkpoint uses: few, so that a simulated disk can replace them."""

from __future__ import annotations

import os
from typing import Protocol

from edgesvm.persist import exclusive
from edgesvm.persist.folders import followed, sync_folder


class Disk(Protocol):
    """The file operations that a checkpoint uses. All raise OSError."""

    def open(self, path: str) -> int:
        """Open an existing regular file for reading; FileNotFoundError if there is none."""

    def claim(self, path: str) -> int:
        """Open the file for writing, and lock it against other processes; an empty one is created
        if there is none. BlockingIOError if another process has claimed it.
        """

    def release(self, descriptor: int, path: str) -> None:
        """Close a claimed file, and remove it if it is empty."""

    def create_temporary(self, path: str) -> tuple[int, str]:
        """Create and lock an empty file to replace `path`. Returns descriptor and name."""

    def close(self, descriptor: int) -> None: ...

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

    def open(self, path: str) -> int:
        return exclusive.open_regular(path)

    def claim(self, path: str) -> int:
        return exclusive.claim(path)

    def release(self, descriptor: int, path: str) -> None:
        exclusive.release(descriptor, path)

    def create_temporary(self, path: str) -> tuple[int, str]:
        return exclusive.create_temporary(path)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def size(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    def is_at(self, descriptor: int, path: str) -> bool:
        return exclusive.is_at(descriptor, path)

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
        return followed(path)

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    def sync_folder(self, path: str) -> None:
        sync_folder(os.path.dirname(path) or ".")

    def unlink(self, path: str) -> None:
        os.unlink(path)
