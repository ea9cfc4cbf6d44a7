"""Bytes per second the edge process can read from a port, and its processor share at 115200 baud.

Over a pseudo-terminal, a node in a process of its own sends 8 float32 features and a label: frames
of 50 bytes, or lines of text of nine digits a number, with checksums. Read by edgesvm's link; by
the loop that one writes with pyserial, `readline` and `float`, or `read_until(b"\\0")`, the cobs
package (in C), `binascii.crc32` and `struct`; and by `edgesvm run`'s own loop, which predicts,
answers and learns as well. Every way ends with a row of float32 and a label for each sample, and
checks each sample's checksum. A pseudo-terminal delivers larger bites than a UART does, and its
writer is on the same two cores. "late" is frames without a label, each sample's coming in a frame
of its own eight samples later: 68 bytes together. Allocator calls are blocks that CPython takes for
one more sample, of whatever size: for the reader's batches, numbers and views.
"""

from __future__ import annotations

import binascii
import struct
import time
from collections.abc import Callable
from functools import reduce
from operator import xor
from statistics import median

import numpy as np
import serial

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.link.node import BLOCK, D, node, stream
from edgesvm import Standardized, StreamSVM
from edgesvm.link import Link, open_link, open_port, wire
from edgesvm.runner import Runner
from firmware_sim.limits import _alloc_hooks

COUNTED = 2000, 12_000  # allocator calls of a sample: of the second, without those of the first


# Each way takes the port's name and reads n samples.


def _opened(kind: str, url: str) -> Link:
    port = open_port(url)
    port.write(b"\n")  # a node of lines waits for a sign of life; one of frames has HELLO
    kinds = {"text": {"mode": "text", "n_features": D}, "late": {"late_labels": 256}}
    options = kinds.get(kind, {})
    return open_link(url, opener=lambda: port, ring=1024, **options)


def by_edgesvm(kind: str, url: str, n: int) -> None:
    with _opened(kind, url) as link:
        got = 0
        while got < n:
            link.poll(1.0)
            got += _late_rows(link) if kind == "late" else _rows(link)


def _rows(link: Link) -> int:
    batch = link.take()
    link.release(len(batch.y))
    return len(batch.y)


def _late_rows(link: Link) -> int:
    """Samples that wait, and those whose label has come: how many of these."""
    assert link.late is not None
    labelled = 0
    while True:
        while link.take_labelled() is not None:
            labelled += 1
        batch = link.take()
        if not len(batch.y):
            return labelled
        for x, sequence in zip(batch.X, batch.sequence.tolist(), strict=True):
            link.late.wait(x, sequence)
        link.release(len(batch.y))


def by_run(kind: str, url: str, n: int) -> None:
    with _opened(kind, url) as link:
        runner = Runner(
            link, Standardized(learner=StreamSVM(bound="lower", lookahead=8)).allocate(D)
        )
        while runner.learned < n:
            runner.step(1.0)


def by_pyserial(kind: str, url: str, n: int) -> None:
    with serial.Serial(url, 115200, timeout=5) as port:
        port.write(b"\n")
        (_lines if kind == "text" else _frames)(port, n)


def _lines(port: serial.Serial, n: int) -> None:
    got = 0
    while got < n:
        text, star, check = port.readline().strip().partition(b"*")
        if not star or reduce(xor, text, 0) != int(check, 16):
            continue
        *values, label = text.split(b" ")[1].split(b",")
        x, y = np.array([float(v) for v in values], np.float32), int(label)
        got += len(x) == D and y < 2


def _frames(port: serial.Serial, n: int) -> None:
    from cobs import cobs

    got = 0
    while got < n:
        run = port.read_until(b"\0")[:-1]
        if not run:
            continue
        raw = cobs.decode(run)
        if (
            binascii.crc32(raw[:-4]) != struct.unpack("<I", raw[-4:])[0]
            or raw[0] != wire.SAMPLE_F32
        ):
            continue
        y, x = struct.unpack("<h", raw[8:10])[0], np.frombuffer(raw, "<f4", D, 12)
        got += len(x) == D and y < 2


WAYS: dict[str, Callable[[str, str, int], None]] = {
    "edgesvm link": by_edgesvm,
    "edgesvm link, learning": by_run,
    "pyserial by hand": by_pyserial,
}


def read_in(kind: str, way: str, n: int, baud: float) -> tuple[float, float]:
    """Seconds and processor seconds of reading n samples."""
    with node(kind, n, baud) as url:
        wall, cpu = time.perf_counter(), time.process_time()
        WAYS[way](kind, url, n)
        return time.perf_counter() - wall, time.process_time() - cpu


def allocator_calls(kind: str, way: str, counted: tuple[int, int]) -> float:
    """Blocks that CPython takes for one more sample."""
    taken = []
    for n in counted:
        with node(kind, n, 0.0) as url:
            _alloc_hooks.start()
            try:
                WAYS[way](kind, url, n)
            finally:
                taken.append(_alloc_hooks.stop()[0])
    return (taken[1] - taken[0]) / (counted[1] - counted[0])


def measure(kind: str, way: str, n: int, seconds: float, rounds: int) -> dict[str, float]:
    """One kind of stream, read in one way: n samples unpaced, and `seconds` of them paced."""
    size = len(stream(kind, BLOCK)) / BLOCK
    if way == "pyserial by hand":
        n //= 20  # it takes so long that fewer will do
    fast = [read_in(kind, way, n, 0.0) for _ in range(rounds)]
    wall, cpu = read_in(kind, way, int(seconds * 11_520 / size), 115_200)
    counted = (COUNTED[0], min(COUNTED[1], COUNTED[0] + n))
    return {
        "bytes_per_sample": size,
        "bytes_per_s": n * size / median(wall for wall, _ in fast),
        "cpu_us_per_sample": 1e6 * median(cpu for _, cpu in fast) / n,
        "share_at_115200": cpu / wall,
        "allocator_calls_per_sample": allocator_calls(kind, way, counted),
    }


COLUMNS = ["way of reading", "B a sample", "MB/s", "x 115200 baud", "CPU µs a sample"]
COLUMNS += ["CPU % at 115200", "allocator calls a sample"]


def row(name: str, found: dict[str, float]) -> list[str]:
    return [
        name,
        f"{found['bytes_per_sample']:.0f}",
        f"{found['bytes_per_s'] / 1e6:.3f}",
        f"{found['bytes_per_s'] / 11_520:,.0f}",
        f"{found['cpu_us_per_sample']:.2f}",
        f"{100 * found['share_at_115200']:.2f}",
        f"{found['allocator_calls_per_sample']:.2f}",
    ]


def main() -> None:
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--samples", type=int, default=200_000, help="unpaced (default 200,000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="at 115200 baud (default 10)")
    args = parsed(parser)
    if args.quick:
        args.samples, args.seconds, args.rounds = 2_000, 0.2, 1
    figures = {}
    for kind in ("binary", "text", "late"):
        for way in WAYS:
            if kind == "late" and way == "pyserial by hand":
                continue
            progress(f"{kind}, {way}")
            found = measure(kind, way, args.samples, args.seconds, args.rounds)
            figures[f"{kind}, {way}"] = found
    table = Table("", COLUMNS, [row(name, found) for name, found in figures.items()])
    title = "Reading from a port"
    publish(Report("link/reading", title, [table], [__doc__ or ""], figures), args.out)


if __name__ == "__main__":
    main()
