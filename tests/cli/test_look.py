"""``edgesvm look``: of a file, of a port, in a terminal and on the page."""

import io
import json
import re
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest
from simulated_node import node
from terminal import Terminal

from edgesvm.cli import main
from edgesvm.link import Batch, RecordingSchema, RecordingWriter


@pytest.fixture
def pump(tmp_path, monkeypatch):
    """Two channels with a tone each; the working folder has them in files of every kind."""
    monkeypatch.chdir(tmp_path)
    t = np.arange(8000) / 1000
    X = np.stack([np.sin(2 * np.pi * 30 * t), np.sin(2 * np.pi * 200 * t)], axis=1)
    X = (X + 0.1 * np.random.default_rng(0).standard_normal(X.shape)).astype(np.float32)
    np.savez("pump.npz", X=X)
    np.savetxt("pump.csv", X, "%.5f", ",")
    np.savetxt("states.csv", np.c_[X, np.arange(8000) // 1000 % 2], "%.5g", ",")
    batch = Batch(
        X,
        np.zeros(8000, np.int32),
        np.zeros(8000, bool),
        np.ones(8000, np.float32),
        np.r_[:4000, 4003:8003].astype(np.uint32),
    )
    with RecordingWriter("pump.rec", RecordingSchema(2, period_us=1000)) as writer:
        writer.append(batch)


def look(capsys, *argv):
    assert main(["look", *argv]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "argv", [["pump.rec"], ["pump.csv", "--rate", "1000"], ["pump.npz", "--rate", "1000"]]
)
def test_the_command_of_a_file_can_be_copied(pump, argv, capsys):
    text = look(capsys, *argv)
    assert "\nx0 " in text and "\nx1 " in text and "30 Hz has" in text
    assert ("3 samples never arrived" in text) == (argv == ["pump.rec"])
    *_, command = text.splitlines()
    words = command.split()
    assert words[:4] == ["Next:", "edgesvm", "watch", argv[0]]


def test_the_features_of_the_windows_proposed_are_drawn(pump, capsys):
    pytest.importorskip("matplotlib")
    look(capsys, "pump.rec", "--plot", "proposed.png")
    look(capsys, "pump.npz", "--rate", "1000", "--window", "400", "--plot", "given.png")
    for name in ("proposed.png", "given.png"):
        with open(name, "rb") as file:
            assert file.read(4) == b"\x89PNG"
    assert main(["look", "pump.rec", "--window", "9000", "--plot", "none.png"]) == 2
    assert "no window is complete" in capsys.readouterr().err


def test_a_file_with_labels_is_to_be_evaluated(pump, capsys):
    assert "\nNext: edgesvm eval states.csv --window" in look(capsys, "states.csv", "--rate", "1e3")


def test_all_is_in_the_json_line(pump, capsys):
    told = json.loads(look(capsys, "pump.rec", "--json"))
    assert told["samples"] == 8000 and len(told["channels"]) == 2 and "--bands" in told["options"]


def test_a_terminal_that_lacks_characters(pump, monkeypatch):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert main(["look", "pump.csv"]) == 0
    assert b"look  pump.csv  -----" in sys.stdout.buffer.getvalue()


def test_a_range_of_values_is_for_files_too(pump, capsys):
    for argv in (
        "eval states.csv",
        "run states.csv",
        "watch pump.rec --learn 99 --alarm-rate 0.001",
    ):
        assert main([*argv.split(), "--json", "--range=-1.05,1.05"]) in (0, 3)
        counters = json.loads(capsys.readouterr().out.splitlines()[-1])["counters"]
        assert counters["bad_range"] == 8000 - counters["taken"] > 400


RAW = ("--rate", "1000", "--raw", "--signal-rate", "1000")


def test_a_sensor_on_the_terminal(tmp_path):
    with node(*RAW) as port, Terminal(["look", str(port)], 90, 50) as terminal:
        terminal.until(lambda lines: re.search(r"\d,\d{3} samples", " ".join(lines)))
        assert terminal.end() == 0
    told = terminal.output.decode()
    assert "edgesvm look" in told and "x0" in told and "--window" in told
    assert "Next: edgesvm watch" in told


def test_a_sensor_on_the_page(tmp_path):
    def measured(lines):
        return any(" samples  " in line and " -/s" not in line for line in lines)

    with node(*RAW) as port, Terminal(["look", str(port), "--http", "0"], 90, 50) as terminal:
        lines = terminal.until(measured)
        url = next(word for word in " ".join(lines).split() if word.startswith("http"))
        assert "#" not in url  # nothing is taught here: there is no token
        with urllib.request.urlopen(url + "status.json", timeout=10) as answer:
            status = json.load(answer)
        assert status["kind"] == "look" and len(status["traces"]) == len(status["channels"])
        with urllib.request.urlopen(url + "healthz", timeout=10) as answer:
            assert answer.read() == b"ok\n"
        with urllib.request.urlopen(url + "metrics", timeout=10) as answer:
            assert b"edgesvm_samples_per_second" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="503") as error:
            urllib.request.urlopen(url + "model.esvm", timeout=10)
        error.value.close()
        assert terminal.end() == 0
    assert b"Next: edgesvm watch" in terminal.output
