"""On SIGTERM and Ctrl-C a command finishes cleanly: it saves and prints its report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """A signal arrived while waiting for a port."""


class Signals:
    """Set by SIGTERM and SIGINT. In a wait for a port, where nothing is half done, they raise."""

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
    """Handle both signals within this context; yields the `Signals` that they set."""
    signals = Signals()
    before = {number: signal.signal(number, signals) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
