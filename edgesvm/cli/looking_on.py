"""Those who look on while a command serves ports: a page in the browser, a screen, or nobody."""

from __future__ import annotations

import argparse
import functools
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edgesvm.cli.live import LiveScreen
from edgesvm.cli.status import StatusLine

if TYPE_CHECKING:
    from edgesvm.page.lookout import Shown
    from edgesvm.page.server import Desk

LOCAL = "127.0.0.1"
LEAST_TOKEN = 16  # characters


def add_to(group: argparse._ActionsContainer) -> None:
    """Add the options of page and screen."""
    group.add_argument(
        "--http",
        type=address,
        metavar="[HOST:]PORT",
        help="a page, /metrics and /status.json at this port",
    )
    group.add_argument(
        "--http-token-file", metavar="FILE", help="token for giving labels on the page"
    )
    group.add_argument("--live", action="store_true", help="fill the terminal with figures")


def address(text: str) -> tuple[str, int]:
    """``8080``, ``HOST:8080`` or ``[::1]:8080``; port 0 takes a free one."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else LOCAL
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > 0xFFFF:
        raise argparse.ArgumentTypeError(f"{text}: give a port, such as 8080, or HOST:PORT")
    return host, int(port)


@dataclass(frozen=True)
class ShowSettings:
    """What is shown while a command serves ports, and how it reports at the end."""

    json: bool = False
    quiet: bool = False
    live: bool = False
    http: tuple[str, int] | None = None
    http_token_file: str | None = None

    def status_line(self) -> StatusLine:
        """The screen if it is asked for and there is a terminal, else the line."""
        if self.live and not self.quiet and sys.stderr.isatty():
            return LiveScreen()
        return StatusLine(quiet=self.quiet)

    def report(self, summary: dict[str, Any], lines: Iterable[str], status: StatusLine) -> None:
        """Print the summary as a JSON line, or say the lines."""
        if self.json:
            import json

            print(json.dumps(summary), flush=True)
        else:
            for line in lines:
                status.say(line)

    @contextmanager
    def at(
        self, lookouts: Mapping[str, Callable[[], Shown]], status: StatusLine
    ) -> Iterator[dict[str, Callable[[], None]]]:
        """Serve the page and show the screen within this context, if they are asked for.

        Parameters
        ----------
        lookouts : mapping of str to callable
            Makes what is shown of a port, by its name.
        status : StatusLine

        Yields
        ------
        dict of str to callable
            By the same names, what is to be called between two steps; empty if nobody looks on.

        Raises
        ------
        OSError
            The port of the page is taken, the address is none of this machine's, or the token's
            file is not as it must be.
        """
        if self.http is None and not isinstance(status, LiveScreen):
            yield {}
            return
        seen = {name: make() for name, make in lookouts.items()}
        if isinstance(status, LiveScreen):
            (status.lookout,) = seen.values()  # --live is for one port
        if self.http is None:
            yield {name: one.tick for name, one in seen.items()}
            return
        with self._page(seen, status) as desks:
            yield {name: functools.partial(_turn, desk) for name, desk in desks.items()}

    @contextmanager
    def _page(self, lookouts: Mapping[str, Shown], status: StatusLine) -> Iterator[dict[str, Desk]]:
        """Serve the page within this context, and say where."""
        from edgesvm.page.server import Desk, PageServer  # threads and sockets for those who ask

        assert self.http is not None
        host, port = self.http
        token = _new_token() if self.http_token_file is None else _token(self.http_token_file)
        try:
            desks = {name: Desk(lookout) for name, lookout in lookouts.items()}
            server = PageServer(host, port, desks, token)
        except OSError as error:
            raise OSError(
                f"the page cannot be served at {host}, port {port}: {error.strerror or error}"
            ) from error
        where = f"page: {server.url}"
        teaches = any(lookout.teaching is not None for lookout in lookouts.values())
        if self.http_token_file is None and teaches:
            where += f"#{token} (up to # without the right to give labels)"
        if self.quiet:  # once: nothing else says it
            with suppress(OSError):
                print(where, file=sys.stderr, flush=True)
        else:
            status.say(where)
        try:
            yield desks
        finally:
            for desk in desks.values():
                desk.errands.close()
            server.close()


def _turn(desk: Desk) -> None:
    desk.lookout.tick()
    desk.turn()


def _new_token() -> str:
    import secrets  # loads OpenSSL: 3.5 MiB

    return secrets.token_urlsafe(16)


def _token(path: str) -> str:
    """The token in a file, or a new one, written there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_token(path)
    token = _new_token()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _read_token(path: str) -> str:
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if os.name == "posix" and mode & 0o077:
        raise PermissionError(
            f"{path}: others may read or write this token (mode {mode:03o}); "
            "make it yours alone: chmod 600"
        )
    with open(path, encoding="utf-8") as file:
        token = file.read().strip()
    if not (token.isascii() and token.isprintable() and len(token) >= LEAST_TOKEN):
        raise OSError(f"{path} is not a token: give a line of {LEAST_TOKEN} or more characters")
    return token
