"""Simulated machines: what must hold does, a seed is the same each time, and mistakes are found."""

from dataclasses import replace
from unittest import mock

import pytest
from each import each

from edgesvm.link.link import Link
from edgesvm.persist.checkpoint import _File
from edgesvm.serve.job import Job
from firmware_sim.line.faults import FAULTS, UNPLUGGING
from rig.__main__ import main
from rig.mishaps import MISHAPS
from rig.power.disk import SimulatedDisk
from rig.simulation.host import SavesLater
from rig.simulation.plan import EVENTS, Event, plan
from rig.simulation.run import simulate

SEEDS = 12


def test_what_must_hold_does_for_the_first_seeds(capsys):
    assert main(["--seeds", str(SEEDS)]) == 0
    told = capsys.readouterr().out
    assert f"{SEEDS} seeds" in told and "broken 0" in told


def test_a_seed_is_the_same_each_time(capsys):
    """With kills, a removed checkpoint and a failing disk, as its events tell."""
    assert main(["--replay", str(REPLAYED)]) == 0
    told = capsys.readouterr().out
    assert all(word in told for word in ("life ends by", "saved", "step")), told
    assert simulate(REPLAYED + 1).trace != simulate(REPLAYED).trace


REPLAYED = 3


# 75 s of frames, 4 a second, on a sound line.
SOUND = replace(plan(800), faults={}, mishaps={}, ends=(), node=plan(800).node | {"samples": 300})
SOUND = replace(SOUND, words=tuple("stream" if word == "byte" else word for word in SOUND.words))
ON_THE_WAY = ("reset", "outage", "half-open", "unplug", "noise", "hold", "copy", "stall")


def after(is_mute, *kinds):
    """A run in which each of these happens, 0.6 s after the one before."""
    events = [
        Event(20.0 + 0.6 * i, kind, min(6.0, EVENTS[kind][1]), 7) for i, kind in enumerate(kinds)
    ]
    return simulate(0, of=replace(SOUND, is_mute=is_mute, events=tuple(events)))


@each("is_mute", [False, True])
@each("kind", ON_THE_WAY)
def test_a_healthy_node_is_learned_from_again_after(kind, is_mute):
    end = after(is_mute, kind)
    assert not end.broken and end.learned > 100, end
    end = after(is_mute, kind, "reset") if is_mute else after(is_mute, "outage", kind)
    assert not end.broken, end


def test_control_a_host_that_waits_at_a_dead_port():
    with mock.patch.object(Link, "_mind_silence", lambda self, seconds: None):
        assert after(False, "half-open").broken


# Each fault alone. The plain host knows what arrived, the ledger what was done to it.

RATES = dict.fromkeys(FAULTS, 0.03) | {"noise": 0.002, "overlong": 0.002}
RATES |= dict.fromkeys(UNPLUGGING, 0.002)
FASTER = replace(SOUND, is_mute=False, events=(), node=SOUND.node | {"samples": 700, "rate": 40.0})


@each("kind", FAULTS)
def test_each_fault_of_the_wire_alone(kind):
    end = simulate(0, of=replace(FASTER, faults={kind: RATES[kind]}))
    struck, c = end.ledger.counts()[kind], end.counters
    assert not end.broken and struck > 0, end
    bad = "bad_cobs", "bad_crc", "bad_len", "oversize"
    assert sum(c[name] for name in bad) == end.ledger.total("bad")
    assert c["duplicate"] == end.ledger.total("copies")
    assert c["empty"] >= end.ledger.total("empties")
    assert c["discarded_bytes"] >= end.ledger.total("discarded")
    assert c["disconnects"] == struck * (kind in UNPLUGGING)
    assert c["logs"] == struck * (kind == "reboot")


# Which counter says how often a mishap came about; of the others none does.
COUNTED = {"nan": "bad_nan", "inf": "bad_inf", "dimension": "bad_dimension", "clock": "clock_jumps"}
COUNTED |= {"unknown-label": "unknown_label", "schema": "schema_mismatch", "overrun": "missing"}
COUNTED |= {"label-expired": "label_expired", "label-stray": "label_unknown"}
COUNTED |= {"label-repeated": "label_duplicate"}


@each("kind", MISHAPS)
def test_each_mishap_of_the_device_alone(kind):
    of = replace(FASTER, mishaps={kind: 0.001 if kind == "schema" else 0.03})
    of.node["samples"] = 1200
    if kind.startswith("label-"):
        words, node = (*of.words, "--late-labels", "100"), of.node | {"label_mode": "late"}
        of = replace(of, words=words, node=node, told=of.told | {"late": 100, "labels": "late"})
    end = simulate(0, of=of)
    struck, c = end.ledger.counts()[kind], end.counters
    assert not end.broken and struck > 0, end
    assert kind not in COUNTED or c[COUNTED[kind]] == struck
    assert kind != "label-never" or c["unlabelled"] + c["waiting"] == struck


# Mistakes, each as a function in place of a method.


def unsynced(self, descriptor):
    """A save returns before it is on the medium."""


write = _File.write


def over_the_newest(self, image, sequence):
    """A save goes to the slot that must not be overwritten."""
    self._newest = 1 - self._newest
    write(self, image, sequence)


take_labelled = Link.take_labelled


def one_label_less(self):
    """The 20th late label is lost on the way to the learner."""
    late = take_labelled(self)
    self.tests_taken = getattr(self, "tests_taken", 0) + (late is not None)
    return take_labelled(self) if late is not None and self.tests_taken == 20 else late


send_prediction = Link.send_prediction


def stale(self, sequence, label, score=0.0, flags=0):
    """Sample 40 is answered with what was predicted for the one before."""
    before = getattr(self, "tests_before", (label, score))
    self.tests_before = label, score
    label, score = before if sequence == 40 else (label, score)
    return send_prediction(self, sequence, label, score, flags)


handle = Job.handle


def one_sample_less(self, x, label, sequence, weight=1.0):
    """Sample 40 is left out and counted nowhere."""
    if sequence != 40:
        handle(self, x, label, sequence, weight)


def nothing_at_the_end(self):
    """The last samples are not saved when the run ends."""
    self._finish()
    self._checkpoint.close()


# With the seed from which on one is looked for that finds it.
MISTAKES = [
    (SimulatedDisk, "fdatasync", unsynced, 0),
    (_File, "write", over_the_newest, 12),
    (SavesLater, "close", nothing_at_the_end, 0),
    (Link, "take_labelled", one_label_less, 0),
    (Link, "send_prediction", stale, 0),
    (Job, "handle", one_sample_less, 0),
]


@each("where, name, mistake, first", MISTAKES, ids=lambda value: value[2].__name__)
def test_a_mistake_is_found_and_its_seed_finds_it_again(where, name, mistake, first):
    with mock.patch.object(where, name, mistake):
        seeds = range(first, first + 60)
        found = next((one for one in map(simulate, seeds) if one.broken), None)
        assert found is not None
        again = simulate(found.seed)
    assert (again.broken, again.trace) == (found.broken, found.trace)
    assert f"--replay {found.seed}" in str(found) and found.broken in str(found)
    assert not simulate(found.seed).broken


@pytest.mark.long
def test_what_must_hold_does_for_more_seeds():
    assert main(["--from", "100000", "--seeds", "100300"]) == 0
