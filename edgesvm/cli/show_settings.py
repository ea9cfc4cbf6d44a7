"""What is shown while a command serves ports: a status line, and a page in the browser."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from edgesvm.cli.options import option
from edgesvm.serve.process import StatusLine

if TYPE_CHECKING:
    from edgesvm.serve.page.view import Shown

LOCAL = "127.0.0.1"
LEAST_TOKEN = 16  # characters


def address(text: str) -> tuple[str, int]:
    """``8080``, ``HOST:8080`` or ``[::1]:8080``; port 0 takes a free one."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else LOCAL
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > 0xFFFF:
        raise ValueError(f"{text}: give a port, such as 8080, or HOST:PORT")
    return host, int(port)


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What is said while a command serves ports, and how it reports at the end."""

    TITLE: ClassVar[str] = "what is shown"

    json: bool = option(False, "print one JSON line to stdout at the end")
    quiet: bool = option(False, "no status line")

    http: tuple[str, int] | None = None  # of commands that have a page
    http_token_file: str | None = None

    @contextmanager
    def at(
        self, views: Mapping[str, Callable[[], Shown]], status: StatusLine
    ) -> Iterator[dict[str, Callable[[], None]]]:
        """Serve the page within this context, if it is asked for, and say where. `views` makes what
        is shown of a port, by its name; yields, by the same names, what is to be called between two
        steps. Raises OSError if it cannot be served there, or for the token's file."""
        if self.http is None:
            yield {}
            return
        from edgesvm.serve.page.controls import Controls
        from edgesvm.serve.page.server import PageServer  # threads and sockets for those who ask

        host, port = self.http
        token = _new_token() if self.http_token_file is None else _token(self.http_token_file)
        controls = {name: Controls(make()) for name, make in views.items()}
        try:
            server = PageServer(host, port, controls, token)
        except OSError as error:
            raise OSError(
                f"the page cannot be served at {host}, port {port}: {error.strerror or error}"
            ) from error
        where = f"page: {server.url}"
        if self.http_token_file is None and any(one.view.teaching for one in controls.values()):
            where += f"#{token} (up to # without the right to give labels)"
        if self.quiet:  # once: nothing else says it
            with suppress(OSError):
                print(where, file=sys.stderr, flush=True)
        else:
            status.say(where)
        try:
            yield {name: one.turn for name, one in controls.items()}
        finally:
            for one in controls.values():
                one.requests.close()
            server.close()


@dataclass(frozen=True, kw_only=True)
class PageSettings(ReportSettings):
    """And the page."""

    http: tuple[str, int] | None = option(
        None, "a page, /metrics and /status.json at this port", unit="[HOST:]PORT", check=address
    )


@dataclass(frozen=True, kw_only=True)
class TeachingSettings(PageSettings):
    """And who may give labels there."""

    http_token_file: str | None = option(None, "token for giving labels on the page", unit="FILE")


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
    if mode & 0o077:
        raise PermissionError(
            f"{path}: others may read or write this token (mode {mode:03o}); "
            "make it yours alone: chmod 600"
        )
    with open(path, encoding="utf-8") as file:
        token = file.read().strip()
    if not (token.isascii() and token.isprintable() and len(token) >= LEAST_TOKEN):
        raise OSError(f"{path} is not a token: give a line of {LEAST_TOKEN} or more characters")
    return token
