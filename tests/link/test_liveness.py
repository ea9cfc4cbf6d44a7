"""A healthy node is learned from again, whatever happened before: in the tables of FORMATS.md, and
by the real ends on a simulated clock.
"""

import re
from collections import deque
from pathlib import Path
from typing import NamedTuple

import pytest
from each import each
from fake_port import Clock, FakePort, Node

from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import wire
from edgesvm.link.binary import BinaryLink
from rig.liveness import (
    KINDS,
    RECOVERY_S,
    Fault,
    all_faults,
    recover,
)

FORMATS = (Path(__file__).parents[2] / "docs" / "FORMATS.md").read_text(encoding="utf-8")


def tables():
    """The state machines, in the text's order: (state, event) to (next state, what it does)."""
    section = FORMATS.split("### The two ends")[1].split("\n### ")[0]
    found = []
    for line in section.splitlines():
        if re.match(r"\| (host|device) \| event", line):
            found.append({})
        elif row := re.match(r"\| `([^`]*)` \| `([^`]*)` \| `([^`]*)` \| (.*) \|$", line):
            found[-1][row[1], row[2]] = row[3], row[4]
    return found


HOST, DEVICE, DEAF_DEVICE = tables()
T = 10  # in half seconds


class Both(NamedTuple):
    """The two ends and the frames between them; boots are numbered."""

    host: str
    known: int  # boot whose samples the host accepts; -1: none
    device: str
    boot: int
    down: tuple  # to the host: (frame, boot)
    up: tuple  # to the device


START = Both("closed", -1, "off", 0, (), ())


def host_does(both, table, event):
    """What `event` makes of the host; unchanged where its table has no such row."""
    then, does = table.get((both.host, event), (both.host, ""))
    up = both.up + (("HELLO",) if "HELLO" in does else ())
    return both._replace(host=then, up=up[-2:])


def device_does(both, table, event):
    if (both.device, event) not in table:
        return both
    then, does = table[both.device, event]
    boot = both.boot + (event == "boot")
    names = [("SCHEMA", "SCHEMA"), ("SAMPLE", "sample"), ("HEARTBEAT", "heartbeat")]
    out = tuple((frame, boot) for word, frame in names if word in does)
    return both._replace(device=then, boot=boot, down=(both.down + out)[-3:])


def deliver_down(both, host):
    """The host reads a frame."""
    (frame, boot), *rest = both.down
    both = both._replace(down=tuple(rest))
    if both.host == "closed":
        return both
    if frame == "SCHEMA":
        accepts = "accepts" in host.get((both.host, "SCHEMA"), ("", ""))[1]
        return host_does(both._replace(known=boot if accepts else both.known), host, "SCHEMA")
    if boot == both.known and both.host != "asking":
        return host_does(both, host, "sample") if frame == "sample" else both
    return host_does(both, host, f"other {frame}")


def deliver_up(both, device):
    return device_does(both._replace(up=both.up[1:]), device, "HELLO")


def steps(both, host, device, boots):
    """All that can happen next, faults and timers at any moment."""
    for event in ("opened", "500 ms", "10 s", "T without a sample", "2 T without a frame"):
        yield host_does(both, host, event)
    for event in ("boot", "period", "1 s", "5 s"):
        if event != "boot" or both.boot < boots:
            yield device_does(both, device, event)
    if both.down:
        yield deliver_down(both, host)
        yield both._replace(down=both.down[1:])
        yield both._replace(down=both.down[1:] + both.down[:1])
        yield both._replace(down=(*both.down, both.down[0])[:3])
    if both.up:
        yield deliver_up(both, device)
        yield both._replace(up=both.up[1:])
    yield both._replace(device="off", up=())
    yield both._replace(host="closed", known=-1)  # restarted
    yield both._replace(host="closed", down=())  # the port fails


def reachable(host, device, depth, boots=3):
    """Every state that is at most so many events away from the start."""
    seen, edge = {START: 0}, deque([START])
    while edge:
        both = edge.popleft()
        if seen[both] == depth:
            continue
        for after in steps(both, host, device, boots):
            if after not in seen:
                seen[after] = seen[both] + 1
                edge.append(after)
    return seen


def recovery(both, host, device, limit=int(2 * RECOVERY_S)):
    """Half seconds until a sample of this boot is learned, if nothing fails; None if it is not."""
    since_sample = since_frame = in_state = 0
    for now in range(limit):
        was = both.host
        if both.device == "off":
            both = device_does(both, device, "boot")
        both = host_does(both, host, "opened")
        if both.host in ("asking", "doubting"):
            both = host_does(both, host, "500 ms")
        while both.up:
            both = deliver_up(both, device)
        both = device_does(both, device, "period")
        if now % 2:
            both = device_does(both, device, "1 s")
        if now % 10 == 9:
            both = device_does(both, device, "5 s")
        since_sample, since_frame = since_sample + 1, since_frame + 1
        while both.down:
            frame, boot = both.down[0]
            learns = frame == "sample" and boot == both.known == both.boot
            if learns and both.host in ("listening", "doubting"):
                return now
            both, since_frame = deliver_down(both, host), 0
            since_sample = 0 if frame == "SCHEMA" else since_sample
        for event, due in (
            ("10 s", in_state >= 20),
            ("T without a sample", since_sample >= T),
            ("2 T without a frame", since_frame >= 2 * T),
        ):
            if due:
                both = host_does(both, host, event)
        in_state = in_state + 1 if both.host == was else 0
    return None


def holes(host, device, depth):
    """The states within so many events from which a healthy device is not learned from again."""
    states = reachable(host, device, depth)
    return {both: n for both, n in states.items() if recovery(both, host, device) is None}, states


SILENCE = ("T without a sample", "2 T without a frame")


@pytest.mark.parametrize("device", [DEVICE, DEAF_DEVICE], ids=["hears", "deaf"])
def test_the_tables_have_no_hole(device):
    found, states = holes(HOST, device, depth=12)
    assert found == {}
    assert len(states) > 4000


def test_the_walk_finds_the_hole_of_a_host_that_does_not_mind_silence():
    deaf_to_silence = {key: row for key, row in HOST.items() if key[1] not in SILENCE}
    found, _ = holes(deaf_to_silence, DEVICE, depth=9)
    first = min(found, key=found.get)
    assert (first.host, first.device) in [("listening", "off"), ("listening", "waiting")]
    assert found[first] <= 6


@each("lost", [row for row in HOST if row[0] != "doubting" or row[1] == "SCHEMA"])
def test_no_row_of_the_host_could_be_left_out(lost):
    """Without "sample" rows nothing is learned; those are the walk's own condition."""
    rest = {key: row for key, row in HOST.items() if key != lost}
    spare = {
        ("listening", "sample"),  # the host stays where it is: these rows say so for the reader
        ("listening", "SCHEMA"),
        ("listening", "other sample"),  # found later, by T
        ("listening", "other heartbeat"),
        ("asking", "10 s"),  # each of these two makes up for the other
        ("asking", "500 ms"),
    }
    assert bool(holes(rest, DEVICE, depth=6)[0]) == (lost not in spare)


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


@each("state, event", [row for row in HOST if row[0] in
                                              ("listening", "doubting")])  # fmt: skip
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


# The real ends.


@each("dtype", ["float32", "int16"])
@each("mute", [True, False], ids=["mute", "beating"])
def test_the_real_ends_recover_from_each_fault(mute, dtype):
    for faults in all_faults(1):
        end = recover(faults, mute=mute, dtype=dtype)
        assert end.in_time, end
        assert end.learned_twice == 0


def test_the_real_ends_recover_from_every_two_faults():
    for faults in all_faults(2, gaps=(0.6,)):
        end = recover(faults)
        assert end.in_time, end
        assert end.learned_twice == 0


def test_a_healthy_link_needs_no_recovery():
    assert recover([Fault(3.0, "noise")]).seconds < 0.5
    assert len(KINDS) == len({fault.kind for (fault,) in all_faults(1)})
