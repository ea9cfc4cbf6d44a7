"""What a receiver makes of damaged frames: the effects that the ledger enters."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_sim.line.faults import Piece, Unplug


class Outcome:
    """What a receiver makes of the pieces, if it sees all of them.

    A run that equals one of the frames arrives; one that has arrived before is a copy; any other
    must be refused. Behind an unplugging a receiver discards up to the first delimiter.
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
        start, sound_from = 0, -1  # where a run begins; and the first sound one behind the fault
        for run in stream.split(end)[:-1]:
            sound = run in waiting or run in seen
            if sound and start >= at and sound_from < 0:
                sound_from = start
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
        self.resync = (start if sound_from < 0 else sound_from) - at if self.bad else 0

    def effects(self) -> dict[str, int]:
        return {
            "lost": self.n_frames - len(self.arrived),
            "bad": self.bad,
            "copies": self.copies,
            "empties": self.empties,
            "discarded": self.discarded,
            "resync": max(0, self.resync),
        }
