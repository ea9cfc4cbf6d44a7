"""Ports by URL, through pyserial: bytes in and out, and one way to die.

pyserial has several (SerialException, a bare OSError, ``termios.error`` which is no OSError,
TypeError after a close from another thread): here they all become `LinkDown`. Reads never wait for
a buffer to fill, writes never wait at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import serial

from edgesvm.errors import LinkDown

DEATHS: tuple[type[Exception], ...] = (OSError, TypeError, ValueError)
try:
    import termios
except ImportError:  # no POSIX
    pass
else:
    DEATHS = (*DEATHS, termios.error)

READ_BYTES = 65536
# Where only pyserial can write (no file descriptor), it may wait so long, in seconds.
WRITE_TIMEOUT = 0.5

Answer = TypeVar("Answer")


class Port(Protocol):
    """What a link needs of a port. Each call may raise `LinkDown`."""

    def read(self, timeout: float, limit: int = READ_BYTES) -> bytes:
        """Wait at most `timeout` seconds for a byte; then what is there, at most `limit` bytes."""

    def write(self, data: bytes) -> int:
        """Hand over what the port takes at once; how many bytes that was."""

    def close(self) -> None:
        """Let the port go; may be called again."""


class SerialPort:
    """A port that pyserial opened: ``/dev/ttyUSB0``, a pseudo-terminal, ``rfc2217://``."""

    def __init__(self, device: serial.SerialBase, url: str) -> None:
        self.url = url
        self._device: Any = device

    def fileno(self) -> int | None:
        """The file descriptor, for `select`; None where there is none."""
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
        # That was perhaps the one byte waited for, and its followers are here by now.
        try:
            return first + self._device.read(min(self._waiting(), limit - 1))
        except DEATHS:
            return first  # the next read will find the port dead

    def _waiting(self) -> int:
        # A dead port is found by read: over a socket, in_waiting never tells.
        try:
            return self._device.in_waiting
        except DEATHS:
            return 0

    def write(self, data: bytes) -> int:
        return self._or_down(lambda: self._write(data))

    def _write(self, data: bytes) -> int:
        fd = self.fileno() if os.name == "posix" else None
        try:
            # pyserial's own write spins on a full buffer where it must not wait; its descriptor
            # does not block.
            return self._device.write(data) or 0 if fd is None else os.write(fd, data)
        except (BlockingIOError, serial.SerialTimeoutException):
            return 0

    def close(self) -> None:
        try:
            self._device.close()
        except DEATHS:
            return  # dead already, and its descriptor with it

    def _or_down(self, call: Callable[[], Answer]) -> Answer:
        if not self._device.is_open:
            raise LinkDown(f"{self.url} is closed")
        try:
            return call()
        except DEATHS as error:
            raise LinkDown(f"{self.url}: {error}") from error


class SocketPort(SerialPort):
    """``socket://host:port``, whose in_waiting is only 0 or 1."""

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
        # pyserial forgets to close a socket that its peer has left already.
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
        Device path or pyserial URL, ``socket://host:port`` among them.
    baud : int
        Bits a second; a pseudo-terminal or a socket ignores it.
    exclusive : bool
        Refuse a tty that another program holds this way (an advisory lock).
    low_latency : bool
        Ask the driver to pass on bytes at once (USB converters gather them for up to 16 ms); where
        the port does not know of that, nothing happens.

    Raises
    ------
    LinkDown
        The port is not there, is held, or is no serial port.
    ValueError
        The URL or the baud rate makes no sense.
    """
    if not isinstance(baud, int) or baud < 1:
        raise ValueError(f"baud={baud!r} must be a positive integer")
    is_socket = url.startswith("socket://")
    # Where there are no locks, pyserial refuses to be told of them.
    options: dict[str, Any] = (
        {"exclusive": True} if exclusive and os.name == "posix" and not is_socket else {}
    )
    failures = tuple(kind for kind in DEATHS if kind is not ValueError)
    try:
        device = serial.serial_for_url(
            url, baudrate=baud, timeout=0, write_timeout=WRITE_TIMEOUT, **options
        )
    except failures as error:
        raise LinkDown(f"cannot open {url}: {error}") from error
    if low_latency:
        try_low_latency(device)
    return SocketPort(device, url) if is_socket else SerialPort(device, url)


def try_low_latency(device: Any) -> bool:
    """Ask for low latency; False where there is no such thing (a pty, a socket)."""
    try:
        device.set_low_latency_mode(True)
    except (AttributeError, NotImplementedError, ValueError, OSError):
        return False
    return True
