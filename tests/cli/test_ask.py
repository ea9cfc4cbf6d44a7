"""`--ask` as a user gives it: the simulated node sends rows without labels, and somebody who knows
the truth answers over a socket."""

import json
import os
import socket
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from table import Endless

from edgesvm import load
from edgesvm.cli import main
from firmware_sim.harness import EdgeProcess, Pump
from firmware_sim.line import FaultInjector, Line, PtyLink
from firmware_sim.node import FrameNode

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
PATIENCE_S = 60.0
RATE = 500.0


class Truth:
    """A client that answers each question, in a thread; `taught` has (number, label) in order."""

    def __init__(self, port, label_of):
        self.taught, self.told = [], []
        self._port, self._label_of = port, label_of
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                line = socket.create_connection(("127.0.0.1", self._port), PATIENCE_S)
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        with line, line.makefile("rw") as lines:
            for text in lines:
                told = json.loads(text)
                if "question" in told:
                    label = self._label_of(told)
                    lines.write(json.dumps({"question": told["question"], "label": label}) + "\n")
                    lines.flush()
                    self.taught.append((told["sequence"], label))
                elif "sequence" not in told:
                    self.told.append(told)


def asked(command, X, label_of, *options, until, faults=None):
    """The truth and its answers, lines on stdout and text on stderr of a command that is ended by
    SIGTERM once `until(truth)` holds."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    node = FrameNode(Endless(X), rate=RATE, label_mode="none")
    with closing(PtyLink()) as link:
        argv = [sys.executable, "-m", "edgesvm.cli", command, "{port}", "--out", f"socket:{port}"]
        edge = EdgeProcess([*argv, "--json", *map(str, options)], link.url)
        pump, truth = Pump(node, Line(link, faults=faults)), Truth(port, label_of)
        try:
            for condition in (lambda: until(truth), lambda: edge.exit_code is not None):
                deadline = time.monotonic() + PATIENCE_S
                pump.run(
                    lambda now, condition=condition, deadline=deadline: (
                        edge.exit_code is not None or condition() or now > deadline
                    )
                )
                assert edge.exit_code is not None or condition(), edge.output()
                edge.ask_to_stop()
            return truth, edge.lines(), edge.output()[1]
        finally:
            edge.close()


def test_asked_rows_are_answered_by_the_truth_and_learned(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3)).astype(np.float32)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    save = tmp_path / "m.esvm"

    def label_of(told):
        return int(y[told["sequence"] % len(y)])

    truth, lines, errors = asked(
        *("run", X, label_of, "--ask", "40/second", "--save", save, "--out-when", "1000"),
        until=lambda truth: len(truth.told) >= 120,
        faults=FaultInjector({"lose": 1e-4}, seed=1),
    )
    end = json.loads(lines[-1])
    assert "Traceback" not in errors and end["broken_identities"] == [], errors
    others = [told for told in truth.told if told != {"taught": 1, "refused": {}}]
    assert all("the program is ending" in told["error"] for told in others), others
    counters = end["counters"]
    assert counters["answered"] == counters["learned"] >= len(truth.told) - len(others) > 100
    assert ": what was number" in errors
    assert end["drawn"]["predicted"] > 0
    model = load(save)
    plain = model.like_new().allocate(3)
    for sequence, label in truth.taught[: counters["answered"]]:
        plain.learn_one(X[sequence % len(X)], label)
    assert bytes(model.arena) == bytes(plain.arena)
    assert model.score(X, y) > 0.9


def test_an_alarm_of_a_watch_is_marked_as_false_over_a_socket(tmp_path):
    X = np.random.default_rng(0).standard_normal((4000, 3)).astype(np.float32)
    X[1500::500, 1] += 20
    for back in range(1, 8):
        X[1500 + back :: 500, 1] += 20
    truth, lines, errors = asked(
        *(
            "watch",
            X,
            lambda told: 1,
            "--ask",
            "alarms",
            "--learn",
            "1000",
            "--save",
            tmp_path / "w",
        ),
        until=lambda truth: len(truth.told) >= 1,
    )
    events = [json.loads(line) for line in lines]
    (alarm,) = [one for one in events if one["event"] == "alarm"][:1]
    assert alarm["question"] == alarm.get("question") is not None
    assert truth.told[0]["taught"] > 0 and truth.taught[0][0] == alarm["sequence"]
    end = events[-1]
    assert end["broken_identities"] == [] and end["counters"]["answered"] >= 1, errors
    assert end["counters"]["marked"] == sum(told["taught"] for told in truth.told)
    assert (load(tmp_path / "w").predict(X[1500:1508]) == 1).all()


def test_wrong_options_are_told(capsys):
    port = "socket://127.0.0.1:9"
    for command, words, reason in (
        ("run", ["--ask", "5"], "questions in a time"),
        ("run", ["--ask", "0/day"], "questions in a time"),
        ("run", ["--ask", "alarms"], "questions in a time"),
        ("run", ["--ask", "5/day"], "nobody could answer"),
        ("watch", ["--ask", "alarms"], "nobody could answer"),
        ("run", ["--ask", "5/day", "--http", "0", "--regress"], "not with --regress"),
        ("run", ["--ask", "5/day", "--http", "0", "--on-device"], "leave out"),
    ):
        try:
            code = main([command, port, "--wait", "1", *words])
        except SystemExit as stop:
            code = stop.code
        told = capsys.readouterr().err
        assert code == 2 and reason in told, told
