"""Faults on the wire, seeded and entered in a ledger, so that a host's counts can be checked.

A fault is a function of a stretch of the stream: it gets some whole frames and gives back the
pieces that go on the wire in their place. `FAULTS` names them; a new kind is one more function
there. A frame suffers at most one fault, so that none hides another. What a fault did (frames that
do not arrive, runs that must be refused, copies, empty frames) is not believed of its kind but read
off the pieces: they are cut at their delimiters and compared with the frames that went in.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgesvm.ingest.wire import SAMPLE_F32, SAMPLE_I16
from firmware_sim.ledger import Entry, Ledger

# Later than this many samples, one is behind the host's window of numbers.
WINDOW = 64
# One second of a line at 115200 baud.
SECOND_BYTES = 11520
OVERLONG_BYTES = 1 << 20


@dataclass(frozen=True)
class Unplug:
    """The cable is pulled at this point of the byte stream.

    The bytes before it are given up to ``settle_s`` seconds to be read, so that what is lost is
    what the ledger says; then the link is away for ``seconds``. When it comes back ``stale`` comes
    first, as from a buffer that outlived the cable, and with ``reboot`` the board has lost its
    power too.
    """

    seconds: float = 0.2
    settle_s: float = 2.0
    stale: bytes = b""
    reboot: bool = False


Piece = bytes | Unplug


@dataclass(frozen=True)
class Stretch:
    """Whole frames, each with its delimiter, that a fault may damage.

    ``first`` is the length of the first without delimiter: it is the one that is hit. ``recent``
    are frames that arrived whole not long ago.
    """

    data: bytes
    first: int
    delimiter: int
    recent: tuple[bytes, ...]

    @property
    def end(self) -> bytes:
        return bytes([self.delimiter])

    def garbage(self, n: int, rng: np.random.Generator) -> bytes:
        """n random bytes, none of them the delimiter."""
        return (self.delimiter + 1 + rng.integers(0, 255, n)).astype(np.uint8).tobytes()


Hit = tuple[list[Piece], int, int]
"""Pieces in place of the stretch, offset of the fault in it, size in bytes."""


def _flipped(s: Stretch, at: int, bit: int) -> Hit:
    damaged = bytearray(s.data)
    damaged[at] ^= bit
    return [bytes(damaged)], at, 1


def _flip(s: Stretch, rng: np.random.Generator) -> Hit | None:
    while True:
        at, bit = int(rng.integers(s.first)), 1 << int(rng.integers(8))
        if s.data[at] ^ bit != s.delimiter:
            return _flipped(s, at, bit)


def _split(s: Stretch, rng: np.random.Generator) -> Hit | None:
    near = [i for i in range(s.first) if (s.data[i] ^ s.delimiter).bit_count() == 1]
    if not near:
        return None
    at = near[int(rng.integers(len(near)))]
    return _flipped(s, at, s.data[at] ^ s.delimiter)


def _join(s: Stretch, rng: np.random.Generator) -> Hit | None:
    if len(s.data) == s.first + 1:  # nothing behind it to be joined to
        return None
    return _flipped(s, s.first, 1 << int(rng.integers(8)))


def _drop_bytes(n: int) -> Apply:
    def drop(s: Stretch, rng: np.random.Generator) -> Hit | None:
        at = int(rng.integers(s.first))
        gone = min(n, len(s.data) - 1 - at)  # the last delimiter stays
        return [s.data[:at] + s.data[at + gone :]], at, gone

    return drop


def _insert(s: Stretch, rng: np.random.Generator) -> Hit | None:
    garbage = s.garbage(int(rng.integers(1, 17)), rng)
    # Noise on an idle line, and a sender that puts a delimiter first: the frame itself is whole.
    return [garbage + s.end + s.data], 0, len(garbage)


def _glue(s: Stretch, rng: np.random.Generator) -> Hit | None:
    garbage = s.garbage(int(rng.integers(1, 17)), rng)
    return [garbage + s.data], 0, len(garbage)


def _noise(n: int) -> Apply:
    def noise(s: Stretch, rng: np.random.Generator) -> Hit | None:
        at = int(rng.integers(s.first))
        size = min(n, len(s.data) - 1 - at)
        static = rng.integers(0, 256, size).astype(np.uint8).tobytes()
        return [s.data[:at] + static + s.data[at + size :]], at, size

    return noise


def _truncate(s: Stretch, rng: np.random.Generator) -> Hit | None:
    keep = int(rng.integers(1, max(2, s.first)))
    return [s.data[:keep] + s.data[s.first :]], keep, s.first - keep


def _lose(s: Stretch, rng: np.random.Generator) -> Hit | None:
    return [s.data[s.first + 1 :]], 0, s.first


def _overlong(s: Stretch, rng: np.random.Generator) -> Hit | None:
    return [s.garbage(OVERLONG_BYTES, rng) + s.end + s.data], 0, OVERLONG_BYTES


def _empty(s: Stretch, rng: np.random.Generator) -> Hit | None:
    n = int(rng.integers(1, 65))
    return [s.end * n + s.data], 0, n


def _duplicate(s: Stretch, rng: np.random.Generator) -> Hit | None:
    whole = s.data[: s.first + 1]
    return [whole + s.data], s.first, len(whole)


def _disconnect(s: Stretch, rng: np.random.Generator) -> Hit | None:
    at = int(rng.integers(s.first + 1))
    return [s.data[:at], Unplug()], at, s.first - at


def _stale(s: Stretch, rng: np.random.Generator) -> Hit | None:
    if not s.recent:
        return None
    torn, *whole = s.recent
    stale = torn[int(rng.integers(1, len(torn))) :] + s.end
    stale += b"".join(frame + s.end for frame in whole)
    [cut, unplug], at, _ = _cut(s, rng)
    return [cut, replace(unplug, stale=stale)], at, len(stale)


def _reboot(s: Stretch, rng: np.random.Generator) -> Hit | None:
    [cut, unplug], at, size = _cut(s, rng)
    return [cut, replace(unplug, reboot=True)], at, size


def _cut(s: Stretch, rng: np.random.Generator) -> tuple[tuple[bytes, Unplug], int, int]:
    at = int(rng.integers(s.first + 1))
    return (s.data[:at], Unplug()), at, s.first - at


Apply = Callable[[Stretch, np.random.Generator], "Hit | None"]


@dataclass(frozen=True)
class Fault:
    """A kind of fault.

    ``apply`` gives None where this stretch cannot suffer it. ``reach`` is how many bytes behind the
    frame it may touch: so many are collected first. ``delay`` is, for one that does nothing to a
    frame but hold it back, the least and the most samples that overtake it.
    """

    summary: str
    apply: Apply | None = None
    reach: int = 0
    delay: tuple[int, int] | None = None


FAULTS: dict[str, Fault] = {
    "flip": Fault("one bit flipped, no delimiter made or destroyed", _flip),
    "split": Fault("one bit flipped that makes a delimiter", _split),
    "join": Fault("one bit flipped that destroys a delimiter", _join, reach=1),
    "drop": Fault("one byte lost", _drop_bytes(1)),
    "drop8": Fault("eight bytes lost, as by a UART's overrun FIFO", _drop_bytes(8), reach=8),
    "insert": Fault("1 to 16 bytes of garbage between two frames", _insert),
    "glue": Fault("1 to 16 bytes of garbage with no delimiter before the frame", _glue),
    "burst": Fault("16 bytes overwritten by noise", _noise(16), reach=16),
    "noise": Fault("a second of noise at 115200 baud", _noise(SECOND_BYTES), reach=SECOND_BYTES),
    "truncate": Fault("the end of the frame missing, the delimiter there", _truncate),
    "lose": Fault("the whole frame missing", _lose),
    "overlong": Fault("1 MiB without a delimiter between two frames", _overlong),
    "empty": Fault("1 to 64 delimiters with nothing between them", _empty),
    "duplicate": Fault("the whole frame sent twice", _duplicate),
    "reorder": Fault("the frame comes 1 to 48 samples late", delay=(1, 48)),
    "overdue": Fault("the frame comes so late that its number is forgotten", delay=(72, 200)),
    "disconnect": Fault("the link unplugged at any byte of the frame", _disconnect),
    "stale": Fault("unplugged, and old bytes come first when it is plugged in", _stale),
    "reboot": Fault("unplugged, and the board restarted", _reboot),
}

# Those that take the link away, and the least samples from one to the next.
UNPLUGGING = ("disconnect", "stale", "reboot")
UNPLUGGED_APART = 500

# Chance per frame of each kind. "field": about 1 % of frames lost, as on a long cable beside a
# motor.
MIXES: dict[str, dict[str, float]] = {
    "none": {},
    "field": {
        "flip": 0.004,
        "split": 0.0005,
        "join": 0.0005,
        "drop": 0.002,
        "drop8": 0.0005,
        "truncate": 0.001,
        "insert": 0.002,
        "glue": 0.0005,
        "burst": 0.0005,
        "empty": 0.0005,
        "duplicate": 0.001,
        "reorder": 0.001,
        "overdue": 0.0002,
        "disconnect": 5e-6,
    },
    "noisy": {"flip": 0.05, "drop": 0.02, "truncate": 0.01, "insert": 0.02, "duplicate": 0.01},
    "loose-plug": {"disconnect": 0.001},
    "loss": {"lose": 0.01},
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


class Gaps:
    """How many are spared before the next that is hit: geometric, which costs one draw a hit.

    Parameters
    ----------
    rates : mapping of str to float
        Chance of each kind; they add up to at most 1.
    """

    def __init__(self, rates: Mapping[str, float], rng: np.random.Generator) -> None:
        self._rng = rng
        self._total = sum(rates.values())
        self._kinds = [kind for kind, rate in rates.items() if rate > 0]
        self._edges = np.cumsum([rates[kind] for kind in self._kinds]).tolist()

    def next(self) -> int | None:
        """So many are spared; None: all."""
        if not self._kinds:
            return None
        return int(self._rng.geometric(min(1.0, self._total))) - 1

    def kind(self) -> str:
        """What the next one suffers."""
        draw = self._rng.random() * self._edges[-1]
        at = next((i for i, edge in enumerate(self._edges) if draw < edge), -1)
        return self._kinds[at]


def checked_rates(rates: Mapping[str, float], known: Iterable[str]) -> dict[str, float]:
    """The rates; ValueError for an unknown kind, one out of range, or a sum above 1."""
    names = list(known)
    unknown = [kind for kind in rates if kind not in names]
    if unknown:
        raise ValueError(f"no fault {unknown[0]!r}; there are {', '.join(names)}")
    if not all(0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1:
        raise ValueError(f"fault rates must be from 0 to 1 and add up to at most 1: {rates}")
    return dict(rates)


@dataclass
class _Held:
    """A sample frame held back: its number in the stream and what is still to overtake it."""

    frame: bytes
    ordinal: int
    number: int
    offset: int
    delay: int


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
        repeated handshake; of text, comments and late labels.

    Attributes
    ----------
    ledger : Ledger
        Others may write to it as well; sample frames it has spared are left alone.
    frames : int
        Frames (or lines) that came in and were not empty.
    samples : int
        Sample frames (or lines) among them: the ordinal of the next.
    arrived : array of unsigned int
        Ordinals of the sample frames that went out whole, in order, each once.

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
        self._rates = checked_rates(rates, FAULTS)
        self.ledger = Ledger()
        self.frames = self.samples = 0
        self.arrived = array("I")
        self._rng = np.random.default_rng(seed)
        self._gaps = Gaps(self._rates, self._rng)
        self._spared_left = self._gaps.next()
        self._delimiter = delimiter
        self.end = bytes([delimiter])
        self._only_samples = only_samples
        self._partial = b""
        self._offset = 0  # of the frame at hand, in the undamaged stream
        self._stretch: list[tuple[bytes, int]] = []  # collected for a fault that reaches far
        self._stretch_kind = ""
        self._stretch_at = (0, 0)  # frame number and offset of its first
        self._held: list[_Held] = []
        self._highest = 0  # ordinal of a sample whose number the host has seen
        self._recent: deque[bytes] = deque(maxlen=8)
        self._dead = False
        self._unplugged_at = -UNPLUGGED_APART  # ordinal
        self.may_unplug = any(self._rates.get(kind, 0) > 0 for kind in UNPLUGGING)

    def feed(self, data: bytes) -> list[Piece]:
        """The next bytes of the stream, damaged; an unfinished frame waits for its end."""
        *frames, self._partial = (self._partial + data).split(self.end)
        pieces: list[Piece] = []
        whole = bytearray()  # what passes untouched, gathered
        for frame in frames:
            changed = self._pass(frame)
            self._offset += len(frame) + 1
            if changed is None:
                whole += frame
                whole += self.end
            else:
                if whole:
                    pieces.append(bytes(whole))
                    whole.clear()
                pieces += changed
        if whole:
            pieces.append(bytes(whole))
        return pieces

    def finish(self) -> list[Piece]:
        """The stream has ended: what was held back or being collected comes out."""
        pieces = self._strike() if self._stretch else []
        while self._held:
            pieces.append(self._release(self._held.pop(0)))
        return pieces

    def revive(self) -> None:
        """The board has power again, after a reboot: frames count once more."""
        self._dead = False
        self._partial = b""

    def _pass(self, frame: bytes) -> list[Piece] | None:
        """Pieces in place of a frame; None: it goes out as it is."""
        if not frame:
            return [] if self._dead else None
        self.frames += 1
        if self._only_samples and not self._is_sample(frame):
            return [] if self._dead else None
        self.samples += 1
        if self._dead:
            self.ledger.dies(self.samples - 1)
            return []
        return self._sample(frame, self.samples - 1)

    def _is_sample(self, frame: bytes) -> bool:
        if self._delimiter:
            return frame[:1] not in (b"#", b"=")  # a comment, a late label
        # COBS leaves the type where it was, after one code byte, as no type is 0.
        return len(frame) > 1 and frame[1] in (SAMPLE_F32, SAMPLE_I16)

    def _sample(self, frame: bytes, ordinal: int) -> list[Piece] | None:
        spared = ordinal in self.ledger.spared
        if self._stretch:
            if spared:  # another has its hand on this one: strike at what there is
                return [*self._strike(), *self._intact(frame, ordinal, spared)]
            self._stretch.append((frame, ordinal))
            return self._strike() if self._collected() else []
        if spared or self._spared_left is None or self._spared_left > 0:
            if self._spared_left and not spared:
                self._spared_left -= 1
            if not self._held:
                self._arrive(ordinal)
                if not spared:
                    self._recent.append(frame)
                return None
            return self._intact(frame, ordinal, spared)
        kind = self._gaps.kind()
        self._spared_left = self._gaps.next()
        delay = FAULTS[kind].delay
        if delay is not None:
            late = int(self._rng.integers(delay[0], delay[1] + 1))
            self._held.append(_Held(frame, ordinal, self.frames - 1, self._offset, late))
            return []
        self._stretch = [(frame, ordinal)]
        self._stretch_kind = kind
        self._stretch_at = self.frames - 1, self._offset
        return self._strike() if self._collected() else []

    def _collected(self) -> bool:
        first = len(self._stretch[0][0])
        reach = FAULTS[self._stretch_kind].reach
        return sum(len(frame) + 1 for frame, _ in self._stretch) > first + 1 + reach or not reach

    def _intact(self, frame: bytes, ordinal: int, spared: bool) -> list[Piece]:
        """A frame that goes out whole, and those that have waited for it."""
        self._arrive(ordinal)
        if not spared:
            self._recent.append(frame)
        return [frame + self.end, *self._due(ordinal)]

    def _due(self, ordinal: int) -> list[Piece]:
        due = [held for held in self._held if ordinal - held.ordinal >= held.delay]
        self._held = [held for held in self._held if ordinal - held.ordinal < held.delay]
        return [self._release(held) for held in due]

    def _release(self, held: _Held) -> bytes:
        # The kind it turned out to be: where the frames between were lost too, one that was to be
        # late may be too late, and at the end of the stream one may be on time after all.
        behind = self._highest - held.ordinal
        kind = "overdue" if behind >= WINDOW else "reorder"
        if behind > 0:
            lost = {"lost": int(kind == "overdue")}
            self._enter(kind, (held.number, held.offset), held.frame, len(held.frame), lost)
        if kind == "reorder":
            self._arrive(held.ordinal)
        return held.frame + self.end

    def _arrive(self, ordinal: int) -> None:
        self.arrived.append(ordinal)
        if ordinal > self._highest and ordinal not in self.ledger.unnumbered:
            self._highest = ordinal

    def _strike(self) -> list[Piece]:
        frames, self._stretch = self._stretch, []
        kind = self._stretch_kind
        data = b"".join(frame + self.end for frame, _ in frames)
        stretch = Stretch(data, len(frames[0][0]), self._delimiter, tuple(self._recent))
        apply = FAULTS[kind].apply
        assert apply is not None
        hit = apply(stretch, self._rng)
        if kind in UNPLUGGING:
            # A host is to have found the link again before it loses it once more.
            if frames[0][1] - self._unplugged_at < UNPLUGGED_APART:
                hit = None
            else:
                self._unplugged_at = frames[0][1]
        if hit is None:  # this stretch cannot suffer it
            return [piece for frame, n in frames for piece in self._intact(frame, n, False)]
        pieces, at, size = hit
        unplug = next((piece for piece in pieces if isinstance(piece, Unplug)), None)
        outcome = _Outcome(frames, pieces, self._recent, self.end, at)
        self._enter(
            kind,
            (self._stretch_at[0], self._stretch_at[1] + at),
            frames[0][0],
            size,
            outcome.effects(),
        )
        late: list[Piece] = []
        for frame, ordinal in outcome.arrived:
            self._arrive(ordinal)
            self._recent.append(frame)
        if outcome.arrived and unplug is None:
            late = self._due(outcome.arrived[-1][1])
        if unplug is not None and unplug.reboot:
            self._dead = True
            self._recent.clear()
            self._held.clear()
        return [piece for piece in pieces if piece] + late

    def _enter(
        self,
        kind: str,
        where: tuple[int, int],
        frame: bytes,
        size: int,
        effects: dict[str, int],
    ) -> None:
        frame_type = frame[1] if self._delimiter == 0 and len(frame) > 1 else 0
        number, offset = where
        self.ledger.enter(
            Entry(len(self.ledger), kind, number, offset, frame_type, size, **effects)
        )


class _Outcome:
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
