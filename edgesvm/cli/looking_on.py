"""Those who look on while a command serves a port: a page, a screen, or nobody."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from edgesvm.cli import http_options
from edgesvm.cli.live import LiveScreen
from edgesvm.cli.status import StatusLine

if TYPE_CHECKING:
    from edgesvm.cli.several_ports import Served
    from edgesvm.page.lookout import Lookout
    from edgesvm.page.server import Desk


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
    with http_options.serving(options, {"": seen}, status) as desks:
        yield functools.partial(_turn, desks[""])


@contextmanager
def at_each(
    options: argparse.Namespace, ports: Sequence[Served], status: StatusLine
) -> Iterator[None]:
    """Serve a page of each port within this context, if it is asked for."""
    if options.http is None:
        yield
        return
    from edgesvm.page.run_lookout import RunLookout

    lookouts = {port.name: RunLookout(port.runner) for port in ports}
    with http_options.serving(options, lookouts, status) as desks:
        for port in ports:
            port.look = functools.partial(_turn, desks[port.name])
        yield


def _turn(desk: Desk) -> None:
    desk.lookout.tick()
    desk.turn()
