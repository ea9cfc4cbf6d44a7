"""The screen in a terminal: any size of status and window, and a real pseudo-terminal."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from fake_port import Clock, Node, connect
from simulated_node import node

from edgesvm import GaussianNovelty
from edgesvm.page.screen import LEVELS, Screen
from edgesvm.page.watch_lookout import WatchLookout
from edgesvm.watcher import Watcher

on_a_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
SIZES = [(1, 1), (2, 3), (10, 5), (24, 8), (40, 15), (80, 24), (95, 30), (96, 30), (200, 60)]
ENTER, LEAVE = b"\x1b[?1049h\x1b[?25l", b"\x1b[?25h\x1b[?1049l"


def run_status(served):
    rng = np.random.default_rng(0)
    for _ in range(30):
        y = rng.integers(0, 2, 10)
        X = rng.standard_normal((10, 2)) + 3 * y[:, None]
        served.send(X, y)
        with served.paused():
            served.lookout.history.add(served.turns, served.lookout.figures() | {"rate": 100.0})
    served.send(X)
    with served.paused():
        return served.lookout.status()


def watch_status():
    link, _ = connect(Clock(), Node())
    watcher = Watcher(link, GaussianNovelty(warm_up=200).allocate(2))
    lookout = WatchLookout(watcher)
    for n, x in enumerate(np.random.default_rng(0).standard_normal((400, 2)).astype("f4")):
        watcher.handle(x + 50 * (n > 380), n)
        lookout.tick()
    lookout.history.add(500.0, {**lookout.figures(), "rate": 1.0})
    return lookout.status()


def test_no_line_is_wider_and_no_screen_higher_than_the_window(served):
    for status in (run_status(served), watch_status()):
        for columns, rows in SIZES:
            for said in ([], ["short"], ["x" * 300] * 50):
                lines = Screen().lines(status, columns, rows, said)
                assert 0 < len(lines) <= rows, (columns, rows)
                assert max(map(len, lines)) <= columns
        text = "\n".join(Screen(ascii_only=True).lines(status, 120, 40, ["said"]))
        assert text.isascii() and text.endswith("said")


def test_the_first_things_are_there_in_a_small_window_and_all_in_a_large_one(served):
    small = "\n".join(Screen().lines(run_status(served), 40, 8))
    assert "edgesvm run" in small and "accuracy" in small and "larger class" in small
    status = run_status(served)
    whole = "\n".join(Screen().lines(status, 120, 40, ["a line that was said"]))
    for words in ("label before", "missing, and why", "rows without a label", "memory", "score"):
        assert words in whole, words
    assert f"{status['predictions'][0]['sequence']:,}" in whole
    assert any(level in whole for level in LEVELS)
    whole = "\n".join(Screen().lines(watch_status(), 120, 40))
    for words in ("watching, ALARM", "1 alarms", "alarm, on", "  strange  ", "x0"):
        assert words in whole, words


def test_the_curve_is_as_high_as_its_points():
    curve = Screen()._curve([0.0, None, 0.5, 1.0], 40, 2, [None], str)
    assert [line[10:] for line in curve] == [
        f"   {LEVELS[-1]}",
        f"{LEVELS[0]} {LEVELS[-1]}{LEVELS[-1]}",
    ]
    assert curve[0].split()[0] == "1.0" and curve[1].split()[0] == "0.0"
    assert Screen()._curve([None], 40, 2, [0.3], str) == []


@on_a_pty
def test_on_a_terminal_that_is_resized_and_given_back():
    pytest.importorskip("pyte", reason="no terminal emulator")
    from terminal import Terminal

    with node("--rate", "100") as port, Terminal(["run", port, "--live"], 80, 24) as window:
        window.until(lambda lines: "edgesvm run" in lines[0] and "larger class" in lines[2])
        first = window.lines()[0]
        window.until(lambda lines: "edgesvm run" in lines[0] and lines[0] != first)
        lines = window.until(lambda lines: any("predicted" in line for line in lines))
        assert not any("predicted" in line and "accuracy" in line for line in lines)
        window.resize(120, 30)
        lines = window.until(lambda lines: "predicted" in lines[0] and lines[9])
        assert lines[0].startswith("edgesvm run") and "accuracy" in lines[1]
        window.resize(30, 10)
        window.until(
            lambda lines: (
                lines[0].startswith("edgesvm run")
                and lines[1].startswith("accuracy")
                and lines[2].endswith("of all")
            )
        )
        assert window.end() == 0
    said = window.output
    assert said.count(ENTER) == said.count(LEAVE) == 1
    before, _, rest = said.partition(ENTER)
    _, _, after = rest.partition(LEAVE)
    assert b"features per sample" in before and b"samples in" in after and b"\x1b[H" not in after


@on_a_pty
def test_an_alarm_is_on_the_screen_and_stays_when_it_is_gone(tmp_path):
    pytest.importorskip("pyte", reason="no terminal emulator")
    from terminal import Terminal

    X = np.random.default_rng(0).standard_normal((4000, 3)).astype(np.float32)
    X[1500:, 1] += 40
    np.savez(tmp_path / "worn.npz", X=X, y=np.zeros(len(X), np.int32))
    sensor = ("--replay", str(tmp_path / "worn.npz"), "--rate", "250", "--labels", "none")
    learning = ("--learn", "600", "--alarm-rate", "1/day", "--live")
    with node(*sensor) as port, Terminal(["watch", port, *learning], 90, 30) as window:
        window.until(lambda lines: any("ALARM 1" in line for line in lines))
        assert window.end() == 3
    after = window.output.partition(LEAVE)[2]
    assert b"ALARM 1" in after and b"watching: learned from 600" in after

    results = tmp_path / "results"
    with (
        node(*sensor) as port,
        results.open("wb") as file,
        Terminal(["watch", port, *learning, "--json"], 90, 30, stdout=file) as window,
    ):
        window.until(lambda lines: any("alarm, on" in line for line in lines))
        assert window.end() == 3
    events = [json.loads(line)["event"] for line in results.read_text().splitlines()]
    assert events[:2] == ["watching", "alarm"] and events[-1] == "end"


@on_a_pty
def test_where_there_is_no_terminal_it_is_plain_lines():
    with node("--rate", "2000") as port:
        told = subprocess.run(
            [sys.executable, "-m", "edgesvm.cli", "run", port, "--live", "--samples", "500"],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    assert "\x1b" not in told.stderr and "500 samples in" in told.stderr
