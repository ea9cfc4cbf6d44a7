"""The path a file really has, and a sync of its folder."""

from __future__ import annotations

import os
from pathlib import Path


class BrokenLink(FileNotFoundError):
    """A symbolic link points to no file."""


def followed(path: str | os.PathLike[str]) -> Path:
    """The file that a symbolic link points to; `path` itself if it is not a link.

    Raises
    ------
    BrokenLink
        The link points to no file.
    """
    path = Path(path)
    if not path.is_symlink():
        return path
    try:
        return path.resolve(strict=True)
    except (FileNotFoundError, RuntimeError) as error:  # RuntimeError: a loop, before Python 3.13
        raise BrokenLink(
            f"{path} is a symbolic link to {os.readlink(path)}, which does not exist"
        ) from error


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a folder: without this a power cut may undo a rename or lose a new file's name. Does
    nothing on Windows, which has no such call."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
