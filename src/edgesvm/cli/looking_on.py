"""Those who look on while a command serves a port: a page, a screen, or nobody."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from edgesvm.cli import http_options
from edgesvm.cli.live import LiveScreen
from edgesvm.cli.status import StatusLine

if TYPE_CHECKING:
    from edgesvm.page.lookout import Lookout


def add_to(command: argparse.ArgumentParser) -> None:
    """Add the options of page and screen."""
    http_options.add_to(command)
    command.add_argument(
        "--live", action="store_true", help="fill the terminal with figures, not one line of it"
    )


@contextmanager
def at(
    options: argparse.Namespace, lookout: Callable[[], Lookout], status: StatusLine
) -> Iterator[Callable[[], None]]:
    """Serve the page and show the screen within this context, if they are asked for. Yields what is
    to be called between two steps."""
    if options.http is None and not isinstance(status, LiveScreen):
        yield lambda: None
        return
    seen = lookout()
    if isinstance(status, LiveScreen):
        status.lookout = seen
    if options.http is None:
        yield seen.tick
        return
    with http_options.serving(options, seen, status) as desk:

        def turn() -> None:
            seen.tick()
            desk.turn()

        yield turn
