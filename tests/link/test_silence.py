"""A node that says nothing: it is asked again, then its port is opened again."""

import socket

import pytest
from fake_port import Clock, FakePort, Node, connect, rows, sound, text_link

from edgesvm.errors import LinkDown
from edgesvm.link import open_port, wire


@pytest.fixture
def clock():
    return Clock()


class Waiting(Node):
    """After a reset it waits for HELLO and says nothing; samples go out once it was asked."""

    boot = 5

    def reset(self):
        self.boot += 1
        self.schema = wire.Schema(0, self.boot, 2)
        self.heard.clear()

    def streaming(self):
        return bool(self.kinds(wire.HELLO))


def poll_for(link, clock, seconds):
    """Poll as `run` does; LinkDown or None."""
    until = clock.now + seconds
    while clock.now < until:
        link.poll(0.1)


def test_a_node_that_waits_for_hello_after_a_reset_gets_one(clock):
    node = Waiting()
    link, port = connect(clock, node)
    port.inbox += node.sample(0)
    link.poll()
    node.reset()
    reset_at = clock.now
    while not node.streaming():
        assert clock.now < reset_at + 10, "no HELLO"
        link.poll(0.1)
    assert clock.now - reset_at == pytest.approx(5.0, abs=0.3)
    port.inbox += node.sample(0)
    poll_for(link, clock, 0.2)
    assert rows(link) == [0, 0]
    c = sound(link)
    assert (c["silent"], c["disconnects"], c["epochs"]) == (1, 0, 2)


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
