"""Ports that pyserial opens, whose exceptions become one.

It raises several: SerialException, a bare OSError, ``termios.error``, which is not an OSError, and
TypeError after a close from another thread.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from typing import Any, TypeVar

import serial

from edgesvm.errors import LinkDown
from edgesvm.link.ports import DEATHS, READ_BYTES

# How long pyserial may wait for a write to a port without a file descriptor, in seconds.
WRITE_TIMEOUT = 0.5

Answer = TypeVar("Answer")


class SerialPort:
    """A port that pyserial opened: ``/dev/ttyUSB0``, a pseudo-terminal, ``rfc2217://``."""

    def __init__(self, device: serial.SerialBase, url: str) -> None:
        self.url = url
        self._device: Any = device
        # pyserial's own class for a tty: another may do more than read a descriptor.
        self._is_plain = os.name == "posix" and type(device) is serial.Serial

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


def opened(url: str, baud: int, *, exclusive: bool, low_latency: bool) -> SerialPort:
    """The port, open; pyserial's exceptions if it cannot be. See `ports.open_port`."""
    # pyserial rejects `exclusive` where locks do not exist.
    options: dict[str, Any] = {"exclusive": True} if exclusive and os.name == "posix" else {}
    if not url.startswith("rfc2217://"):  # for which pyserial refuses it
        options["write_timeout"] = WRITE_TIMEOUT
    device = serial.serial_for_url(url, baudrate=baud, timeout=0, **options)
    if low_latency:
        try_low_latency(device)
    return SerialPort(device, url)


def try_low_latency(device: Any) -> bool:
    """Ask for low latency; False if the port does not support it (a pty, a socket)."""
    try:
        device.set_low_latency_mode(True)
    except (AttributeError, NotImplementedError, ValueError, OSError):
        return False
    return True
