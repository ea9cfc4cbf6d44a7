"""Kill a real `edgesvm run` at random moments, again and again, and check its checkpoint."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from edgesvm.data import Rows, Stream
from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint
from firmware_sim.harness import Pump
from firmware_sim.limits.profiles import one_thread_environment
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import FrameNode
from rig.power.cuts import PowerReport

# The command, with one addition: a dot on stdout for each completed sync.
_DOT_PER_SYNC = """
import os, sys
sync = os.fdatasync
def fdatasync(descriptor):
    sync(descriptor)
    os.write(1, b".")
os.fdatasync = fdatasync
from edgesvm.cli import main
sys.exit(main())
"""
_ROWS = 1 << 20
_FEATURES = 4
# A process is killed after a random number of predictions below this, so that there are saves even
# on a slow machine.
_ANSWERS = 600


class _Rows(Stream):
    """Two overlapping clouds from a given row on: the same rows for every process."""

    n_features = _FEATURES
    n_classes = 2

    def __init__(self, X: np.ndarray, y: np.ndarray, at: int) -> None:
        self._X, self._y, self._at = X, y, at

    def read(self, n: int) -> Rows:
        block = slice(self._at, self._at + n)
        self._at += n
        return Rows(self._X[block], self._y[block])

    def close(self) -> None:
        """Nothing to close."""


def kill_again_and_again(
    folder: str | os.PathLike[str],
    *,
    kills: int,
    seed: int,
    every: str = "200",
    longest_s: float = 0.2,
    second: bool = False,
) -> PowerReport:
    """Kill `edgesvm run --checkpoint` `kills` times; each process continues from the checkpoint.

    Each time, the node starts with the first sample that the checkpoint has not learned. So the
    learner in the file must always equal, bit for bit, one that has learned the first n samples of
    one stream.

    Parameters
    ----------
    folder : path
        Folder of the checkpoint.
    kills, seed : int
        The number of kills, and the seed of their moments.
    every : str
        As the option ``--every``.
    longest_s : float
        A process is killed within this many seconds of one of its first 600 predictions, drawn at
        random; one in ten within this many seconds of its start.
    second : bool
        With ``--checkpoint-second``.

    Returns
    -------
    PowerReport
        ``mixed``: the learner does not equal one of the first n samples. ``previous``: the last
        save that had returned.
    """
    rng = random.Random(seed)
    y = np.random.default_rng(seed).integers(0, 2, _ROWS)
    X = np.random.default_rng(seed + 1).standard_normal((_ROWS, _FEATURES), np.float32)
    X += y[:, None].astype(np.float32)
    files = [str(Path(folder, name)) for name in ("model.ckpt", "spare.ckpt")][: 1 + second]
    report = PowerReport()
    reference: Learner | None = None
    n_seen = sequence = 0
    for _ in range(kills):
        acknowledged = _life(_Rows(X, y, n_seen), files, every, rng, longest_s)
        report.kills += 1
        checkpoint = Checkpoint(*files[:1], second=files[1] if second else None)
        try:
            learner = checkpoint.load()
        except (CorruptModelError, OSError):
            report.unloadable += 1
            return report
        least = sequence + acknowledged // len(files)
        if checkpoint.sequence < least or (learner is not None and learner.n_seen_ < n_seen):
            report.acknowledged_lost += 1
        elif checkpoint.sequence == least:
            report.previous += 1
        else:
            report.newest += 1
        sequence = checkpoint.sequence
        if learner is None:
            continue
        if reference is None:
            reference = learner.like_new()
        reference.partial_fit(X[n_seen : learner.n_seen_], y[n_seen : learner.n_seen_])
        report.mixed += bytes(reference.arena) != bytes(learner.arena)
        n_seen = learner.n_seen_
    return report


def _life(rows: _Rows, files: list[str], every: str, rng: random.Random, longest_s: float) -> int:
    """Start a process and kill it. Returns how many syncs had completed."""
    link = PtyLink()
    words = [
        "run",
        link.url,
        "--quiet",
        "--memory",
        "2KiB",
        "--every",
        every,
        "--checkpoint",
        files[0],
    ]
    for second in files[1:]:
        words += ["--checkpoint-second", second]
    process = subprocess.Popen(
        [sys.executable, "-c", _DOT_PER_SYNC, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=one_thread_environment(),
    )
    try:
        pump = Pump(FrameNode(rows), Line(link))
        early = rng.random() < 0.1
        span = rng.uniform(0.0, longest_s)
        answers = rng.randrange(_ANSWERS)
        started = time.monotonic()
        began: list[float] = []

        def over(now: float) -> bool:
            if pump.node.streaming and pump.node.scorer.received >= answers and not began:
                began.append(now)
            since = now - started if early else now - (began[0] if began else now)
            return since >= span or process.poll() is not None or now - started > 60

        pump.run(over)
        if process.poll() is not None:
            raise RuntimeError(f"edgesvm run ended by itself: {_rest(process)[1].decode()[-2000:]}")
    finally:
        process.kill()
        out, _ = _rest(process)
        link.close()
    return len(out)


def _rest(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    out, errors = process.communicate()
    return out or b"", errors or b""
