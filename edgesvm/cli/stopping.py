"""On SIGTERM, SIGHUP and Ctrl-C a command finishes cleanly: it saves and prints its report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, signals) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
