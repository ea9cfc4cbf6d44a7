"""Real pseudo-terminals and sockets: each way a port can fail raises LinkDown."""

import errno
import os
import socket
import threading

import pytest
from each import each

from edgesvm.errors import LinkDown
from edgesvm.link import open_port
from edgesvm.link.ports import DEATHS, SerialPort

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
tty = pytest.importorskip("tty", reason="terminals are POSIX")
termios = pytest.importorskip("termios", reason="terminals are POSIX")


@pytest.fixture
def master_and_name():
    master, slave = pty.openpty()
    tty.setraw(master)
    name = os.ttyname(slave)
    os.close(slave)
    fds = [master]
    yield fds, name
    for fd in fds:
        os.close(fd)


@pytest.fixture
def wire_and_port(master_and_name):
    fds, name = master_and_name
    port = open_port(name)
    yield fds, port
    port.close()


def unplug(fds):
    os.close(fds.pop())


def test_bytes_go_both_ways(wire_and_port):
    fds, port = wire_and_port
    os.write(fds[0], b"\x00\x01\xff\x11\x13")
    got = []
    while sum(map(len, got)) < 5:
        got.append(port.read(5.0, 2))
        assert len(got[-1]) <= 2  # at most the limit; the rest is kept
    assert b"".join(got) == b"\x00\x01\xff\x11\x13"
    assert port.write(b"back\x00\n\r") == 7
    assert os.read(fds[0], 100) == b"back\x00\n\r"
    assert isinstance(port.fileno(), int)


def test_a_port_that_is_gone_is_link_down(wire_and_port):
    fds, port = wire_and_port
    unplug(fds)
    for call in (lambda: port.read(5.0), lambda: port.write(b"x")):
        with pytest.raises(LinkDown):
            call()


def test_unplugged_while_a_read_waits(wire_and_port):
    fds, port = wire_and_port
    caught = []

    def wait():
        try:
            port.read(60.0)
        except LinkDown as error:
            caught.append(error)

    reader = threading.Thread(target=wait)
    reader.start()
    unplug(fds)
    reader.join(30)
    assert not reader.is_alive()
    assert len(caught) == 1


def test_a_port_that_is_ready_and_has_nothing_is_link_down(wire_and_port, monkeypatch):
    """As a converter that was pulled out reads; bytes that another program took are no failure."""
    fds, port = wire_and_port
    os.write(fds[0], b"x")
    monkeypatch.setattr(os, "read", lambda fd, n: b"")
    with pytest.raises(LinkDown, match="unplugged"):
        port.read(1.0)

    def taken(fd, n):
        raise BlockingIOError(errno.EAGAIN, "taken")

    monkeypatch.setattr(os, "read", taken)
    assert port.read(1.0) == b""


def test_a_dead_pty_raises_each_exception_we_catch(wire_and_port):
    """What pyserial itself raises; this test fails if a release changes that."""
    fds, port = wire_and_port
    unplug(fds)
    device = port._device
    with pytest.raises(OSError) as bare:
        _ = device.in_waiting
    assert bare.value.errno == errno.EIO
    with pytest.raises(termios.error):
        device.reset_input_buffer()
    assert issubclass(termios.error, DEATHS)
    with pytest.raises(LinkDown):
        port._or_down(device.reset_input_buffer)


@each("kind", ["pty", "socket", "loop"])
def test_a_port_that_was_closed_is_link_down(wire_and_port, peer_and_port, kind):
    port = {"pty": wire_and_port, "socket": peer_and_port}.get(kind, [None, open_port("loop://")])[
        1
    ]
    (port._device if kind == "pty" else port).close()
    for call in (lambda: port.read(0.0), lambda: port.write(b"x")):
        with pytest.raises(LinkDown, match="closed"):
            call()
    assert kind == "pty" or port.fileno() is None
    port.close()
    port.close()


def test_type_error_of_a_close_in_another_thread_is_link_down():
    class Closing:
        is_open = True
        timeout = 0
        in_waiting = 0

        def read(self, size):
            raise TypeError("argument must be an int, or have a fileno() method.")

        write = read

    port = SerialPort(Closing(), "closing")
    for call in (lambda: port.read(0.0), lambda: port.write(b"x")):
        with pytest.raises(LinkDown):
            call()


def test_open_refuses_what_is_not_a_port_and_one_that_is_open(tmp_path, wire_and_port):
    file = tmp_path / "file"
    file.write_bytes(b"x")
    for url in (str(file), str(tmp_path), str(tmp_path / "nothing"), wire_and_port[1].url):
        with pytest.raises(LinkDown, match="cannot open"):
            open_port(url)
    with pytest.raises(ValueError, match="protocol"):
        open_port("nonsense://x")


def test_a_reader_that_does_not_read_never_blocks_a_write(wire_and_port):
    _, port = wire_and_port
    taken = 0
    for _ in range(1000):
        n = port.write(b"x" * 1000)
        taken += n
        if n == 0:
            break
    assert n == 0
    assert 0 < taken < 1_000_000


@pytest.fixture
def peer_and_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = open_port(f"socket://127.0.0.1:{server.getsockname()[1]}")
        peer, _ = server.accept()
    yield peer, port
    peer.close()
    port.close()


def test_socket_delivers_what_was_sent_before_it_closed(peer_and_port):
    peer, port = peer_and_port
    assert port.write(b"back") == 4
    assert peer.recv(10) == b"back"
    peer.sendall(b"x" * 1000)
    peer.close()
    got = b""
    with pytest.raises(LinkDown):
        while True:
            got += port.read(5.0)
    assert got == b"x" * 1000


def test_socket_without_a_listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    with pytest.raises(LinkDown, match="cannot open"):
        open_port(f"socket://127.0.0.1:{number}")


@each("where", ["host", "host:", "host:port", "host:65536", "hôst:1"])
def test_socket_needs_a_host_and_a_port(where):
    with pytest.raises(LinkDown, match="socket://HOST:PORT"):
        open_port(f"socket://{where}")


def test_loop_port_has_no_descriptor_and_works():
    port = open_port("loop://")
    assert port.fileno() is None
    assert port.write(b"abc") == 3
    got = b""
    while len(got) < 3:
        got += port.read(1.0)
    assert got == b"abc"
    port.close()
