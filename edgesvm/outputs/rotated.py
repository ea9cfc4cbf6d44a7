"""``jsonl:FILE``: lines in a file that is set aside when it is full."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat

from edgesvm.outputs.sink import Line, Sink


class RotatedFile(Sink):
    """Lines at the end of a file; before it would exceed `max_bytes` it becomes FILE.1, what was
    FILE.1 becomes FILE.2, and so on up to FILE.keep.

    Together they never take more than ``(keep + 1) * max_bytes``. A disk that is full fails; what
    it took of a line is taken back.

    Parameters
    ----------
    path : str
    max_bytes : int
    keep : int
        Files besides the one that is written.
    """

    def __init__(self, path: str, max_bytes: int, keep: int) -> None:
        self.name = f"jsonl:{path}"
        self._path, self._max_bytes, self._keep = path, max_bytes, keep
        self._fd = -1
        self._size = 0

    def open(self) -> None:
        self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        now = os.fstat(self._fd)
        self._size = now.st_size if stat.S_ISREG(now.st_mode) else 0
        if self._size and os.pread(self._fd, 1, self._size - 1) != b"\n":
            self._append(b"\n")  # the power failed within the last line

    def send(self, lines: list[Line]) -> int:
        for n, line in enumerate(lines):
            data = line.encoded()
            try:
                if self._size and self._size + len(data) > self._max_bytes:
                    self._rotate()
                self._append(data)
            except OSError:
                if n == 0:
                    raise
                return n
        return len(lines)

    def _append(self, data: bytes) -> None:
        written = os.write(self._fd, data)
        if written < len(data):
            os.ftruncate(self._fd, self._size)
            raise OSError(f"{self._path}: the disk is full")
        self._size += written

    def _rotate(self) -> None:
        self.close(0.0)
        names = [self._path, *(f"{self._path}.{i}" for i in range(1, self._keep + 1))]
        if self._keep == 0:
            os.truncate(self._path, 0)
        for old, new in reversed(list(itertools.pairwise(names))):
            with contextlib.suppress(FileNotFoundError):
                os.replace(old, new)
        self.open()

    def close(self, seconds: float) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)
