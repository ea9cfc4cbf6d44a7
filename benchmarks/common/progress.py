"""Live lines on stderr, so that stdout stays a report."""

from __future__ import annotations

import sys


def progress(text: str) -> None:
    """Replace the live line, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """A line that stays in a log, or the live line where somebody watches."""
    if sys.stderr.isatty():
        progress(text)
    else:
        print(text, file=sys.stderr, flush=True)
