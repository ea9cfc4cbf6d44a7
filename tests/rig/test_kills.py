"""`edgesvm run` killed with -9: its checkpoint holds a learner of the first n samples, none
acknowledged lost.

The simulation ends a host at every moment, on a simulated disk; here are a real one and a process.
"""

import random
import subprocess
import sys
import time

import numpy as np
import pytest

from edgesvm.persist import Checkpoint
from firmware_sim.limits.profiles import one_thread_environment

N_ROWS = 100_000
# One that takes its time, so that no process comes to the end of its rows.
LEARNER = ("--learner", "incremental-decremental", "--memory", "32KiB")
# The command, with one addition: a dot on stdout for each completed sync.
COMMAND = """
import os, sys
sync = os.fdatasync
def fdatasync(descriptor):
    sync(descriptor)
    os.write(1, b".")
os.fdatasync = fdatasync
from edgesvm.cli import main
sys.exit(main())
"""


def stream(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N_ROWS)
    X = (rng.integers(-9, 9, (N_ROWS, 4)) + y[:, None]).astype(np.float32)
    return (
        X,
        y,
        ["{:g},{:g},{:g},{:g},{}\n".format(*x, label) for x, label in zip(X, y, strict=True)],
    )


def life(folder, lines, files, command, *, syncs, delay_s):
    """Learn these lines, and be killed so long after some syncs; how many there were in all."""
    (folder / "rows.csv").write_text("".join(lines))
    names = ["--checkpoint", files[0], *(w for f in files[1:] for w in ("--checkpoint-second", f))]
    words = ["run", "rows.csv", "--quiet", "--every", "20", *LEARNER, *names]
    with subprocess.Popen(
        [sys.executable, "-c", command, *words],
        stdout=subprocess.PIPE,
        cwd=folder,
        env=one_thread_environment(),
    ) as process:
        told = process.stdout.read(syncs)
        time.sleep(delay_s)
        process.kill()
        return len(told + process.stdout.read())


def killed_again_and_again(folder, kills, *, second=False, command=COMMAND, missing=0):
    """Each process goes on where the checkpoint of the one before ends. What went wrong."""
    rng, (X, y, lines) = random.Random(3), stream(3)
    files = ["model.ckpt", "spare.ckpt"][: 1 + second]
    twin, n_seen, sequence, wrong = None, 0, 0, []
    for _ in range(kills):
        rest = lines[n_seen + missing * (n_seen > 0) :]
        when = {"syncs": rng.randrange(1, 12), "delay_s": rng.uniform(0, 0.02)}
        syncs = life(folder, rest, files, command, **when)
        checkpoint = Checkpoint(folder / files[0], second=folder / files[1] if second else None)
        learner = checkpoint.load()
        if checkpoint.sequence < sequence + syncs // len(files):
            wrong.append("lost")
        sequence = checkpoint.sequence
        twin = learner.like_new() if twin is None else twin
        twin.partial_fit(X[n_seen : learner.n_seen_], y[n_seen : learner.n_seen_])
        if bytes(twin.arena) != bytes(learner.arena):
            wrong.append("mixed")
        n_seen = learner.n_seen_
        assert n_seen < N_ROWS, "it was at the end before it was killed"
        if n_seen > N_ROWS / 2:  # the stream begins again
            twin, n_seen, sequence = None, 0, 0
            for name in files:
                (folder / name).unlink()
    return wrong


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.long)])
def test_kills(tmp_path, kills):
    assert killed_again_and_again(tmp_path, kills) == []


def test_kills_with_a_second_file(tmp_path):
    assert killed_again_and_again(tmp_path, 3, second=True) == []


def test_control_saves_that_were_told_and_not_made(tmp_path):
    lying = COMMAND.replace('b"."', 'b"..."')
    assert "lost" in killed_again_and_again(tmp_path, 2, command=lying)


def test_control_a_stream_with_a_sample_missing(tmp_path):
    assert "mixed" in killed_again_and_again(tmp_path, 2, missing=1)
