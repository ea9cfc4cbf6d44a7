"""Whole lines into a pipe that its reader may not empty."""

from __future__ import annotations

import os
import select

from edgesvm.outputs.sink import Line

# So much goes into a pipe at once or not at all; POSIX promises 512, Linux has 4,096.
ATOMIC = getattr(select, "PIPE_BUF", 512)
WAIT_S = 0.25


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
