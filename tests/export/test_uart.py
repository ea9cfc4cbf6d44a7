"""A Cortex-M3 with 64 KiB learns from a sensor over its UART, with faults of every kind on it, and
shares what it has learned with the host, back and forth."""

import os
from pathlib import Path

import numpy as np
import pytest
from on_boards import board
from on_link import Beside, broken_identities, differences
from on_uart import STACK, Uart

from edgesvm import Standardized, StreamSVM
from edgesvm.link import open_rows, wire
from edgesvm.persist import restore
from edgesvm.persist.format import pack
from firmware_sim.line.faults import FAULTS, UNPLUGGING
from firmware_sim.node import FrameNode

DATA = Path(os.environ.get("EDGESVM_DATA", "data")) / "occupancy.npz"
N = int(os.environ.get("EDGESVM_UART_SAMPLES", "2500"))
EACH = [k for k in FAULTS if k not in UNPLUGGING and k not in ("noise", "overlong")]
# Per frame. The emulated line carries some 10 kB a second, so a long run is of 4 KiB here.
RATES = {**dict.fromkeys(EACH, 0.003), "overlong": 0.002, "disconnect": 0.003, "stale": 0.003}

pytestmark = pytest.mark.xdist_group("one at a time")  # it waits for an emulator


def occupancy():
    if not DATA.exists():
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 20000)
        return (rng.standard_normal((20000, 5)) + y[:, None]).astype(np.float32), y
    rows = np.load(DATA)
    return rows["X"].astype(np.float32), rows["y"].astype(int)


def learner():
    return Standardized(learner=StreamSVM(C=10.0)).allocate(5, classes=[0, 1])


@pytest.fixture
def uart(tmp_path):
    board("M3")
    switched_on = Uart(learner(), tmp_path)
    try:
        yield switched_on
    finally:
        said = switched_on.close()
    assert not said, said


def sensor(tmp_path, X, y, boot_id, **settings):
    np.savez(tmp_path / f"rows{boot_id}.npz", X=X, y=y)
    source = open_rows(tmp_path / f"rows{boot_id}.npz")
    return FrameNode(source, boot_id=boot_id, samples=len(X), **settings)


def saved(model):
    return pack(model._snapshot())


def test_learns_over_a_bad_line_what_a_host_learns(uart, tmp_path, monkeypatch):
    monkeypatch.setattr("firmware_sim.line.faults.OVERLONG_BYTES", 4096)
    X, y = occupancy()
    faults = uart.stream(sensor(tmp_path, X[:N], y[:N], 5), RATES, seed=3)
    # a host beside it, of the same bytes
    beside = Beside(learner(), bytes(uart.cable.to_board), late=32)
    beside.feed(b"")
    assert differences(beside=beside, board=uart) == []
    # a host that gets the rows which, by the ledger, arrived
    alone = learner()
    for row in faults.arrived:
        alone.learn_one(X[row], int(y[row]))
    assert uart.counts["learned"] == len(faults.arrived) > N // 2
    assert uart.fetch(lose=(1, 3)) == saved(alone) == saved(beside.learner)
    assert uart.counts["snapshot_asks"] > 1
    # 16-bit samples of a node that has restarted, whose labels come late
    more = sensor(tmp_path, X[:800], y[:800], 6, dtype="int16", label_mode="late")
    uart.stream(more, dict.fromkeys(EACH, 0.003), seed=4)
    beside = Beside(learner(), bytes(uart.cable.to_board), late=32)
    beside.feed(b"")
    assert differences(beside=beside, board=uart) == []
    counts = uart.counts
    assert counts["epochs"] == 2
    assert counts["label_matched"] > 600
    stack = int(np.frombuffer(uart.memory("line"), "<u2", offset=4 * len(counts) + 4)[0])
    assert 0 < stack < STACK
    print(
        f"\nlink on M3: code {uart.code} B, RAM {uart.ram} B, stack {stack} B; rows learned"
        f" {counts['learned']}, {faults.ledger.counts()}"
    )


def test_half_here_half_there_and_back(uart, tmp_path):
    X, y = occupancy()
    X, y = X[:1500], y[:1500]
    first, middle, last = (slice(i, i + 500) for i in (0, 500, 1000))
    here, whole = learner(), learner()
    here.partial_fit(X[first], y[first])
    assert uart.give(saved(here), 9) == wire.RESTORED
    assert uart.arena == bytes(here.arena)
    uart.stream(sensor(tmp_path, X[middle], y[middle], 5))
    back = restore(uart.fetch())
    back.partial_fit(X[last], y[last])
    whole.partial_fit(X, y)
    assert saved(back) == saved(whole)
    # one that is bad changes nothing
    bad = bytearray(saved(here))
    bad[-20] ^= 1
    before = uart.arena
    assert uart.give(bytes(bad), 10) == wire.NO_SNAPSHOT
    assert uart.arena == before
    assert broken_identities(uart.counts) == []
