"""What a sink is: a place that takes lines, and may refuse them, hang or be gone."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from edgesvm.link.freshness import Freshness


class Line(NamedTuple):
    """One answer on its way out, or a question to a person.

    port : the node's port; text : a JSON object, without the end of the line.
    """

    port: str
    text: str
    is_question: bool = False

    def encoded(self) -> bytes:
        return self.text.encode() + b"\n"


class Sink(ABC):
    """A place for lines. One thread uses it; each failure is an OSError.

    Attributes
    ----------
    name : str
        As the user gave it, without a password.
    heard : callable or None
        Is told what came back through the sink, if it can: the short name of the port, or None, and
        a text; it returns the answer to that. Set before `open`.
    samples : mapping of str to Freshness
        Whether samples come, by port, for a sink that tells it. Set before `open`.
    """

    name: str
    samples: Mapping[str, Freshness] = {}
    heard: Callable[[str | None, str], str] | None = None

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

    def counters(self) -> dict[str, int]:
        """Counters of this kind of sink alone."""
        return {}
