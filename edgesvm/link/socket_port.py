"""The port at ``socket://host:port``."""

from __future__ import annotations

import contextlib
import select
import socket
from typing import Any

from edgesvm.errors import LinkDown
from edgesvm.link.port import DEATHS, READ_BYTES

CONNECT_S = 5.0

# A peer that has gone without a word is found after KEEP_IDLE + KEEP_EVERY * KEEP_PROBES seconds,
# whether or not anything is on its way to it. Each option exists on some systems only.
KEEP_IDLE, KEEP_EVERY, KEEP_PROBES = 5, 2, 3
KEEPALIVE = {
    "TCP_KEEPIDLE": KEEP_IDLE,
    "TCP_KEEPINTVL": KEEP_EVERY,
    "TCP_KEEPCNT": KEEP_PROBES,
    "TCP_USER_TIMEOUT": 1000 * (KEEP_IDLE + KEEP_EVERY * KEEP_PROBES),  # milliseconds
}


class SocketPort:
    """A port at ``socket://host:port``; not pyserial's, which imports `logging`, reads the first
    byte alone and sleeps when it is closed."""

    def __init__(self, url: str) -> None:
        self.url = url
        host, port = _address(url)
        self._connection: socket.socket | None = socket.create_connection((host, port), CONNECT_S)
        self._connection.setblocking(False)
        keep_alive(self._connection)

    def fileno(self) -> int | None:
        """The file descriptor, for `select`; None once it is closed."""
        return None if self._connection is None else self._connection.fileno()

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        connection = self._open()
        try:
            if not select.select([connection], [], [], timeout)[0]:
                return b""
            data = connection.recv(limit)
        except BlockingIOError:
            return b""
        except DEATHS as error:
            raise LinkDown(f"{self.url}: {error}") from error
        if not data:
            raise LinkDown(f"{self.url}: socket disconnected")
        return data

    def write(self, data: bytes) -> int:
        connection = self._open()
        try:
            return connection.send(data)
        except BlockingIOError:
            return 0
        except DEATHS as error:
            raise LinkDown(f"{self.url}: {error}") from error

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):  # the peer has already left
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._connection = None

    def _open(self) -> socket.socket:
        if self._connection is None:
            raise LinkDown(f"{self.url} is closed")
        return self._connection


def _address(url: str) -> tuple[Any, int]:
    """Host and port of a URL. The host in bytes: of a text, Python would first import the tables of
    international names."""
    host, colon, port = url.removeprefix("socket://").rstrip("/").rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host.isascii() or not port.isdecimal() or int(port) > 0xFFFF:
        raise OSError(f"give socket://HOST:PORT, PORT at most {0xFFFF}")
    return host.encode("ascii"), int(port)


def keep_alive(connection: socket.socket) -> None:
    """Have the system look for a peer that has gone without a word, as after a power cut."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
