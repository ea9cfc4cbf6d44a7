"""Start processes on one checkpoint at the same moment, kill some, and count the acknowledged saves
that are lost.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from edgesvm.errors import CorruptModelError
from edgesvm.persist import Checkpoint
from firmware_sim.limits.profiles import one_thread_environment

# One process per line of stdin, forked at the time given there: all of them start within
# microseconds, which no interpreter that starts up can.
_FORKER = """
import os, sys
import numpy as np
from edgesvm import StreamSVM
from edgesvm.persist import Checkpoint
from rig.power.starts import life
learner = StreamSVM().partial_fit(np.eye(4, dtype=np.float32)[:2], [0, 1])
children = set()
for line in sys.stdin:
    word, *numbers = line.split()
    if word == "start":
        child = os.fork()
        if not child:
            at, saves, number = numbers
            life(sys.argv[1], learner, float(at), int(saves), number)
            os._exit(0)
        children.add(child)
        print("started", child, flush=True)
    else:
        while children:
            children.discard(os.wait()[0])
        print("ended", flush=True)
"""


@dataclass
class StartReport:
    """Starts, and what became of them.

    ``acknowledged`` are the saves that had returned; ``lost`` are those of them that another
    process saved over without having loaded them, or that are newer than what is loaded in the
    end. ``refused`` are the processes that were told that another one has the file; ``failed``
    those that ended with any other error. ``unloadable`` counts rounds after which the file could
    not be loaded.
    """

    rounds: int = 0
    starts: int = 0
    kills: int = 0
    refused: int = 0
    failed: int = 0
    acknowledged: int = 0
    lost: int = 0
    unloadable: int = 0

    def text(self) -> str:
        """One line."""
        return (
            f"starts    {self.starts:,} at once on one path, kills {self.kills:,}, "
            f"refused {self.refused:,}, failed {self.failed:,}: "
            f"acknowledged saves {self.acknowledged:,}, lost {self.lost:,}, "
            f"unloadable {self.unloadable:,}"
        )

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)


def life(path: str, learner: Any, at: float, saves: int, number: str) -> None:
    """Take up the checkpoint at the time `at`, learn and save; write each acknowledged sequence."""
    log = os.open(f"{path}.log{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    checkpoint = Checkpoint(path)
    while time.time() < at:
        pass
    try:
        checkpoint.claim()
        learner = checkpoint.load() or learner
        for _ in range(saves):
            learner.learn_one([1.0, 0.0, 0.0, 0.0], 0)
            checkpoint.save(learner)
            os.write(log, b"%d\n" % checkpoint.sequence)
        checkpoint.close()
    except BlockingIOError:
        os.write(log, b"refused\n")
    except Exception as error:
        os.write(log, f"failed {error!r}\n".encode())


def start_again_and_again(
    folder: str | os.PathLike[str],
    *,
    rounds: int,
    seed: int,
    at_once: int = 3,
    kill_share: float = 0.5,
    longest_s: float = 0.02,
) -> StartReport:
    """Start `at_once` processes on one path at one moment, `rounds` times.

    Each loads the checkpoint, learns and saves until it is done or killed. In every other round
    there is no file at the beginning, so that all of them try to create it.

    Parameters
    ----------
    folder : path
        For the checkpoint.
    rounds, seed : int
    at_once : int
        Processes per round.
    kill_share : float
        Share of the processes that are killed, up to `longest_s` seconds after their start.

    Returns
    -------
    StartReport
    """
    rng = random.Random(seed)
    path = Path(folder, "model.ckpt")
    report = StartReport()
    newest = 0
    command = [sys.executable, "-c", _FORKER, str(path)]
    forker: Any
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=one_thread_environment(),
    ) as forker:
        for round_ in range(rounds):
            if round_ % 2 == 0:
                path.unlink(missing_ok=True)
                newest = 0
            at = time.time() + 0.02
            doomed = []
            for number in range(at_once):
                child = _start(forker, at + rng.uniform(0, 2e-3), rng.randrange(1, 20), number)
                if rng.random() < kill_share:
                    doomed.append((at + rng.uniform(0, longest_s), child))
            _kill(doomed)
            forker.stdin.write("wait\n")
            forker.stdin.flush()
            forker.stdout.readline()
            report.rounds += 1
            report.starts += at_once
            report.kills += len(doomed)
            newest = _count(report, path, newest)
        forker.communicate()
    return report


def _start(forker: Any, at: float, saves: int, number: int) -> int:
    """One process that begins at the time `at`; its process id."""
    forker.stdin.write(f"start {at} {saves} {number}\n")
    forker.stdin.flush()
    return int(forker.stdout.readline().split()[1])


def _kill(doomed: list[tuple[float, int]]) -> None:
    """Kill each child at its time. None is waited for yet, so each id is still its own."""
    for when, child in sorted(doomed):
        time.sleep(max(0.0, when - time.time()))
        os.kill(child, signal.SIGKILL)


def _count(report: StartReport, path: Path, newest: int) -> int:
    """Compare what the processes were told with what the file holds; the sequence it holds."""
    told: list[int] = []
    for log in path.parent.glob(f"{path.name}.log*"):
        for line in log.read_text().splitlines():
            if line.isdigit():
                told.append(int(line))
            elif line == "refused":
                report.refused += 1
            else:
                report.failed += 1
        log.unlink()
    checkpoint = Checkpoint(path)
    try:
        checkpoint.load()
    except (CorruptModelError, OSError):
        report.unloadable += 1
    # Every save that counts has a number of its own, above those of the rounds before.
    kept = {number for number in told if newest < number <= checkpoint.sequence}
    report.acknowledged += len(told)
    report.lost += len(told) - len(kept)
    return checkpoint.sequence
