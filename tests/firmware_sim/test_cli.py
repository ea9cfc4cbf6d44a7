"""``python -m firmware_sim`` as a user runs it."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import serial
from each import each

from edgesvm.serve.process import CLEAR
from firmware_sim.__main__ import main
from firmware_sim.node import RawRotatingMachine
from firmware_sim.options import NodeStatus

needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


@each(
    "argv, message",
    [
        (["serve", "--fault", "spam=0.1"], "no fault 'spam'"),
        (["serve", "--fault", "flip=2"], "from 0 to 1"),
        (["serve", "--text", "--key", "k"], "does not apply with --text"),
        (["serve", "--rate", "-1"], "rate must be above 0"),
        (["serve", "--baud", "-1"], "baud must be positive"),
        (["serve", "--raw", "--signal", "flow"], "has no raw samples; rotating has"),
        (["serve", "--onset", "10m"], "are of a raw signal"),
        (["serve", "--raw", "--growth", "2m"], "--growth needs --onset"),
        (["serve", "--raw", "--rate", "50"], "rate must be 500"),
        (["serve", "--replay", "rows.csv", "--raw"], "leave out the options of raw signals"),
        (["serve", "--profile", "pi-zero", "--baud", "4000000"], "pi-zero supports at most 921600"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(argv, message, capsys):
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1 and captured.out == ""


def test_a_file_that_is_not_there_is_one_line_and_code_1(capsys):
    assert main(["serve", "--replay", "/nonexistent.csv"]) == 1
    assert "/nonexistent.csv" in capsys.readouterr().err


@contextlib.contextmanager
def serving(*options):
    with subprocess.Popen(
        [sys.executable, "-m", "firmware_sim", "serve", *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    ) as node:
        try:
            yield node, node.stdout.readline().split()[-1]
        finally:
            node.kill()


@needs_pty
def test_serve_prints_lines_of_a_file(tmp_path):
    rows = np.random.default_rng(0).standard_normal((500, 3)).astype(np.float32)
    table = np.column_stack([rows, np.arange(500) % 2])
    np.savetxt(tmp_path / "rows.csv", table, "%.9g", ",", header="a,b,c,label", comments="")
    with serving("--text", "--replay", str(tmp_path / "rows.csv")) as (node, port):
        with serial.serial_for_url(port, timeout=60) as host:
            assert host.readline().strip() == b""
            assert host.readline() == b"#esvm 1 d=3 label=last\n"
            got = [host.readline().decode().split(",") for _ in range(500)]
        summary = node.stdout.read()
        assert node.wait() == 0
    np.testing.assert_array_equal(np.array(got, np.float64).astype(np.float32), table)
    assert "made 500  sent 500" in summary


@needs_pty
def test_serve_sends_raw_samples_of_the_machine_with_its_onset():
    of_it = ["--signal-rate", "1000", "--onset", "0.3s", "--growth", "1m", "--seed", "4"]
    options = ["--text", "--raw", *of_it, "--defect", "imbalance", "--samples", "500"]
    with serving(*options) as (node, port):
        with serial.serial_for_url(port, timeout=60) as host:
            assert host.readline().strip() == b""
            assert host.readline() == b"#esvm 1 d=2 label=last\n"
            got = [host.readline().decode().split(",") for _ in range(500)]
        assert node.wait() == 0
    machine = RawRotatingMachine(4, rate=1000, onset_s=0.3, growth_s=60, defect="imbalance")
    expected = np.column_stack(list(machine.read(500)))
    np.testing.assert_array_equal(np.array(got, np.float64).astype(np.float32), expected)
    assert expected[:, 2].tolist() == [0] * 300 + [1] * 200


@needs_pty
def test_serve_ends_with_its_report_on_sigterm(tmp_path):
    name = tmp_path / "sensor"
    with serving("--symlink", str(name), "--json") as (node, _):
        assert name.is_symlink()
        node.send_signal(signal.SIGTERM)
        assert json.loads(node.stdout.read())["ended"] == "stopped"
        assert node.wait() == 0
    assert not name.exists()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def node_and_line(accuracy):
    scorer = SimpleNamespace(received=1234, score=SimpleNamespace(rolling=accuracy))
    node = SimpleNamespace(samples_sent=5678, samples_dropped=9, scorer=scorer, targets=False)
    return node, SimpleNamespace(faults=None)


@pytest.mark.parametrize(("accuracy", "shown"), [(None, "-"), (0.5, "0.500")])
def test_the_line_is_for_a_terminal(monkeypatch, accuracy, shown):
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        status = NodeStatus()
        status(*node_and_line(accuracy))
        status.end()
        text = f"5,678 sent  9 dropped  1,234 predicted  accuracy {shown}  faults 0  0 s"[:79]
        assert stream.getvalue() == (CLEAR + text + CLEAR) * stream.isatty()
