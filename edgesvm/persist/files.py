"""Files: those that one process at a time may write, the path that a file really has, and the few
operations of a checkpoint, which a simulated disk can replace.

A process claims a file by locking it. Only the process that holds the lock on the file at a path
may replace or remove it; after locking, a process checks that the file is still the one at the
path. So two processes never hold one path, not even while the file is created or replaced.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator

_RANDOM = r"[0-9a-z_]{8}"


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Open a regular file, with `os.open`'s flags; OSError for a pipe, a device or a folder."""
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)  # or a named pipe would wait
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return descriptor


def is_at(descriptor: int, path: str | os.PathLike[str]) -> bool:
    """Whether the open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def lock(descriptor: int, name: str) -> bool:
    """Lock an open file against other processes; False if there are no locks here.
    BlockingIOError if another process has locked it: it says which, and calls the file `name`.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise BlockingIOError(
                f"{name} is being written by another process{_holder(descriptor)}"
            ) from None
        return False
    return True


def _holder(descriptor: int) -> str:
    """The process that has locked the file, in words; empty if the system does not say."""
    inode = os.fstat(descriptor).st_ino
    with contextlib.suppress(OSError), open("/proc/locks", encoding="ascii") as locks:
        for line in locks:
            _, kind, *rest = line.split()
            if kind == "FLOCK" and rest[3].endswith(f":{inode}") and int(rest[2]) > 0:
                return f" (pid {rest[2]})"
    return ""


def claim(path: str, name: str | None = None) -> int:
    """Open and lock the file at `path`, which is not a link; an empty one is created if needed.
    BlockingIOError if another process has claimed it, else OSError if it cannot be.
    """
    while True:
        try:
            descriptor = open_regular(path, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            try:
                descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                continue
        try:
            lock(descriptor, name or path)
            if is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def release(descriptor: int, path: str) -> None:
    """Undo `claim`. A file that is still empty is removed."""
    try:
        with contextlib.suppress(OSError):
            if os.fstat(descriptor).st_size == 0 and is_at(descriptor, path):
                os.unlink(path)
    finally:
        os.close(descriptor)


class Claim:
    """A claimed file, until `release` or the end of the ``with`` block. Raises as `claim` does."""

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = path
        self.descriptor = claim(path, name)
        self._pid = os.getpid()

    def release(self) -> None:
        """Release the file; may be called again. In a forked child the claim is the parent's."""
        if self.descriptor >= 0:
            descriptor, self.descriptor = self.descriptor, -1
            if self._pid == os.getpid():
                release(descriptor, self.path)
            else:
                os.close(descriptor)

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def create_temporary(path: str, mode: int = 0o666) -> tuple[int, str]:
    """Create and lock a file that is to replace `path`, in the same folder, under a new name.

    Removes those that killed processes have left behind. Returns descriptor and name.
    """
    _remove_abandoned(path)
    while True:
        name = f"{path}.{os.urandom(4).hex()}.tmp"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(name, flags, mode)
        with contextlib.suppress(BlockingIOError):  # one that looked for abandoned files was faster
            lock(descriptor, name)
            if is_at(descriptor, name):
                return descriptor, name
        os.close(descriptor)


def _remove_abandoned(path: str) -> None:
    """Remove the temporary files for `path` that no process has locked."""
    folder, name = os.path.split(path)
    pattern = re.compile(re.escape(name) + rf"\.{_RANDOM}\.tmp")
    with contextlib.suppress(OSError):  # a folder that cannot be listed can still be written
        for entry in filter(pattern.fullmatch, os.listdir(folder or ".")):
            _remove_unlocked(os.path.join(folder, entry))


def _remove_unlocked(path: str) -> None:
    with contextlib.suppress(OSError):  # it is locked, not ours, or already gone
        descriptor = open_regular(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if lock(descriptor, path) and is_at(descriptor, path):
                os.unlink(path)
        finally:
            os.close(descriptor)


class BrokenLink(FileNotFoundError):
    """A symbolic link points to no file."""


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Have an OSError that names no file, as those of an open one do, name this file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


def followed(path: str | os.PathLike[str]) -> str:
    """The file that a symbolic link points to, or BrokenLink; `path` itself if it is not a link."""
    path = os.fspath(path)
    if not os.path.islink(path):
        return path
    try:
        return os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        raise BrokenLink(
            f"{path} is a symbolic link to {os.readlink(path)}, which does not exist"
        ) from error


def write_all(
    pwrite: Callable[[int, memoryview, int], int],
    descriptor: int,
    data: bytes | memoryview,
    offset: int,
) -> None:
    """Write all the data, in as many calls as it takes."""
    left = memoryview(data)
    while left:
        n_written = pwrite(descriptor, left, offset)
        left, offset = left[n_written:], offset + n_written


def folder_of(path: str) -> str:
    """The folder that a file is in."""
    return os.path.dirname(path) or "."


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a folder: without this a power cut may undo a rename or lose a new file's name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with naming(folder):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Disk:
    """The operating system's files, as a checkpoint uses them; POSIX. All raise OSError."""

    open = staticmethod(open_regular)
    claim = staticmethod(claim)
    release = staticmethod(release)
    create_temporary = staticmethod(create_temporary)
    is_at = staticmethod(is_at)
    followed = staticmethod(followed)
    close = staticmethod(os.close)
    fsync = staticmethod(os.fsync)
    fdatasync = staticmethod(getattr(os, "fdatasync", os.fsync))  # macOS has only the latter
    replace = staticmethod(os.replace)
    unlink = staticmethod(os.unlink)

    def pread(self, descriptor: int, n_bytes: int, offset: int) -> bytes:
        return os.pread(descriptor, n_bytes, offset)

    def pwrite(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        return os.pwrite(descriptor, data, offset)

    def size(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    def forget_cache(self, descriptor: int) -> None:
        """Make the next read come from the medium. After a failed sync the system's cache may hold
        data that never reached it.
        """
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def sync_folder(self, path: str) -> None:
        """Returns when the names in the folder of `path` are on the medium."""
        sync_folder(folder_of(path))
