"""A sensor that stops, and comes again: what the terminal and `/healthz` say."""

from __future__ import annotations

import random
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from tools.first_hour.played import on_a_port

STALE = "2"


def _ask(port: int, path: str) -> str:
    """Status and text of an answer of the page."""
    url = f"http://127.0.0.1:{port}/{path}"
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"
    except urllib.error.URLError as error:  # not yet there
        return str(error)


def _stops(port: int, asked: list[str], rows: int = 400) -> Iterator[str]:
    """Rows of two features and a label; then none until the page says so; then some more."""
    draw = random.Random(0)

    def row(i: int) -> str:
        return f"{draw.gauss(i % 2, 0.3):.3f},{draw.gauss(0, 0.3):.3f},{i % 2}"

    while not _ask(port, "healthz").startswith("200"):
        yield from map(row, range(rows))
    yield from map(row, range(rows))
    asked.append(_ask(port, "healthz"))
    until = time.monotonic() + 30
    while not asked[-1].startswith("503") and time.monotonic() < until:
        time.sleep(0.5)
        asked[-1] = _ask(port, "healthz")
    time.sleep(3)  # the outputs are told too
    yield from map(row, range(rows))
    asked.append(_ask(port, "healthz"))


def _stopped(*words: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    asked: list[str] = []
    words = (*words, "--text", "--stale", STALE, "--http", str(port))
    shown = on_a_port(
        words[0],
        "PORT",
        *words[1:],
        lines=_stops(port, asked),
        until=lambda shown: len(asked) == 2 and " again" in shown,
        at_most=60,
    )
    return shown + "".join(f"/healthz: {answer.strip()}\n" for answer in asked)


def run_whose_sensor_stops() -> str:
    """`run` on a sensor that stops for more than --stale, and comes again."""
    return _stopped("run")


def watch_whose_sensor_stops() -> str:
    """`watch` of the same: an alarm of its own kind, and its end."""
    return _stopped("watch", "--learn", "200", "--alarm-rate", "1e-6")
