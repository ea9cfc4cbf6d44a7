"""Frames per second through decoder and sample receiver; and what damage on the link does to them.

The stream is that of a node with 8 float32 features and inline labels, 50 bytes a frame, fed in
chunks as a port would give them. The reader takes and releases each chunk's rows; nothing is
learned. What it does not show: the port.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Iterator

import numpy as np

from edgesvm.ingest import wire
from edgesvm.ingest._frames import FrameDecoder
from edgesvm.ingest._ring import SampleRing
from edgesvm.ingest._samples import SampleReceiver

SCHEMA_ID = 0x1234
KINDS = ("flip", "drop", "insert", "truncate")


def encoded_samples(n_frames: int, n_features: int, rng: np.random.Generator) -> list[bytes]:
    """`n_frames` sample frames, numbered from 0."""
    X = rng.standard_normal((n_frames, n_features)).astype(np.float32)
    labels = rng.integers(0, 2, n_frames).tolist()
    return [
        wire.encode_sample(SCHEMA_ID, i, X[i].tolist(), label=labels[i]) for i in range(n_frames)
    ]


def new_receiver(n_features: int, ring: int) -> SampleReceiver:
    raw = wire.sample_raw_length(n_features)
    receiver = SampleReceiver(FrameDecoder(max(wire.MAX_RAW, raw)))
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


def cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[i : i + size] for i in range(0, len(stream), size)]


def measure_speed(args: argparse.Namespace) -> dict:
    """Median frames per second over the repeats, each a fresh receiver on the same bytes."""
    frames = encoded_samples(args.frames, args.features, np.random.default_rng(args.seed))
    stream = b"".join(frames)
    chunks = cut(stream, args.chunk)
    rates = []
    for _ in range(args.repeats):
        receiver = new_receiver(args.features, args.chunk // len(frames[0]) + 2)
        start = time.perf_counter()
        rows = pump(receiver, chunks)
        rates.append(len(frames) / (time.perf_counter() - start))
        if rows != len(frames) or receiver.broken_identities():
            raise AssertionError(f"{rows} rows of {len(frames)}; {receiver.broken_identities()}")
    return {
        "frames": len(frames),
        "bytes_per_frame": len(stream) / len(frames),
        "frames_per_s_median": statistics.median(rates),
        "frames_per_s_min": min(rates),
        "frames_per_s_max": max(rates),
        "mb_per_s_median": statistics.median(rates) * len(stream) / len(frames) / 1e6,
    }


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


def measure_damage(args: argparse.Namespace) -> dict:
    """Every accepted sample is compared with the one that was sent under its number.

    A frame that was hurt and is accepted must be the frame as it was sent (its damage having
    fallen beside it: an insertion before it or after its delimiter); any other accepted frame is a
    false accept.
    """
    rng = np.random.default_rng(args.seed)
    frames = encoded_samples(args.frames, args.features, rng)
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--frames", type=int, help="frames in the stream (200,000; --damage: 1,000,000)"
    )
    parser.add_argument(
        "--features", type=int, default=8, help="features a sample (8: 50-byte frames)"
    )
    parser.add_argument("--chunk", type=int, default=4096, help="bytes fed at a time (4096)")
    parser.add_argument(
        "--repeats", type=int, default=7, help="timed passes; the median counts (7)"
    )
    parser.add_argument("--seed", type=int, default=7, help="of samples and faults (7)")
    parser.add_argument(
        "--damage", action="store_true", help="damage frames, count what gets through"
    )
    parser.add_argument("--fraction", type=float, default=0.01, help="of frames damaged (0.01)")
    parser.add_argument("--json", action="store_true", help="one JSON line instead of a list")
    parser.add_argument("--quick", action="store_true", help="20,000 frames")
    args = parser.parse_args()
    args.frames = args.frames or 20_000 * args.quick or (1_000_000 if args.damage else 200_000)
    result = measure_damage(args) if args.damage else measure_speed(args)
    result["versions"] = (
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    )
    if args.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:22} {f'{value:,.2f}' if isinstance(value, float) else value}")
    return 1 if result.get("false_accepts") or result.get("broken_identities") else 0


if __name__ == "__main__":
    sys.exit(main())
