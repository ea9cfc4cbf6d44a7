"""`edgesvm run` on a pseudo-terminal, the node in a thread: the whole of the protocol at once."""

import json
import os
import select
import threading

import numpy as np
import pytest

from edgesvm import load
from edgesvm.cli import main
from edgesvm.link import FrameDecoder, wire

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
tty = pytest.importorskip("tty", reason="terminals are POSIX")

N = 400
LATE = 3
rng = np.random.default_rng(4)
RAW = rng.integers(-3000, 3000, (N, 2)).astype(np.int16)
Y = (RAW[:, 0] > 200).astype(int)
SCALES, OFFSETS = [0.001, 0.002], [0.5, -0.5]
CRC, PAGES = wire.scale_table(SCALES, OFFSETS)
OTHER = wire.Schema(0, 10, 5)
SCHEMA = wire.Schema(0, 9, 2, wire.DTYPE_I16, wire.LABEL_LATE, 2, scale_crc=CRC)
X = RAW * np.float32(SCALES) + np.float32(OFFSETS)


def frames_of_a_stream():
    """int16 samples, each label three samples later, a line of the log with an escape in it, and in
    the middle one schema of other samples."""
    told = SCHEMA.schema_id
    out = wire.encode_frame(wire.LOG, b"boot\x1b[2J ok")
    for n in range(N + LATE):
        if n == N // 2:  # an intruder's, between two samples
            out += wire.encode_frame(wire.SCHEMA, OTHER.pack())
        if n < N:
            out += wire.encode_sample(told, n, RAW[n], time_us=1000 * n, dtype=wire.DTYPE_I16)
        if n >= LATE:
            label = wire.Label(n - LATE, int(Y[n - LATE])).pack()
            out += wire.encode_frame(wire.LABEL, label, schema_id=told)
    return out


class Node(threading.Thread):
    """Answers HELLO with SCHEMA and scale table, then streams; ends as told.

    `end` is sent once all samples have been answered.
    """

    def __init__(self, fd, stream, end):
        super().__init__()
        self.fd, self.stream, self.end, self.schema = fd, stream, end, SCHEMA
        self.decoder = FrameDecoder()
        self.predictions = []
        self.stop = threading.Event()
        self.out = b""

    def run(self):
        os.set_blocking(self.fd, False)
        while not self.stop.is_set():
            readable, writable, _ = select.select([self.fd], [self.fd] if self.out else [], [], 0.1)
            if readable:
                try:
                    self.hear(os.read(self.fd, 4096))
                except OSError:
                    return  # the other end was closed
            if writable:
                self.out = self.out[os.write(self.fd, self.out) :]

    def hear(self, data):
        for frame in self.decoder.feed(data):
            if frame.kind == wire.HELLO:
                nonce = wire.Hello.unpack(frame.body).nonce
                self.greet(nonce)
            elif frame.kind == wire.PREDICTION:
                self.predictions.append(wire.Prediction.unpack(frame.body))
                if len(self.predictions) == N:
                    self.out += self.end
                    self.schema = OTHER if self.end else SCHEMA

    def greet(self, nonce):
        schema = wire.Schema(**{**self.schema.__dict__, "nonce": nonce})
        self.out += b"\0" + wire.encode_frame(wire.SCHEMA, schema.pack())
        for page in PAGES:
            self.out += wire.encode_frame(wire.SCALES, page, schema_id=SCHEMA.schema_id)
        self.out, self.stream = self.out + self.stream, b""


@pytest.fixture
def node_and_port():
    master, slave = pty.openpty()
    tty.setraw(master)
    node = Node(master, frames_of_a_stream(), b"")
    yield node, os.ttyname(slave)
    node.stop.set()
    node.join(60)
    os.close(master)
    os.close(slave)


def test_int16_samples_late_labels_a_log_and_then_other_features(node_and_port, tmp_path, capsys):
    node, port = node_and_port
    node.end = wire.encode_frame(wire.SCHEMA, OTHER.pack())
    node.start()
    saved = str(tmp_path / "m.esvm")
    argv = [port, "--late-labels", "8", "--json"]
    argv += ["--learner", "stream", "--save", saved]
    assert main(["run", *argv]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines()[-1].endswith("now sends 5 features per sample instead of 2")
    assert "Traceback" not in said.err
    assert "node: boot?[2J ok" in said.err
    c = json.loads(said.out)["counters"]
    assert (c["taken"], c["learned"], c["label_matched"], c["waiting"]) == (N, N, N, 0)
    assert c["clock_jumps"] == 0
    assert json.loads(said.out)["broken_identities"] == []
    learner = load(saved)
    alike = type(learner)(**learner.get_params(deep=False)).partial_fit(X, Y, classes=[0, 1])
    assert learner.n_seen_ == alike.n_seen_ == N
    np.testing.assert_array_equal(learner.decision_function(X), alike.decision_function(X))
    assert [p.sequence for p in node.predictions] == list(range(N))
