"""Snapshots by name: what is wrong with one is said of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from edgesvm.errors import CorruptModelError


@contextmanager
def of_file(path: str) -> Iterator[None]:
    """Name the file in the error of what is read from it."""
    try:
        yield
    except CorruptModelError as error:
        raise type(error)(f"{path}: {error}") from error
