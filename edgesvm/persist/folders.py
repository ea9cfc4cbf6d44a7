"""The path a file really has, and a sync of its folder."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator


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
    """The file that a symbolic link points to; `path` itself if it is not a link.

    Raises
    ------
    BrokenLink
        The link points to no file.
    """
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


def folder_of(path: str) -> str:
    """The folder that a file is in."""
    return os.path.dirname(path) or "."


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a folder: without this a power cut may undo a rename or lose a new file's name. Does
    nothing on Windows, which has no such call."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with naming(folder):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
