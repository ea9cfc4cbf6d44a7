"""``--live``: a screen of figures instead of the status line."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from edgesvm.cli.status import StatusLine

if TYPE_CHECKING:
    from edgesvm.page.lookout import Shown

EVERY_S = 0.5
KEPT = 200  # messages
ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"  # the other screen, without a cursor
LEAVE = "\x1b[?25h\x1b[?1049l"
HOME, CLEAR_LINE, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class LiveScreen(StatusLine):
    """The status as a screen: drawn anew from its first line each time, in the size that the
    terminal has then. What is said in between is kept, and printed at the end.
    """

    def __init__(self) -> None:
        from edgesvm.page.screen import Screen

        super().__init__()
        self.lookout: Shown | None = None
        self._screen = Screen(ascii_only="utf" not in (sys.stderr.encoding or "").lower())
        self._said: deque[str] = deque(maxlen=KEPT)
        self._is_on = False
        self._drawn_for = (0, 0)

    def show(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        size = _size()
        if self.lookout is None or (now < self._next and size == self._drawn_for):
            return
        self._next, self._drawn_for = now + EVERY_S, size
        columns, rows = size
        # A full line would leave the cursor on its last character, which is cleared then.
        lines = self._screen.lines(self.lookout.status(), columns - 1, rows, self._said)
        begin = "" if self._is_on else ENTER
        self._is_on = True
        self._write(begin + HOME + (CLEAR_LINE + "\r\n").join(lines) + CLEAR_LINE + CLEAR_BELOW)

    def say(self, text: str) -> None:
        if self._is_on:
            self._note(text)
        else:
            super().say(text)

    def event(self, line: str) -> None:
        if not self._is_on:
            super().event(line)
        elif sys.stdout.isatty():
            self._note(line)
        else:
            print(line, flush=True)

    def _note(self, line: str) -> None:
        """Show it at once: the program may be about to wait for its port."""
        self._said.append(line)
        self._drawn_for = (0, 0)
        self.show(str)

    def end(self) -> None:
        """Give the terminal back, with all that was said on it."""
        if not self._is_on:
            return super().end()
        self._is_on = False
        self.lookout = None
        self._write(LEAVE + "".join(line + "\n" for line in self._said))
        self._said.clear()


def _size() -> tuple[int, int]:
    """Columns and rows of the terminal now."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except OSError:
        return 80, 24
    return max(size.columns, 2), max(size.lines, 1)
