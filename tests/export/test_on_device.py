"""`edgesvm run --on-device`: a program with the exported C learns, this host looks on."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
import tty
from pathlib import Path

import numpy as np
import pytest

from edgesvm import Standardized, StreamSVM, load
from edgesvm.export.folder import export

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
    pytest.mark.xdist_group("one at a time"),
]
D, N = 4, 400
PROGRAM = Path(__file__).parent / "boards/own_sensor.c"


def model():
    return Standardized(learner=StreamSVM()).allocate(D, classes=[-3, 8])


def learned(X, slots, learner=None):
    learner = model() if learner is None else learner
    for x, slot in zip(X, slots, strict=True):
        learner.learn_one(x, [-3, 8][slot])
    return learner


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N, D)).astype(np.float32) * [1, 10, 0.1, 1e-3] + 5
    X = X.astype(np.float32)
    return X, (X[:, 0] + X[:, 1] / 10 > 6).astype(np.int32)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The board's program, by whether it takes snapshots."""
    folder = tmp_path_factory.mktemp("board")
    export(model(), folder, "mod")
    sources = [PROGRAM, *folder.glob("*.c"), *(folder / "edgesvm").glob("*.c")]
    made = {}
    for takes in (0, 1):
        made[takes] = folder / f"board{takes}"
        flags = ["-std=c99", "-O1", "-Wall", "-Werror", f"-I{folder}", f"-DTAKES_SNAPSHOTS={takes}"]
        subprocess.run(["gcc", *flags, *sources, "-o", made[takes], "-lm"], check=True)
    return made


class Board:
    """A running board; `port` is the terminal that a host opens."""

    def __init__(self, program, folder, X, slots, waits=False):
        self.ends = pty.openpty()
        for end in self.ends:
            tty.setraw(end)
        self.port = os.ttyname(self.ends[1])
        self._program, self._folder = program, folder
        self.switch_on(1, X, slots, waits)

    def switch_on(self, boot_id, X, slots, waits=False):
        """Start it, with these samples to come; `waits`: once it was given a snapshot."""
        rows = np.zeros(len(X), [("x", "<f4", (D,)), ("slot", "<i4")])
        rows["x"], rows["slot"] = X, slots
        rows.tofile(self._folder / "rows")
        argv = [self._program, self._folder / "rows", str(boot_id), str(int(waits))]
        self.process = subprocess.Popen(argv, stdin=self.ends[0], stdout=self.ends[0])

    def switch_off(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.switch_off()
        for end in self.ends:
            os.close(end)


def run_arguments(board, *more):
    argv = [sys.executable, "-m", "edgesvm.cli", "run", board.port, "--on-device", "--json"]
    return [*argv, "--wait", "60", *more]


def run(board, *more):
    done = subprocess.run(
        run_arguments(board, *more), capture_output=True, text=True, timeout=120, check=False
    )
    told = json.loads(done.stdout) if done.stdout else None
    return done.returncode, told, done.stderr


def wait_for(file, n_seen, host):
    """Until the model in this file has seen so many samples."""
    for _ in range(1200):
        if file.exists() and load(file).n_seen_ == n_seen:
            return
        assert host.poll() is None, "the host ended early"
        time.sleep(0.1)
    pytest.fail(f"{load(file).n_seen_} samples seen, not {n_seen}")


def test_the_host_keeps_what_the_board_learns(programs, samples, tmp_path):
    X, slots = samples
    with Board(programs[0], tmp_path, X, slots) as board:
        code, told, words = run(board, "--samples", "100", "--save", str(tmp_path / "m.esvm"))
    assert code == 0, words
    assert told["counters"]["trained"] > 0 and not told["broken_identities"]
    kept = load(tmp_path / "m.esvm")
    learned(X[: kept.n_seen_], slots[: kept.n_seen_]).save(tmp_path / "host.esvm")
    assert (tmp_path / "m.esvm").read_bytes() == (tmp_path / "host.esvm").read_bytes()
    assert told["n_seen"] == kept.n_seen_ >= 100


def test_half_here_half_there_and_back(programs, samples, tmp_path):
    X, slots = samples
    file, half = tmp_path / "m.esvm", N // 2
    learned(X[:half], slots[:half]).save(file)
    with Board(programs[1], tmp_path, X[half:], slots[half:], waits=True) as board:
        code, told, words = run(board, "--samples", str(N - half), "--save", str(file))
    assert code == 0, words
    assert told["counters"]["given"] == 1
    assert bytes(load(file).arena) == bytes(learned(X, slots).arena)


def test_a_board_that_restarts_gets_back_what_it_knew(programs, samples, tmp_path):
    X, slots = samples
    file, half = tmp_path / "m.esvm", N // 2
    with Board(programs[1], tmp_path, X[:half], slots[:half]) as board:
        argv = run_arguments(board, "--save", str(file), "--fetch-every", "1s")
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as host:
            wait_for(file, half, host)
            board.switch_off()
            board.switch_on(2, X[half:], slots[half:], waits=True)
            wait_for(file, N, host)
            host.send_signal(signal.SIGINT)
            told = json.loads(host.communicate(timeout=120)[0])
    assert told["counters"]["given"] == 1
    assert bytes(load(file).arena) == bytes(learned(X, slots).arena)


def test_a_file_that_knows_more_is_not_overwritten(programs, samples, tmp_path):
    X, slots = samples
    file = tmp_path / "m.esvm"
    learned(X, slots).save(file)
    before = file.read_bytes()
    with Board(programs[0], tmp_path, X[:5], slots[:5]) as board:
        code, _, words = run(board, "--save", str(file))
        assert code == 2 and "takes no snapshots" in words and file.read_bytes() == before


def test_options_of_a_learning_host_are_refused(tmp_path):
    argv = [sys.executable, "-m", "edgesvm.cli", "run", "/dev/null", "--on-device"]
    for more in (["--learner", "stream"], ["--text"], ["--window", "16"]):
        done = subprocess.run([*argv, *more], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and f"leave out {more[0]}" in done.stderr
