"""Opens a port by its URL."""

from __future__ import annotations

import errno
import os
import socket
from typing import TYPE_CHECKING

from edgesvm.errors import LinkDown
from edgesvm.link.port import DEATHS
from edgesvm.link.socket_port import SocketPort

if TYPE_CHECKING:
    from edgesvm.link.serial_port import SerialPort


def open_port(
    url: str, baud: int = 115200, *, exclusive: bool = True, low_latency: bool = False
) -> SerialPort | SocketPort:
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
    failures = tuple(kind for kind in DEATHS if kind is not ValueError)
    try:
        if url.startswith("socket://"):
            return SocketPort(url)
        from edgesvm.link import serial_port  # pyserial, for those who have such a port

        return serial_port.opened(url, baud, exclusive=exclusive, low_latency=low_latency)
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
