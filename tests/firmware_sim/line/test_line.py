"""The line: a UART's speed against a clock of our own, back-pressure, loss and unplugging."""

import pytest
from each import each

from firmware_sim.line import FaultInjector, Line, MemoryLink
from firmware_sim.line.line import SLICE_S, Pacer


@each("baud", [9600, 115200, 921600, 2_000_000])
@each("step", [1e-4, 1e-3, 3.7e-3])
def test_a_busy_line_keeps_its_baud_however_late_it_is_served(baud, step):
    pacer, carried, now = Pacer(baud), 0, 100.0
    while now < 110.0:
        carried += (n := pacer.room(now))
        pacer.carried(n, idle=False)
        now += step
    byte_s = 10 / baud
    assert abs(carried - 10.0 / byte_s) <= (SLICE_S + step) / byte_s + 1


def test_a_late_writer_makes_up_for_it():
    pacer = Pacer(10_000)
    pacer.carried(pacer.room(0.0), idle=False)
    assert pacer.room(0.05) == 50


def test_bytes_arrive_at_the_pace_and_in_order():
    link = MemoryLink()
    line = heard(link, Line(link, baud=10_000))
    data = bytes(range(100))
    line.write(0.0, data)
    got = [len(link.to_host)]
    for ms in range(1, 120):
        line.step(ms * 1e-3)
        got.append(len(link.to_host))
    assert got[0] == 1 and got[49] == 50 and got[98:] == [99] + [100] * 21
    assert link.host.read() == data and line.quiet


@each("paced", [{}, {"baud": 1_000_000, "flow_control": True}])
def test_an_unpaced_line_and_one_with_flow_control_wait_for_room(paced):
    link = MemoryLink(capacity=10)
    line = heard(link, Line(link, **paced))
    line.write(0.0, bytes(range(30)))
    got = b""
    for second in range(1, 5):
        got += link.host.read()
        line.step(float(second))
    assert got == bytes(range(30)) and line.lost_bytes == 0 and line.sent_bytes == 30


def test_there_is_no_room_when_nobody_listens():
    link = MemoryLink()
    for line in (Line(link), Line(link, baud=115200)):
        assert heard(link, line).room(0.0) > 0
        link.host.is_open = False
        line.step(0.0)
        assert line.room(0.0) == 0
        link.host.is_open = True


def heard(link, line, now=0.0):
    """Let the host speak, as it does once it has opened the port."""
    link.host.write(b"hello")
    line.step(now)
    line.read()
    return line


def test_a_host_that_has_just_opened_is_not_talked_to_until_it_speaks():
    link = MemoryLink()
    line = Line(link)
    line.step(5.0)
    assert line.room(5.0) == line.room(6.99) == 0 and line.room(7.0) > 0
    link.host.is_open = False
    line.step(8.0)
    link.host.is_open = True
    line.step(8.1)
    assert line.room(8.1) == 0
    assert heard(link, line, 8.1).room(8.1) > 0


def test_a_node_that_does_not_listen_waits_for_the_host_to_flush():
    link = MemoryLink()
    link.flushes = 3  # of hosts before this one
    line = Line(link)
    line.awaits_host = False
    line.step(5.0)
    assert line.room(5.0) == 0
    link.flushes = 4
    assert line.room(5.0) > 0
    line.awaits_host = True
    assert line.room(5.0) == 0
    link.host.is_open = False
    line.step(6.0)
    link.host.is_open, line.awaits_host = True, False
    line.step(6.1)
    assert line.room(6.1) == 0


def unplugging_line(link):
    faults = FaultInjector({"disconnect": 1.0}, delimiter=10, seed=3)
    return heard(link, Line(link, faults=faults))


def test_unplugged_within_a_frame_and_plugged_in_again():
    link = MemoryLink()
    line = unplugging_line(link)
    line.write(0.0, b"0123456789\nnext\n")
    cut = line.faults.ledger.entries[0]
    assert link.host.read() == b"0123456789"[: cut.offset]
    assert link.plugged and line.room(0.001) == 0
    line.step(0.002)
    line.step(0.010)
    assert not link.plugged and not line.quiet
    with pytest.raises(ConnectionError):
        link.host.read()
    line.step(0.1)
    assert not link.plugged
    line.step(0.3)
    assert link.plugged and line.lost_bytes == 0
    # A delimiter first, then what was behind.
    heard(link, line, 0.31).step(0.32)
    assert link.host.read() == b"\nnext\n" and line.quiet


def test_a_board_that_restarts_forgets_what_it_had_not_sent():
    link = MemoryLink()
    faults = FaultInjector({"reboot": 1.0}, delimiter=10, seed=3)
    line = heard(link, Line(link, faults=faults))
    line.write(0.0, b"first\nsecond\n")
    assert len(faults.ledger) == 1 and not line.take_restart()
    for ms in range(1, 300):
        link.host.is_open and link.plugged and link.host.read()
        line.step(ms * 1e-3)
    assert line.take_restart() and not line.take_restart()
    assert link.plugged and not link.to_host and faults.samples == 2


def test_what_is_not_read_in_time_is_lost_with_the_link():
    link = MemoryLink()
    line = unplugging_line(link)
    line.write(0.0, b"0123456789\n")
    unread = len(link.to_host)
    line.step(59.9)
    assert link.plugged and line.lost_bytes == 0
    line.step(60.0)
    assert not link.plugged and line.lost_bytes == unread > 0
