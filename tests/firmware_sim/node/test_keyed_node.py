"""A keyed node and its host: in one process under a false clock, then as real processes."""

import json
import os
import subprocess
import sys

import pytest

from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import open_link
from edgesvm.link.keyed import write_new_key
from firmware_sim.node import FrameNode, RotatingMachine

KEY = bytes(range(16))
needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


class Wire:
    """A port with the node at its other end; each read takes a hundredth of a second."""

    def __init__(self, node):
        self.node = node
        self.now = 100.0
        self.bytes = b""
        self.alive = True

    def read(self, timeout, limit=65536):
        if not self.alive:
            raise LinkDown("the wire is cut")
        self.now += 0.01
        if not self.bytes:
            self.bytes = self.node.poll(self.now, b"", 512)
        chunk, self.bytes = self.bytes[:limit], self.bytes[limit:]
        return chunk

    def write(self, data):
        self.bytes += self.node.poll(self.now, data, 512)
        return len(data)

    def close(self):
        pass

    def opened(self, **options):
        self.alive = True
        clock = {"clock": lambda: self.now, "sleep": lambda s: None}
        return open_link("wire", opener=lambda: self, **clock, **options)


def keyed(key=KEY, **settings):
    return FrameNode(RotatingMachine(1), key=key, **settings)


def taken(link, n):
    sequence = []
    while len(sequence) < n:
        link.poll(0.0)
        list(link.take_labels())
        batch = link.take(n - len(sequence))
        sequence += batch.sequence.tolist()
        link.release(len(batch.y))
        for number in sequence[-len(batch.y) :] if len(batch.y) else ():
            link.send_prediction(number, 1)
        assert link.check_identities() == []
    return sequence


@pytest.mark.parametrize(
    "settings", [{}, {"dtype": "int16"}, {"label_mode": "late"}, {"timestamps": True}]
)
def test_samples_and_predictions_with_tags(settings):
    node = keyed(**settings)
    with Wire(node).opened(key=KEY, late_labels=None) as link:
        assert taken(link, 500) == list(range(500))
        c = link.counters
        assert (c["bad_tag"], c["replayed"], c["missing"]) == (0, 0, 0)
    assert node.scorer.received > 400
    assert (node.guard.bad_tag, node.guard.replayed) == (0, 0)


def test_a_restart_of_either_end_opens_a_new_session():
    node = keyed()
    wire_ = Wire(node)
    with wire_.opened(key=KEY) as link:
        for _ in range(3):
            taken(link, 100)
            node.reboot()
            wire_.bytes = b""
        assert link.counters["epochs"] == 3
    with wire_.opened(key=KEY) as link:  # the host's restart: its numbers begin anew
        assert len(taken(link, 50)) == 50
        assert link.counters["bad_tag"] < 60  # what was on its way


@pytest.mark.parametrize("theirs", [None, bytes(16)])
def test_a_node_without_the_key_is_not_listened_to(theirs):
    node = keyed(theirs)
    with pytest.raises(NoSchema, match="check that the node has the same key"):
        Wire(node).opened(key=KEY, handshake_timeout=3.0)
    assert not node.streaming


def test_a_host_without_the_key_is_told_that_it_needs_one():
    node = keyed()
    with pytest.raises(NoSchema, match="the node logged: this node has a key"):
        Wire(node).opened(handshake_timeout=3.0)
    assert not node.streaming and node.guard.bad_tag > 2


@needs_pty
def test_run_with_a_key_file(tmp_path):
    write_new_key(tmp_path / "key")
    serve = [sys.executable, "-m", "firmware_sim", "serve", "--json", "--samples", "2000"]
    serve += ["--key", str(tmp_path / "key")]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as node:
        port = json.loads(node.stdout.readline())["port"]
        run = [sys.executable, "-m", "edgesvm.cli", "run", port, "--json", "--samples", "2000"]
        run += ["--key", str(tmp_path / "key")]
        done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False)
        node.terminate()
        node.stdout.read()
    assert done.returncode == 0, done.stderr
    counters = json.loads(done.stdout)["counters"]
    assert (counters["learned"], counters["bad_tag"], counters["replayed"]) == (2000, 0, 0)


def test_the_command_makes_a_key_and_an_open_one_is_refused(tmp_path):
    edgesvm = [sys.executable, "-m", "edgesvm.cli"]
    path = tmp_path / "node.key"
    done = subprocess.run([*edgesvm, "key", str(path)], capture_output=True, text=True, check=True)
    shown = bytes(int(word, 16) for word in done.stdout.split(", "))
    assert shown.hex() == path.read_text().strip()
    path.chmod(0o644)
    done = subprocess.run(
        [*edgesvm, "run", "/dev/null", "--key", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "chmod 600" in done.stderr
