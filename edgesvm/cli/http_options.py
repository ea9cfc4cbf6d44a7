"""``--http``: a page to look at in a browser."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from edgesvm.cli.status import StatusLine

if TYPE_CHECKING:
    from edgesvm.page.lookout import Lookout
    from edgesvm.page.server import Desk

LOCAL = "127.0.0.1"
LEAST_TOKEN = 16  # characters


def add_to(command: argparse.ArgumentParser) -> None:
    """Add the options of the page."""
    command.add_argument(
        "--http",
        type=address,
        metavar="[HOST:]PORT",
        help="show a page in the browser, /metrics and /status.json at this port; on this machine "
        f"alone unless HOST says otherwise (0.0.0.0: anybody); default host {LOCAL}",
    )
    command.add_argument(
        "--http-token-file",
        metavar="FILE",
        help="the token that giving labels on the page needs; a new one is written there if there "
        "is no such file. Without it a token is drawn at each start and printed",
    )


def address(text: str) -> tuple[str, int]:
    """``8080``, ``HOST:8080`` or ``[::1]:8080``; port 0 takes a free one."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else LOCAL
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > 0xFFFF:
        raise argparse.ArgumentTypeError(f"{text}: give a port, such as 8080, or HOST:PORT")
    return host, int(port)


@contextmanager
def serving(
    options: argparse.Namespace, lookouts: Mapping[str, Lookout], status: StatusLine
) -> Iterator[dict[str, Desk]]:
    """Serve the page within this context, or those of several ports by their names, and say where.
    Yields the loop's ends of them.

    Raises
    ------
    OSError
        The port is taken, the address is none of this machine's, or the token's file is not as it
        must be.
    """
    from edgesvm.page.server import Desk, PageServer  # threads and sockets for those who ask

    host, port = options.http
    drawn = options.http_token_file is None
    token = _new_token() if drawn else _token(options.http_token_file)
    try:
        desks = {name: Desk(lookout) for name, lookout in lookouts.items()}
        server = PageServer(host, port, desks, token)
    except OSError as error:
        raise OSError(
            f"the page cannot be served at {host}, port {port}: {error.strerror or error}"
        ) from error
    where = f"page: {server.url}"
    status.say(f"{where}#{token} (up to # without the right to give labels)" if drawn else where)
    try:
        yield desks
    finally:
        for desk in desks.values():
            desk.errands.close()
        server.close()


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
