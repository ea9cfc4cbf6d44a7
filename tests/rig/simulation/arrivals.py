"""From bytes to samples as FORMATS.md has it, in plain Python: what a host must find.

`FrameReader` shares no code with `edgesvm.link` but the layouts of the bodies; `LineReader` is the
parser of `edgesvm.link`, given the same bytes in other pieces.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from typing import NamedTuple

import numpy as np
from cobs import cobs
from numpy.typing import NDArray

from edgesvm.link import LineParser, SampleRing, wire
from edgesvm.link._frames import ValueGate
from edgesvm.link._keyed import siphash_view
from edgesvm.link.control import ScaleTable

WINDOW = 64
FROM_NODE = 2  # purpose of a derived key
KINDS = {wire.SAMPLE_F32: "<f4", wire.SAMPLE_I16: "<i2"}
MOST_REFUSED = 16


class Row(NamedTuple):
    """A sample that must be in the ring."""

    sequence: int
    x: NDArray[np.float32]
    label: int | None
    weight: float


class Label(NamedTuple):
    """A late label."""

    sequence: int
    label: int
    weight: float


class Epoch:
    """The node numbers its samples anew."""


Arrival = Row | Label | Epoch


class Numbers:
    """Numbers that have come: a set, and the highest."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.highest = self.lowest = -1

    def verdict(self, n: int) -> str:
        """Whether `n` is new, and enter it."""
        if self.highest < 0:
            self.highest = self.lowest = n
        elif n > self.highest:
            self.highest = n
        elif self.highest - n >= WINDOW:
            return "too_old"
        elif n in self.seen:
            return "duplicate"
        else:
            self.lowest = min(self.lowest, n)
            self.seen.add(n)
            return "reordered"
        self.seen.add(n)
        return "new"

    @property
    def missing(self) -> int:
        return self.highest - self.lowest + 1 - len(self.seen) if self.seen else 0


class Session:
    """The host's side of a keyed link: which frames are genuine and new."""

    def __init__(self, key: bytes, counts: Counter[str]) -> None:
        self._key, self._counts = key, counts
        self._wanted: int | None = None
        self._asked = False
        self._id = (0, 0, 0)
        self._in_key = b""

    def asks(self, nonce: int) -> None:
        """The host's next HELLO has this nonce."""
        self._wanted, self._asked = nonce, True

    def admits(self, raw: bytes) -> bytes | None:  # noqa: PLR0911  (a rule each)
        """The frame without its tag; None if it is refused."""
        kind, flags, _, number = struct.unpack_from("<BBHI", raw)
        signed, tag = raw[:-12], raw[-12:-4]
        if not flags & wire.TAGGED or len(signed) < 8:
            return self._refuse("bad_tag")
        plain = bytearray(signed)
        plain[1] &= ~wire.TAGGED & 0xFF
        if kind == wire.HELLO:
            return self._refuse("bad_tag")
        if kind == wire.SCHEMA:
            if len(signed) != 8 + 26 + 4:
                return self._refuse("bad_tag")
            boot_id, session = struct.unpack_from("<4xI", signed, 8)[0], signed[-4:]
            plain = plain[:-4]
            own = boot_id, int.from_bytes(session, "little")
            if own != self._id[1:] or not self._in_key:
                return self._opened(signed, tag, number, own) and bytes(plain)
        if not self._in_key or not self._is_signed(self._in_key, signed, tag):
            return self._refuse("bad_tag")
        if self._numbers[kind in KINDS].verdict(number) in ("too_old", "duplicate"):
            return self._refuse("replayed")
        return bytes(plain)

    def _opened(self, signed: bytes, tag: bytes, number: int, own: tuple[int, int]) -> bytes | None:
        key = self._derived(self._wanted or 0, *own)
        if not self._asked or not self._is_signed(key, signed, tag):
            return self._refuse("bad_tag")
        self._asked = False
        self._in_key, self._id = key, (self._wanted or 0, *own)
        self._numbers = Numbers(), Numbers()
        self._numbers[0].verdict(number)
        return b"\1"

    def _derived(self, nonce: int, boot_id: int, session: int) -> bytes:
        context = struct.pack("<QII", nonce, boot_id, session)
        halves = [siphash_view(self._key, bytes([FROM_NODE + i]) + context) for i in (0, 1)]
        return struct.pack("<QQ", *halves)

    @staticmethod
    def _is_signed(key: bytes, signed: bytes, tag: bytes) -> bool:
        return siphash_view(key, signed + bytes(4)).to_bytes(8, "little") == tag

    def _refuse(self, why: str) -> None:
        self._counts[why] += 1


class Reader(ABC):
    """Bytes in, arrivals out, in the order of the wire; as many samples, and late labels, as `ring`
    has room for are kept between two looks of the host.

    Attributes
    ----------
    arrived : list of Arrival
        Since somebody took them.
    refused : list of int
        Numbers of samples with a value that may not be.
    counts : Counter
    takes_late : bool
        Whether late labels are taken.
    """

    takes_late = False

    def __init__(self, ring: int) -> None:
        self.arrived: list[Arrival] = []
        self.refused: list[int] = []
        self.counts: Counter[str] = Counter()
        self._ring_rows = ring

    @abstractmethod
    def opened(self) -> None:
        """The port was opened: the stream is joined somewhere."""

    @abstractmethod
    def drew(self, number: int) -> None:
        """The host has drawn a random number, for a handshake."""

    @abstractmethod
    def counters(self) -> dict[str, int]:
        """The counters of the host that must be as here."""

    @abstractmethod
    def _read(self, chunk: bytes) -> None:
        """Read these bytes; what they hold is put into `arrived`."""

    def feed(self, chunk: bytes) -> None:
        """The host has read these bytes."""
        self._read(chunk)
        if len(self.arrived) > self._ring_rows:
            self._overflow()

    def _overflow(self) -> None:
        """Drop the oldest samples, and the newest labels, that there is no room for; the beginning
        of an epoch is not dropped."""
        kept: list[Arrival] = []
        for one in self.arrived:
            like = [i for i, other in enumerate(kept) if is_row(other) == is_row(one)]
            kept.append(one)
            if len(like) < self._ring_rows:
                continue
            if is_row(one):
                self.counts["ring_dropped"] += 1
                del kept[like[0]]
            else:
                gone = kept.pop(like[-1] if isinstance(one, Epoch) else -1)
                self.counts["label_dropped"] += isinstance(gone, Label)
        self.arrived = kept


def is_row(arrival: Arrival) -> bool:
    return isinstance(arrival, Row)


class FrameReader(Reader):
    """Reads frames."""

    def __init__(
        self,
        ring: int,
        value_range: tuple[float, float] | None,
        *,
        key: bytes | None,
        late: int,
    ) -> None:
        super().__init__(ring)
        self._late, self._range = late, value_range
        self._session = None if key is None else Session(key, self.counts)
        self._partial, self._joins = b"", True
        self._nonce = self._n_drawn = 0
        self._schema: wire.Schema | None = None
        self._schema_id = 0
        self._table: ScaleTable | None = None
        self._numbers = Numbers()
        self._past_missing = 0

    def opened(self) -> None:
        self._partial, self._joins = b"", True

    def drew(self, number: int) -> None:
        self._n_drawn += 1
        if self._n_drawn == 1:
            return  # the host's id
        if self._session is None or self._n_drawn % 2 == 0:
            self._nonce = number
        else:
            self._session.asks(number << 32 | self._nonce)

    def _read(self, chunk: bytes) -> None:
        *runs, self._partial = (self._partial + chunk).split(b"\0")
        if runs and self._joins:
            del runs[0]
            self._joins = False
        if len(self._partial) > 2 * wire.MAX_RAW:  # no frame, however it goes on
            self._partial, self._joins = b"", True
        for run in filter(None, runs):
            raw = raw_frame(run)
            if raw is not None and self._session is not None:
                raw = self._session.admits(raw + b"")
                raw = None if raw is None else raw + bytes(4)
            if raw is not None and raw[1] >> 4 == wire.PROTOCOL_VERSION:
                self._frame(raw[0], raw[1] & 15, *struct.unpack_from("<HI", raw, 2), raw[8:-4])

    def counters(self) -> dict[str, int]:
        return {
            "ring_dropped": self.counts["ring_dropped"],
            **{
                name: self.counts["label_dropped"] for name in ("label_dropped",) if self.takes_late
            },
            **{name: self.counts[name] for name in ("samples", "duplicate", "too_old")},
            **{name: self.counts[name] for name in ("reordered", "schema_mismatch", "bad_value")},
            "unique": self.counts["new"] + self.counts["reordered"],
            "missing": self._past_missing + self._numbers.missing,
            **{name: self.counts[name] for name in ("bad_tag", "replayed") if self._session},
        }

    def _frame(self, kind: int, flags: int, schema_id: int, number: int, body: bytes) -> None:
        try:
            if kind in KINDS:
                self._sample(kind, flags, schema_id, number, body)
            elif kind == wire.LABEL and self.takes_late:
                self._label(flags, schema_id, body)
            elif kind == wire.SCHEMA:
                self._on_schema(wire.Schema.unpack(body))
            elif kind == wire.SCALES:
                table = self._table
                if table and table.schema.schema_id == schema_id and table.take(body):
                    self._adopt(table.schema)
        except wire.BadBody:
            self.counts["bad_control"] += 1

    def _on_schema(self, schema: wire.Schema) -> None:
        if schema.nonce not in (0, self._nonce):
            return
        if schema.dtype == wire.DTYPE_F32:
            self._table = None
        elif self._table is None or self._table.schema.schema_id != schema.schema_id:
            self._table = ScaleTable(schema)
        if self._table is None or self._table.rows is not None:
            self._adopt(schema)

    def _adopt(self, schema: wire.Schema) -> None:
        if self._schema is not None and self._schema.boot_id != schema.boot_id:
            self._past_missing += self._numbers.missing
            self._numbers = Numbers()
            self.arrived.append(Epoch())
        self._schema, self._schema_id = schema, schema.schema_id
        self.takes_late = self.takes_late or (
            schema.label_mode == wire.LABEL_LATE and self._late > 0
        )

    def _sample(self, kind: int, flags: int, schema_id: int, number: int, body: bytes) -> None:
        self.counts["samples"] += 1
        schema = self._schema
        expected = wire.SAMPLE_F32 if self._table is None else wire.SAMPLE_I16
        if schema is None or schema_id != self._schema_id or kind != expected:
            self.counts["schema_mismatch"] += 1
            return
        value = np.dtype(KINDS[kind])
        at = 4 * bool(flags & wire.HAS_TIME)
        end = at + 4 * bool(flags & wire.HAS_LABEL)
        is_known = not flags & ~(wire.HAS_LABEL | wire.HAS_TIME)
        if not is_known or len(body) != end + value.itemsize * schema.n_features:
            self.counts["bad_sample"] += 1
            return
        verdict = self._numbers.verdict(number)
        self.counts[verdict] += 1
        if verdict not in ("new", "reordered"):
            return
        label, weight = None, 1.0
        if flags & wire.HAS_LABEL:
            label, weight = struct.unpack_from("<hH", body, at)
            weight /= 256
        x = np.frombuffer(body, value, offset=end).astype(np.float32)
        if self._table is not None and self._table.rows is not None:
            x = self._table.rows[:, 0] * x + self._table.rows[:, 1]
        low, high = self._range or (-np.inf, np.inf)
        if (np.isfinite(x) & (x >= low) & (x <= high)).all():
            self.arrived.append(Row(number, x, label, weight))
        else:
            self.counts["bad_value"] += 1
            if len(self.refused) < MOST_REFUSED:
                self.refused.append(number)

    def _label(self, flags: int, schema_id: int, body: bytes) -> None:
        if self._schema is None or schema_id != self._schema_id or flags or len(body) != 8:
            return
        number, label, weight = struct.unpack("<IhH", body)
        self.arrived.append(Label(number, label, weight / 256))


def raw_frame(run: bytes) -> bytes | None:
    """A frame with its header and CRC, from between two delimiters; None for anything else."""
    try:
        raw = cobs.decode(run)
    except cobs.DecodeError:
        return None
    if len(raw) < 12 or zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:], "little"):
        return None
    return raw


class LineReader(Reader):
    """Reads lines of a known number of features, in pieces of another size than the host's."""

    PIECE = 7

    def __init__(
        self,
        ring: int,
        n_features: int,
        value_range: tuple[float, float] | None,
        *,
        has_labels: bool,
    ) -> None:
        super().__init__(ring)
        gate = ValueGate(value_range, False)
        self._parser = LineParser(n_features, has_labels, has_labels, gate=gate)
        self._ring = SampleRing(1 << 14, n_features)
        self._parser.expect(self._ring, has_labels)

    def drew(self, number: int) -> None:
        """Lines have no handshake."""

    def opened(self) -> None:
        self._parser.resync()

    def _read(self, chunk: bytes) -> None:
        for at in range(0, len(chunk), self.PIECE):
            for found in self._parser.feed(chunk[at : at + self.PIECE]):
                self._on_line(found)
        self._take()
        self.refused = (self.refused + self._parser.gate.take_refused())[:MOST_REFUSED]

    def _on_line(self, found: object) -> None:
        """The greeting of a sketch that starts; a damaged one is a comment."""
        if isinstance(found, bytes) and found.rstrip() in self._greetings():
            self._parser.new_epoch()
            self._parser.expect(self._ring, found.rstrip().endswith(b"last"))

    def _greetings(self) -> tuple[bytes, ...]:
        known = f"#esvm 1 d={self._ring.n_features}".encode()
        return tuple(known + b" label=" + mode for mode in (b"last", b"none"))

    def _take(self) -> None:
        while len(self._ring):
            batch = self._ring.take()
            for i in range(len(batch.y)):
                label = int(batch.y[i]) if batch.has_label[i] else None
                self.arrived.append(
                    Row(int(batch.sequence[i]), batch.X[i].copy(), label, float(batch.weight[i]))
                )
            self._ring.release(len(batch.y))

    def counters(self) -> dict[str, int]:
        c = self._parser.counters()
        names = "samples", "lines", "duplicate", "too_old", "missing", "unique", "bad_value"
        told = {name: c[name] for name in names}
        return {"ring_dropped": self.counts["ring_dropped"], **told}
