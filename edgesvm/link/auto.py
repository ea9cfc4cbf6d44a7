"""Detects whether a node sends frames or text lines, by its first byte."""

from __future__ import annotations

import time
from collections.abc import Callable

from edgesvm.errors import NoSchema
from edgesvm.link import wire
from edgesvm.link.port import READ_BYTES, Port

HELLO_EVERY = 0.5  # seconds
TEXT = frozenset(b"\t\n\r") | frozenset(range(32, 127))


class PushbackPort:
    """A port that returns bytes already read from it before any new ones."""

    def __init__(self, port: Port, pushed_back: bytes) -> None:
        self._port = port
        self._pushed_back = pushed_back

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """See `Port.read`."""
        if not self._pushed_back:
            return self._port.read(timeout, limit)
        chunk, self._pushed_back = self._pushed_back[:limit], self._pushed_back[limit:]
        return chunk

    def write(self, data: bytes) -> int:
        """See `Port.write`."""
        return self._port.write(data)

    def close(self) -> None:
        """See `Port.close`."""
        self._port.close()


def detect_mode(
    port: Port, name: str, timeout: float, clock: Callable[[], float] = time.monotonic
) -> tuple[str, PushbackPort]:
    """Wait for the first byte: "text" if it can occur in a line of text, else "binary".

    A HELLO is sent every 500 ms, since a node that sends frames may be waiting for one.

    Raises
    ------
    NoSchema
        No byte arrived within `timeout` seconds.
    LinkDown
        The port failed.
    """
    deadline = clock() + timeout
    hello = b"\0" + wire.encode_frame(wire.HELLO, wire.Hello(1).pack())
    next_hello = clock()
    while (now := clock()) < deadline:
        if now >= next_hello:
            port.write(hello)
            next_hello = now + HELLO_EVERY
        first = port.read(max(0.0, min(deadline, next_hello) - now), 1)
        if first:
            return "text" if first[0] in TEXT else "binary", PushbackPort(port, first)
    raise NoSchema(
        f"{name}: no byte arrived within {timeout:g} s; "
        "check that the node is powered and connected to this port"
    )
