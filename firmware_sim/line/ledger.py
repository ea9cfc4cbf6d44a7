"""The ledger: every injected fault, and its effects on a receiver that sees all bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Entry:
    """One injected fault.

    ``frame`` counts the non-empty frames (or lines) before it; ``offset`` is the byte of the
    undamaged stream where the fault begins; ``frame_type`` is the type byte of the frame, 0 for a
    text line; ``size`` the number of bytes flipped, lost or added.

    Its effects on a receiver: ``lost`` frames that are not used, ``bad`` runs of bytes between
    delimiters that must be refused, ``copies`` of frames that had arrived, ``empties`` (delimiters
    after no bytes), ``discarded`` bytes before the first delimiter after a link is opened again,
    and ``resync`` bytes from the fault to the start of the next frame that is used.
    """

    index: int
    kind: str
    frame: int
    offset: int
    frame_type: int
    size: int
    lost: int = 0
    bad: int = 0
    copies: int = 0
    empties: int = 0
    discarded: int = 0
    resync: int = 0


UNSEEN = "lost at a restart"


class Ledger:
    """The injected faults in order; grows by one `Entry` per fault.

    Attributes
    ----------
    entries : list of Entry
    spared : dict of int to str
        Sample frames with a device fault, by ordinal, and its kind; they get no fault on the line.
    unnumbered : set of int
        Those of them whose number a host must not count as seen.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.spared: dict[int, str] = {}
        self.unnumbered: set[int] = set()
        self._spared_at: dict[int, int] = {}  # index of the entry, by ordinal

    def __len__(self) -> int:
        return len(self.entries)

    def enter(self, entry: Entry) -> None:
        self.entries.append(entry)

    def spare(self, ordinal: int, kind: str, *, numbered: bool = True) -> None:
        """Enter a sample frame that is about to be sent with a device fault."""
        self.spared[ordinal] = kind
        if not numbered:
            self.unnumbered.add(ordinal)
        self._spared_at[ordinal] = len(self)
        self.enter(Entry(len(self), kind, ordinal, 0, 0, 0))

    def unsend(self, ordinal: int) -> None:
        """A sample frame was not sent after all; the next one gets its ordinal."""
        self.spared.pop(ordinal, None)
        self.unnumbered.discard(ordinal)
        self.dies(ordinal)

    def dies(self, ordinal: int) -> None:
        """A sample frame is lost in a reboot; its device fault cannot be observed."""
        index = self._spared_at.pop(ordinal, None)
        if index is not None:
            entry = self.entries[index]
            self.entries[index] = replace(entry, kind=f"{entry.kind} {UNSEEN}")

    def counts(self) -> dict[str, int]:
        """Number of faults by kind."""
        return dict(Counter(entry.kind for entry in self.entries))

    def total(self, effect: str, kinds: tuple[str, ...] | None = None) -> int:
        """Sum of an effect over all entries, or over those of some kinds."""
        return sum(getattr(e, effect) for e in self.entries if kinds is None or e.kind in kinds)

    @property
    def frames_lost(self) -> int:
        """Frames that never arrive whole, or arrive too late to be used."""
        return self.total("lost")

    @property
    def bad_frames(self) -> int:
        """Runs of bytes between delimiters that a receiver must refuse, if it saw all of them.

        A frame truncated by unplugging is not counted: it has no closing delimiter.
        """
        return self.total("bad")
