"""``jsonl:FILE`` and ``jsonl:-``: lines in a file, and on standard output."""

from __future__ import annotations

import os
import stat

from edgesvm.serve.outputs.sink import Line, Sink


class StandardOutput(Sink):
    """Lines on standard output, whatever that is, or on another descriptor. A reader that is slow
    holds up this sink alone."""

    name = "jsonl:-"

    def __init__(self, fd: int = 1) -> None:
        self._fd = fd
        self._rest = b""  # of a line that a full disk cut, which is not ours to cut back

    def open(self) -> None:
        """It is open."""

    def send(self, lines: list[Line]) -> int:
        for n, line in enumerate(lines):
            try:
                self._write(line.text.encode() + b"\n")
            except OSError:
                if n == 0:
                    raise
                return n
        return len(lines)

    def _write(self, data: bytes) -> None:
        self._finish_line()
        self._rest = data[os.write(self._fd, data) :]

    def _finish_line(self) -> None:
        """Write the rest of a line; a line that has begun is sent."""
        while self._rest:
            self._rest = self._rest[os.write(self._fd, self._rest) :]

    def close(self, seconds: float) -> None:
        if self._rest and seconds:
            self._finish_line()


class File(StandardOutput):
    """Lines at the end of a file. A disk that is full fails; what it took of a line is taken
    back."""

    def __init__(self, path: str) -> None:
        super().__init__(-1)
        self.name, self._path = f"jsonl:{path}", path

    def open(self) -> None:
        self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        now = os.fstat(self._fd)
        size = now.st_size if stat.S_ISREG(now.st_mode) else 0
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            self._write(b"\n")  # the power failed within the last line

    def _write(self, data: bytes) -> None:
        written = os.write(self._fd, data)
        if written < len(data):
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            raise OSError(f"{self._path}: the disk is full")

    def close(self, seconds: float) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)
