"""``socket:PORT``: a server that streams lines to every client."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque

from edgesvm.outputs.sink import Line, Sink

CLIENTS = 16
LINE_BYTES = 4096  # of an answer
SEND_BYTES = 64 * 1024  # what the kernel keeps for a client, about


class _Client:
    """A connection and the lines that wait for it."""

    def __init__(self, connection: socket.socket, capacity: int) -> None:
        self.connection = connection
        self.lines: deque[bytes] = deque(maxlen=capacity)
        self.rest = b""  # of the line that is being sent
        self.said = b""  # of the line that comes


class Server(Sink):
    """Streams lines to every client that connects, from then on.

    A client that reads too slowly loses the oldest lines that wait for it. Where answers are heard,
    each line of a client is one, and it is told what came of it; else what clients send is ignored.

    Parameters
    ----------
    host, port : str, int
        Address it listens on, from the start.
    capacity : int
        Lines that may wait for a client.

    Attributes
    ----------
    port : int
        As bound: not 0.
    clients, client_lost, refused : int
        Clients that connected; lines that slow ones lost; clients that were one too many.
    unheard : int
        Lines for which there was no client.
    """

    def __init__(self, host: str, port: int, capacity: int) -> None:
        self._capacity = capacity
        self.clients = self.client_lost = self.refused = self.unheard = 0
        self._address = (host, port)
        self._clients: dict[socket.socket, _Client] = {}
        self._listening: socket.socket | None = None
        self.open()
        assert self._listening is not None
        self._address = (host, self._listening.getsockname()[1])
        self.name = f"socket:{_shown(*self._address)}"

    def open(self) -> None:
        """It listens from the start; a port that is taken is found then."""
        if self._listening is not None:
            return
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        try:
            self._listening = socket.create_server(self._address, family=family)
        except OSError as error:
            where = _shown(*self._address)
            raise OSError(f"--out socket:{where}: {error.strerror or error}") from error
        self._listening.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)

    @property
    def port(self) -> int:
        return self._address[1]

    def send(self, lines: list[Line]) -> int:
        self.unheard += 0 if self._clients else len(lines)
        for line in lines:
            data = line.encoded()
            for client in self._clients.values():
                self.client_lost += len(client.lines) == client.lines.maxlen
                client.lines.append(data)
        for client in list(self._clients.values()):
            self._write(client)
        return len(lines)

    def turn(self, seconds: float) -> None:
        for key, events in self._selector.select(seconds):
            if key.fileobj is self._listening:
                self._accept()
                continue
            client = key.data
            if events & selectors.EVENT_READ and not self._listens(client):
                continue
            if events & selectors.EVENT_WRITE:
                self._write(client)

    def _accept(self) -> None:
        assert self._listening is not None
        try:
            connection, _ = self._listening.accept()
        except OSError:  # gone again, or no descriptors left: it may come back
            return
        if len(self._clients) == CLIENTS:
            self.refused += 1
            connection.close()
            return
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        self.clients += 1
        client = self._clients[connection] = _Client(connection, self._capacity)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _listens(self, client: _Client) -> bool:
        """Take what a client sends; False if it is gone."""
        try:
            if data := client.connection.recv(4096):
                self._hear(client, data)
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass  # reset: gone, as at the end of its stream
        self._drop(client)
        return False

    def _hear(self, client: _Client, data: bytes) -> None:
        if self.heard is None:
            return
        *whole, client.said = (client.said + data).split(b"\n")
        client.said = client.said[-LINE_BYTES:]
        for text in whole:
            said = self.heard(None, text.decode(errors="replace"))
            client.lines.append(said.encode() + b"\n")
        if whole:
            both = selectors.EVENT_READ | selectors.EVENT_WRITE
            self._selector.modify(client.connection, both, client)

    def _write(self, client: _Client) -> None:
        """Send as much as the client takes, and ask to be woken for the rest."""
        try:
            while client.rest or client.lines:
                client.rest = client.rest or client.lines.popleft()
                client.rest = client.rest[client.connection.send(client.rest) :]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.rest else 0)
        self._selector.modify(client.connection, events, client)

    def _drop(self, client: _Client) -> None:
        self.client_lost += len(client.lines) + bool(client.rest)
        self._selector.unregister(client.connection)
        del self._clients[client.connection]
        client.connection.close()

    def close(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and any(
            client.rest for client in self._clients.values()
        ):
            self.turn(left)
        for client in list(self._clients.values()):
            self._drop(client)
        if self._listening is not None:
            self._selector.close()
            self._listening.close()
            self._listening = None

    def counters(self) -> dict[str, int]:
        told = {"clients": self.clients, "clients_refused": self.refused}
        return {**told, "client_lost": self.client_lost, "unheard": self.unheard}


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
