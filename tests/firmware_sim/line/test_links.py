"""The links against real hosts: pyserial at the other end of a terminal and of a socket."""

import os
import sys

import pytest
import serial

from firmware_sim.line import PtyLink, TcpLink

needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
ALL_BYTES = bytes(range(256))


@pytest.fixture(params=[pytest.param("pty", marks=needs_pty), "tcp"])
def link(request, tmp_path):
    link = PtyLink(tmp_path / "port") if request.param == "pty" else TcpLink()
    yield link
    link.close()


def open_host(link):
    host = serial.serial_for_url(link.url, timeout=60)
    while not link.connected:
        link.wait(0.01)
    return host


def receive(link, n):
    got = b""
    for _ in range(1000):
        got += link.receive()
        if len(got) >= n:
            break
        link.wait(0.01)
    return got


def test_all_bytes_both_ways(link):
    assert not link.connected and link.send(b"nobody there") == 0 and link.receive() == b""
    with open_host(link) as host:
        assert link.send(ALL_BYTES) == 256
        assert host.read(256) == ALL_BYTES
        host.write(ALL_BYTES)
        assert receive(link, 256) == ALL_BYTES
        assert link.receive() == b""


def test_a_host_that_closes_is_noticed_and_another_may_come(link):
    with open_host(link):
        pass
    for _ in range(1000):
        link.receive()
        if not link.connected:
            break
        link.wait(0.01)
    assert not link.connected and link.send(b"stale") == 0
    with open_host(link) as host:
        link.send(b"fresh")
        assert host.read(5) == b"fresh"


def test_unplugged_and_back_under_the_same_name(link):
    url = link.url
    with open_host(link) as host:
        link.unplug()
        assert not link.connected and link.send(b"x") == 0 and link.unread() == 0
        with pytest.raises(serial.SerialException):
            while True:
                host.read(1)
    with pytest.raises(serial.SerialException):
        serial.serial_for_url(url)
    link.plug()
    assert link.url == url
    with open_host(link) as host:
        link.send(b"back")
        assert host.read(4) == b"back"


def test_a_link_that_is_full_takes_what_fits(link):
    with open_host(link) as host:
        total = refused = 0
        while refused < 20:  # the kernel moves bytes up in its own time, and there is room again
            taken = link.send(bytes(65536))
            total += taken
            refused = 0 if taken else refused + 1
            link.receive()
            link.wait(0.01)
        assert total > 1000
        assert link.send(b"x") == 0
        assert len(host.read(1000)) == 1000


@needs_pty
@pytest.mark.skipif(sys.platform != "linux", reason="counts of unread bytes are Linux's")
def test_unread_bytes_of_a_terminal():
    link = PtyLink()
    with open_host(link) as host:
        link.send(b"12345")
        while link.unread() < 5:
            link.wait(0.001)
        assert host.read(5) == b"12345"
        assert link.unread() == 0
    link.close()
    link.close()


@needs_pty
def test_a_terminal_tells_when_its_host_flushes():
    link = PtyLink()
    assert link.receive() == b"" and link.flushes == 0
    with open_host(link) as host:
        assert link.receive() == b"" and link.flushes == 1  # pyserial's own, on opening
        host.write(b"\x01\x00")
        host.reset_input_buffer()
        assert receive(link, 2) == b"\x01\x00" and link.flushes == 2
    link.close()


@needs_pty
def test_the_symlink_goes_with_the_link_and_spares_what_is_not_ours(tmp_path):
    link = PtyLink(tmp_path / "sensor")
    assert os.readlink(tmp_path / "sensor").startswith("/dev/")
    PtyLink(tmp_path / "sensor").close()  # one that takes the name over
    link.close()
    assert not os.path.lexists(tmp_path / "sensor")
    (tmp_path / "file").write_text("precious")
    with pytest.raises(FileExistsError, match="is not a symbolic link"):
        PtyLink(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@needs_pty
def test_the_name_of_a_closed_terminal_is_not_given_to_another():
    """Or a host that opens its port again would take the samples of another node."""
    first = PtyLink()
    first.close()
    second = PtyLink()
    assert second.url != first.url and not os.path.lexists(first.url)
    assert os.readlink(second.url).startswith("/dev/")
    second.unplug()
    second.plug()
    assert os.path.lexists(second.url)
    second.close()
    assert not os.path.lexists(second.url)
