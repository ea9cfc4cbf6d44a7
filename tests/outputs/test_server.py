"""Lines to clients over real sockets: those that read, one that does not, one that goes."""

import json
import math
import socket

import pytest
from outgoing import answers, output, until, write

from edgesvm.outputs.server import CLIENTS, Server


def client(server):
    return socket.create_connection(("127.0.0.1", server.port), 60)


def numbers(connection, n=math.inf):
    """Numbers of the whole lines that came until the end of the stream, or until there were n."""
    data = b""
    while data.count(b"\n") < n and (chunk := connection.recv(65536)):
        data += chunk
    connection.close()
    return [json.loads(line)["sequence"] for line in data.split(b"\n")[:-1]]


def test_each_client_gets_the_lines_from_when_it_came():
    journal, server = answers(0, 1000), Server("127.0.0.1", 0, 1000)
    with output(server, journal) as out:
        write(journal, 5)
        assert until(lambda: server.unheard == 5)
        first = client(server)
        assert until(lambda: server.clients == 1)
        write(journal, 10)
        assert until(lambda: out.sent == 15)
        second = client(server)
        second.sendall(b"what clients say is ignored\n")
        assert until(lambda: server.clients == 2)
        write(journal, 20)
    assert numbers(first) == list(range(5, 35)) and out.sent == 35
    try:
        assert numbers(second) == list(range(15, 35))
    except ConnectionResetError:
        pytest.fail("the end came before the lines")
    assert out.counters()["client_lost"] == 0 and out.counters()["clients"] == 2


def test_a_client_that_does_not_read_loses_the_oldest_and_holds_nobody_up():
    journal, server = answers(0, 500), Server("127.0.0.1", 0, 500)
    with output(server, journal) as out:
        slow, quick = client(server), client(server)
        assert until(lambda: server.clients == 2)
        got = b""
        while server.client_lost < 1000:
            write(journal, 400)
            n = journal.written
            while got.count(b"\n") < n:
                got += quick.recv(65536)
        found = numbers(slow, n - server.client_lost)  # what waits comes without another line
    assert out.lost == 0 and out.sent == got.count(b"\n") == n
    assert len(found) + server.client_lost == out.sent and found == sorted(set(found))
    assert found[-1] == n - 1
    quick.close()


def test_clients_that_go_or_are_too_many_are_no_failure():
    journal, server = answers(0, 100), Server("127.0.0.1", 0, 100)
    with output(server, journal) as out:
        clients = [client(server) for _ in range(CLIENTS + 1)]
        assert until(lambda: server.refused == 1 and server.clients == CLIENTS)
        for one in clients[:-2]:
            one.close()
        for _ in range(50):
            write(journal)
            assert until(lambda: out.sent == journal.written)
        again = client(server)
        assert until(lambda: server.clients == CLIENTS + 1)
        write(journal, 3)
    assert out.failed == 0 and numbers(again) == [50, 51, 52]
    for one in clients[-2:]:
        one.close()


def test_a_port_that_is_taken_is_an_error_at_the_start():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"--out socket:127.0.0.1:{port}: .*in use"):
            Server("127.0.0.1", port, 10)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_a_name_shows_the_address_and_another_is_bound():
    try:
        server = Server("::1", 0, 10)
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    assert server.name == f"socket:[::1]:{server.port}"
    server.close(0.0)


def test_lines_of_a_client_are_heard_and_answered_to_it_alone():
    journal, server, heard = answers(0, 1000), Server("127.0.0.1", 0, 1000), []

    def hear(port, text):
        heard.append((port, text))
        return f"heard {text}"

    server.heard = hear
    with output(server, journal):
        one, other = client(server), client(server)
        assert until(lambda: server.clients == 2)
        one.sendall(b'{"undo"')
        one.sendall(b": true}\n1\n" + b"x" * 100_000)
        with one.makefile("rb") as lines:
            assert [next(lines), next(lines)] == [b'heard {"undo": true}\n', b"heard 1\n"]
        write(journal, 1)
        assert until(lambda: len(server._clients) == 2)
        assert max(len(client.said) for client in server._clients.values()) <= 4096
    assert heard == [(None, '{"undo": true}'), (None, "1")]
    assert numbers(other) == [0]
    one.close()
