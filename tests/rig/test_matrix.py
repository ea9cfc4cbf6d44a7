"""Every row of the fault matrix alone, end to end in memory: node, line, a real link, a learner."""

import math

import numpy as np
import pytest
from each import each

from edgesvm import StreamSVM
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import open_link
from edgesvm.serve.taught import taught
from firmware_sim.harness import InMemory
from firmware_sim.line import MIXES, FaultInjector, Ledger, MemoryLink
from firmware_sim.line.faults import FAULTS, UNPLUGGING
from firmware_sim.line.ledger import Entry
from firmware_sim.node import RotatingMachine, TextNode
from rig.checks import MATRIX, expected, identities, matrix_checks, of_former_sessions
from rig.mishaps import MISHAPS, FaultyNode, Mishaps

WAITING = 100  # samples that may wait for a late label


class Bench(InMemory):
    """A node, a line and a host on one clock; simulated time goes by while the host waits."""

    def __init__(self, node, *, capacity=8192, **line):
        super().__init__(node, link=MemoryLink(capacity), **line)
        self.node, self.line = node, self.pump.line

    @property
    def drained(self):
        return self.pump.done and not self._unread and not self._link.to_host


def bench(rates=None, mishaps=None, *, samples=3000, baud=None, capacity=8192, **settings):
    faults = FaultInjector(rates or {}, seed=5)
    node = FaultyNode(
        RotatingMachine(0),
        samples=samples,
        mishaps=Mishaps(mishaps or {}, seed=5),
        **settings,
    )
    return Bench(node, capacity=capacity, baud=baud, faults=faults)


def connect(setup, **options):
    return open_link("memory", opener=setup.open, clock=setup.clock, sleep=setup.sleep, **options)


def serve(setup, **options):
    """Learn until all is drained; the counters, after every check there is."""
    link = connect(setup, **options)
    runner = taught(link, StreamSVM(lookahead=4), clock=lambda: setup.now)
    while not setup.drained and setup.now < 600:
        try:
            runner.step(0.02)
        except LinkDown:
            link.reconnect()
    runner.step(0.0)
    assert setup.drained and runner.check_identities() == []
    return runner.counters()


def broken(checks):
    return [str(check) for check in checks if not check.holds]


def check_all(setup, counters):
    faults, node = setup.line.faults, setup.node
    assert setup.line.lost_bytes == 0
    assert broken(matrix_checks(faults.ledger, counters)) == []
    assert broken(identities(counters)) == []
    want = expected(node, faults)
    assert (counters["unique"], counters["missing"]) == (want.unique, want.missing)
    arrived = np.zeros(node.samples_made, bool)
    arrived[want.rows] = True
    assert node.answers_astray == 0 and not (node.answered & ~arrived).any()
    if node.label_mode == "inline":
        assert counters["learned"] == len(want.learned)


RATES = dict.fromkeys(FAULTS, 0.03) | {"noise": 0.002, "overlong": 0.001}
RATES |= dict.fromkeys(("disconnect", "stale", "reboot"), 0.002)


@each("kind", FAULTS)
def test_each_fault_of_the_wire_alone(kind):
    setup = bench({kind: RATES[kind]})
    counters = serve(setup)
    assert setup.line.faults.ledger.counts()[kind] > 0
    check_all(setup, counters)


BAD_LINES = ("too_long", "bad_columns", "bad_char", "bad_checksum", "no_checksum", "bad_sequence")


@each("kind", FAULTS)
def test_each_fault_of_the_wire_alone_in_lines_of_text(kind):
    faults = FaultInjector({kind: RATES[kind]}, seed=5, delimiter=10)
    node = TextNode(RotatingMachine(0), samples=3000, numbered=True, checksum="crc16")
    setup = Bench(node, faults=faults)
    c = serve(setup, mode="text")
    ledger, want = faults.ledger, expected(node, faults)
    assert ledger.counts()[kind] > 0 and setup.line.lost_bytes == 0
    # A second boot, and it alone, says the schema line again; nothing garbled passes for a comment.
    assert c["comments"] == node.boots
    assert sum(c[name] for name in BAD_LINES) == ledger.total("bad")
    assert c["duplicate"] == ledger.total("copies", ("duplicate", "stale"))
    assert c["disconnects"] == ledger.counts().get(kind, 0) * (kind in UNPLUGGING)
    assert c["learned"] == c["unique"] == len(want.learned)
    assert c["unprotected"] == 0


SETTINGS = {
    "clock": {"timestamps": True},
    **{kind: {"label_mode": "late"} for kind in MISHAPS if kind.startswith("label-")},
}


@each("kind", MISHAPS)
def test_each_mishap_of_the_device_alone(kind):
    settings = SETTINGS.get(kind, {})
    rate = 0.001 if kind == "schema" else 0.03
    setup = bench(mishaps={kind: rate}, **settings)
    late = WAITING if settings.get("label_mode") == "late" else 0
    counters = serve(setup, late_labels=late)
    struck = setup.node.ledger.counts()[kind]
    assert struck > 0
    check_all(setup, counters)
    if kind == "label-never":
        assert counters["unlabelled"] + counters["waiting"] == struck
    if late:
        assert counters["label_matched"] == counters["learned"] > 2000


@each("mix", MIXES)
def test_mixes(mix):
    setup = bench(MIXES[mix], {"nan": 0.01, "dimension": 0.01, "overrun": 0.01, "hostile": 0.01})
    check_all(setup, serve(setup))


@each("dtype", ["float32", "int16"])
@each("label_mode", ["inline", "late", "none"])
def test_every_kind_of_sample(dtype, label_mode):
    setup = bench(samples=1000, dtype=dtype, label_mode=label_mode, timestamps=True)
    counters = serve(setup, late_labels=WAITING)
    check_all(setup, counters)
    assert counters["taken"] == 1000
    assert counters["learned"] == (0 if label_mode == "none" else 1000)


def test_a_device_that_overruns_owns_up_to_what_is_missing():
    setup = bench(samples=800, baud=115200, rate=1000.0)
    counters = serve(setup)
    check_all(setup, counters)
    dropped = setup.node.samples_dropped
    assert dropped > 300 and counters["node_samples_dropped"] == dropped
    # Those after the last that was sent leave no gap.
    tail = setup.node.samples_made - 1 - expected(setup.node, setup.line.faults).rows.max()
    assert counters["missing"] == dropped - tail


def test_a_slow_consumer_costs_samples_and_no_memory():
    """A host that polls and takes nothing: the ring drops its oldest, and says how many."""
    setup = bench(samples=2000)
    link = connect(setup, ring=64)
    held = link.nbytes
    while not setup.drained:
        link.poll(0.01)
    c = link.counters
    assert c["ring_dropped"] == 2000 - 64 and c["ring_high_water"] == 64
    assert link.nbytes == held and link.check_identities() == []


def test_a_uart_nobody_reads_in_time_overruns():
    setup = bench(samples=2000, baud=2_000_000, capacity=4096)
    link = connect(setup)
    runner = taught(link, StreamSVM(), clock=lambda: setup.now)
    while not setup.drained:
        runner.step(0.0)
        setup.sleep(0.05)  # 10,000 bytes into a buffer of 4,096
    assert setup.line.lost_bytes > 10_000
    c = runner.counters()
    assert broken(identities(c)) == [] and runner.check_identities() == []
    assert c["missing"] > 500 and c["learned"] == c["unique"] < 1500


class Garbled(FaultInjector):
    """Another baud rate: every byte arrives as some other byte."""

    def feed(self, data):
        return [self._rng.integers(0, 256, len(data)).astype(np.uint8).tobytes()]


def test_baud_mismatch_is_told_from_silence():
    setup = bench()
    setup.line.faults = Garbled({}, seed=1)
    with pytest.raises(NoSchema, match="the node uses 9600 baud"):
        connect(setup, baud=9600)
    assert setup.node.hellos > 10 and math.isclose(setup.now, 10.0, abs_tol=0.1)


def test_a_board_that_restarts_says_so_in_the_log():
    setup = bench({"reboot": 0.002})
    counters = serve(setup)
    check_all(setup, counters)
    assert counters["logs"] == setup.node.boots - 1 > 0
    assert counters["epochs"] == setup.node.boots


def test_the_table_covers_every_fault():
    covered = {kind for row in MATRIX for kind in row.kinds}
    # A frame that is lost whole, and a label that never comes, leave a gap and nothing to count.
    assert set(FAULTS) | set(MISHAPS) == covered | {"lose", "label-never", "hostile"}


def test_a_count_that_is_off_by_one_is_found():
    setup = bench({"flip": 0.05, "duplicate": 0.05}, samples=500)
    counters = serve(setup)
    assert broken(matrix_checks(setup.line.faults.ledger, counters)) == []
    for name in ("bad_crc", "duplicate"):
        wrong = {**counters, name: counters[name] + 1}
        assert len(broken(matrix_checks(setup.line.faults.ledger, wrong))) == 1
    assert len(broken(identities({**counters, "learned": 0}))) == 1
    assert len(broken(identities({**counters, "bytes_ok": 0}))) == 1


def test_with_a_key_a_frame_that_comes_again_may_be_counted_as_refused():
    ledger = Ledger()
    for kind, effects in (("duplicate", {"copies": 2}), ("reorder", {}), ("hostile", {})):
        ledger.enter(Entry(len(ledger), kind, 0, 0, 0, 0, **effects))
    counters = {"duplicate": 0, "reordered": 1, "too_old": 0}
    assert not all(check.holds for check in matrix_checks(ledger, counters))
    for replayed, bad_tag, holds in ((2, 1, True), (0, 3, True), (1, 0, False)):
        keyed = {**counters, "replayed": replayed, "bad_tag": bad_tag}
        assert all(check.holds for check in matrix_checks(ledger, keyed)) == holds
        assert of_former_sessions(ledger, keyed) == bad_tag - 1
    assert of_former_sessions(ledger, counters) == 0
