"""Saving while learning: when, what, and that no slow or failing disk stops the learner."""

import errno
import os
import threading

import numpy as np
import pytest
from each import each
from forked import forked

from edgesvm import StreamSVM
from edgesvm.persist import Checkpoint
from edgesvm.persist.checkpointing import Checkpointer, Interval
from rig.power.disk import Fault, SimulatedDisk

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((500, 4)).astype(np.float32), RNG.integers(0, 2, 500).tolist()


class SlowDisk(SimulatedDisk):
    """Its syncs return when told to."""

    def __init__(self):
        super().__init__()
        self.may_return, self.syncing = threading.Event(), threading.Event()

    def fdatasync(self, descriptor):
        self.syncing.set()
        assert self.may_return.wait(60)
        super().fdatasync(descriptor)


def begin(disk, every="100", **options):
    learner = StreamSVM().allocate(4)
    saver = Checkpointer(Checkpoint("model", disk=disk), learner, Interval.parse(every), **options)
    return learner, saver


def learn(learner, saver, begin, end):
    for i in range(begin, end):
        learner.learn_one(X[i], Y[i])
        saver.step()


def test_in_a_forked_child_nothing_is_taken_that_nobody_would_write(tmp_path):
    learner = StreamSVM().allocate(4)
    checkpoint = Checkpoint(tmp_path / "model")
    saver = Checkpointer(checkpoint, learner, Interval.parse("100"))

    def learned(n):
        for i in range(n):
            learner.learn_one(X[i], Y[i])
            saver.step()

    for act in (lambda: learned(150), saver.save, saver.close):
        assert "was forked from the one that saves the checkpoint" in forked(act)
    learned(150)
    saver.close()
    assert Checkpoint(tmp_path / "model").load().n_seen_ == 150


def wait_idle(saver):
    """Until the write under way is done."""
    with saver._changed:
        assert saver._changed.wait_for(lambda: not saver._writing, 60)


def loaded(disk):
    return Checkpoint("model", disk=disk).load()


@each(
    "text, interval",
    [
        ("60s", Interval(60.0)),
        ("0.5s", Interval(0.5)),
        ("1000", Interval(None, 1000)),
        ("1", Interval(None, 1)),
    ],
)
def test_intervals(text, interval):
    assert Interval.parse(text) == interval
    assert Interval.parse(str(interval)) == interval


def test_every_so_many_samples():
    disk = SimulatedDisk()
    learner, saver = begin(disk)
    for n in (100, 200, 300):
        learn(learner, saver, n - 100, n)
        wait_idle(saver)
        assert saver.counters == {"saves": n // 100, "save_failed": 0, "slot_rejected": 0}
        assert bytes(loaded(disk).arena) == bytes(learner.arena)
    learn(learner, saver, 300, 350)
    saver.close()
    assert saver.counters["saves"] == 4 and loaded(disk).n_seen_ == 350


def test_a_learner_that_was_reset_is_another_model():
    """With as many samples as the saved one too, and though it has fewer for long."""
    disk = SimulatedDisk()
    learner, saver = begin(disk)
    learn(learner, saver, 0, 220)
    wait_idle(saver)
    for begun in (200, 300):  # the second ends with as many as were saved
        learner.reset(keep_labels=True)
        saver.forget()
        learn(learner, saver, begun, begun + 100)
        wait_idle(saver)
        assert bytes(loaded(disk).arena) == bytes(learner.arena) and learner.n_seen_ == 100
    learner.reset(keep_labels=True)
    saver.forget()
    saver.close()
    assert loaded(disk).n_seen_ == 0 and loaded(disk).classes_.tolist() == [0, 1]


def test_every_so_many_seconds():
    disk, now = SimulatedDisk(), [0.0]
    learner, saver = begin(disk, "60s", clock=lambda: now[0])
    learn(learner, saver, 0, 10)
    now[0] = 59.9
    saver.step()
    assert not saver._writing and saver.counters["saves"] == 0
    now[0] = 60.0
    saver.step()
    wait_idle(saver)
    assert saver.counters["saves"] == 1
    now[0] = 1000.0
    saver.step()  # nothing new: no wear
    saver.close()
    assert saver.counters["saves"] == 1


def test_a_failed_save_is_tried_again_though_nothing_new_has_come():
    disk, now = SimulatedDisk(), [0.0]
    learner, saver = begin(disk, "60s", clock=lambda: now[0])
    disk.faults.append(Fault("fdatasync", errno.EIO))
    learn(learner, saver, 0, 10)
    for saves, failed in ((0, 1), (1, 1), (1, 1)):
        now[0] += 60.0
        saver.step()
        wait_idle(saver)
        counters = saver.counters
        assert (counters["saves"], counters["save_failed"]) == (saves, failed)
    saver.close()
    disk.cut_power()
    assert loaded(disk).n_seen_ == 10


def test_what_is_saved_is_the_moment_between_two_samples():
    """The learner goes on while the disk is writing; the save is of before, and no sample waits."""
    disk = SlowDisk()
    learner, saver = begin(disk)
    learn(learner, saver, 0, 100)
    assert disk.syncing.wait(60)
    then = bytes(learner.arena)
    learn(learner, saver, 100, 400)
    assert saver._writing and bytes(learner.arena) != then
    disk.may_return.set()
    wait_idle(saver)
    assert bytes(loaded(disk).arena) == then
    saver.close()
    assert saver.counters["saves"] == 2 and loaded(disk).n_seen_ == 400


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_a_failing_disk_is_told_once_and_learning_goes_on(error):
    disk, told = SimulatedDisk(), []
    learner, saver = begin(disk, report=told.append)
    learn(learner, saver, 0, 100)
    wait_idle(saver)
    disk.faults.append(Fault("fdatasync", error, for_ever=True))
    for n in (200, 300, 400):
        learn(learner, saver, n - 100, n)
        wait_idle(saver)
    assert (learner.n_seen_, saver.counters["save_failed"], saver.counters["saves"]) == (400, 3, 1)
    saver.step()
    assert len(told) == 1 and os.strerror(error) in told[0] and "learning continues" in told[0]
    disk.faults.clear()
    saver.close()
    assert len(told) == 2 and "again" in told[1]
    disk.cut_power()
    assert loaded(disk).n_seen_ == 400


def test_a_model_that_could_not_be_loaded_is_told_once_and_never_saved():
    """Whatever spoiled it: both slots keep what they have, and learning goes on."""
    disk, told = SimulatedDisk(), []
    learner, saver = begin(disk, report=told.append)
    for n in (100, 200):
        learn(learner, saver, n - 100, n)
        wait_idle(saver)
    learner.core.views["error_rates"][...] = np.nan
    for n in (300, 400):
        learn(learner, saver, n - 100, n)
        wait_idle(saver)
    saver.step()
    assert (saver.counters["save_failed"], saver.counters["saves"]) == (2, 2)
    assert len(told) == 1 and "could not be loaded again" in told[0] and "'error_rates'" in told[0]
    assert loaded(disk).n_seen_ == 200
    learner.core.views["error_rates"][...] = 0.0
    saver.close()
    assert len(told) == 2 and "can be written again" in told[1]
    assert loaded(disk).n_seen_ == 400


def test_a_failing_disk_at_the_end_keeps_the_last_save():
    disk, told = SimulatedDisk(), []
    learner, saver = begin(disk, report=told.append)
    learn(learner, saver, 0, 100)
    wait_idle(saver)
    learn(learner, saver, 100, 150)
    disk.faults.append(Fault("pwrite", errno.EIO, for_ever=True))
    with pytest.raises(OSError, match="the last save has failed"):
        saver.close()
    assert saver.counters["save_failed"] == 1 and len(told) == 1
    disk.cut_power()
    assert loaded(disk).n_seen_ == 100
