"""Commands to a node: one pending at a time, sent again until it is acknowledged."""

from __future__ import annotations

from edgesvm.link import wire

RETRY_AFTER = 0.2  # seconds
RETRIES = 3

COUNTERS = ("commands", "command_retries", "command_done", "command_refused", "command_lost")


class Commands:
    """The pending command, and what became of earlier ones.

    Attributes
    ----------
    commands, command_retries : int
        Commands accepted for sending; repeated transmissions.
    command_done, command_refused, command_lost : int
        Commands acknowledged with status 0; with another status; not within 0.8 s.
    acks, ack_stray : int
        All ACK frames; those that do not match the pending command.
    last_ack : Ack or None
        The last one that matched a command.
    """

    def __init__(self) -> None:
        self.commands = self.command_retries = 0
        self.command_done = self.command_refused = self.command_lost = 0
        self.acks = self.ack_stray = 0
        self.last_ack: wire.Ack | None = None
        self._pending: wire.Command | None = None
        self._sent = 0
        self._next = 0.0

    @property
    def pending(self) -> bool:
        """Is a command waiting for its acknowledgement?"""
        return self._pending is not None

    def ask(self, opcode: int, argument: bytes, now: float) -> int:
        """Accept a command and return its id; ValueError if it is invalid or one is pending."""
        if opcode not in wire.OPCODES:
            raise ValueError(f"opcode={opcode} must be one of {wire.OPCODES}")
        if self._pending is not None:
            raise ValueError(
                f"command {self._pending.command_id} has not been acknowledged yet; "
                "wait until pending is False"
            )
        # Ids run from 1 and wrap: never the id of the command before.
        self._pending = wire.Command(self.commands % 0xFFFF + 1, opcode, argument=bytes(argument))
        self.commands += 1
        self._sent = 0
        self._next = now
        return self._pending.command_id

    def due(self, now: float) -> bytes | None:
        """The body to send now, or None."""
        if self._pending is None or now < self._next:
            return None
        if self._sent > RETRIES:
            self.command_lost += 1
            self._pending = None
            return None
        self.command_retries += self._sent > 0
        self._sent += 1
        self._next = now + RETRY_AFTER
        return self._pending.pack()

    def on_ack(self, ack: wire.Ack) -> None:
        """Handle an ACK frame of the node."""
        self.acks += 1
        sent = self._pending
        if sent is None or (sent.command_id, sent.opcode) != (ack.command_id, ack.opcode):
            self.ack_stray += 1
            return
        self._pending = None
        self.last_ack = ack
        if ack.status == wire.DONE:
            self.command_done += 1
        else:
            self.command_refused += 1

    def counters(self) -> dict[str, int]:
        """All counts except `acks`, by name."""
        return {name: getattr(self, name) for name in (*COUNTERS, "ack_stray")}
