"""What a sink is: a place that takes lines, and may refuse them, hang or be gone."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from edgesvm.link.freshness import Freshness


class Line(NamedTuple):
    """One answer on its way out: the node's port, and a JSON object without the end of the line."""

    port: str
    text: str


class Sink(ABC):
    """A place for lines. One thread uses it; an exception is a failure.

    name : as the user gave it, without a password; ids : what no other sink may write to; samples :
    whether samples come, by port, for a sink that tells it
    """

    name: str
    ids: Sequence[str] = ()
    samples: Mapping[str, Freshness] = {}

    @abstractmethod
    def open(self) -> None:
        """Make it ready, again after each failure. `close` follows, whatever happens."""

    @abstractmethod
    def send(self, lines: list[Line]) -> int:
        """Pass on lines, waiting a second at most. Returns how many, from the first on, are
        delivered."""

    def turn(self, seconds: float) -> None:
        """Wait so long, and do meanwhile what must be done without lines."""
        time.sleep(seconds)

    @abstractmethod
    def close(self, seconds: float) -> None:
        """Pass on what was taken, let go of everything, within so many seconds."""


def slug(text: str) -> str:
    """A name of letters, digits, - and _."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_")


def port_name(port: str) -> str:
    """A short name of a port, for a file or a topic.

    Examples
    --------
    >>> port_name("/dev/ttyUSB0"), port_name("socket://10.0.0.7:4000")
    ('ttyUSB0', '10_0_0_7_4000')
    """
    return slug(port.rpartition("://")[2].removeprefix("/dev/"))
