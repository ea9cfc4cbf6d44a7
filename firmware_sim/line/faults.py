"""The kinds of faults on the line, and their rates.

A fault is a function of a stretch of the stream: it gets some whole frames and returns the pieces
to send in their place. `FAULTS` lists the kinds; a new kind is one more function there. A frame
gets at most one fault, so that none hides another. The effects of a fault (frames that do not
arrive, runs that must be refused, copies, empty frames) are not assumed from its kind but derived
from the pieces: these are split at their delimiters and compared with the original frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

# A frame this many samples late is outside the host's sequence window.
WINDOW = 64
# One second of a line at 115200 baud.
SECOND_BYTES = 11520
OVERLONG_BYTES = 1 << 20


@dataclass(frozen=True)
class Unplug:
    """The cable is pulled at this point of the byte stream.

    The host gets up to ``settle_s`` seconds to read the bytes before it, so that only what the
    ledger records is lost; then the link is down for ``seconds``. After that, ``stale`` is sent
    first, as from a buffer that survived the unplugging. With ``reboot`` the board loses its power
    too.
    """

    seconds: float = 0.2
    settle_s: float = 60.0
    stale: bytes = b""
    reboot: bool = False


Piece = bytes | Unplug


@dataclass(frozen=True)
class Stretch:
    """Whole frames, each with its delimiter, that a fault may damage.

    ``first`` is the length, without delimiter, of the first frame: the one that gets the fault.
    ``recent`` are the last frames that arrived whole.
    """

    data: bytes
    first: int
    delimiter: int
    recent: tuple[bytes, ...]

    @property
    def end(self) -> bytes:
        return bytes([self.delimiter])

    def garbage(self, n: int, rng: np.random.Generator) -> bytes:
        """n random bytes other than the delimiter."""
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
    if len(s.data) == s.first + 1:  # no frame after it to be joined to
        return None
    return _flipped(s, s.first, 1 << int(rng.integers(8)))


def _drop_bytes(n: int) -> Apply:
    def drop(s: Stretch, rng: np.random.Generator) -> Hit | None:
        at = int(rng.integers(s.first))
        gone = min(n, len(s.data) - 1 - at)  # the last delimiter stays
        return [s.data[:at] + s.data[at + gone :]], at, gone

    return drop


def _before(n: Callable[[np.random.Generator], int], end: bool) -> Apply:
    """Garbage before the frame. With a delimiter between, as noise on an idle line, the frame stays
    whole."""

    def add(s: Stretch, rng: np.random.Generator) -> Hit | None:
        garbage = s.garbage(n(rng), rng)
        return [garbage + s.end * end + s.data], 0, len(garbage)

    return add


def _few(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 17))


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


def _empty(s: Stretch, rng: np.random.Generator) -> Hit | None:
    n = int(rng.integers(1, 65))
    return [s.end * n + s.data], 0, n


def _duplicate(s: Stretch, rng: np.random.Generator) -> Hit | None:
    whole = s.data[: s.first + 1]
    return [whole + s.data], s.first, len(whole)


def _unplug(*, reboot: bool = False) -> Apply:
    def unplug(s: Stretch, rng: np.random.Generator) -> Hit | None:
        at = int(rng.integers(s.first + 1))
        return [s.data[:at], Unplug(reboot=reboot)], at, s.first - at

    return unplug


def _stale(s: Stretch, rng: np.random.Generator) -> Hit | None:
    if not s.recent:
        return None
    torn, *whole = s.recent
    stale = torn[int(rng.integers(1, len(torn))) :] + s.end
    stale += b"".join(frame + s.end for frame in whole)
    at = int(rng.integers(s.first + 1))
    return [s.data[:at], Unplug(stale=stale)], at, len(stale)


Apply = Callable[[Stretch, np.random.Generator], "Hit | None"]


@dataclass(frozen=True)
class Fault:
    """A kind of fault.

    ``apply`` returns None if this stretch cannot have it. ``reach``: how many bytes after the frame
    it may change; that many are collected first. ``delay``: for a fault that only holds a frame
    back, the smallest and the largest number of samples that overtake it.
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
    "insert": Fault("1 to 16 bytes of garbage between two frames", _before(_few, end=True)),
    "glue": Fault(
        "1 to 16 bytes of garbage with no delimiter before the frame", _before(_few, end=False)
    ),
    "burst": Fault("16 bytes overwritten by noise", _noise(16), reach=16),
    "noise": Fault("a second of noise at 115200 baud", _noise(SECOND_BYTES), reach=SECOND_BYTES),
    "truncate": Fault("the end of the frame missing, but not the delimiter", _truncate),
    "lose": Fault("the whole frame missing", _lose),
    "overlong": Fault(
        "1 MiB without a delimiter between two frames", _before(lambda _: OVERLONG_BYTES, end=True)
    ),
    "empty": Fault("1 to 64 delimiters with nothing between them", _empty),
    "duplicate": Fault("the whole frame sent twice", _duplicate),
    "reorder": Fault("the frame arrives 1 to 48 samples late", delay=(1, 48)),
    "overdue": Fault("the frame arrives too late for the sequence window", delay=(72, 200)),
    "disconnect": Fault("the link unplugged at any byte of the frame", _unplug()),
    "stale": Fault("unplugged, and old bytes are sent first when it is plugged in", _stale),
    "reboot": Fault("unplugged, and the board restarted", _unplug(reboot=True)),
}

# Faults that unplug the link, and the smallest number of samples between two of them.
UNPLUGGING = ("disconnect", "stale", "reboot")
UNPLUGGED_APART = 500

# Probability per frame of each kind. "field": about 1 % of frames lost, as on a long cable beside a
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
    """The rates of a named mix, overridden by ``kind=rate`` settings.

    Raises
    ------
    ValueError
        Unknown mix, or a setting that is not kind=rate.
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
    """Draws the number of frames before the next fault (geometric: one draw per fault).

    Parameters
    ----------
    rates : mapping of str to float
        Probability of each kind; they add up to at most 1.
    """

    def __init__(self, rates: Mapping[str, float], rng: np.random.Generator) -> None:
        self._rng = rng
        self._total = sum(rates.values())
        self._kinds = [kind for kind, rate in rates.items() if rate > 0]
        self._edges = np.cumsum([rates[kind] for kind in self._kinds]).tolist()

    def next(self) -> int | None:
        """The number of frames before the next fault; None: no fault."""
        if not self._kinds:
            return None
        return int(self._rng.geometric(min(1.0, self._total))) - 1

    def kind(self) -> str:
        """The kind of the next fault."""
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
