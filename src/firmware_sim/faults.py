"""Faults on the wire, seeded and entered in a ledger, so that a host's counts can be checked.

A fault is a function of one frame: it gets the frame's bytes without the delimiter and gives back
the pieces that go on the wire in its place. `FAULTS` names them; a new kind is one more function
there. A frame suffers at most one fault, so that none hides another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TextIO

import numpy as np

from edgesvm.ingest.wire import SAMPLE_F32, SAMPLE_I16


@dataclass(frozen=True)
class Unplug:
    """The cable is pulled at this point of the byte stream.

    The bytes before it are given up to ``settle_s`` seconds to be read, so that what is lost is
    what the ledger says; then the link is away for ``seconds``.
    """

    seconds: float = 0.2
    settle_s: float = 2.0


Piece = bytes | Unplug


@dataclass(frozen=True)
class Entry:
    """One injected fault.

    ``frame`` counts the non-empty frames (or lines) before it; ``offset`` is the byte of the
    undamaged stream where the fault begins; ``frame_type`` is the type byte of the frame, 0 for a
    text line; ``size`` the number of bytes flipped, lost or added.
    """

    index: int
    kind: str
    frame: int
    offset: int
    frame_type: int
    size: int


class Ledger:
    """The injected faults in order; grows by one `Entry` a fault."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def counts(self) -> dict[str, int]:
        """Number of faults by kind."""
        return dict(Counter(entry.kind for entry in self.entries))

    @property
    def frames_lost(self) -> int:
        """Frames that never arrive whole."""
        return sum(FAULTS[entry.kind].loses_frame for entry in self.entries)

    @property
    def bad_frames(self) -> int:
        """Runs of bytes between delimiters that a receiver must refuse, if it saw all of them.

        A frame cut by unplugging is not among them: it has no closing delimiter.
        """
        return sum(FAULTS[entry.kind].makes_bad for entry in self.entries)

    def write(self, file: TextIO) -> None:
        """One JSON object a line."""
        for entry in self.entries:
            file.write(json.dumps(asdict(entry)) + "\n")


Hit = tuple[list[Piece], int, int]
"""Pieces that replace the frame, offset of the fault in the frame, size in bytes."""


def _flip(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    # A flip that made a delimiter would be two faults in one: it is left to a kind of its own.
    while True:
        at, bit = int(rng.integers(len(frame))), 1 << int(rng.integers(8))
        if frame[at] ^ bit != delimiter:
            break
    damaged = bytearray(frame)
    damaged[at] ^= bit
    return [bytes(damaged) + bytes([delimiter])], at, 1


def _drop(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    at = int(rng.integers(len(frame)))
    return [frame[:at] + frame[at + 1 :] + bytes([delimiter])], at, 1


def _insert(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    size = int(rng.integers(1, 17))
    garbage = bytes((delimiter + 1 + rng.integers(0, 255, size)).astype(np.uint8))
    # Noise on an idle line, and a sender that puts a delimiter first: the frame itself is whole.
    return [garbage + bytes([delimiter]) + frame + bytes([delimiter])], 0, size


def _truncate(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    keep = int(rng.integers(1, max(2, len(frame))))
    return [frame[:keep] + bytes([delimiter])], keep, len(frame) - keep


def _lose(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    return [], 0, len(frame)


def _duplicate(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    whole = frame + bytes([delimiter])
    return [whole + whole], len(frame), len(whole)


def _disconnect(frame: bytes, delimiter: int, rng: np.random.Generator) -> Hit:
    at = int(rng.integers(len(frame)))
    return [frame[:at], Unplug()], at, len(frame) - at


@dataclass(frozen=True)
class Fault:
    """A kind of fault: what it does to a frame, and what a receiver can see of it."""

    apply: Callable[[bytes, int, np.random.Generator], Hit]
    loses_frame: bool
    makes_bad: bool
    summary: str


FAULTS: dict[str, Fault] = {
    "flip": Fault(_flip, True, True, "one bit flipped, no delimiter made or destroyed"),
    "drop": Fault(_drop, True, True, "one byte lost"),
    "insert": Fault(_insert, False, True, "1 to 16 bytes of garbage between two frames"),
    "truncate": Fault(_truncate, True, True, "the end of the frame missing, the delimiter there"),
    "lose": Fault(_lose, True, False, "the whole frame missing"),
    "duplicate": Fault(_duplicate, False, False, "the whole frame sent twice"),
    "disconnect": Fault(_disconnect, True, False, "the link unplugged at any byte of the frame"),
}

# Chance per frame of each kind. "field": about 1 % of frames lost, as on a long cable beside a
# motor.
MIXES: dict[str, dict[str, float]] = {
    "none": {},
    "field": {
        "flip": 0.005,
        "drop": 0.003,
        "truncate": 0.002,
        "insert": 0.002,
        "duplicate": 0.001,
        "disconnect": 5e-6,
    },
    "noisy": {"flip": 0.05, "drop": 0.02, "truncate": 0.01, "insert": 0.02, "duplicate": 0.01},
    "loose-plug": {"disconnect": 0.001},
}


def fault_rates(mix: str = "none", extra: Iterable[str] = ()) -> dict[str, float]:
    """The rates of a named mix, with ``kind=rate`` settings put over them.

    Raises
    ------
    ValueError
        Unknown mix or kind, or a rate that is no number from 0 to 1.
    """
    if mix not in MIXES:
        raise ValueError(f"no fault mix {mix!r}; there are {', '.join(MIXES)}")
    rates = dict(MIXES[mix])
    for setting in extra:
        kind, _, value = setting.partition("=")
        try:
            rates[kind] = float(value)
        except ValueError:
            raise ValueError(f"fault {setting!r} must be kind=rate, as in flip=0.01") from None
    return rates


class FaultInjector:
    """Damages a byte stream frame by frame.

    Parameters
    ----------
    rates : mapping of str to float
        Chance per frame, by kind.
    seed : int
        The same seed, rates and frames give the same faults, however the bytes are cut.
    delimiter : int
        0x00 for frames, 0x0A for text lines.
    only_samples : bool
        Leave frames other than samples alone (default), so that what is counted is not blurred by a
        repeated handshake. No meaning for text.

    Raises
    ------
    ValueError
        Unknown kind; a rate below 0; rates that add up to more than 1.
    """

    def __init__(
        self,
        rates: Mapping[str, float],
        *,
        seed: int = 0,
        delimiter: int = 0,
        only_samples: bool = True,
    ) -> None:
        unknown = set(rates) - set(FAULTS)
        if unknown:
            raise ValueError(f"no fault {sorted(unknown)[0]!r}; there are {', '.join(FAULTS)}")
        if not all(0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1:
            raise ValueError(f"fault rates must be from 0 to 1 and add up to at most 1: {rates}")
        self.ledger = Ledger()
        self.frames = 0
        self._kinds = list(rates)
        self._edges = np.cumsum([rates[kind] for kind in self._kinds]).tolist()
        self._rng = np.random.default_rng(seed)
        self._delimiter = delimiter
        self._only_samples = only_samples and delimiter == 0
        self._partial = b""
        self._offset = 0  # of the partial frame, in the undamaged stream
        self.may_unplug = rates.get("disconnect", 0.0) > 0

    def feed(self, data: bytes) -> list[Piece]:
        """The next bytes of the stream, damaged; an unfinished frame waits for its end."""
        *frames, self._partial = (self._partial + data).split(bytes([self._delimiter]))
        pieces: list[Piece] = []
        for frame in frames:
            pieces += self._pass(frame)
            self._offset += len(frame) + 1
        return pieces

    def _pass(self, frame: bytes) -> list[Piece]:
        whole: list[Piece] = [frame + bytes([self._delimiter])]
        if not frame:
            return whole
        self.frames += 1
        # COBS leaves the type where it was, after one code byte, as no type is 0.
        frame_type = frame[1] if self._delimiter == 0 and len(frame) > 1 else 0
        if self._only_samples and frame_type not in (SAMPLE_F32, SAMPLE_I16):
            return whole
        draw = self._rng.random()
        kind = next((k for k, e in zip(self._kinds, self._edges, strict=True) if draw < e), None)
        if kind is None:
            return whole
        pieces, at, size = FAULTS[kind].apply(frame, self._delimiter, self._rng)
        self.ledger.entries.append(
            Entry(len(self.ledger), kind, self.frames - 1, self._offset + at, frame_type, size)
        )
        return pieces
