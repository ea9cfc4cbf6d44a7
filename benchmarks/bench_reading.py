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

import argparse
import binascii
import contextlib
import os
import select
import struct
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator
from functools import reduce
from operator import xor
from statistics import median

import numpy as np
import report
import serial

from edgesvm import Standardized, StreamSVM
from edgesvm.ingest import Link, open_link, open_port, wire
from edgesvm.runner import Runner
from firmware_sim.limits import _alloc_hooks

D = 8
SCHEMA = wire.Schema(0, 7, D, n_classes=2)
LATE_SCHEMA = wire.Schema(0, 7, D, label_mode=wire.LABEL_LATE, n_classes=2)
LATE_BY = 8  # samples
BLOCK = 2000  # rows that are sent over and over
COUNTED = 2000, 12_000  # allocator calls of a sample: of the second, without those of the first
PACE_S = 0.002


def line_of(number: int, x: list[float], label: int) -> bytes:
    text = f"@{number} {','.join([f'{v:.9g}' for v in x])},{label}".encode()
    return text + b"*%02X\n" % reduce(xor, text, 0)


def stream(kind: str, n: int) -> bytes:
    """What the node sends: n numbered samples behind what opens the stream."""
    X = np.random.default_rng(7).standard_normal((BLOCK, D)).astype(np.float32).tolist()
    if kind == "text":
        return b"\n" + b"".join([line_of(i, X[i % BLOCK], i & 1) for i in range(n)])
    if kind == "late":
        return _late_stream(X, n)
    frames = [wire.encode_sample(SCHEMA.schema_id, i, X[i % BLOCK], label=i & 1) for i in range(n)]
    return b"\0" + wire.encode_frame(wire.SCHEMA, SCHEMA.pack()) + b"".join(frames)


def _late_stream(X: list[list[float]], n: int) -> bytes:
    """Each label behind the eighth sample after its own; the last ones at the end."""
    told = LATE_SCHEMA.schema_id
    out = [b"\0", wire.encode_frame(wire.SCHEMA, LATE_SCHEMA.pack())]
    for i in range(n + LATE_BY):
        if i < n:
            out.append(wire.encode_sample(told, i, X[i % BLOCK]))
        if i >= LATE_BY:
            label = wire.Label(i - LATE_BY, i & 1).pack()
            out.append(wire.encode_frame(wire.LABEL, label, schema_id=told))
    return b"".join(out)


def feed(master: int, kind: str, n: int, baud: float) -> None:
    """The node: when the host has said anything, send it all, at so many bits a second (0:
    unpaced).
    """
    data = memoryview(stream(kind, n))
    os.write(1, b"ready\n")
    os.set_blocking(master, False)
    select.select([master], [], [])
    started = time.monotonic()
    sent = 0
    while True:
        readable, _, _ = select.select(
            [master], [master] if sent < len(data) and not baud else [], [], PACE_S
        )
        if readable:
            try:
                os.read(master, 65536)
            except OSError:
                return  # the host has hung up
        due = len(data) if not baud else int((time.monotonic() - started) * baud / 10)
        with contextlib.suppress(BlockingIOError):
            if sent < min(due, len(data)):
                sent += os.write(master, data[sent : min(due, sent + 16384)])


@contextlib.contextmanager
def node(kind: str, n: int, baud: float) -> Iterator[str]:
    """The name of a pseudo-terminal that a node is behind."""
    master, slave = os.openpty()
    tty.setraw(master)
    tty.setraw(slave)
    command = [sys.executable, __file__, "--feed", str(master), kind, str(n), str(baud)]
    process = subprocess.Popen(command, pass_fds=[master], stdout=subprocess.PIPE)
    os.close(master)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield os.ttyname(slave)
    finally:
        process.kill()
        process.wait()
        os.close(slave)


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


def measured(kind: str, way: str, n: int, baud: float) -> tuple[float, float]:
    """Seconds and processor seconds of reading n samples."""
    with node(kind, n, baud) as url:
        wall, cpu = time.perf_counter(), time.process_time()
        WAYS[way](kind, url, n)
        return time.perf_counter() - wall, time.process_time() - cpu


def allocator_calls(kind: str, way: str) -> float:
    """Blocks that CPython takes for one more sample."""
    taken = []
    for n in COUNTED:
        with node(kind, n, 0.0) as url:
            _alloc_hooks.start()
            try:
                WAYS[way](kind, url, n)
            finally:
                taken.append(_alloc_hooks.stop()[0])
    return (taken[1] - taken[0]) / (COUNTED[1] - COUNTED[0])


def main() -> int:
    if sys.argv[1:2] == ["--feed"]:
        feed(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples", type=int, default=200_000, help="unpaced, of edgesvm (200,000)"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="paced at 115200 baud (10)")
    parser.add_argument("--repeats", type=int, default=3, help="the median counts (3)")
    parser.add_argument("--quick", action="store_true", help="small and fast")
    options = parser.parse_args()
    if options.quick:
        options.samples, options.seconds, options.repeats = 5_000, 1.0, 1
    report.use_one_thread()
    rows, figures = [], {}
    for kind in ("binary", "text", "late"):
        size = len(stream(kind, BLOCK)) / BLOCK
        for way in WAYS:
            if kind == "late" and way == "pyserial by hand":
                continue
            report.progress(f"{kind}, {way}")
            # By hand it takes so long that fewer will do.
            n = options.samples // (20 if way == "pyserial by hand" else 1)
            fast = [measured(kind, way, n, 0.0) for _ in range(options.repeats)]
            rate = n * size / median(wall for wall, _ in fast)
            cpu_us = 1e6 * median(cpu for _, cpu in fast) / n
            wall, cpu = measured(kind, way, int(options.seconds * 11_520 / size), 115_200)
            blocks = allocator_calls(kind, way)
            figures[f"{kind}, {way}"] = {
                "bytes_per_s": rate,
                "cpu_us_per_sample": cpu_us,
                "share_at_115200": cpu / wall,
                "allocator_calls_per_sample": blocks,
            }
            rows.append(
                [
                    f"{kind}, {way}",
                    f"{size:.0f}",
                    f"{rate / 1e6:.3f}",
                    f"{rate / 11_520:,.0f}",
                    f"{cpu_us:.2f}",
                    f"{100 * cpu / wall:.2f}",
                    f"{blocks:.2f}",
                ]
            )
    header = [
        "way of reading",
        "B a sample",
        "MB/s",
        "x 115200 baud",
        "CPU µs a sample",
        "CPU % at 115200",
        "allocator calls a sample",
    ]
    report.publish(
        "bench_reading",
        "Reading from a port",
        f"{report.markdown(header, rows)}\n\n{__doc__}",
        figures,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
