"""A node that says nothing: it is asked again, then its port is opened again."""

import socket

import pytest
from each import each
from fake_port import Clock, FakePort, Node, connect, rows, sound, text_link

from edgesvm.errors import LinkDown
from edgesvm.link import open_port, wire
from edgesvm.link.freshness import Freshness


@pytest.fixture
def clock():
    return Clock()


def poll_for(link, clock, seconds):
    """Poll as `run` does; LinkDown or None."""
    until = clock.now + seconds
    while clock.now < until:
        link.poll(0.1)


def test_a_port_that_stays_silent_is_opened_again(clock):
    """As a half-open socket: what is written is lost, and nothing comes."""
    second = FakePort(clock, Node())
    link, port = connect(clock, Node(), [second])
    port.node = None
    port.written.clear()
    silent_since = clock.now
    with pytest.raises(LinkDown, match="no valid frame for 10 s"):
        poll_for(link, clock, 60)
    assert clock.now - silent_since == pytest.approx(10.0, abs=0.3)
    assert port.closed
    link.reconnect()
    assert clock.now - silent_since < 11
    c = sound(link)
    assert (c["silent"], c["disconnects"], c["reconnects"]) == (1, 1, 1)
    poll_for(link, clock, 4)
    assert sound(link)["silent"] == 1


def test_noise_is_silence(clock):
    link, port = connect(clock, Node())
    port.node = None
    with pytest.raises(LinkDown, match="no valid frame"):
        for _ in range(300):
            port.inbox += b"\x55\0\xaa"
            link.poll(0.1)
            clock.now += 0.1


def test_an_idle_node_is_asked_and_answers_and_its_port_stays_open(clock):
    """No heartbeats, and a sample a minute."""
    node = Node()
    link, port = connect(clock, node)
    for n in range(10):
        port.inbox += node.sample(n)
        poll_for(link, clock, 60)
        assert rows(link) == [n]
    c = sound(link)
    assert (c["disconnects"], c["epochs"]) == (0, 1)
    assert c["schemas"] == len(node.kinds(wire.HELLO)) < 130


def test_a_host_that_was_away_does_not_blame_the_node(clock):
    node = Node()
    link, port = connect(clock, node, ring=8)
    for n in range(5):
        frame = node.sample(n)
        for part in (frame[:5], frame[5:9]):
            clock.now += 60  # suspended, or busy with a save
            port.inbox += part
            assert link.poll(0.0) == 0  # the first reads after that need not complete a frame
        port.inbox += frame[9:]
        assert link.poll(0.0) == 1
        assert rows(link) == [n]
    assert sound(link)["silent"] == 0
    assert len(node.kinds(wire.HELLO)) == 1


def test_a_text_link_counts_silence_and_leaves_the_port_alone(clock):
    """A sketch may print once an hour, and opening its port would reset it."""
    link, port = text_link(clock, b"\n1,2,1\n", n_features=2)
    poll_for(link, clock, 60)
    port.inbox += b"3,4,0\n"
    poll_for(link, clock, 60)
    assert rows(link) == [0, 1]
    c = sound(link)
    assert (c["silent"], c["disconnects"], c["connect_attempts"]) == (2, 0, 1)
    assert port.written == b""


def test_sockets_get_keepalive():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = open_port(f"socket://127.0.0.1:{server.getsockname()[1]}")
        connection = port._connection
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
            names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
            got = [
                connection.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names
            ]
            assert got == [5, 2, 3, 11000]
        port.close()


def arrivals(fresh, times, samples=1):
    """Look at the samples, one at each of these times, and each second between them."""
    now = 0
    fresh.look(0, 0.0)
    for n, at in enumerate(times, start=1):
        while now + 1 < at:
            now += 1
            fresh.look(n - 1, now)
        fresh.look(n, at)
        now = at
    return now, len(times)


def goes_stale(fresh, now, n):
    """Seconds from now until the data are stale."""
    for seconds in range(1, 2000):
        fresh.look(n, now + seconds)
        if fresh.is_stale:
            return seconds
    return None


@each(
    "case",
    [
        (dict(), [], 10),  # no period is known yet: as long as a handshake may take
        (dict(), [0.5 * i for i in range(100)], 5),
        (dict(), [3.0 * i for i in range(100)], 30),
        (dict(announced=2.0), [], 20),
        (dict(announced=0.01), [], 5),
        (dict(announced=0.01), [3.0 * i for i in range(100)], 30),  # slower than it says
        (dict(after=2.0, announced=4.0), [0.5 * i for i in range(100)], 2),
    ],
)
def test_ten_periods_and_at_least_5_seconds_or_what_was_said(case):
    said, times, expected = case
    fresh = Freshness(said.get("after"), first=10.0, now=0.0)
    fresh.announced = said.get("announced", 0.0)
    seconds = goes_stale(fresh, *arrivals(fresh, times))
    assert seconds == pytest.approx(expected, abs=1.5)
    assert fresh.times == 1


def test_it_is_counted_once_and_ends_with_a_sample_and_a_long_pause_is_no_period():
    fresh = Freshness(now=0.0)
    now, n = arrivals(fresh, [0.1 * i for i in range(200)])
    assert goes_stale(fresh, now, n) == 5
    for seconds in range(6, 3600):
        fresh.look(n, now + seconds)
    assert fresh.times == 1 and fresh.quiet > 3000
    fresh.look(n + 1, now + 3600)
    assert not fresh.is_stale and fresh.quiet == 0
    assert goes_stale(fresh, now + 3600, n + 1) == 5 and fresh.times == 2


def test_a_sensor_that_becomes_slow_is_stale_for_a_while_only():
    fresh = Freshness(now=0.0)
    now, n = arrivals(fresh, [0.1 * i for i in range(200)])
    gaps = [now + 60.0 * i for i in range(1, 60)]
    for i, arrives in enumerate(gaps):
        for seconds in range(59, 0, -1):
            fresh.look(n + i, arrives - seconds)
        fresh.look(n + i + 1, arrives)
    assert fresh.after > 60 and fresh.times < 40


def test_a_host_that_was_stopped_blames_nobody():
    fresh = Freshness(now=0.0)
    fresh.look(1, 0.1)
    fresh.look(2, 0.2)
    fresh.look(2, 3600.0)
    assert not fresh.is_stale and fresh.quiet == 1.0


def test_a_link_looks_at_each_poll_and_heartbeats_are_no_samples():
    clock, node = Clock(), Node()
    link, port = connect(clock, node)
    for sequence in range(20):
        port.inbox += node.sample(sequence)
        link.poll(0.1)
    assert not link.freshness.is_stale and sound(link)["stale"] == 0
    until = clock.now + 12
    while clock.now < until:
        port.inbox += wire.encode_frame(wire.LOG, b"no sensor")
        link.poll(0.1)
        clock.sleep(0.1)
    c = sound(link)
    assert link.freshness.is_stale and (c["stale"], c["silent"]) == (1, 0)
    port.inbox += node.sample(20)
    link.poll(0.1)
    assert not link.freshness.is_stale and sound(link)["stale"] == 1
