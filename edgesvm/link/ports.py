"""Ports: bytes in and out, and one exception for every failure, `LinkDown`.

Reads never wait for a buffer to fill, and writes never wait at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from edgesvm.errors import LinkDown

DEATHS: tuple[type[Exception], ...] = (OSError, TypeError, ValueError)
try:
    import termios
except ImportError:  # not POSIX
    pass
else:
    DEATHS = (*DEATHS, termios.error)

READ_BYTES = 65536
# How long pyserial may wait for a write to a port without a file descriptor, in seconds.
WRITE_TIMEOUT = 0.5
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


Answer = TypeVar("Answer")


class Port(Protocol):
    """What a link needs from a port. Each method but `close` may raise `LinkDown`."""

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """Wait up to `timeout` seconds for a byte; return what has arrived, up to `limit` bytes."""

    def write(self, data: bytes) -> int:
        """Write what the port accepts without waiting; return the number of bytes."""

    def close(self) -> None:
        """Close the port; may be called again."""


def open_port(url: str, baud: int = 115200) -> SerialPort | SocketPort:
    """Open a port; a tty is locked (an advisory lock).

    Parameters
    ----------
    url : str
        Device path or pyserial URL, such as ``socket://host:port``.
    baud : int
        Bits per second; ignored by a pseudo-terminal or a socket.

    Raises
    ------
    LinkDown
        The port does not exist, is locked, or is not a serial port.
    ValueError
        The URL or the baud rate is invalid.
    """
    if not isinstance(baud, int) or baud < 1:
        raise ValueError(f"baud={baud!r} must be a positive integer")
    failures = tuple(kind for kind in DEATHS if kind is not ValueError)
    try:
        if url.startswith("socket://"):
            return SocketPort(url)
        return _opened(url, baud)
    except failures as error:
        raise LinkDown(f"cannot open {url}: {_why(error)}") from error


def _why(error: BaseException) -> str:
    """The reason in words, once; pyserial's message repeats the port and the system's numbers."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    if isinstance(causes[-1], socket.gaierror):
        return str(causes[-1].strerror)  # its numbers are its own
    codes = [cause.args[0] for cause in causes if cause.args and isinstance(cause.args[0], int)]
    if not codes:
        return str(error)
    reasons = {
        errno.EAGAIN: "another program has it open",
        errno.EBUSY: "another program has it open",
        errno.ENOTTY: "it is not a serial port",
    }
    return reasons.get(codes[-1], os.strerror(codes[-1]))


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


class SerialPort:
    """A port that pyserial opened: ``/dev/ttyUSB0``, a pseudo-terminal, ``rfc2217://``.

    Its exceptions become one: pyserial raises SerialException, a bare OSError, ``termios.error``,
    which is not an OSError, and TypeError after a close from another thread.
    """

    def __init__(self, device: Any, url: str) -> None:
        import serial  # for those who have such a port

        self.url = url
        self._device = device
        self._too_late = (BlockingIOError, serial.SerialTimeoutException)
        # pyserial's own class for a tty: another may do more than read a descriptor.
        self._is_plain = type(device) is serial.Serial

    def fileno(self) -> int | None:
        """The file descriptor, for `select`; None if there is none."""
        try:
            return self._device.fileno()
        except (OSError, AttributeError):  # io.UnsupportedOperation is an OSError
            return None

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        return self._or_down(lambda: self._read(timeout, limit))

    def _read(self, timeout: float, limit: int) -> bytes:
        if self._is_plain:
            return self._read_descriptor(timeout, limit)
        if self._device.timeout != timeout:
            self._device.timeout = timeout
        first = self._device.read(min(self._waiting() or 1, limit))
        if len(first) != 1 or limit == 1:
            return first
        # This may be the byte just waited for; more may have arrived since.
        try:
            return first + self._device.read(min(self._waiting(), limit - 1))
        except DEATHS:
            return first  # the next read reports the failure

    def _read_descriptor(self, timeout: float, limit: int) -> bytes:
        """Two system calls; pyserial, which reads up to a number of bytes, needs six for them."""
        fd = self._device.fd
        ready, _, _ = select.select([fd], [], [], timeout)
        if not ready:
            return b""
        try:
            chunk = os.read(fd, limit)
        except BlockingIOError:  # another program was faster
            return b""
        if not chunk:
            raise OSError("ready to read, but no data: unplugged, or read by another program too")
        return chunk

    def _waiting(self) -> int:
        # `read` detects a dead port: over a socket, in_waiting never shows it.
        try:
            return self._device.in_waiting
        except DEATHS:
            return 0

    def write(self, data: bytes) -> int:
        return self._or_down(lambda: self._write(data))

    def _write(self, data: bytes) -> int:
        fd = self.fileno()
        try:
            # With a full buffer, pyserial's write spins if it must not wait; writing to its
            # non-blocking descriptor does not.
            return self._device.write(data) or 0 if fd is None else os.write(fd, data)
        except self._too_late:
            return 0

    def close(self) -> None:
        try:
            self._device.close()
        except DEATHS:
            return  # already dead, and its descriptor closed

    def _or_down(self, call: Callable[[], Answer]) -> Answer:
        if not self._device.is_open:
            raise LinkDown(f"{self.url} is closed")
        try:
            return call()
        except DEATHS as error:
            raise LinkDown(f"{self.url}: {error}") from error


def _opened(url: str, baud: int) -> SerialPort:
    """The port, open; pyserial's exceptions if it cannot be. See `open_port`."""
    import serial  # for those who have such a port

    options: dict[str, Any] = {"exclusive": True}
    if not url.startswith("rfc2217://"):  # for which pyserial refuses it
        options["write_timeout"] = WRITE_TIMEOUT
    return SerialPort(serial.serial_for_url(url, baudrate=baud, timeout=0, **options), url)
