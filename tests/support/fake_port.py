"""A port, a clock and a node that are simulated: nothing waits, and every run is the same."""

from edgesvm.errors import LinkDown
from edgesvm.link import FrameDecoder, open_link, wire


class Clock:
    def __init__(self):
        self.now = 100.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class FakePort:
    """Bytes in a buffer; reading an empty one advances the clock. `node` answers writes."""

    def __init__(self, clock, node=None):
        self.clock = clock
        self.node = node
        self.inbox = bytearray()
        self.written = bytearray()
        self.dead = self.closed = self.deaf = False
        self.bite = None

    def read(self, timeout, limit=65536):
        if self.dead and not self.inbox:
            raise LinkDown("fake port")
        if not self.inbox:
            self.clock.now += timeout
        n = min(limit, len(self.inbox))
        chunk = bytes(self.inbox[:n])
        del self.inbox[:n]
        return chunk

    def write(self, data):
        if self.dead:
            raise LinkDown("fake port")
        n = 0 if self.deaf else len(data) if self.bite is None else min(self.bite, len(data))
        self.written += data[:n]
        if self.node is not None:
            self.inbox += self.node.hear(data[:n])
        return n

    def close(self):
        self.closed = True


class Node:
    """The node's end: answers HELLO with its schema."""

    def __init__(self, n_features=2, boot_id=5, answers=True, **schema):
        self.schema = wire.Schema(0, boot_id, n_features, **schema)
        self.answers = answers
        self.decoder = FrameDecoder()
        self.heard = []

    def hear(self, data):
        out = b""
        for frame in self.decoder.feed(data):
            self.heard.append(frame)
            if frame.kind == wire.HELLO and self.answers:
                out += self.schema_frame(wire.Hello.unpack(frame.body).nonce)
        return out

    def schema_frame(self, nonce=0):
        fields = {**self.schema.__dict__, "nonce": nonce}
        return b"\0" + wire.encode_frame(wire.SCHEMA, wire.Schema(**fields).pack())

    def sample(self, sequence, x=(1.0, 2.0), **options):
        return wire.encode_sample(self.schema.schema_id, sequence, x, **options)

    def kinds(self, kind):
        return [frame for frame in self.heard if frame.kind == kind]


def connect(clock, node, ports=None, **options):
    """An open link and its port; reopening takes the next of `ports`."""
    first = FakePort(clock, node)
    queue = [first, *(ports or [])]

    def opener():
        port = queue.pop(0) if queue else None
        if port is None:
            raise LinkDown("cannot open fake")
        return port

    link = open_link("fake", opener=opener, clock=clock, sleep=clock.sleep, **options)
    return link, first


def sound(link):
    assert link.check_identities() == []
    return link.counters


def rows(link):
    batch = link.take()
    sequence = batch.sequence.tolist()
    link.release(len(sequence))
    return sequence


def text_link(clock, inbox, **options):
    port = FakePort(clock)
    port.inbox += inbox
    return open_link("fake", mode="text", opener=lambda: port, clock=clock, **options), port
