"""Commands to a node: one under way at a time, sent again until it is acknowledged."""

from __future__ import annotations

from edgesvm.ingest import wire

RETRY_AFTER = 0.2  # seconds
RETRIES = 3

COUNTERS = ("commands", "command_retries", "command_done", "command_refused", "command_lost")


class Commands:
    """What was asked of the node, and what it said.

    Attributes
    ----------
    commands, command_retries : int
        Asked for; sent again.
    command_done, command_refused, command_lost : int
        Acknowledged with status 0; with another; not within 0.8 s.
    acks, ack_stray : int
        All ACK frames; those nobody waited for.
    last_ack : Ack or None
    """

    def __init__(self) -> None:
        self.commands = self.command_retries = 0
        self.command_done = self.command_refused = self.command_lost = 0
        self.acks = self.ack_stray = 0
        self.last_ack: wire.Ack | None = None
        self._asked: wire.Command | None = None
        self._sent = 0
        self._next = 0.0

    @property
    def pending(self) -> bool:
        """Is a command not answered yet?"""
        return self._asked is not None

    def ask(self, opcode: int, argument: bytes, now: float) -> int:
        """Take on a command; its id. ValueError where one is under way or this is none."""
        if opcode not in wire.OPCODES:
            raise ValueError(f"opcode={opcode} must be one of {wire.OPCODES}")
        if self._asked is not None:
            raise ValueError(f"command {self._asked.command_id} has not been acknowledged yet")
        # From 1, wrapping: never the id of the command before.
        self._asked = wire.Command(self.commands % 0xFFFF + 1, opcode, argument=bytes(argument))
        self.commands += 1
        self._sent = 0
        self._next = now
        return self._asked.command_id

    def due(self, now: float) -> bytes | None:
        """The body to be sent now, if any."""
        if self._asked is None or now < self._next:
            return None
        if self._sent > RETRIES:
            self.command_lost += 1
            self._asked = None
            return None
        self.command_retries += self._sent > 0
        self._sent += 1
        self._next = now + RETRY_AFTER
        return self._asked.pack()

    def on_ack(self, ack: wire.Ack) -> None:
        """The node answered."""
        self.acks += 1
        asked = self._asked
        if asked is None or (asked.command_id, asked.opcode) != (ack.command_id, ack.opcode):
            self.ack_stray += 1
            return
        self._asked = None
        self.last_ack = ack
        if ack.status == wire.DONE:
            self.command_done += 1
        else:
            self.command_refused += 1

    def counters(self) -> dict[str, int]:
        """All counts but `acks`, by name."""
        return {name: getattr(self, name) for name in (*COUNTERS, "ack_stray")}
