"""What must not end learning, and what ends a command in one line: the real process, real pipes."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from each import each
from simulated_node import node

from edgesvm import load
from edgesvm.cli import main
from edgesvm.link import Batch, RecordingSchema, RecordingWriter
from edgesvm.persist import Checkpoint
from edgesvm.serve import process
from edgesvm.serve.process import Stop, stop_signals

EDGESVM = [sys.executable, "-m", "edgesvm.cli"]
COMMAND = Path(sys.executable).with_name("edgesvm")
SAMPLES = 3000
PATIENCE_S = 120.0
needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def full(_):
    """Write to a full disk."""
    raise OSError(errno.ENOSPC, "no space left on device")


def run(port, *options, **pipes):
    return subprocess.Popen([*EDGESVM, "run", port, *map(str, options)], **pipes)


@needs_pty
@needs_full
@pytest.mark.parametrize("log", ["on a full disk", "without a reader", "closed by the caller"])
def test_a_log_that_takes_no_lines_does_not_end_learning(tmp_path, log):
    model = tmp_path / "m.esvm"
    options = ("--json", "--samples", SAMPLES, "--save", model)
    with node("--samples", str(SAMPLES)) as port, open("/dev/full", "wb") as medium:
        if log == "closed by the caller":
            command = " ".join([*EDGESVM, "run", port, *map(str, options)])
            argv, stderr = ["sh", "-c", f"exec {command} 2>&-"], None
        else:
            argv = [*EDGESVM, "run", port, *map(str, options)]
            stderr = medium if log == "on a full disk" else subprocess.PIPE
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=stderr) as process:
            if process.stderr:
                process.stderr.close()
            out = process.stdout.read()
        assert process.wait(PATIENCE_S) == 0
    counters = json.loads(out)["counters"]
    assert counters["learned"] == SAMPLES == load(model).n_seen_
    if log != "closed by the caller":
        assert counters["log_lost"] >= 1  # its first line, at least


@needs_pty
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP here")
@pytest.mark.parametrize("nohup", [False, True])
def test_a_session_that_drops_saves_and_ends(tmp_path, nohup):
    """SIGHUP is SIGTERM, except under nohup, where it is nothing."""
    model, shown = tmp_path / "m.esvm", tmp_path / "m.ckpt"
    prefix = ["nohup"] if nohup else []
    saves = ["--checkpoint", str(shown), "--every", "100"]
    with (
        node("--rate", "2000") as port,
        subprocess.Popen(
            [*prefix, *EDGESVM, "run", port, "--save", str(model), *saves],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):

        def learned_more_than(n):
            deadline = time.monotonic() + PATIENCE_S
            while (saved := Checkpoint(shown).load()) is None or saved.n_seen_ <= n:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            return saved.n_seen_

        try:
            n = learned_more_than(100)
            process.send_signal(signal.SIGHUP)
            if nohup:
                learned_more_than(n + 1000)
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()  # or it would learn on, for ever
    assert process.returncode == 0
    assert load(model).n_seen_ >= n


@needs_full
def test_an_error_that_cannot_be_said_still_has_its_code():
    with open("/dev/full", "wb") as medium:
        for command, code in ((["inspect", "/nowhere/m.esvm"], 1), (["eval"], 2)):
            done = subprocess.run(
                [*EDGESVM, *command], stderr=medium, timeout=PATIENCE_S, check=False
            )
            assert done.returncode == code


def test_lines_lost_are_counted_and_later_ones_written(monkeypatch, capsys):
    line = process.StatusLine()
    with monkeypatch.context() as patch:
        patch.setattr(sys.stderr, "write", full)
        line.say("one")
        line.say("two")
    line.say("three")
    assert line.lost == 2
    assert capsys.readouterr().err == "three\n"


def test_a_full_disk_under_the_log_does_not_end_an_evaluation(tmp_path, capsys, monkeypatch):
    csv, rec = tmp_path / "rows.csv", tmp_path / "rows.rec"
    csv.write_text("0.5,1.5,0\n1.5,0.5,1\n" * 100)
    X = np.tile(np.array([[0.5, 1.5], [1.5, 0.5]], np.float32), (100, 1))
    y = np.arange(200, dtype=np.int32) % 2
    with RecordingWriter(rec, RecordingSchema(2)) as writer:
        ones = np.ones(200, np.float32)
        writer.append(Batch(X, y, ones.astype(bool), ones, np.arange(200, dtype=np.uint32)))
    monkeypatch.setattr(process, "LOG_EVERY_S", 0.0)
    monkeypatch.setattr(sys.stderr, "write", full)
    for command in (["eval", str(csv)], ["eval", str(rec)]):
        assert main(command) == 0
        said = capsys.readouterr().out
        assert "199 rows predicted" in said
        assert "lines of this log could not be written" in said
        assert main([*command, "--json"]) == 0  # without a log
        assert json.loads(capsys.readouterr().out)["counters"]["log_lost"] == 0


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@each("command", [[str(COMMAND)], EDGESVM], ids=["edgesvm", "-m edgesvm.cli"])
def test_ctrl_c_while_importing_is_one_line(tmp_path, command):
    """The signal arrives while the command is being imported."""
    (tmp_path / "serial").mkdir()
    (tmp_path / "serial" / "__init__.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"
    )
    done = subprocess.run(
        [*command, "run", "/dev/null"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "edgesvm: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_ctrl_c_at_work_is_the_command_s_own(tmp_path):
    """An import leaves the signal alone; `run` saves."""
    code = "import edgesvm.cli, signal; print(signal.getsignal(signal.SIGINT))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "default_int_handler" in done.stdout
    model = tmp_path / "m.esvm"
    with (
        node("--rate", "2000") as port,
        run(port, "--save", model, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            while "features per sample" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0
    assert load(model).classes_.size <= 2


def test_a_signal_before_or_in_a_wait_ends_it_and_one_at_work_does_not():
    with stop_signals() as signals:
        signal.raise_signal(signal.SIGTERM)  # at work: what is half done is finished
        assert signals.stopping
        waited = False
        with pytest.raises(Stop), signals.interruptible():
            waited = True
        assert not waited
    with stop_signals() as signals:
        with pytest.raises(Stop), signals.interruptible():
            signal.raise_signal(signal.SIGINT)
        assert signals.stopping
