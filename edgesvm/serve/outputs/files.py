"""``jsonl:FILE`` and ``jsonl:-``: lines in a file, and on standard output."""

from __future__ import annotations

import os
import stat

from edgesvm.serve.outputs.sink import Line, Sink


class File(Sink):
    """Lines at the end of a file. A disk that is full fails; what it took of a line is taken back.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self.name = f"jsonl:{path}"
        self._path, self._fd = path, -1

    def open(self) -> None:
        self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        now = os.fstat(self._fd)
        size = now.st_size if stat.S_ISREG(now.st_mode) else 0
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            self._append(b"\n")  # the power failed within the last line

    def send(self, lines: list[Line]) -> int:
        for n, line in enumerate(lines):
            try:
                self._append(line.encoded())
            except OSError:
                if n == 0:
                    raise
                return n
        return len(lines)

    def _append(self, data: bytes) -> None:
        written = os.write(self._fd, data)
        if written < len(data):
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            raise OSError(f"{self._path}: the disk is full")

    def close(self, seconds: float) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


class StandardOutput(Sink):
    """Lines on standard output, whatever that is. A reader that is slow holds up this sink alone.

    Parameters
    ----------
    fd : int
        Another descriptor instead.
    """

    name = "jsonl:-"

    def __init__(self, fd: int = 1) -> None:
        self._fd = fd
        self._rest = b""  # of a line that a full disk cut, which is not ours to cut back

    def open(self) -> None:
        """It is open."""

    def send(self, lines: list[Line]) -> int:
        for n, line in enumerate(lines):
            try:
                self._finish_line()
                data = line.encoded()
                self._rest = data[os.write(self._fd, data) :]
            except OSError:
                if n == 0:
                    raise
                return n
        return len(lines)

    def _finish_line(self) -> None:
        """Write the rest of a line; a line that has begun is sent."""
        while self._rest:
            self._rest = self._rest[os.write(self._fd, self._rest) :]

    def close(self, seconds: float) -> None:
        if self._rest and seconds:
            self._finish_line()
