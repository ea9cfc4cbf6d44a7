"""Tells systemd how the process is: ready, alive, stopping (sd_notify(3), without its library)."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping

STATUS_EVERY_S = 10.0


class Service:
    """Messages to the service manager; without one, nothing is sent.

    Parameters
    ----------
    environment : mapping of str to str
        NOTIFY_SOCKET, the address of the manager's socket; WATCHDOG_USEC and WATCHDOG_PID, within
        how many microseconds that process must show that it is alive.
    clock : callable
        Monotonic seconds.

    Attributes
    ----------
    lost : int
        Messages that could not be sent; the manager decides what that means.
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
