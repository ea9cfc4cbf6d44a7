"""A node and `edgesvm run` end to end, over real links."""

import os
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from firmware_sim.harness import EdgeProcess, simulate
from firmware_sim.harness.pump import STUCK_S, Drain
from firmware_sim.line import FaultInjector, Line, PtyLink, TcpLink
from firmware_sim.node import FrameNode, RotatingMachine

EDGE = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json"]

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


@pytest.fixture(params=["pty", "tcp"])
def link(request, tmp_path):
    link = PtyLink(tmp_path / "port") if request.param == "pty" else TcpLink()
    yield link
    link.close()


def run(
    link, *, argv=EDGE, samples=3000, rates=None, baud=None, rate=None, wired=False, **settings
):
    faults = FaultInjector(rates, seed=1) if rates else None
    node = FrameNode(RotatingMachine(0), samples=samples, rate=rate)
    line = Line(link, baud=baud, faults=faults, flow_control=wired)
    return simulate(argv, node, line, timeout_s=120, **settings), line


def test_every_sample_arrives_and_is_answered(link):
    result, _ = run(link)
    assert (result.ended, result.exit_code) == ("drained", 0)
    assert result.samples_made == result.samples_sent == 3000
    sent = result.edge["counters"]["predictions_sent"]
    assert result.predictions == sent > 0.95 * 3000  # what a slow node drops
    counted = result.edge["counters"]
    assert counted["samples"] == 3000 and result.scored > 2900
    assert counted["frames"] == counted["ok"]
    assert 0.7 < result.accuracy_last < 1
    assert result.latency_us["p50"] <= result.latency_us["p99"] <= result.latency_us["max"]


def test_unplugging_loses_one_frame_each(link):
    result, _ = run(link, samples=2000, rate=1000.0, rates={"disconnect": 0.004})
    assert result.ended == "drained" and result.faults["disconnect"] >= 2
    assert result.edge["counters"]["reconnects"] == result.faults["disconnect"]
    assert result.edge["counters"]["unique"] == result.samples_sent - result.frames_lost


def test_a_slow_line_overruns_the_node_and_both_sides_know_it(link):
    result, _ = run(link, samples=1500, baud=115200, rate=1000.0, wired=True)
    assert result.samples_dropped > 500  # the line carries 230 a second
    assert (
        result.edge["counters"]["samples"] == result.samples_sent == 1500 - result.samples_dropped
    )
    assert result.lost_bytes == 0


def test_an_edge_process_that_is_stopped_for_a_while_goes_on(link):
    """A slow consumer: a UART overruns meanwhile, an unpaced line waits."""
    result, _ = run(link, samples=4000, pauses=[(1500, 0.3)])
    assert (result.ended, result.exit_code, result.lost_bytes) == ("drained", 0, 0)
    assert result.edge["counters"]["learned"] == 4000
    if isinstance(link, PtyLink):  # a socket holds more than a second of it
        result, _ = run(link, samples=8000, baud=2_000_000, pauses=[(1500, 0.6)])
        counters = result.edge["counters"]
        assert result.lost_bytes > 0 and result.exit_code == 0
        assert result.edge["broken_identities"] == []
        assert counters["missing"] > 0 and counters["ring_dropped"] == 0
        # What is lost at the very end, on a busy machine, no later number tells of.
        assert counters["learned"] == counters["unique"] <= 8000 - counters["missing"]


def test_an_edge_process_that_is_stopped_longer_than_the_drain_still_answers(link):
    """That the line is quiet does not say that all is done: a socket's bytes have left it."""
    result, _ = run(link, samples=20, baud=115200, pauses=[(10, 1.0)], drain_s=0.2)
    assert (result.ended, result.exit_code) == ("drained", 0)
    assert result.predictions == result.edge["counters"]["samples"] == 20


def test_an_edge_process_that_dies_ends_the_run(link):
    result, _ = run(link, argv=[sys.executable, "-c", "import sys; sys.exit('no sensor')"])
    assert (result.ended, result.exit_code, result.edge) == ("edge exited", 1, None)
    assert "no sensor" in result.edge_errors and result.predictions == 0


def test_an_edge_process_that_never_opens_the_link_is_ended(link):
    result, _ = run(link, argv=[*EDGE[:4], "/nonexistent"], start_s=0.0)
    assert result.ended == "timeout" and result.samples_made == 0


@pytest.fixture
def pump():
    """All is sent, 600 bytes, of which the host has read 100; it answers nothing."""
    link = SimpleNamespace(left=500, connected=True)
    link.unread = lambda: link.left
    scorer = SimpleNamespace(received=0)
    node = SimpleNamespace(scorer=scorer, samples_sent=10)
    return SimpleNamespace(done=True, node=node, line=SimpleNamespace(sent_bytes=600, link=link))


def test_a_heartbeat_on_its_way_is_no_traffic(pump):
    drain, line = Drain(pump), pump.line
    assert drain.quiet_s(0.0) == 0.0
    quiet = []
    for second in range(1, 10):
        line.sent_bytes += 40  # the link does not count them at once
        quiet.append(drain.quiet_s(second))
        line.link.left += 40
        quiet.append(drain.quiet_s(second + 0.5))
    assert quiet[0] == 0.0 and quiet[1:] == [0.5 * i for i in range(1, 18)]
    assert not drain.all_read and not drain.answered


def test_reading_and_answers_are_traffic(pump):
    drain = Drain(pump)
    drain.quiet_s(0.0)
    pump.line.link.left = 0
    assert drain.quiet_s(3.0) == 0.0 and drain.all_read
    pump.node.scorer.received = 10
    assert drain.quiet_s(4.0) == 0.0 and drain.answered
    assert drain.quiet_s(6.0) == 2.0


def test_a_host_that_has_more_to_read_is_waited_for_but_not_for_ever(pump):
    drain, stuck = Drain(pump), Drain(pump)
    assert not any(drain.is_quiet(now, 5.0) for now in (0.0, 6.0, STUCK_S))
    pump.line.link.left = 0
    quiet = [drain.is_quiet(STUCK_S + since, 5.0) for since in (0.5, 1.0, 5.0, 6.0)]
    assert quiet == [False, False, False, True]
    pump.line.link.left = 500
    assert not stuck.is_quiet(0.0, 5.0) and stuck.is_quiet(STUCK_S + 1.0, 5.0)


LINES = 20_000
WRITER = f"for i in range({LINES}): print(i, flush=True)"


def test_reading_its_lines_moves_none_of_them():
    with closing(EdgeProcess([sys.executable, "-c", WRITER], "no port")) as edge:
        while edge.exit_code is None:
            seen = edge.lines()
            assert seen == [str(i) for i in range(len(seen))]
        assert len(edge.lines()) == LINES and edge.exit_code == 0, edge.output()
