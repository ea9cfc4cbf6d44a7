"""A healthy node is learned from again, whatever happened before: the table of FORMATS.md, row by
row. (tests/rig/test_simulation.py times it.)
"""

import pytest
from each import each
from fake_port import Clock, FakePort, Node

from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import wire
from edgesvm.link.binary import BinaryLink

# What the host does in a state: then it is in another, and learns the sample or sends HELLO.
HOST = {
    ("listening", "sample"): ("listening", "learns it"),
    ("listening", "SCHEMA"): ("listening", ""),
    ("listening", "other sample"): ("doubting", "HELLO"),
    ("listening", "other heartbeat"): ("doubting", "HELLO"),
    ("listening", "T without a sample"): ("doubting", "HELLO"),
    ("doubting", "500 ms"): ("doubting", "HELLO"),
    ("doubting", "sample"): ("doubting", "learns it"),
    ("doubting", "SCHEMA"): ("listening", ""),
    ("doubting", "2 T without a frame"): ("closed", ""),
}


# Each row of the host's table, on the real link.


class Script:
    """A real link, led to a state."""

    def __init__(self, state):
        self.clock = Clock()
        self.node = Node()
        self.port = FakePort(self.clock)
        self.link = BinaryLink(lambda: self.port, clock=self.clock, sleep=self.clock.sleep,
                               handshake_timeout=10.0)  # fmt: skip
        self.states = []
        if state != "closed":
            self.open()
        if state == "doubting":
            self.port.inbox += self.sample(boot_id=9)
            self.poll()
            self.poll()  # the HELLO that goes with it
        self.hellos()

    def sample(self, boot_id=5):
        return wire.encode_sample(wire.Schema(0, boot_id, 2).schema_id, 0, (1.0, 2.0))

    def open(self):
        self.port.inbox += self.node.schema_frame()
        self.link.open()

    def poll(self, seconds=0.0):
        until = self.clock.now + seconds
        while True:
            self.link.poll(0.1 if seconds else 0.0)
            if self.clock.now >= until:
                return

    def hellos(self):
        """HELLOs written since the last call."""
        self.node.heard.clear()
        self.node.decoder.feed(b"\0")
        said = self.node.decoder.feed(bytes(self.port.written))
        self.port.written.clear()
        return [frame for frame in said if frame.kind == wire.HELLO]


def apply(script, event):
    if event == "SCHEMA":
        script.port.inbox += script.node.schema_frame()
    elif event in ("sample", "other sample"):
        script.port.inbox += script.sample(5 if event == "sample" else 9)
    elif event == "other heartbeat":
        script.port.inbox += wire.encode_frame(wire.HEARTBEAT, wire.Heartbeat(9, 1).pack())
    elif event == "500 ms":
        script.clock.now += 0.5
    elif event == "T without a sample":
        while script.link._listened - script.link._sample_at < 5.0:
            script.port.inbox += wire.encode_frame(wire.LOG, b"here")
            script.poll(0.5)
    elif event == "2 T without a frame":
        with pytest.raises(LinkDown):
            script.poll(20)
        return
    script.poll()


@each("state, event", HOST)
def test_the_real_host_does_what_its_table_says(state, event):
    then, does = HOST[state, event]
    script = Script(state)
    assert script.link.state == state
    apply(script, event)
    assert script.link.state == then
    if then != "closed":
        taken = len(script.link.take().y)
        assert taken == ("learns it" in does)
        script.poll()  # what was queued goes out
        assert bool(script.hellos()) == ("HELLO" in does)


def test_the_real_host_asks_as_its_table_says():
    script = Script("closed")
    assert script.link.state == "closed"
    seen = []
    script.port.read = lambda timeout, limit=0: (
        seen.append((script.link.state, script.clock.now)),
        FakePort.read(script.port, timeout, limit),
    )[1]
    with pytest.raises(NoSchema):
        script.link.open()
    assert script.link.state == "closed"
    assert {state for state, _ in seen} == {"asking"}
    assert script.clock.now - seen[0][1] == pytest.approx(10.0)
    hellos = script.hellos()
    assert len(hellos) == 20
    assert len({wire.Hello.unpack(frame.body).nonce for frame in hellos}) == 1
    script.open()
    assert script.link.state == "listening"
    (again,) = script.hellos()
    assert wire.Hello.unpack(again.body).nonce != wire.Hello.unpack(hellos[0].body).nonce
