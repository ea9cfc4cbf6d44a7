"""``jsonl:-``: lines on standard output."""

from __future__ import annotations

from edgesvm.outputs.pipe import has_room, put, whole_lines
from edgesvm.outputs.sink import Line, Sink


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
