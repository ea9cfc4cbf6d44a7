"""SIGTERM and Ctrl-C end a command in its own time: with what it has to write, and its report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """A signal came while waiting for a port."""


class Signals:
    """Set by SIGTERM and SIGINT. While waiting for a port they raise, since nothing is half done
    then.
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
        """Within, a signal raises `Stop`; so does one that came before."""
        self._waiting = True
        try:
            if self.stopping:
                raise Stop
            yield
        finally:
            self._waiting = False


@contextmanager
def stop_signals() -> Iterator[Signals]:
    """Signals are entered in what this yields, until its end."""
    signals = Signals()
    before = {number: signal.signal(number, signals) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
