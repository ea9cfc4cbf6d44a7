"""What a link needs from a port: bytes in and out, and one exception for every failure, `LinkDown`.

Reads never wait for a buffer to fill, and writes never wait at all.
"""

from __future__ import annotations

from typing import Protocol

DEATHS: tuple[type[Exception], ...] = (OSError, TypeError, ValueError)
try:
    import termios
except ImportError:  # not POSIX
    pass
else:
    DEATHS = (*DEATHS, termios.error)

READ_BYTES = 65536


class Port(Protocol):
    """What a link needs from a port. Each method but `close` may raise `LinkDown`."""

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """Wait up to `timeout` seconds for a byte; return what has arrived, up to `limit` bytes."""

    def write(self, data: bytes) -> int:
        """Write what the port accepts without waiting; return the number of bytes."""

    def close(self) -> None:
        """Close the port; may be called again."""
