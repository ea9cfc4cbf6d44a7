"""`edgesvm run --checkpoint`: saved while learning, under a board's limits, and taken up again."""

import os
import re
import sys

import pytest
from edge import edge

from edgesvm import StreamSVM, load
from edgesvm.cli import main
from edgesvm.persist import Checkpoint
from firmware_sim.limits.profiles import PROFILES
from firmware_sim.node import FrameNode, RotatingMachine

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def run(*words, samples=1500, seed=0, limited=True):
    """One life of `edgesvm run`, ended by SIGTERM after its samples."""
    profile = PROFILES["pi-zero"] if limited and sys.platform == "linux" else None
    node = FrameNode(RotatingMachine(seed), samples=samples)
    return edge(node, "run", "{port}", *words, profile=profile)


def test_saved_while_learning_at_the_end_and_taken_up_again(tmp_path):
    path, snapshot = tmp_path / "m.ckpt", tmp_path / "m.esvm"
    first = run("--checkpoint", path, "--every", "200", "--save", snapshot)
    assert (first.ended, first.exit_code) == ("drained", 0), first.edge_errors
    counters = first.edge["counters"]
    assert counters["saves"] > 2
    assert (counters["save_failed"], counters["slot_rejected"]) == (0, 0)
    learner = Checkpoint(path).load()
    assert learner.n_seen_ == 1500 and bytes(learner.arena) == bytes(load(snapshot).arena)
    second = run("--checkpoint", path, seed=1)
    assert second.exit_code == 0 and re.search(
        r"loaded from .*m\.ckpt after 1,500 samples", second.edge_errors
    )
    assert Checkpoint(path).load().n_seen_ == 3000
    third = run("--checkpoint", path, "--fresh", samples=100)
    assert third.exit_code == 0 and Checkpoint(path).load().n_seen_ == 100


def test_a_damaged_slot_is_counted_and_the_other_taken(tmp_path):
    path = tmp_path / "m.ckpt"
    run("--checkpoint", path, "--every", "500", samples=1000)
    newest = Checkpoint(path)
    newest.load()
    data = bytearray(path.read_bytes())
    at = 0 if newest.sequence % 2 == 0 else len(data) // 2
    data[at + 100] ^= 1
    path.write_bytes(data)
    result = run("--checkpoint", path, samples=10)
    assert result.exit_code == 0 and result.edge["counters"]["slot_rejected"] == 1
    for at in (100, len(data) // 2 + 100):
        data[at] ^= 2
    path.write_bytes(data)
    result = run("--checkpoint", path, samples=10)
    assert (result.ended, result.exit_code) == ("edge exited", 1)
    assert "damaged" in result.edge_errors and "Traceback" not in result.edge_errors
    assert path.read_bytes() == data


def test_inspect_tells_both_slots(tmp_path, capsys):
    path = tmp_path / "m.ckpt"
    learner = StreamSVM().partial_fit([[1.0], [2.0]], [0, 1])
    checkpoint = Checkpoint(path)
    checkpoint.prepare(learner)
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "sequence=0, snapshot_bytes=0" in said and "sequence=none" in said
    assert "none saved yet" in said
    for _ in range(3):
        checkpoint.save(learner)
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "sequence=2" in said and "sequence=3" in said and "n seen         2" in said
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1  # the magic of the newest
    path.write_bytes(data)
    assert main(["inspect", str(path), "--json"]) == 0
    assert '"n_seen": 2' in (said := capsys.readouterr().out) and "is not a checkpoint slot" in said
    data[60] ^= 1
    path.write_bytes(data)
    assert main(["inspect", str(path)]) == 1
    assert "damaged" in capsys.readouterr().err
