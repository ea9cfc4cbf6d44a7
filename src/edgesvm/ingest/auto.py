"""Frames or lines? What a node says first decides."""

from __future__ import annotations

import time
from collections.abc import Callable

from edgesvm.errors import NoSchema
from edgesvm.ingest import wire
from edgesvm.ingest.ports import READ_BYTES, Port

HELLO_EVERY = 0.5  # seconds: a node that speaks frames may wait to be asked
TEXT = frozenset(b"\t\n\r") | frozenset(range(32, 127))


class HeardPort:
    """A port some of whose bytes were read already: they come first."""

    def __init__(self, port: Port, heard: bytes) -> None:
        self._port = port
        self._heard = heard

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """As the port's own."""
        if not self._heard:
            return self._port.read(timeout, limit)
        chunk, self._heard = self._heard[:limit], self._heard[limit:]
        return chunk

    def write(self, data: bytes) -> int:
        """As the port's own."""
        return self._port.write(data)

    def close(self) -> None:
        """As the port's own."""
        self._port.close()


def listen(
    port: Port, name: str, timeout: float, clock: Callable[[], float] = time.monotonic
) -> tuple[str, HeardPort]:
    """Wait for the first byte; "text" where it belongs into a line of text, else "binary".

    Every 500 ms a HELLO is sent, since a node that speaks frames may be waiting for it.

    Raises
    ------
    NoSchema
        Not one byte came within `timeout` seconds.
    LinkDown
        The port died.
    """
    deadline = clock() + timeout
    hello = b"\0" + wire.encode_frame(wire.HELLO, wire.Hello(1).pack())
    next_hello = clock()
    while (now := clock()) < deadline:
        if now >= next_hello:
            port.write(hello)
            next_hello = now + HELLO_EVERY
        heard = port.read(max(0.0, min(deadline, next_hello) - now), 1)
        if heard:
            return "text" if heard[0] in TEXT else "binary", HeardPort(port, heard)
    raise NoSchema(
        f"{name}: not one byte came within {timeout:g} s; is the device powered and on this port?"
    )
