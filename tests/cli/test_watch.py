"""`edgesvm watch` as a user gives it, a process on a pseudo-terminal: lines, codes, files."""

import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from table import Endless

from edgesvm import GaussianNovelty, Standardized, load
from edgesvm.cli import watch
from firmware_sim.harness import EdgeProcess, Pump
from firmware_sim.line import Line, PtyLink
from firmware_sim.node import FrameNode, TextNode

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
PATIENCE_S = 60.0
RATE = 500.0


def well_then_worn(n=1500, at=1000, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)
    X[at:, 1] += 40
    return X


def watched(node, *options, until, faults=None):
    """Exit code, lines on stdout and text on stderr of a watch that is ended by SIGTERM once
    `until(edge)` holds."""
    with closing(PtyLink()) as link:
        command = [sys.executable, "-m", "edgesvm.cli", "watch", "{port}", *options]
        edge, pump = EdgeProcess(command, link.url), Pump(node, Line(link, faults=faults))
        try:
            for condition in (lambda: until(edge), lambda: edge.exit_code is not None):
                deadline = time.monotonic() + PATIENCE_S
                pump.run(
                    lambda now, condition=condition, deadline=deadline: (
                        edge.exit_code is not None or condition() or now > deadline
                    )
                )
                assert edge.exit_code is not None or condition(), edge.output()
                edge.ask_to_stop()
            return edge.exit_code, edge.lines(), edge.output()[1]
        finally:
            edge.close()


def has(event):
    return lambda edge: any(json.loads(line)["event"] == event for line in edge.lines())


def test_events_as_json_lines_and_exit_code_3(tmp_path):
    save = str(tmp_path / "pump.esvm")
    node = FrameNode(Endless(well_then_worn()), rate=RATE, label_mode="none")
    options = ("--learn", "600", "--alarm-rate", "1/day", "--json", "--save", save)
    code, lines, errors = watched(node, *options, until=has("alarm"))
    events = [json.loads(line) for line in lines]
    assert [one["event"] for one in events] == ["watching", "alarm", "end"] and code == 3, errors
    watching, alarm, end = events
    assert watching["learned"] == 600
    assert alarm["threshold"] == pytest.approx(watching["threshold"], rel=0.3)
    assert 1000 <= alarm["sequence"] < 1010 and next(iter(alarm["features"])) == "x1"
    assert alarm["score"] > alarm["threshold"] and alarm["features"]["x1"] > 0.5
    assert end["broken_identities"] == [] and end["counters"]["alarms"] == 1
    assert end["bytes_planned"] == end["bytes_allocated"] <= 16384
    assert load(save).n_updates_ > 850 and node.scorer.alarms > 0


@pytest.mark.parametrize(("rate", "backlog"), [(1.0, 0), (50.0, 200), (900.0, 100), (9e4, 256)])
def test_the_rate_is_measured_and_the_samples_stay(rate, backlog, monkeypatch):
    def poll(timeout):
        link.now += 0.02
        return min(int(backlog + rate * link.now), 256)

    link = SimpleNamespace(now=0.0, poll=poll)  # from which nothing may be taken
    monkeypatch.setattr(watch.time, "monotonic", lambda: link.now)
    measured = watch._measured_rate(link, 256, SimpleNamespace(stopping=False))
    assert measured == pytest.approx(rate, rel=0.1) or (backlog == 256 and measured >= 256 / 0.02)


def test_a_stuck_sensor_is_told_apart_from_a_fault():
    X = well_then_worn(n=2000, at=1500)
    X[1000:1300, 2] = X[1000, 2]
    node = FrameNode(Endless(X), rate=RATE, label_mode="none")
    options = ("--learn", "600", "--alarm-rate", "1/day")
    code, lines, errors = watched(node, *options, until=lambda edge: len(edge.lines()) >= 4)
    assert code == 3 and "250 stuck" in errors, errors
    assert "ALARM 1  sample 1,051" in lines[1] and lines[1].endswith("STUCK, and not judged: x2")
    assert "alarm 1 is over" in lines[2] and "ALARM 2" in lines[3] and "score" in lines[3]


def test_a_second_watch_goes_on_without_learning(tmp_path):
    save = str(tmp_path / "pump.ckpt")
    well = well_then_worn()[:1000]
    options = ("--learn", "600", "--alarm-rate", "1e-6", "--json", "--checkpoint", save)
    node = FrameNode(Endless(well), rate=RATE, label_mode="none")
    code, _, errors = watched(node, *options, until=has("watching"))
    assert code == 0, errors
    node = FrameNode(Endless(well_then_worn(at=20)), rate=RATE, label_mode="none")
    code, lines, errors = watched(node, *options, until=has("alarm"))
    assert code == 3 and "after 6" in errors and save in errors
    assert [json.loads(line)["event"] for line in lines] == ["alarm", "end"]


def test_text_lines_of_raw_samples_for_a_person_to_read():
    t = np.arange(6000) / RATE
    X = np.sin(2 * np.pi * 40 * t) + 0.1 * np.random.default_rng(1).standard_normal(len(t))
    X[4000:] += 2 * np.sin(2 * np.pi * 120 * t[4000:])
    node = TextNode(Endless(X[:, None].astype(np.float32)), rate=RATE, label_mode="none")
    options = ["--text", "--window", "100", "--rate", str(RATE), "--bands", "20-60,100-150"]
    options += ["--learn", "60", "--alarm-rate", "0.001", "--alarm", "2/3", "--learner", "gaussian"]
    code, lines, errors = watched(node, *options, until=lambda edge: len(edge.lines()) > 1)
    assert code == 3, errors
    watching, alarm, *_ = lines
    assert "watching: learned from 60 windows, threshold" in watching
    assert "ALARM 1  window" in alarm and "x0_" in alarm and "%" in alarm and "score" in alarm
    assert "1 alarms" in errors and "link: 0 missing" in errors


def by_the_clock(n=2000):
    """Noise, and the time of a sample every quarter of an hour; one channel is off for a while"""
    hours = np.arange(n) / 4
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(np.float32)
    X[:, 0] = np.sin(2 * np.pi * hours / 24) + 0.1 * X[:, 0]
    X[1800:, 0] *= -1
    X[:, 2] = hours % 168 * 3600
    return X


def test_the_clock_is_in_the_samples_or_the_hosts(tmp_path):
    """A sine that is turned over is within its range, and strange at this hour."""
    save, options = (
        str(tmp_path / "clock.esvm"),
        ("--learn", "1200", "--learner", "gaussian", "--json"),
    )
    for clock, width in (("sample", 3), ("host", 4)):
        node = FrameNode(Endless(by_the_clock()), rate=RATE, label_mode="none")
        words = (*options, "--clock", clock, "--alarm-rate", "1e-5", "--save", save, "--fresh")
        stop = has("alarm" if clock == "sample" else "watching")
        code, lines, errors = watched(node, *words, until=stop)
        assert code == (3 if clock == "sample" else 0), errors
        chain = load(save)
        assert chain.n_features_in_ == width and len(chain.windows_.names()) == 4 * (width - 1)
        if clock == "sample":
            alarm = json.loads(lines[1])
            assert 1800 <= alarm["sequence"] < 1820
            assert next(iter(alarm["features"])) == "x0_residual"
    now, at = time.localtime(), chain.windows_._core.views["clock"][0]
    assert abs(at - (24 * now.tm_wday + now.tm_hour) * 3600 - 60 * now.tm_min) < 600 or at < 600
    node = FrameNode(Endless(by_the_clock()), rate=RATE, label_mode="none")
    code, _, errors = watched(node, "--save", save, until=lambda edge: False)
    assert code == 2 and "--clock" in errors


def test_a_model_with_labels_is_not_watched_with(tmp_path):
    X = well_then_worn()
    labelled = str(tmp_path / "labelled.esvm")
    Standardized().fitted_into("16KiB", 3).partial_fit(X, X[:, 0] > 0).save(labelled)
    short = str(tmp_path / "short.esvm")
    GaussianNovelty().partial_fit(X[:, :2]).save(short)
    for path, words in ((labelled, "learns with labels"), (short, "2 features")):
        before = Path(path).read_bytes()
        node = FrameNode(Endless(X), rate=RATE, label_mode="none")
        code, lines, errors = watched(node, "--save", path, until=lambda edge: False)
        assert code == 2 and lines == [] and words in errors and errors.count("\n") == 1
        assert Path(path).read_bytes() == before
