"""The device's end of a link: a pseudo-terminal, a TCP server, or two queues in memory.

Only `wait` blocks. A link reports whether a host is there (``connected``), accepts as many bytes as
the channel has room for, and can be unplugged and plugged in again. Speed and faults belong to the
line (`firmware_sim.line.line`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
import sys
import tempfile
import termios
import tty
from pathlib import Path
from typing import Protocol

_CHUNK = 65536


class SimulatedLink(Protocol):
    """What all links have in common.

    url : what the host opens, a path or ``socket://``; connected : whether a host has the other end
    open; flushes : how often it has discarded its input, if that is visible, as pyserial does when
    it opens a port.
    """

    @property
    def url(self) -> str: ...
    @property
    def connected(self) -> bool: ...
    @property
    def flushes(self) -> int: ...

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send bytes. Returns the number accepted, 0 without room or without a host."""

    def receive(self) -> bytes:
        """All bytes received, ``b""`` if none."""

    def unread(self) -> int:
        """A lower bound of the bytes sent that the host has not read yet; 0 when unplugged."""

    def unplug(self) -> None:
        """Take the link down, like pulling the cable; unread bytes may be lost."""

    def plug(self) -> None:
        """Bring it back under the same ``url``."""

    def wait(self, seconds: float) -> None:
        """Sleep until bytes arrive, at most this long."""

    def close(self) -> None: ...


def _int_ioctl(end: int | socket.socket, request: int) -> int:
    return int.from_bytes(fcntl.ioctl(end, request, bytes(4)), sys.byteorder, signed=True)


class PtyLink:
    """A pseudo-terminal, which a host opens as it would open ``/dev/ttyUSB0``.

    Parameters
    ----------
    symlink : path or None
        A stable name for the terminal: created here, replaced when the terminal changes, removed by
        `close`. Without it, a random one in the folder of temporary files: the system gives the
        ``/dev/pts/N`` of a closed terminal to the next, and a host that opens its port again would
        have that of another node.

    Raises
    ------
    FileExistsError
        `symlink` exists and is not a symbolic link.
    """

    def __init__(self, symlink: str | os.PathLike[str] | None = None) -> None:
        if symlink is None:
            symlink = f"{tempfile.gettempdir()}/firmware_sim.{os.urandom(6).hex()}"
        self._symlink = Path(os.path.abspath(symlink))
        if self._symlink.exists() and not self._symlink.is_symlink():
            raise FileExistsError(
                f"{self._symlink} exists and is not a symbolic link; choose another name"
            )
        self._master = -1
        self._name = ""
        self._flushes = 0
        self._poll = select.poll()
        self.plug()

    @property
    def url(self) -> str:
        return str(self._symlink)

    @property
    def connected(self) -> bool:
        # The kernel reports a hang-up as long as the terminal is not open anywhere.
        return self._master >= 0 and not any(e & select.POLLHUP for _, e in self._poll.poll(0))

    def plug(self) -> None:
        if self._master >= 0:
            return
        self._master, slave = os.openpty()
        try:
            # Otherwise the line discipline would echo, and interpret 0x03, 0x0d and others.
            tty.setraw(slave)
            # Packet mode: the kernel reports when the host flushes its input.
            fcntl.ioctl(self._master, termios.TIOCPKT, (1).to_bytes(4, sys.byteorder))
            os.set_blocking(self._master, False)
            self._name = os.ttyname(slave)
        finally:
            os.close(slave)  # if it stayed open, a hang-up of the host would not show
        self._poll.register(self._master, select.POLLIN)
        fresh = self._symlink.with_name(f".{self._symlink.name}.{os.getpid()}")
        fresh.symlink_to(self._name)
        fresh.replace(self._symlink)

    def unplug(self) -> None:
        if self._master < 0:
            return
        self._poll.unregister(self._master)
        os.close(self._master)
        self._master = -1
        if self._symlink.is_symlink():
            self._symlink.unlink()

    def send(self, data: bytes | bytearray | memoryview) -> int:
        # Without a host, bytes would wait in the kernel and reach the next host as stale data.
        if not self.connected:
            return 0
        try:
            return os.write(self._master, data)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EIO):  # full; just closed
                return 0
            raise

    def receive(self) -> bytes:
        # A terminal returns at most 4 KiB per call, and a fast host has more than that ready.
        data = b""
        while self._master >= 0 and len(data) < _CHUNK:
            try:
                packet = os.read(self._master, _CHUNK)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == errno.EIO:  # the host has closed its end
                    break
                raise
            if not packet:  # the same on other systems than Linux
                break
            # A packet starts with a byte of flags; data follow if no flag is set.
            self._flushes += packet[0] & termios.TIOCPKT_FLUSHREAD
            data += packet[1:]
        return data

    @property
    def flushes(self) -> int:
        return self._flushes

    def unread(self) -> int:
        if not self.connected:
            return 0
        slave = os.open(self._name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            # The kernel does not count bytes until a worker has moved them; polling triggers that.
            if not select.select((slave,), (), (), 0)[0]:
                return 0
            return _int_ioctl(slave, termios.FIONREAD)
        finally:
            os.close(slave)

    def wait(self, seconds: float) -> None:
        # Without a host the hang-up makes poll return at once: only sleep then.
        if self._master >= 0 and self.connected:
            self._poll.poll(max(0.0, seconds) * 1e3)
        else:
            select.select((), (), (), max(0.0, seconds))

    def close(self) -> None:
        self.unplug()


class TcpLink:
    """A TCP server for one host at a time, opened as ``socket://127.0.0.1:PORT``.

    Parameters
    ----------
    port : int
        0 picks a free one.
    host : str
        Address to listen on; by default this machine only, since the link has no authentication.
    """

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        self._address = (host, port)
        self._server: socket.socket | None = None
        self._peer: socket.socket | None = None
        self.plug()

    flushes = 0  # a peer's buffers cannot be seen

    @property
    def url(self) -> str:
        return f"socket://{self._address[0]}:{self._address[1]}"

    @property
    def connected(self) -> bool:
        if self._peer is None and self._server is not None:
            try:
                self._peer, _ = self._server.accept()
            except BlockingIOError:
                return False
            self._peer.setblocking(False)
            self._peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._peer is not None

    def plug(self) -> None:
        if self._server is not None:
            return
        self._server = socket.create_server(self._address, backlog=1)
        self._server.setblocking(False)
        self._address = self._server.getsockname()[:2]  # the same port again after `unplug`

    def unplug(self) -> None:
        for end in (self._peer, self._server):
            if end is not None:
                end.close()
        self._peer = self._server = None

    def _hang_up(self) -> None:
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def send(self, data: bytes | bytearray | memoryview) -> int:
        if not self.connected or self._peer is None:
            return 0
        try:
            return self._peer.send(data)
        except BlockingIOError:
            return 0
        except ConnectionError:
            self._hang_up()
            return 0

    def receive(self) -> bytes:
        if not self.connected or self._peer is None:
            return b""
        try:
            data = self._peer.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except ConnectionError:
            data = b""
        if not data:
            self._hang_up()
        return data

    def unread(self) -> int:
        """Bytes the peer's kernel has not confirmed; what its process has not read is not known."""
        if self._peer is None or not sys.platform.startswith("linux"):
            return 0
        return _int_ioctl(self._peer, termios.TIOCOUTQ)

    def wait(self, seconds: float) -> None:
        ends = [end for end in (self._peer or self._server,) if end is not None]
        select.select(ends, (), (), max(0.0, seconds))

    def close(self) -> None:
        self.unplug()


class MemoryLink:
    """Two bounded queues; `host` is the other end, for tests that need no file descriptor.

    Parameters
    ----------
    capacity : int
        Bytes per direction.
    """

    def __init__(self, capacity: int = 65536) -> None:
        self.capacity = capacity
        self.to_host, self.to_device = bytearray(), bytearray()
        self.plugged = True
        self.host = MemoryHost(self)

    url = "memory"
    flushes = 0

    @property
    def connected(self) -> bool:
        return self.plugged and self.host.is_open

    def send(self, data: bytes | bytearray | memoryview) -> int:
        return _fill(self.to_host, data, self.capacity) if self.connected else 0

    def receive(self) -> bytes:
        return _drain(self.to_device)

    def unread(self) -> int:
        return len(self.to_host)

    def unplug(self) -> None:
        self.plugged = False
        self.to_host.clear()

    def plug(self) -> None:
        self.plugged = True

    def wait(self, seconds: float) -> None:
        """Return at once: the caller that drives both ends supplies the clock."""

    def close(self) -> None:
        self.unplug()


class MemoryHost:
    """The host's end of a `MemoryLink`."""

    def __init__(self, link: MemoryLink) -> None:
        self._link = link
        self.is_open = True

    def read(self) -> bytes:
        """All bytes waiting; ConnectionError when the link is unplugged."""
        return _drain(self._plugged().to_host)

    def write(self, data: bytes) -> int:
        """The number of bytes accepted; ConnectionError when the link is unplugged."""
        return _fill(self._plugged().to_device, data, self._link.capacity)

    def _plugged(self) -> MemoryLink:
        if not self._link.plugged:
            raise ConnectionError("the memory link is unplugged")
        return self._link


def _fill(queue: bytearray, data: bytes | bytearray | memoryview, capacity: int) -> int:
    taken = min(len(data), capacity - len(queue))
    queue += data[:taken]
    return taken


def _drain(queue: bytearray) -> bytes:
    data = bytes(queue)
    queue.clear()
    return data
