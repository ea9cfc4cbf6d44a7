"""Links end to end over a real pseudo-terminal and a real socket, with the node in a thread."""

import os
import select
import socket
import threading

import numpy as np
import pytest

from edgesvm.errors import LinkDown
from edgesvm.link import FrameDecoder, open_link, open_port, wire

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
tty = pytest.importorskip("tty", reason="terminals are POSIX")

N = 5000
X = np.random.default_rng(1).standard_normal((N, 5)).astype(np.float32)
SCHEMA = wire.Schema(0, 77, 5, n_classes=2)


class Node(threading.Thread):
    """Answers HELLO, sends all samples as fast as the port accepts them, reads predictions."""

    def __init__(self, fd):
        super().__init__()
        self.fd = fd
        self.decoder = FrameDecoder()
        self.predictions = []
        self.stop = threading.Event()
        self.out = b""

    def run(self):
        os.set_blocking(self.fd, False)
        while not self.stop.is_set():
            readable, writable, _ = select.select([self.fd], [self.fd] if self.out else [], [], 0.1)
            if readable:
                self.hear(os.read(self.fd, 4096))
            if writable:
                self.out = self.out[os.write(self.fd, self.out) :]

    def hear(self, data):
        for frame in self.decoder.feed(data):
            if frame.kind == wire.HELLO:
                nonce = wire.Hello.unpack(frame.body).nonce
                answer = wire.Schema(**{**SCHEMA.__dict__, "nonce": nonce})
                self.out += b"\0" + wire.encode_frame(wire.SCHEMA, answer.pack())
                self.out += b"".join(
                    wire.encode_sample(SCHEMA.schema_id, i, X[i], label=i % 2) for i in range(N)
                )
            elif frame.kind == wire.PREDICTION:
                self.predictions.append(wire.Prediction.unpack(frame.body))
                if len(self.predictions) == N:
                    self.stop.set()


def answer_all(link):
    """Read every sample and answer it; return the rows."""
    rows = []
    while len(rows) < N:
        link.poll(1.0)
        batch = link.take()
        for x, y, sequence in zip(batch.X, batch.y, batch.sequence, strict=True):
            rows.append((x.copy(), int(y), int(sequence)))
            link.send_prediction(int(sequence), int(y), float(x[0]))
            # The node is reading: wait rather than drop a prediction.
            while link._outbox.capacity - len(link._outbox) < 64:
                link.flush()
        link.release(len(batch.y))
    while len(link._outbox):
        link.flush()
    return rows


@pytest.fixture(params=["pty", "socket"])
def node_and_url(request):
    if request.param == "pty":
        master, slave = pty.openpty()
        tty.setraw(master)
        node = Node(master)
        yield node, os.ttyname(slave)
        node.stop.set()
        node.join(60)
        os.close(master)
        os.close(slave)
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        peers = []

        class Accepting(Node):
            def run(self):
                peer, _ = server.accept()
                peers.append(peer)
                self.fd = peer.fileno()
                super().run()

        node = Accepting(-1)
        yield node, f"socket://127.0.0.1:{server.getsockname()[1]}"
        node.stop.set()
        node.join(60)
        for peer in peers:
            peer.close()


def test_every_sample_arrives_and_is_answered(node_and_url):
    node, url = node_and_url
    node.start()
    with open_link(url, n_features=5, ring=32) as link:
        rows = answer_all(link)
        node.join(240)
        assert not node.is_alive()
        assert [sequence for _, _, sequence in rows] == list(range(N))
        assert np.array([x for x, _, _ in rows]).tobytes() == X.tobytes()
        assert [y for _, y, _ in rows] == [i % 2 for i in range(N)]
        assert link.check_identities() == []
        assert link.counters["ring_dropped"] == link.counters["missing"] == 0
        assert link.counters["predictions_dropped"] == 0
    assert [p.sequence for p in node.predictions] == list(range(N))
    assert [p.score for p in node.predictions] == X[:, 0].tolist()
    assert node.decoder.broken_identities() == []


def test_unplugged_pty_is_link_down_and_the_next_one_continues():
    """Like replugging a USB converter: another device file, the same boot of the node."""
    masters = []

    def plug_in():
        master, slave = pty.openpty()
        tty.setraw(master)
        masters.append(master)
        name = os.ttyname(slave)
        os.close(slave)
        return master, name

    def opener():
        master, name = plug_in()
        port = open_port(name)
        # Opening the port discards its input; after an unsolicited SCHEMA the node need not answer.
        os.write(master, b"\0" + wire.encode_frame(wire.SCHEMA, SCHEMA.pack()))
        return port

    link = open_link("pty", opener=opener)
    os.write(masters[0], wire.encode_sample(SCHEMA.schema_id, 0, X[0]))
    while link.poll(1.0) < 1:
        continue
    os.close(masters[0])
    with pytest.raises(LinkDown):
        link.poll(60.0)
    link.reconnect()
    os.write(masters[1], wire.encode_sample(SCHEMA.schema_id, 3, X[3]))
    while link.poll(1.0) < 2:
        continue
    assert link.take().sequence.tolist() == [0, 3]
    assert (link.counters["missing"], link.counters["disconnects"]) == (2, 1)
    assert link.check_identities() == []
    link.close()
    os.close(masters[1])
