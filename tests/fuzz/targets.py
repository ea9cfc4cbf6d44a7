"""What must hold of any bytes whatever, a function for each reader: bytes in, an exception if it
does not.

`make test` runs them on what Hypothesis makes, `make fuzz` on what a coverage-guided fuzzer finds.
Random bytes never have a right CRC, so each target can also seal what it is given: hostile content
behind a sound checksum.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from edgesvm.errors import (
    CorruptModelError,
    LinkDown,
    NoSchema,
    RecordingError,
    SampleRefused,
    SchemaChanged,
    VersionMismatch,
)
from edgesvm.learners.wrapper import Shell
from edgesvm.link import (
    Batch,
    FrameDecoder,
    LineParser,
    Recording,
    RecordingSchema,
    RecordingWriter,
    SampleRing,
    open_link,
    wire,
)
from edgesvm.link._frames import ValueGate
from edgesvm.link.recording import HEADER_BYTES
from edgesvm.persist.format import unpack
from edgesvm.persist.store import describe, restore
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.window_features import RawFeatures

TESTS = Path(__file__).parents[1]
MAX_ARENA = 1 << 20


def require(holds: object, *why: object) -> None:
    """As assert, and not taken out by -O."""
    if not holds:
        raise AssertionError(why)


def cut(data: bytes, by: int) -> Iterator[bytes]:
    """`data` in pieces of a length that goes 1, 2, ... up to `by` and over again."""
    at = 0
    for n in itertools.cycle(range(1, by + 2)):
        if at >= len(data):
            return
        yield data[at : at + n]
        at += n


def seal(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "little")


def pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """A script: (what to do, with what), each from a byte that says what, one for the length, and
    the rest.
    """
    at = 0
    while at + 2 <= len(data):
        n = data[at + 1]
        yield data[at], data[at + 2 : at + 2 + n]
        at += 2 + n


def framed(raw: bytes) -> bytes:
    """As on the wire. Short runs are put together here: a fuzzer pays for each branch that it
    watches.
    """
    runs = (raw + b"\0").split(b"\0")[:-1]
    if max(map(len, runs)) >= 254:
        return wire.cobs_encode(raw) + b"\0"
    return b"".join([bytes([len(run) + 1]) + run for run in runs]) + b"\0"


def stream(data: bytes) -> bytes:
    """Bytes on a wire: as they are, or as a frame with its CRC."""
    out = b""
    for what, piece in pieces(data):
        out += piece if what & 1 else framed(seal(piece))
    return out


def frames(data: bytes) -> None:
    """Any cutting of any stream gives the same frames and counts; each has a right CRC."""
    on_wire = stream(data)
    whole, parts = FrameDecoder(60), FrameDecoder(60)
    if len(data) & 8:
        whole.resync()
        parts.resync()
    expected = whole.feed(on_wire)
    got = [frame for part in cut(on_wire, len(data) % 7) for frame in parts.feed(part)]
    require(got == expected, got, expected)
    require(parts.counters() == whole.counters())
    require(whole.broken_identities() == [], whole.broken_identities())
    require(whole.bytes_in == len(on_wire) and len(expected) == whole.ok)
    for frame in expected:
        head = bytes([frame.kind, frame.version << 4 | frame.flags])
        raw = head + frame.schema_id.to_bytes(2, "little") + frame.sequence.to_bytes(4, "little")
        require(framed(seal(raw + frame.body)) in b"\0" + on_wire)


class Wire:
    """A port that gives a stream in pieces, takes everything, and is then pulled out."""

    def __init__(self, data: bytes, by: int) -> None:
        self._pieces = cut(data, by)
        self._left = b""

    def read(self, timeout: float, limit: int = 65536) -> bytes:
        if not self._left:
            self._left = next(self._pieces, b"")
        if not self._left:
            raise LinkDown("pulled out")
        now, self._left = self._left[:limit], self._left[limit:]
        return now

    def write(self, data: bytes) -> int:
        return len(data)

    def close(self) -> None:
        pass


SCHEMAS = [
    wire.encode_frame(wire.SCHEMA, wire.Schema(0, 5, 2, label_mode=mode).pack())
    for mode in (wire.LABEL_INLINE, wire.LABEL_LATE | wire.TARGETS)
]


def fine(X: np.ndarray, *, missing: bool) -> bool:
    """Whether all values are such as a link passes on; with targets NaN is one."""
    return not (np.isinf(X) if missing else ~np.isfinite(X)).any()


def link(data: bytes) -> None:
    """Whatever a node sends: the documented exceptions and no other, finite samples, identities."""
    if not data:
        return
    # Pieces of any length are for `frames`; here each costs a poll, so they are long.
    targets = bool(data[0] & 2)
    port = Wire(b"\0" + SCHEMAS[targets] * (data[0] & 1) + stream(data[1:]), 32 + data[0])
    options: dict[str, Any] = {"targets": targets, "late_labels": None}
    clock = itertools.count(0.0, 0.1).__next__
    try:
        opened = open_link(
            "fuzz", opener=lambda: port, ring=8, clock=clock, sleep=lambda _: None, **options
        )
    except (LinkDown, NoSchema, VersionMismatch, ValueError) as error:
        require(not isinstance(error, UnicodeError), error)
        return
    held = opened.nbytes
    answer = opened.send_estimate if targets else opened.send_prediction
    with opened:
        while True:
            try:
                opened.poll(0.1)
            except (LinkDown, SchemaChanged, VersionMismatch):
                break
            while opened.take_labelled() is not None:
                pass
            batch = opened.take()
            require(fine(batch.X, missing=targets) and np.isfinite(batch.y).all())
            for x, number, label in zip(batch.X, batch.sequence.tolist(), batch.y, strict=True):
                answer(number, label.item())
                if opened.late is not None:
                    opened.late.wait(x, number, (0.0, 0.0, 0.0) if targets else 1)
            opened.release(len(batch.y))
        require(opened.check_identities() == [], opened.check_identities())
        require(opened.nbytes == held)


def lines(data: bytes) -> None:
    """Any cutting of any text gives the same rows and counts, and they are finite."""
    if not data:
        return
    n_features, label_column = (data[0] & 3) or None, bool(data[0] & 4)
    targets = bool(data[0] & 8)
    gate = functools.partial(ValueGate, missing=targets)

    def read(by: int) -> tuple[dict, list, SampleRing | None]:
        parser = LineParser(n_features, label_column=label_column, gate=gate(), targets=targets)
        ring = None if n_features is None else SampleRing(16, n_features, targets=targets)
        if ring is not None:
            parser.expect(ring)
        found = []
        for part in cut(data[1:], by):
            for event in parser.feed(part):
                found.append(event)
                if isinstance(event, int) and ring is None:
                    ring = SampleRing(16, event, targets=targets)
                    parser.expect(ring)
        require(parser.broken_identities() == [], parser.broken_identities())
        return parser.counters(), found, ring

    whole, parts = read(len(data)), read(data[0] >> 3)
    require(whole[:2] == parts[:2], whole, parts)
    if whole[2] is not None and parts[2] is not None:
        rows, same = whole[2].take(), parts[2].take()
        require(all(a.tobytes() == b.tobytes() for a, b in zip(rows, same, strict=True)))
        require(fine(rows.X, missing=targets) and np.isfinite(rows.y).all())


def snapshot(data: bytes) -> None:
    """Any file: refused by the documented exceptions, or a learner that predicts and learns."""
    for file in (data, seal(data)):
        try:
            learner = restore(file)
        except CorruptModelError:
            continue
        if learner.nbytes > MAX_ARENA:
            continue
        if isinstance(learner, Chain | RawFeatures):
            x = np.full(unpack(file).n_features, 0.25, np.float32)
            with contextlib.suppress(SampleRefused):  # the learner behind may refuse, as below
                for _ in range(10):
                    learner.push(x)
            require(bytes(restore(seal(describe(learner) + bytes(learner.arena))).arena))
            continue
        x = np.full(learner.n_features_in_, 0.25, learner.dtype)
        if not learner.is_fitted:
            continue
        # A spread of next to nothing makes any sample too large; any other learner answers.
        refused = SampleRefused if isinstance(learner, Shell) else ()
        with contextlib.suppress(refused):
            predicted = learner.predict_one(x)
            scores = predicted if learner.regresses else learner.decision_one(x)
            require(np.isfinite(scores).all())
        with contextlib.suppress(SampleRefused), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its features may have names, which these have not
            label = 0.5 if learner.regresses else learner.classes_[0]
            learner.partial_fit(x[None, :], [label])
        # What it makes of any stream is a snapshot that is read again.
        require(restore(seal(describe(learner) + bytes(learner.arena))).n_seen_ == learner.n_seen_)


_FILE = Path(tempfile.gettempdir()) / f"edgesvm_fuzz_{os.getpid()}.rec"


def resealed(data: bytes) -> bytes:
    """With the CRCs that this header and these records should have."""
    header = seal(data[: HEADER_BYTES - 4].ljust(HEADER_BYTES - 4, b"\0"))
    d = int.from_bytes(header[12:16], "little")
    size = 12 + 4 * d + (8 if header[22] & wire.TARGETS else 0)
    seed, out = zlib.crc32(header[:-4]), header
    for at in range(HEADER_BYTES, len(data), size + 4):
        record = data[at : at + size]
        out += record
        if len(record) == size:
            out += zlib.crc32(record, seed).to_bytes(4, "little")
    return out


def recording(data: bytes) -> None:
    """Any file: refused, or read in any chunks alike, finite, accounted for, and appended to."""
    if not data:
        return
    file = resealed(data[1:]) if data[0] & 1 else data[1:]
    _FILE.write_bytes(file)
    try:
        try:
            opened = Recording(_FILE)
        except RecordingError:
            return
        with opened:
            whole = list(opened.batches(1000))
            parts = list(opened.batches(1 + (data[0] >> 4)))
            n_labels = sum(not isinstance(part, Batch) for part in opened.arrivals(7))
            n_learnable = [sum(len(rows.X) for rows in opened.chunks(n)) for n in (5, 1 << 20)]
            require(n_learnable[0] == n_learnable[1])
            account, schema = opened.account(), opened.schema
        n_rows = sum(len(batch.y) for batch in whole)
        require(n_rows == sum(len(batch.y) for batch in parts))
        require(account["records"] == n_rows + n_labels + account["damaged"], account)
        require(all(fine(batch.X, missing=schema.targets) for batch in whole))
        _appended(schema, n_rows)
    finally:
        _FILE.unlink(missing_ok=True)


def _appended(schema: RecordingSchema, n_rows: int) -> None:
    n, d = 2, schema.n_features
    batch = Batch(
        np.ones((n, d), np.float32),
        np.zeros(n, schema.label_dtype),
        np.zeros(n, np.bool_),
        np.ones(n, np.float32),
        np.arange(n, dtype=np.uint32),
    )
    with RecordingWriter(_FILE, schema) as writer:
        writer.append(batch)
    with Recording(_FILE) as again:
        require(sum(len(batch.y) for batch in again.batches()) == n_rows + n)
        require(again.torn_bytes == 0)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "frames": frames,
    "link": link,
    "lines": lines,
    "snapshot": snapshot,
    "recording": recording,
}


def _script(*items: tuple[int, bytes]) -> bytes:
    return b"".join(bytes([what, len(piece)]) + piece for what, piece in items)


def _raw(frame: bytes) -> bytes:
    """A frame as `stream` will seal it: no COBS, no CRC."""
    (one,) = FrameDecoder(1000).feed(frame)
    head = bytes([one.kind, one.version << 4 | one.flags])
    return (
        head + one.schema_id.to_bytes(2, "little") + one.sequence.to_bytes(4, "little") + one.body
    )


def seeds() -> dict[str, list[bytes]]:
    """Sound inputs to begin from, for each target."""
    schema = wire.Schema(0, 5, 2)
    sent = [
        wire.encode_sample(schema.schema_id, i, [0.5, -1.0], label=label, time_us=time)
        for i, (label, time) in enumerate([(1, None), (None, 7), (-1, 9), (None, None)])
    ]
    other = wire.Schema(0, 6, 3, label_mode=wire.LABEL_LATE)
    sent += [
        wire.encode_frame(wire.SCHEMA, other.pack()),
        wire.encode_frame(wire.HEARTBEAT, wire.Heartbeat(5, 1000).pack()),
        wire.encode_frame(0x7E, b"hello"),
    ]
    raw = _script(*[(0, _raw(frame)) for frame in sent])
    text = b"# x\n#esvm 1 d=2 label=last\n1,2,0\n@3 1.5e3,-2,1\n=3 1\n@4 1,2,?*0C\n1;2;0\nnan,1,1\n"
    text += b"7" * 600 + b"\n1,2,1\n1,2," + b"7" * 350 + b"\n"
    with ZipFile(TESTS / "persist" / "golden" / "0.1.0.zip") as archive:
        snapshots = [archive.read(n) for n in archive.namelist() if n.endswith(".esvm")]
    golden = TESTS / "link" / "golden"
    held, late = ((golden / name).read_bytes() for name in ("samples.rec", "late.rec"))
    return {
        "frames": [raw, _script((1, sent[0]), (1, b"\0\0"), (0, b""))],
        "link": [bytes([flags]) + raw for flags in (0, 1, 9)],
        "lines": [bytes([flags]) + text for flags in (0, 2, 6, 14)],
        "snapshot": [*snapshots, *(s[:-4] for s in snapshots)],
        "recording": [b"\0" + held, b"\1" + held, b"\x31" + held + b"torn", b"\1" + late],
    }
