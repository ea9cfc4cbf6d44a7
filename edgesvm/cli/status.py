"""A status line: live on a terminal, otherwise a line now and then."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

LIVE_EVERY_S = 0.2
LOG_EVERY_S = 10.0
CLEAR = "\r\x1b[K"


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


def lost_lines(n_lost: int) -> str:
    """A line of a report about lines of the log that could not be written."""
    return f"{n_lost:,} lines of this log could not be written"


def _columns() -> int:
    """Current width of the terminal, which may be resized at any time."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
