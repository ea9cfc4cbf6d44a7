"""`edgesvm run` as a process, at a node of another baud rate."""

import os

import numpy as np
import pytest
from edge import edge

from firmware_sim.line import FaultInjector
from firmware_sim.node import FrameNode, RotatingMachine

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


class OtherBaud(FaultInjector):
    """Read at another rate, every byte arrives as some other byte."""

    def feed(self, data):
        return [self._rng.integers(0, 256, len(data)).astype(np.uint8).tobytes()]


def ended(*words, faults=None, **settings):
    """`edgesvm run`, which must give up by itself: what it said on stderr, and on stdout."""
    node = FrameNode(RotatingMachine(0), samples=1000, **settings)
    report = edge(node, "run", "{port}", *words, faults=faults, drain_s=60)
    assert (report.ended, report.exit_code) == ("edge exited", 1), report.edge_errors
    assert report.predictions == 0 and report.edge is None  # nothing learned, nothing to sum up
    return report.edge_errors.splitlines(), node


def test_another_baud_rate_is_told_from_silence():
    said, node = ended("--wait", "3", "--baud", "9600", faults=OtherBaud({}, seed=1))
    assert len(said) == 1 and said[0].startswith("edgesvm: ")
    assert " bytes arrived but no valid frame" in said[0] and "uses 9600 baud" in said[0]
    assert int(said[0].split(" within 3 s: ")[1].split(" bytes")[0]) > 0
    assert node.hellos > 1  # it asked again and again; only this way the wire was sound


def test_another_baud_rate_that_leaves_no_byte_says_so():
    said, _ = ended("--wait", "0.5", faults=Mute({}, seed=1))
    assert len(said) == 1 and "no byte arrived" in said[0]


class Mute(FaultInjector):
    def feed(self, data):
        return []
