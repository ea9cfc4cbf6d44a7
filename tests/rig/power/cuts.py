"""Cut the power at every operation of every save, and check what is loaded afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint
from rig.power.disk import PowerCut, SimulatedDisk

MakeWay = Callable[[SimulatedDisk], Checkpoint]


@dataclass
class PowerReport:
    """What was loaded after each cut: the save under way (``newest``), the one before it
    (``previous``), or worse.

    ``unloadable``: an error, or nothing although a save had returned. ``mixed``: a state that was
    never saved. ``acknowledged_lost``: a state older than the last save that had returned, or than
    the one that save n began from. ``kills`` end only the process: what it wrote stays in the
    system's cache.
    """

    cuts: int = 0
    kills: int = 0
    newest: int = 0
    previous: int = 0
    unloadable: int = 0
    mixed: int = 0
    acknowledged_lost: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was lost and both outcomes occurred."""
        return (
            not (self.unloadable or self.mixed or self.acknowledged_lost)
            and self.newest > 0 < self.previous
        )

    def count(
        self, found: Learner | Exception | None, states: Sequence[bytes], least: int, newest: int
    ) -> int:
        """Count one outcome: which of the arenas `states` was loaded, from 1; 0 for none. Save
        `least` must not be lost, `newest` is the last that had begun; 0 before the first."""
        if isinstance(found, Exception) or (found is None and least > 0):
            self.unloadable += 1
            return 0
        state = None if found is None else bytes(found.arena)
        index = 0 if state is None else _index(state, states)
        if index is None:
            self.mixed += 1
            return 0
        if index < least or index < newest - 1:
            self.acknowledged_lost += 1
        elif index == newest:
            self.newest += 1
        else:
            self.previous += 1
        return index


def _index(state: bytes, states: Sequence[bytes]) -> int | None:
    return states.index(state) + 1 if state in states else None


def checkpoint_ways(second: bool = False) -> MakeWay:
    """Make checkpoints of one file, or of two on the same disk."""
    return lambda disk: Checkpoint("model", second="spare" if second else None, disk=disk)


def cut_everywhere(
    make_way: MakeWay,
    learners: Sequence[Learner],
    seeds: Iterable[int],
    *,
    max_write: int | None = None,
) -> PowerReport:
    """Save `learners` in turn on a new disk; cut the power at operation 0, 1, 2, ... and after the
    last.
    """
    report = PowerReport()
    states = [bytes(learner.arena) for learner in learners]
    for seed in seeds:
        whole = SimulatedDisk(seed, max_write=max_write)
        _save_all(make_way(whole), learners, 0)
        for cut_at in range(whole.operations + 1):
            disk = SimulatedDisk(hash((seed, cut_at)), cut_at=cut_at, max_write=max_write)
            done, begun = _save_all(make_way(disk), learners, 0)
            disk.cut_power()
            report.cuts += 1
            report.count(_load(make_way(disk)), states, done, begun)
    return report


def cut_again_and_again(
    make_way: MakeWay,
    learners: Sequence[Learner],
    seeds: Iterable[int],
    *,
    cuts: int = 20,
    kill_share: float = 0.3,
    max_write: int | None = None,
) -> PowerReport:
    """One disk, many process lifetimes: each loads what the previous one left, goes on saving, and
    ends at a random operation.

    Some end by a kill only: the next process finds un-synced writes complete in the cache, and must
    not rely on them.
    """
    report = PowerReport()
    states = [bytes(learner.arena) for learner in learners]
    counting = SimulatedDisk(max_write=max_write)
    _save_all(make_way(counting), learners[:2], 0)
    for seed in seeds:
        rng = random.Random(seed)
        disk = SimulatedDisk(seed, max_write=max_write)
        done = begun = at = 0
        lost = report.unloadable + report.mixed
        for _ in range(cuts):
            if at == len(learners) or report.unloadable + report.mixed > lost:  # another disk
                lost = report.unloadable + report.mixed
                disk = SimulatedDisk(rng.getrandbits(32), max_write=max_write)
                done = begun = at = 0
                continue
            disk.operations, disk.cut_at = 0, rng.randrange(counting.operations)
            saved, started = _save_all(make_way(disk), learners, at)
            done, begun = max(done, saved), max(begun, started)
            if rng.random() < kill_share:
                disk.kill()
                disk.cut_at = None
                report.kills += 1
            else:
                disk.cut_power()
                report.cuts += 1
            at = report.count(_load(make_way(disk)), states, done, begun)
            disk.kill()
            begun = at
    return report


def _save_all(way: Checkpoint, learners: Sequence[Learner], at: int) -> tuple[int, int]:
    """Save the learners from index `at` on until the power is cut.

    Returns the numbers of the last save that returned and of the last that began.
    """
    done = begun = 0
    try:
        if at:
            way.load()
        if at < len(learners):
            way.prepare(learners[at])
        for number, learner in enumerate(learners[at:], at + 1):
            begun = number
            way.save(learner)
            done = number
    except PowerCut:
        pass
    return done, begun


def _load(way: Checkpoint) -> Learner | Exception | None:
    try:
        return way.load()
    except (CorruptModelError, OSError) as error:
        return error
