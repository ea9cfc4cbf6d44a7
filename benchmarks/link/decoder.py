"""Frames per second through decoder and sample receiver; and what damage on the link does to them.

The stream is that of a node with 8 float32 features and inline labels, 50 bytes a frame, fed in
chunks as a port would give them. The reader takes and releases each chunk's rows; nothing is
learned. The port itself is not measured.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from edgesvm.link import wire
from edgesvm.link._authenticator import Authenticator
from edgesvm.link._frames import FrameDecoder
from edgesvm.link._ring import SampleRing
from edgesvm.link._samples import SampleReceiver

SCHEMA_ID = 0x1234
KEY, NONCE = bytes(range(16)), 7
KINDS = ("flip", "drop", "insert", "truncate")


def encoded_samples(n_frames: int, n_features: int, rng: np.random.Generator) -> list[bytes]:
    """`n_frames` sample frames, numbered from 0."""
    X = rng.standard_normal((n_frames, n_features)).astype(np.float32)
    labels = rng.integers(0, 2, n_frames).tolist()
    return [
        wire.encode_sample(SCHEMA_ID, i, X[i].tolist(), label=labels[i]) for i in range(n_frames)
    ]


def new_receiver(n_features: int, ring: int, guard: Authenticator | None = None) -> SampleReceiver:
    raw = wire.sample_raw_length(n_features) + wire.MOST_TAG_BYTES
    receiver = SampleReceiver(FrameDecoder(max(wire.MAX_RAW, raw)), guard=guard)
    receiver.expect(SCHEMA_ID, SampleRing(ring, n_features))
    return receiver


def pump(receiver: SampleReceiver, chunks: list[bytes]) -> int:
    """Feed the chunks and take all rows; the number of rows."""
    ring = receiver.ring
    rows = 0
    for chunk in chunks:
        for _ in receiver.feed(chunk):
            raise AssertionError("a control frame in a stream of samples")
        while len(ring):
            n = len(ring.take().y)
            ring.release(n)
            rows += n
    return rows


def tagged(frames: list[bytes]) -> tuple[bytes, list[bytes]]:
    """The SCHEMA that opens the session of `new_guard`, and the frames with tags in it."""
    node = Authenticator(KEY, boot_id=1)
    hello = new_guard().encode_frame(wire.HELLO, wire.Hello(NONCE).pack())
    list(SampleReceiver(FrameDecoder(), guard=node).feed(hello))
    schema = node.encode_frame(wire.SCHEMA, wire.Schema(NONCE, 1, 1).pack())
    decoder = FrameDecoder()
    parts = [decoder.feed(frame)[0] for frame in frames]
    return schema, [
        node.encode_frame(p.kind, p.body, schema_id=p.schema_id, sequence=p.sequence, flags=p.flags)
        for p in parts
    ]


def new_guard() -> Authenticator:
    """A host that has asked with NONCE."""
    guard = Authenticator(KEY)
    guard.ask(NONCE)
    return guard


def cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[i : i + size] for i in range(0, len(stream), size)]


def measure_speed(args: argparse.Namespace, n_frames: int) -> dict[str, Any]:
    """Median frames per second over the rounds, each a fresh receiver on the same bytes; without
    and with keyed tags in turn.
    """
    frames = encoded_samples(n_frames, args.features, np.random.default_rng(args.seed))
    schema, with_tags = tagged(frames)
    stream = b"".join(frames)
    chunks, tagged_chunks = cut(stream, args.chunk), cut(b"".join(with_tags), args.chunk)
    ring = args.chunk // len(frames[0]) + 2
    rates: list[float] = []
    tagged_rates: list[float] = []
    for _ in range(args.rounds):
        rates.append(frames_per_s(new_receiver(args.features, ring), chunks, len(frames)))
        receiver = new_receiver(args.features, ring, new_guard())
        list(receiver.feed(schema))
        tagged_rates.append(frames_per_s(receiver, tagged_chunks, len(frames)))
    return {
        "frames": len(frames),
        "bytes_per_frame": len(stream) / len(frames),
        "frames_per_s_median": median(rates),
        "frames_per_s_min": min(rates),
        "frames_per_s_max": max(rates),
        "tagged_frames_per_s_median": median(tagged_rates),
        "tagged_bytes_per_frame": sum(map(len, with_tags)) / len(frames),
        "mb_per_s_median": median(rates) * len(stream) / len(frames) / 1e6,
    }


def frames_per_s(receiver: SampleReceiver, chunks: list[bytes], n_frames: int) -> float:
    start = time.perf_counter()
    rows = pump(receiver, chunks)
    seconds = time.perf_counter() - start
    if rows != n_frames or receiver.broken_identities():
        raise AssertionError(f"{rows} rows of {n_frames}; {receiver.broken_identities()}")
    return n_frames / seconds


def damage(frame: bytes, kind: str, rng: np.random.Generator) -> bytes:
    """The frame with one fault of that kind, anywhere in it, the delimiter included."""
    at = int(rng.integers(len(frame)))
    if kind == "flip":
        hurt = bytearray(frame)
        for bit in rng.integers(0, 8 * len(frame), int(rng.integers(1, 5))).tolist():
            hurt[bit >> 3] ^= 1 << (bit & 7)
        return bytes(hurt)
    if kind == "drop":
        return frame[:at] + frame[at + int(rng.integers(1, 9)) :]
    if kind == "insert":
        return frame[:at] + rng.bytes(int(rng.integers(1, 17))) + frame[at:]
    return frame[:at]


def damaged_stream(
    frames: list[bytes], fraction: float, rng: np.random.Generator
) -> Iterator[tuple[bytes, bool]]:
    """Each frame as it is sent, and whether it was hurt."""
    hurt = rng.random(len(frames)) < fraction
    kinds = rng.integers(0, len(KINDS), len(frames))
    for frame, is_hurt, kind in zip(frames, hurt.tolist(), kinds.tolist(), strict=True):
        sent = damage(frame, KINDS[kind], rng) if is_hurt else frame
        yield sent, is_hurt and sent != frame


def measure_damage(args: argparse.Namespace, n_frames: int) -> dict[str, Any]:
    """Every accepted sample is compared with the one that was sent under its number.

    A frame that was hurt and is accepted must be the frame as it was sent (its damage having
    fallen beside it: an insertion before it or after its delimiter); any other accepted frame is a
    false accept.
    """
    rng = np.random.default_rng(args.seed)
    frames = encoded_samples(n_frames, args.features, rng)
    sent, hurt = zip(*damaged_stream(frames, args.fraction, rng), strict=True)
    decoder = FrameDecoder(max(wire.MAX_RAW, wire.sample_raw_length(args.features)))
    receiver = new_receiver(args.features, args.chunk // len(frames[0]) + 2)
    false_accepts = 0
    accepted = 0
    for chunk in cut(b"".join(sent), args.chunk):
        for frame in decoder.feed(chunk):
            accepted += 1
            again = wire.encode_frame(
                frame.kind,
                frame.body,
                schema_id=frame.schema_id,
                sequence=frame.sequence,
                flags=frame.flags,
            )
            known = frame.sequence < len(frames) and again == frames[frame.sequence]
            false_accepts += not known
        pump(receiver, [chunk])
    n_hurt = sum(hurt)
    return {
        "frames": len(frames),
        "damaged": n_hurt,
        "accepted": accepted,
        "false_accepts": false_accepts,
        "lost_per_damaged": (len(frames) - accepted) / max(1, n_hurt),
        "samples": receiver.samples,
        "missing": receiver.sequence.missing,
        **{
            name: decoder.counters()[name]
            for name in ("bad_cobs", "bad_crc", "bad_len", "oversize")
        },
        "broken_identities": decoder.broken_identities() + receiver.broken_identities(),
    }


def table(title: str, result: dict[str, Any]) -> Table:
    shown = [
        [name.replace("_", " "), f"{value:,.2f}" if isinstance(value, float) else str(value)]
        for name, value in result.items()
    ]
    return Table(title, ["what", "value"], shown)


def main() -> int:
    parser = arguments(__doc__, rounds=7, seed=7)
    parser.add_argument("--features", type=int, default=8, help="of a sample (default 8)")
    parser.add_argument("--chunk", type=int, default=4096, help="bytes fed at a time (4096)")
    parser.add_argument("--fraction", type=float, default=0.01, help="of frames damaged (0.01)")
    args = parsed(parser)
    speed = measure_speed(args, 20_000 if args.quick else 200_000)
    damage_done = measure_damage(args, 20_000 if args.quick else 1_000_000)
    tables = [table("Speed", speed), table("Damage", damage_done)]
    figures = {"speed": speed, "damage": damage_done}
    title = "Frames through decoder and receiver"
    publish(Report("link/decoder", title, tables, [__doc__ or ""], figures), args.out)
    return 1 if damage_done["false_accepts"] or damage_done["broken_identities"] else 0


if __name__ == "__main__":
    sys.exit(main())
