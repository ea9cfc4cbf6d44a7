"""The effects of damaged frames on a receiver, for the ledger."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_sim.line.faults import Piece, Unplug


class Outcome:
    """The effects of the pieces on a receiver that sees all of them.

    A run that equals one of the frames arrives; one that has arrived before is a copy; any other
    must be refused. After an unplugging a receiver discards bytes up to the first delimiter.
    """

    def __init__(
        self,
        frames: list[tuple[bytes, int]],
        pieces: list[Piece],
        recent: Iterable[bytes],
        end: bytes,
        at: int,
    ) -> None:
        self.n_frames = len(frames)
        self.arrived: list[tuple[bytes, int]] = []
        self.bad = self.copies = self.empties = self.discarded = 0
        waiting = {frame: ordinal for frame, ordinal in frames}
        seen = set(recent)
        stream = b""
        for piece in pieces:
            if isinstance(piece, Unplug):
                *runs, cut = stream.split(end)
                self.discarded += len(cut)
                torn, *stale = piece.stale.split(end)
                self.discarded += len(torn)
                stream = b"".join(run + end for run in [*runs, *stale[:-1]])
            else:
                stream += piece
        start, valid_from = 0, -1  # start of a run; start of the first valid run after the fault
        for run in stream.split(end)[:-1]:
            valid = run in waiting or run in seen
            if valid and start >= at and valid_from < 0:
                valid_from = start
            if not run:
                self.empties += 1
            elif run in waiting:
                self.arrived.append((run, waiting.pop(run)))
                seen.add(run)
            elif run in seen:
                self.copies += 1
            else:
                self.bad += 1
            start += len(run) + 1
        self.resync = (start if valid_from < 0 else valid_from) - at if self.bad else 0

    def effects(self) -> dict[str, int]:
        return {
            "lost": self.n_frames - len(self.arrived),
            "bad": self.bad,
            "copies": self.copies,
            "empties": self.empties,
            "discarded": self.discarded,
            "resync": max(0, self.resync),
        }
