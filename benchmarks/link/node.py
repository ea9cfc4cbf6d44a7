"""A node behind a pseudo-terminal, in a process of its own, which is
`python -m benchmarks.link.node FD KIND N BAUD`.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from functools import reduce
from operator import xor

import numpy as np

from benchmarks.common.report import ROOT
from edgesvm.link import wire

D = 8
SCHEMA = wire.Schema(0, 7, D, n_classes=2)
LATE_SCHEMA = wire.Schema(0, 7, D, label_mode=wire.LABEL_LATE, n_classes=2)
LATE_BY = 8  # samples
BLOCK = 2000  # rows that are sent over and over
PACE_S = 0.002


def line_of(number: int, x: list[float], label: int | str) -> bytes:
    text = f"@{number} {','.join([f'{v:.9g}' for v in x])},{label}".encode()
    return text + b"*%02X\n" % reduce(xor, text, 0)


def stream(kind: str, n: int) -> bytes:
    """What the node sends: n numbered samples behind what opens the stream."""
    X = np.random.default_rng(7).standard_normal((BLOCK, D)).astype(np.float32).tolist()
    if kind == "text":
        return b"\n" + b"".join([line_of(i, X[i % BLOCK], i & 1) for i in range(n)])
    if kind == "late":
        return late_stream(X, n)
    frames = [wire.encode_sample(SCHEMA.schema_id, i, X[i % BLOCK], label=i & 1) for i in range(n)]
    return b"\0" + wire.encode_frame(wire.SCHEMA, SCHEMA.pack()) + b"".join(frames)


def late_stream(X: list[list[float]], n: int) -> bytes:
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
    command = [sys.executable, "-m", "benchmarks.link.node", str(master), kind, str(n), str(baud)]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[master], stdout=subprocess.PIPE)
    os.close(master)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield os.ttyname(slave)
    finally:
        process.kill()
        process.wait()
        os.close(slave)


if __name__ == "__main__":
    feed(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
