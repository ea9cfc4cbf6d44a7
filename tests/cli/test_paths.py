"""What people come to do, each as they type it: commands, pseudo-terminals and files. With -s the
commands, what they say, and their seconds are shown.
"""

import contextlib
import csv
import io
import json
import math
import os
import random
import shlex
import threading
import time
import tty

import numpy as np
import pytest
from each import each

from edgesvm.cli import main
from edgesvm.link import Recording

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
GESTURES = {"wave": (1.5, 1.0, 0.2), "rest": (0.0, 0.05, 0.05), "circle": (2.5, 1.0, 1.0)}
PLOTTER = "millis:{ms} x:{x:.3f} y:{y:.3f} z:{z:.3f}"


@contextlib.contextmanager
def sketch(gesture, line=PLOTTER, head="", rate=1000):
    """A sketch that prints an accelerometer's lines, moved in this way; its port."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    over, noise = threading.Event(), random.Random(gesture)

    def play():
        hertz, wide, high = GESTURES[gesture]
        begin, n = time.monotonic(), 0
        with contextlib.suppress(OSError):
            os.write(master, head.encode())
        while not over.wait(max(0.0, begin + n / rate - time.monotonic())):
            turn = 2 * math.pi * hertz * n / 50
            values = {
                "x": wide * math.sin(turn) + noise.gauss(0, 0.1),
                "y": high * math.cos(turn) + noise.gauss(0, 0.1),
                "z": 1 + noise.gauss(0, 0.05),
                "ms": 700 + 20 * n,
                "label": gesture,
            }
            with contextlib.suppress(BlockingIOError):  # nobody reads
                os.write(master, (line.format(**values) + "\n").encode())
            n += 1

    player = threading.Thread(target=play)
    player.start()
    try:
        yield os.ttyname(slave)
    finally:
        over.set()
        player.join()
        os.close(slave)
        os.close(master)


def typed(*words):
    """What a command says, on both streams."""
    out, errors, begin = io.StringIO(), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main([str(word) for word in words])
    seconds = time.monotonic() - begin
    print(f"$ edgesvm {' '.join(map(str, words))}  # {seconds:.1f} s\n{out.getvalue()[-1500:]}")
    assert code in (0, 3), errors.getvalue()
    return out.getvalue(), errors.getvalue()


def complaint_of(*words):
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        assert main([str(word) for word in words]) in (1, 2)
    return errors.getvalue()


@pytest.fixture(scope="module")
def gestures(tmp_path_factory):
    """Three gestures, recorded in turn."""
    folder = tmp_path_factory.mktemp("gestures")
    for gesture in GESTURES:
        with sketch(gesture) as port:
            file = folder / f"{gesture}.rec"
            _, said = typed("record", port, file, "--label", gesture, "--samples", 1000)
            assert "columns left out: millis (a time that never falls)" in said
    return folder


def test_record_by_class_train_and_predict(gestures, monkeypatch):
    monkeypatch.chdir(gestures)
    out, _ = typed("inspect", "wave.rec")
    assert "x, y, z" in out and "wave=1,000" in out
    files = [f"{gesture}.rec" for gesture in ("rest", "circle", "wave")]
    out, _ = typed("train", *files, "--window", 50, "--save", "m.esvm")
    accuracy = float(out.partition("accuracy ")[2].split()[0])
    assert accuracy > 95 and "larger class 33.3 %" in out and "next: edgesvm predict m.esvm" in out
    for gesture in GESTURES:
        with sketch(gesture) as port:
            out, said = typed("predict", "m.esvm", port, "--samples", 500)
        said_of = [line.split("  ")[1] for line in out.splitlines()]
        assert len(said_of) > 15 and said_of.count(gesture) > 0.9 * len(said_of)
        assert "nothing was learned" in said


def test_the_model_takes_the_same_channels_with_a_label_and_without(gestures, monkeypatch):
    monkeypatch.chdir(gestures)
    typed("train", "rest.rec", "wave.rec", "--save", "single.esvm")
    for line in (PLOTTER, PLOTTER + " label:{label}", "{x:.3f},{y:.3f},{z:.3f},{label}"):
        with sketch("wave", line) as port:
            out, said = typed("predict", "single.esvm", port, "--samples", 50, "--json")
        lines = [json.loads(one) for one in out.splitlines()]
        assert len(lines) == 50 and {one["predicted"] for one in lines} <= {"rest", "wave"}
        assert ("50 had a label" in said) == ("label" in line)
    with sketch("wave", "a:{x:.3f} b:{y:.3f} c:{z:.3f}") as port:
        assert "(a, b, c)" in complaint_of("predict", "single.esvm", port)


def test_one_label_at_a_time_is_taught_live(tmp_path):
    model = tmp_path / "live.esvm"
    for gesture in GESTURES:
        with sketch(gesture) as port:
            typed("run", port, "--label", gesture, "--samples", 300, "--save", model)
    with sketch("rest", PLOTTER + " state:{label}") as port:
        assert "--label-column state" in complaint_of("run", port, "--label", "state")
        typed("run", port, "--label-column", "state", "--samples", 50, "--save", model)
    out, _ = typed("inspect", model)
    assert all(repr(gesture) in out for gesture in GESTURES) and "x, y, z" in out


def test_look_prints_a_command_that_works(tmp_path):
    with sketch("wave", "{x:.3f}\t{y:.3f}", head="ax\tay\n") as port:
        out, _ = typed("look", port, "--samples", 2000, "--names", "left,right")
        command = shlex.split(out.rpartition("Next: edgesvm ")[2])
        assert command[:2] == ["watch", port] and "left,right" in command
        typed(*command, "--samples", 50, "--learn", 20, "--alarm-rate", 0.001)


@pytest.fixture
def room(tmp_path):
    """A day of a room in a CSV with times, in which somebody is or is not."""
    draw, path = random.Random(5), tmp_path / "room.csv"
    lines = ["time,temp,humidity,state"]
    for n in range(800):
        busy = n // 40 % 2
        temp, humid = 20 + 5 * busy + draw.gauss(0, 1), 50 - 10 * busy + draw.gauss(0, 2)
        state = "busy" if busy else "free"
        lines.append(f"2026-03-01 {n // 60:02}:{n % 60:02}:00,{temp:.2f},{humid:.1f},{state}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_answers_stand_behind_the_lines_of_the_file(room, tmp_path):
    model, other = tmp_path / "m.esvm", tmp_path / "other.csv"
    typed("train", room, "--save", model)
    before = model.read_bytes()
    lines = room.read_text().splitlines()
    lines[5] = lines[5].replace("free", "").replace("5", "")  # still a row
    lines[7] = "2026-03-01 00:06:00,,50,free"
    lines = ["note," + lines[0], *(f"row {n},{line}" for n, line in enumerate(lines[1:]))]
    lines.insert(9, "# the door was open")
    other.write_text("\n".join(lines) + "\n")
    out, said = typed("predict", model, other, "--csv")
    assert [line.rpartition(",")[0].rpartition(",")[0] for line in out.splitlines()] == lines
    rows = list(csv.DictReader(io.StringIO(out.replace("# the door was open,,\n", ""))))
    right = [row["predicted"] == row["state"] for row in rows if row["state"] and row["temp"]]
    assert np.mean(right) > 0.97 and rows[6]["predicted"] == rows[6]["score"] == ""
    assert "1 without an answer" in said and model.read_bytes() == before
    _, said = typed("train", other, "--drop-column", "note", "--save", tmp_path / "other.esvm")
    assert "rows passed over: a value is missing" in said
    other.write_text(room.read_text().replace("humidity", "rain"))
    assert "rain" in complaint_of("predict", model, other)


def test_a_back_test_learns_no_label_and_counts_what_was_found(tmp_path):
    file, draw = tmp_path / "pump.csv", random.Random(3)
    faults = [range(1500, 1560), range(2000, 2004), range(100, 120), range(2990, 3000)]
    lines = ["time,temp,current,anomaly"]
    for n in range(3000):
        at = sum(n in one for one in faults[:3])
        temp, current = 40 + draw.gauss(0, 0.3) + 4 * at, 5 + draw.gauss(0, 0.2) + 2 * at
        shown = int(any(n in one for one in faults))
        when = f"2026-03-01T{n // 600:02}:{n // 10 % 60:02}:{n % 10 * 6:02}"
        lines.append(f"{when},{temp:.2f},{current:.2f},{shown}")
    file.write_text("\n".join(lines) + "\n")
    asked = ("watch", file, "--learn", "1h")
    out, _ = typed(*asked, "--label", "anomaly", "--json")
    found = json.loads(out.splitlines()[-1])["back_test"]
    assert (found["faults"], found["found"], found["faults_while_learning"]) == (3, 2, 1)
    assert found["unit"] == "s" and 0 <= found["median_delay"] < 60
    assert found["false_alarms"] <= 1 and found["watched"] == pytest.approx(4 * 3600, abs=20)
    _, unlabelled = typed(*asked)
    assert "anomaly (it looks like a label: --label anomaly)" in unlabelled
    alarms = [typed(*asked, *more)[0].count("ALARM") for more in ((), ("--label", "anomaly"))]
    assert alarms[0] == alarms[1] > 0


@each(
    "line, names",
    [("{ms},{x:.3f},{y:.3f}", ""), ('{{"t":{ms},"x":{x:.3f},"y":{y:.3f}}}', "x, y")],
)
def test_a_clock_is_no_feature_of_a_port(line, names, tmp_path):
    file = tmp_path / "a.rec"
    with sketch("wave", line) as port:
        _, said = typed("record", port, file, "--label", "none", "--samples", 40)
        assert "columns left out" in said
    with Recording(file) as recording:
        assert recording.n_features == 2 and ", ".join(recording.feature_names) == names
    with sketch("wave", line) as port:
        _, said = typed("watch", port, "--keep-column", 0, "--samples", 30, "--learn", 10)
        assert "left out" not in said and "3 features" in said
