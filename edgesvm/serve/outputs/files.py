"""``jsonl:FILE`` and ``jsonl:-``: lines in a file, and on standard output."""

from __future__ import annotations

import os
import select
import stat

from edgesvm.serve.outputs.sink import Line, Sink

# So much goes into a pipe at once or not at all; POSIX promises 512, Linux has 4,096.
ATOMIC = getattr(select, "PIPE_BUF", 512)
WAIT_S = 0.25


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
    """Lines on standard output, whatever that is.

    Parameters
    ----------
    fd : int
        Another descriptor instead.
    """

    name = "jsonl:-"

    def __init__(self, fd: int = 1) -> None:
        self._fd = fd
        self._rest = b""  # of a line that a full disk cut

    def open(self) -> None:
        """It is open."""

    def send(self, lines: list[Line]) -> int:
        if not self._finished_line():
            return 0
        data, n = whole_lines(lines)
        if not has_room(self._fd):
            return 0
        written = put(self._fd, data)
        whole = data[:written].count(b"\n")
        if written and data[written - 1 : written] != b"\n":
            # A line that has begun is sent: its rest comes first of all.
            end = data.index(b"\n", written) + 1
            self._rest, whole = data[written:end], whole + 1
        return min(whole, n)

    def _finished_line(self) -> bool:
        """Write the rest of a line; whether there is none now."""
        if self._rest and has_room(self._fd):
            self._rest = self._rest[put(self._fd, self._rest) :]
        return not self._rest

    def close(self, seconds: float) -> None:
        if self._rest and seconds:
            self._finished_line()


def whole_lines(lines: list[Line]) -> tuple[bytes, int]:
    """As many lines as go into a pipe at once, and how many these are; one at least."""
    data, n = lines[0].encoded(), 1
    for line in lines[1:]:
        if len(data) + len(more := line.encoded()) > ATOMIC:
            break
        data, n = data + more, n + 1
    return data, n


def has_room(fd: int) -> bool:
    """Whether a write of `ATOMIC` bytes will not wait; waits a little for it."""
    if not hasattr(select, "poll"):
        return True  # only POSIX can tell
    room = select.poll()
    room.register(fd, select.POLLOUT)
    return bool(room.poll(1000 * WAIT_S))


def put(fd: int, data: bytes) -> int:
    """Write without waiting, if `fd` is so; returns the number of bytes."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
