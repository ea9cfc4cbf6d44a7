"""When a node has sent all: how long nothing has happened, on a clock of its own."""

from types import SimpleNamespace

import pytest

from firmware_sim.__main__ import _ServedUntil
from firmware_sim.harness.pump import STUCK_S, Drain


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


def test_serve_waits_for_a_host_that_has_more_to_read(pump):
    over = _ServedUntil(pump, lambda node, line: None)
    assert not over(0.0) and not over(6.0) and not over(STUCK_S)
    pump.line.link.left = 0
    assert not over(STUCK_S + 1.0) and not over(STUCK_S + 6.0) and over(STUCK_S + 6.5)
    assert over.ended == "drained"


def test_serve_does_not_wait_for_ever(pump):
    over = _ServedUntil(pump, lambda node, line: None)
    assert not over(0.0) and over(STUCK_S + 1.0)
