"""What a node says besides its samples: its log, and its reply to a command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from edgesvm.cli.status import StatusLine
from edgesvm.link import Link

if TYPE_CHECKING:
    from edgesvm.link.binary import BinaryLink


class NodeMessages:
    """Shows the node's log, at most 16 lines per second, and its reply to --set-rate."""

    def __init__(self, link: Link, status: StatusLine, rate: float | None = None) -> None:
        self._link = link
        self._status = status
        self._rate = rate
        self._next = time.monotonic()

    def show(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 1.0
            for line in self._link.take_logs():
                self._status.say(f"node: {line}")
        if self._rate is not None:  # a text link refuses the command
            self._show_reply(cast("BinaryLink", self._link))

    def _show_reply(self, link: BinaryLink) -> None:
        if link.commands.pending:
            return
        rate = f"{self._rate:g} samples per second"
        if link.commands.command_done:
            self._status.say(f"the node's rate is now {rate}")
        elif link.commands.command_refused:
            self._status.say(f"the node refused the rate {rate}")
        else:
            self._status.say(f"the node did not answer the request for {rate}")
        self._rate = None
