"""Ports by URL, through pyserial: bytes in and out, and one exception for every failure.

pyserial raises several (SerialException, a bare OSError, ``termios.error``, which is not an
OSError, TypeError after a close from another thread); here each becomes `LinkDown`. Reads never
wait for a buffer to fill, and writes never wait at all.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import serial

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


class SerialPort:
    """A port that pyserial opened: ``/dev/ttyUSB0``, a pseudo-terminal, ``rfc2217://``."""

    def __init__(self, device: serial.SerialBase, url: str) -> None:
        self.url = url
        self._device: Any = device

    def fileno(self) -> int | None:
        """The file descriptor, for `select`; None if there is none."""
        try:
            return self._device.fileno()
        except (OSError, AttributeError):  # io.UnsupportedOperation is an OSError
            return None

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        return self._or_down(lambda: self._read(timeout, limit))

    def _read(self, timeout: float, limit: int) -> bytes:
        if self._device.timeout != timeout:  # setting it costs system calls
            self._device.timeout = timeout
        first = self._device.read(min(self._waiting() or 1, limit))
        if len(first) != 1 or limit == 1:
            return first
        # This may be the byte just waited for; more may have arrived since.
        try:
            return first + self._device.read(min(self._waiting(), limit - 1))
        except DEATHS:
            return first  # the next read reports the failure

    def _waiting(self) -> int:
        # `read` detects a dead port: over a socket, in_waiting never shows it.
        try:
            return self._device.in_waiting
        except DEATHS:
            return 0

    def write(self, data: bytes) -> int:
        return self._or_down(lambda: self._write(data))

    def _write(self, data: bytes) -> int:
        fd = self.fileno() if os.name == "posix" else None
        try:
            # With a full buffer, pyserial's write spins if it must not wait; writing to its
            # non-blocking descriptor does not.
            return self._device.write(data) or 0 if fd is None else os.write(fd, data)
        except (BlockingIOError, serial.SerialTimeoutException):
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


class SocketPort(SerialPort):
    """``socket://host:port``, whose in_waiting is only 0 or 1."""

    def __init__(self, device: serial.SerialBase, url: str) -> None:
        super().__init__(device, url)
        keep_alive(self._device._socket)

    def _read(self, timeout: float, limit: int) -> bytes:
        self._device.timeout = timeout
        first = self._device.read(1)
        if not first or limit == 1:
            return first
        self._device.timeout = 0
        try:
            return first + self._device.read(limit - 1)
        except DEATHS:
            return first

    def close(self) -> None:
        # pyserial does not close a socket whose peer has already left.
        connection = getattr(self._device, "_socket", None)
        super().close()
        if connection is not None:
            connection.close()


def open_port(
    url: str, baud: int = 115200, *, exclusive: bool = True, low_latency: bool = False
) -> SerialPort:
    """Open a port.

    Parameters
    ----------
    url : str
        Device path or pyserial URL, such as ``socket://host:port``.
    baud : int
        Bits per second; ignored by a pseudo-terminal or a socket.
    exclusive : bool
        Lock the tty (an advisory lock), and fail if another program holds the lock.
    low_latency : bool
        Ask the driver to deliver bytes at once (USB converters collect them for up to 16 ms).
        Ignored by ports that do not support it.

    Raises
    ------
    LinkDown
        The port does not exist, is locked, or is not a serial port.
    ValueError
        The URL or the baud rate is invalid.
    """
    if not isinstance(baud, int) or baud < 1:
        raise ValueError(f"baud={baud!r} must be a positive integer")
    is_socket = url.startswith("socket://")
    # pyserial rejects `exclusive` where locks do not exist.
    options: dict[str, Any] = (
        {"exclusive": True} if exclusive and os.name == "posix" and not is_socket else {}
    )
    failures = tuple(kind for kind in DEATHS if kind is not ValueError)
    try:
        device = serial.serial_for_url(
            url, baudrate=baud, timeout=0, write_timeout=WRITE_TIMEOUT, **options
        )
    except failures as error:
        raise LinkDown(f"cannot open {url}: {_why(error)}") from error
    if low_latency:
        try_low_latency(device)
    return SocketPort(device, url) if is_socket else SerialPort(device, url)


def _why(error: BaseException) -> str:
    """The reason in words, once; pyserial's message repeats the port and the system's numbers."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    codes = [cause.args[0] for cause in causes if cause.args and isinstance(cause.args[0], int)]
    if not codes:
        return str(error)
    reasons = {
        errno.EAGAIN: "another program has it open",
        errno.EBUSY: "another program has it open",
        errno.ENOTTY: "it is not a serial port",
    }
    return reasons.get(codes[-1], os.strerror(codes[-1]))


def keep_alive(connection: socket.socket) -> None:
    """Have the system look for a peer that has gone without a word, as after a power cut."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def try_low_latency(device: Any) -> bool:
    """Ask for low latency; False if the port does not support it (a pty, a socket)."""
    try:
        device.set_low_latency_mode(True)
    except (AttributeError, NotImplementedError, ValueError, OSError):
        return False
    return True
