"""Node, line, a real link and a learner, end to end in memory; what the simulation has not."""

from each import each

from edgesvm import StreamSVM
from edgesvm.errors import LinkDown
from edgesvm.link import open_link
from edgesvm.serve.taught import taught
from firmware_sim.harness import InMemory
from firmware_sim.line import FaultInjector, MemoryLink
from firmware_sim.line.faults import FAULTS, UNPLUGGING
from firmware_sim.node import RotatingMachine, TextNode


class Bench(InMemory):
    """A node, a line and a host on one clock; simulated time goes by while the host waits."""

    def __init__(self, node, **line):
        super().__init__(node, link=MemoryLink(8192), **line)
        self.node, self.line = node, self.pump.line

    @property
    def drained(self):
        return self.pump.done and not self._unread and not self._link.to_host


def serve(setup, **options):
    """Learn until all is drained; the counters, after every check there is."""
    clock = {"clock": setup.clock, "sleep": setup.sleep}
    link = open_link("memory", opener=setup.open, **clock, **options)
    runner = taught(link, StreamSVM(lookahead=4), clock=lambda: setup.now)
    while not setup.drained and setup.now < 600:
        try:
            runner.step(0.02)
        except LinkDown:
            link.reconnect()
    runner.step(0.0)
    assert setup.drained and runner.check_identities() == []
    return runner.counters()


RATES = dict.fromkeys(FAULTS, 0.03) | {"noise": 0.002, "overlong": 0.001}
RATES |= dict.fromkeys(UNPLUGGING, 0.002)
BAD_LINES = ("too_long", "bad_columns", "bad_char", "bad_checksum", "no_checksum", "bad_sequence")


@each("kind", FAULTS)
def test_each_fault_of_the_wire_alone_in_lines_of_text(kind):
    faults = FaultInjector({kind: RATES[kind]}, seed=5, delimiter=10)
    node = TextNode(RotatingMachine(0), samples=3000, numbered=True, checksum="crc16")
    setup = Bench(node, faults=faults)
    c = serve(setup, mode="text")
    ledger = faults.ledger
    assert ledger.counts()[kind] > 0 and setup.line.lost_bytes == 0
    # A second boot, and it alone, says the schema line again; nothing garbled passes for a comment.
    assert c["comments"] == node.boots
    assert sum(c[name] for name in BAD_LINES) == ledger.total("bad")
    assert c["duplicate"] == ledger.total("copies", ("duplicate", "stale"))
    assert c["disconnects"] == ledger.counts().get(kind, 0) * (kind in UNPLUGGING)
    if kind != "reboot":  # which takes with it what the board had not sent
        assert c["unique"] == 3000 - ledger.frames_lost
    assert c["learned"] == c["unique"] and c["unprotected"] == 0
