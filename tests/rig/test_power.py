"""Power cuts at every write and sync of a checkpoint: it loads the save under way or the one
before.

The positive controls are ways that are known to fail; a model in which they do not would show
nothing.
"""

import copy
import struct
import zlib

import numpy as np
import pytest

from edgesvm import StreamSVM
from edgesvm.persist import checkpoint as checkpoint_module
from rig.power.cuts import (
    PowerReport,
    checkpoint_ways,
    cut_again_and_again,
    cut_everywhere,
)
from rig.power.disk import SECTOR, SimulatedDisk


def at_several_times(n=7, n_features=60):
    """One learner after 20, 40 ... samples; a snapshot is a dozen sectors."""
    rng = np.random.default_rng(5)
    learner, states = StreamSVM(lookahead=8), []
    for _ in range(n):
        learner.partial_fit(rng.standard_normal((20, n_features)), rng.choice([-1, 1], 20))
        states.append(copy.deepcopy(learner))
    return states


LEARNERS = at_several_times()


class BuildsOnTheCache(SimulatedDisk):
    """Nothing of what is found at the start is synced before it is built upon."""

    def fsync(self, descriptor):
        if not self.is_at(descriptor, "model"):
            super().fsync(descriptor)


def on_the_cache(disk):
    """The checkpoint on a disk that becomes one which builds on its cache."""
    disk.__class__ = BuildsOnTheCache
    return checkpoint_ways()(disk)


@pytest.mark.parametrize("second", [False, True], ids=["one file", "two files"])
@pytest.mark.parametrize("max_write", [None, 700])
def test_a_cut_at_every_operation(second, max_write):
    report = cut_everywhere(checkpoint_ways(second), LEARNERS, range(2), max_write=max_write)
    assert report.holds, report
    assert report.cuts == report.newest + report.previous


@pytest.mark.parametrize("second", [False, True], ids=["one file", "two files"])
def test_cuts_and_kills_one_after_the_other(second):
    report = cut_again_and_again(checkpoint_ways(second), LEARNERS, range(10), cuts=20)
    assert report.holds and report.kills > 30 < report.cuts, report


@pytest.mark.long
@pytest.mark.parametrize("second", [False, True], ids=["one file", "two files"])
def test_thousands_of_cuts(second):
    ways = checkpoint_ways(second)
    for max_write, seeds in ((None, 60), (SECTOR, 15)):
        everywhere = cut_everywhere(ways, LEARNERS, range(100, 100 + seeds), max_write=max_write)
        again = cut_again_and_again(ways, LEARNERS, range(100, 300), max_write=max_write)
        for report in (everywhere, again):
            assert report.holds, report
        assert everywhere.cuts + again.cuts > 2000


def test_control_building_on_what_only_the_cache_has():
    """A killed process's un-synced save, taken for the newest, lets the next go over the durable
    one.
    """
    report = cut_again_and_again(on_the_cache, LEARNERS, range(40), kill_share=0.7)
    assert report.acknowledged_lost + report.unloadable > 0, report


def test_control_one_crc_over_header_and_snapshot(monkeypatch):
    """The snapshot ends in its own CRC, so a second one of the same polynomial over it tells
    nothing: a new header on an old snapshot passes.
    """

    def blind(sequence, n_slot, n_snapshot, snapshot_crc):
        fields = b"ESVMSLOT", 1, 48, sequence, n_slot, n_snapshot, 0
        header = checkpoint_module.HEADER.pack(*fields, 0)
        return header[:-4] + struct.pack("<I", zlib.crc32(header[:-4]))

    monkeypatch.setattr(checkpoint_module, "_header", blind)
    monkeypatch.setattr(checkpoint_module._File, "_is_whole", own_crc_only)
    report = cut_everywhere(checkpoint_ways(), LEARNERS, range(4), max_write=SECTOR)
    assert report.acknowledged_lost > 0, report


def own_crc_only(self, descriptor, at, n_body, crc):
    data = self._pread(descriptor, n_body + 4, at)
    return struct.pack("<I", zlib.crc32(data[:-4])) == data[-4:]


def test_a_length_that_was_not_synced_survives_a_cut_or_does_not():
    found = set()
    for seed in range(40):
        disk = SimulatedDisk(seed)
        descriptor = disk.create("file")
        disk.pwrite(descriptor, b"a" * SECTOR, 0)
        disk.fsync(descriptor)
        disk.sync_folder("file")
        disk.pwrite(descriptor, b"b" * SECTOR, SECTOR)
        disk.cut_power()
        left = disk.open("file")
        assert disk.pread(left, SECTOR, 0) == b"a" * SECTOR
        found.add(disk.size(left))
    assert found == {SECTOR, 2 * SECTOR}


def test_the_judge_tells_every_outcome_apart():
    states = [bytes(learner.arena) for learner in LEARNERS]
    stranger = StreamSVM().partial_fit([[1.0], [2.0]], [0, 1])
    cases = [
        ((LEARNERS[2], 2, 3), "newest"),
        ((LEARNERS[1], 2, 3), "previous"),
        ((None, 0, 1), "previous"),
        ((None, 1, 1), "unloadable"),
        ((OSError(), 0, 1), "unloadable"),
        ((LEARNERS[0], 2, 2), "acknowledged_lost"),
        ((LEARNERS[0], 0, 3), "acknowledged_lost"),
        ((stranger, 0, 1), "mixed"),
    ]
    for (found, least, newest), outcome in cases:
        report = PowerReport()
        report.count(found, states, least, newest)
        assert getattr(report, outcome) == 1, (outcome, report)
        assert sum(vars(report).values()) == 1
