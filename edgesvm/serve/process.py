"""What a long-running process owes its surroundings: a status line, a clean end at a signal, word
to systemd, and no growth.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

SMALL = 400  # bytes of a block from CPython's own allocator
LARGE = 16 * 1024  # bytes of a block from the C library
ARENA = 1 << 20
HEAP = 256 * 1024
LIVE_EVERY_S = 0.2
LOG_EVERY_S = 10.0
CLEAR = "\r\x1b[K"
STATUS_EVERY_S = 10.0


class StatusLine:
    """Shows ``text()`` on stderr: in place on a terminal, else as a line every 10 s.

    A line that cannot be written (the disk is full, the reader is gone) is counted in `lost` and
    raises nothing: the program's work goes on.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.lost = 0
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._every = LIVE_EVERY_S if self._live else LOG_EVERY_S
        self._next = time.monotonic() + (0.0 if self._live else LOG_EVERY_S)

    def show(self, text: Callable[[], str]) -> None:
        """Show it if it is due, truncated to the terminal: a wrapped line cannot be rewritten."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + self._every
        self._write(CLEAR + text()[: _columns() - 1] if self._live else text() + "\n")

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if not self._quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Print a line that stays, of a failure: also where all else is quiet."""
        self._write((CLEAR if self._live else "") + text + "\n")

    def event(self, line: str) -> None:
        """Print a line of results to stdout, which stays."""
        self.end()
        print(line, flush=True)

    def end(self) -> None:
        """Clear the live line."""
        if self._live and not self._quiet:
            self._write(CLEAR)

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self.lost += 1


def _columns() -> int:
    """Current width of the terminal, which may be resized at any time."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80


class Stop(Exception):
    """A signal arrived while waiting for a port."""


class Signals:
    """Set by SIGTERM, SIGHUP and SIGINT. In a wait for a port, where nothing is half done, a signal
    raises `Stop`.
    """

    def __init__(self) -> None:
        self.stopping = False
        self._waiting = False

    def __call__(self, *_: object) -> None:
        self.stopping = True
        if self._waiting:
            raise Stop

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A context in which a signal raises `Stop`; so does an earlier one, on entry."""
        self._waiting = True
        try:
            if self.stopping:
                raise Stop
            yield
        finally:
            self._waiting = False


@contextmanager
def stop_signals() -> Iterator[Signals]:
    """Handle the signals within this context; yields the `Signals` that they set."""
    signals = Signals()
    numbers = [signal.SIGTERM, signal.SIGINT]
    # Under nohup, losing the terminal is not a reason to stop.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, signals) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Service:
    """Messages to the service manager; without one, nothing is sent.

    The environment has NOTIFY_SOCKET, the address of the manager's socket, and WATCHDOG_USEC and
    WATCHDOG_PID, within how many microseconds that process must show that it is alive. `lost`
    counts messages that could not be sent; the manager decides what that means.
    """

    def __init__(
        self,
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lost = 0
        self._address = environment.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]  # an abstract socket
        usec = environment.get("WATCHDOG_USEC", "")
        ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._watched = ours and usec.isdecimal() and int(usec) > 0
        # Half the time, as sd_watchdog_enabled(3) advises.
        self._every = int(usec) / 2e6 if self._watched else STATUS_EVERY_S
        self._clock = clock
        self._next = clock()

    def ready(self) -> None:
        """The service has started."""
        self._send("READY=1")

    def alive(self, status: Callable[[], str] | None = None) -> None:
        """The loop goes on; call this in each turn, it is sent at half the watchdog's time."""
        now = self._clock()
        if not self._address or now < self._next:
            return
        self._next = now + self._every
        lines = ["WATCHDOG=1"] if self._watched else []
        if status is not None:
            lines.append(f"STATUS={status()}")
        if lines:
            self._send("\n".join(lines))

    def stopping(self) -> None:
        """The service saves and ends."""
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(message.encode(), self._address)
        except OSError:
            self.lost += 1


def reserve() -> tuple[bytes, bytes]:
    """Fill arenas and part of the heap, then free all but the last block of each, so that a process
    does not grow as it learns.

    If CPython's arenas of 1 MiB, or the C library's steps of 128 KiB, happen to be full, one batch
    larger than those before makes the process take another, and under a tight limit that kills it.
    The memory before these two blocks stays mapped as long as the caller holds them.
    """
    # two arenas: one may be partly full already
    small = [bytes(SMALL) for _ in range(2 * ARENA // SMALL)]
    large = [bytes(LARGE) for _ in range(HEAP // LARGE)]
    return small[-1], large[-1]
