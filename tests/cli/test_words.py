"""What a new user types first, and what the command line says to it."""

import argparse
import ast
import json
import platform
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from command import said
from each import each

import edgesvm
from edgesvm.catalogue import CATALOGUE
from edgesvm.cli import COMMANDS, GROUPS, ports
from edgesvm.cli.options import add, spoken

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("module", ["edgesvm", "edgesvm.cli"])
def test_the_version_of_either_module(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
    )
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    assert done.stdout == f"edgesvm {edgesvm.__version__} ({versions})\n"


def test_on_windows_the_import_says_that_it_is_not_for_it(monkeypatch):
    source = Path(edgesvm.__file__).read_text(encoding="utf-8")
    monkeypatch.setattr("os.name", "nt")
    with pytest.raises(ImportError, match=r"^edgesvm runs on Linux and macOS, not on Windows$"):
        exec(source, {"__name__": "edgesvm"})


def test_help_has_every_command_in_one_group(capsys):
    grouped = [name for examples in GROUPS.values() for name in examples]
    assert sorted(grouped) == sorted(COMMANDS)
    out, _ = said(capsys, "--help")
    assert out.index("Start here:") < out.index("edgesvm demo ") < out.index("With a sensor:")
    assert max(map(len, out.splitlines())) <= 100


@each(
    "argv, line",
    [
        ([], "give a COMMAND, such as `edgesvm demo` (see edgesvm --help)"),
        (["rum"], "there is no command 'rum'; did you mean run? (see edgesvm --help)"),
        (["xyzzy"], "there is no command 'xyzzy' (see edgesvm --help)"),
        (["run"], "the following arguments are required: PORT (see edgesvm run --help)"),
        (
            ["run", "x", "--baud", "fast"],
            "argument --baud: fast: give an integer >= 1 (see edgesvm run --help)",
        ),
        (
            ["plan", "1KiB", "--features", "2", "--fast"],
            "unrecognized arguments: --fast (see edgesvm plan --help)",
        ),
    ],
)
def test_wrong_use_is_one_line_that_says_where_to_look(argv, line, capsys):
    assert said(capsys, *argv, code=2) == ("", f"edgesvm: {line}\n")


# What texts name.


def options_of(command):
    parser = argparse.ArgumentParser()
    add(parser, import_module(f"edgesvm.cli.{COMMANDS[command].module}").Settings)
    return set(parser._option_string_actions)


def texts():
    """The strings of the package but for what describes the code, in pieces of one line."""
    for path in sorted(Path(edgesvm.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            if node not in told and isinstance(node, (ast.JoinedStr, ast.Constant)):
                words = [str(getattr(part, "value", "X")) for part in parts]
                text = "".join("X" if word.startswith("<ast") else word for word in words)
                yield from ((path, piece) for piece in re.split("[\n`;]", text))


def test_commands_and_options_that_a_text_names_exist():
    has = {command: options_of(command) for command in COMMANDS}
    has["service"] |= has["run"] | has["watch"]
    every = set().union(*has.values(), {"--no-build-isolation", "--now", "--version", "--X"})
    found = 0
    for path, piece in texts():
        command = re.search(r"(?:^|[:(] |or |  )edgesvm (?!is |runs )([a-z]+)", piece)
        known = has[command[1]] if command else every
        named = set(re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", piece))
        assert named <= known, (path, piece)
        found += len(named)
    assert found > 200


@each(
    "text, told",
    [
        (
            "give label='none'; targets=True, or mode='text'",
            "give --label none; --regress, or --text",
        ),
        ("n_features=3 is none", "--n-features 3 is none"),
        ("value_range=LO,HI, but --set range=2", "--range LO,HI, but --set range=2"),
        ("Standardized(label='x')", "Standardized(label='x')"),
    ],
)
def test_a_text_of_the_library_speaks_of_options(text, told):
    assert spoken(import_module("edgesvm.cli.run").Settings, text) == told


@each("entry", [entry for entry in CATALOGUE if entry.measured])
def test_what_a_learner_is_said_to_reach_is_in_the_table_named(entry):
    for figures, table in re.findall(r"([^()]+)\((\w+)\)", entry.measured):
        text = (ROOT / "benchmarks" / "results" / f"{table}.md").read_text(encoding="utf-8")
        for figure in re.findall(r"\d+\.\d+", figures):
            rows = [row for row in text.splitlines() if re.search(rf"\b{figure}\b", row)]
            names = [entry.name, *re.findall(r"ijcnn1|IJCNN|Waveform", figures)]
            assert any(row.startswith(f"| {name} ") for row in rows for name in names), figure


# Missing cells.


@pytest.fixture
def holes(tmp_path):
    """200 rows; no value in a cell of lines 6, 11 and 101, nor a label in line 51."""
    X = np.random.default_rng(0).standard_normal((200, 2)).round(3)
    rows = [[str(a), str(b), str(int(a > 0))] for a, b in X]
    rows[4][0], rows[9][1], rows[99][1], rows[49][2] = "", "NaN", " ? ", ""
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(["a,b,label", *(",".join(row) for row in rows)]) + "\n")
    return path


def test_missing_cells_are_passed_over_and_counted(holes, capsys):
    told = json.loads(said(capsys, "eval", holes, "--json")[0])
    assert told["missing"] == {"rows": 4, "first_line": 6, "filled": False}
    assert (told["counters"]["refused_value"], told["n_seen"], told["predicted"]) == (4, 196, 195)
    out, _ = said(capsys, "eval", holes, "--missing", "skip")
    assert (
        "4 rows passed over: a cell is missing (--missing mean fills it), first in line 6\n" in out
    )


def test_a_missing_cell_is_a_gap_in_windows(holes, capsys):
    argv = ["eval", holes, "--window", "20", "--hop", "20", "--json"]
    windows = json.loads(said(capsys, *argv)[0])["counters"]
    assert windows["pushed"] + windows["refused_samples"] >= 200
    assert windows["refused_samples"] == 4 and 1 <= windows["windows_dropped"] <= 4


# Ports.


def listed(*known):
    """Stands for pyserial's list of ports."""

    class Info:
        def __init__(self, device, description, vid):
            self.device, self.description, self.vid = device, description, vid

    return lambda: [Info(*each) for each in known]


BUILT_IN = ("/dev/ttyS0", "n/a", None)
CONVERTER = ("/dev/ttyUSB0", "CP2102 USB to UART", 0x10C4)
BOARD = ("/dev/ttyACM0", "Arduino Uno", 0x2341)


@pytest.mark.parametrize(
    ("there", "likely"),
    [
        ((BUILT_IN,), None),
        ((BUILT_IN, CONVERTER), "/dev/ttyUSB0"),
        ((BUILT_IN, CONVERTER, BOARD), "/dev/ttyACM0"),
        ((CONVERTER, ("/dev/ttyUSB1", "FT232R", 0x0403)), None),
    ],
)
def test_ports_marks_the_one_that_is_probably_the_sensor(there, likely, monkeypatch, capsys):
    monkeypatch.setattr("serial.tools.list_ports.comports", listed(*there))
    told = json.loads(said(capsys, "ports", "--json")[0])["ports"]
    assert {port["device"] for port in told} == {device for device, *_ in there}
    assert [port["device"] for port in told if port["probably"]] == [likely] * (likely is not None)
    out, _ = said(capsys, "ports")
    assert out.count("<- probably this one") == (likely is not None)
    assert (f"edgesvm run {likely}" in out) == (likely is not None)


def test_no_port_at_all_says_what_to_look_at(monkeypatch, capsys):
    monkeypatch.setattr("serial.tools.list_ports.comports", listed())
    out, _ = said(capsys, "ports", code=1)
    assert "plugged in" in out and "edgesvm demo" in out
    _, err = said(capsys, "run", "/dev/no-such-port", code=1)
    reason = "cannot open /dev/no-such-port: No such file or directory"
    assert err == (
        f"edgesvm: {reason}; there is no serial port here (`edgesvm ports` says what to look at)\n"
    )


def test_a_port_that_is_not_there_names_those_that_are(monkeypatch, capsys):
    monkeypatch.setattr("serial.tools.list_ports.comports", listed(BOARD, BUILT_IN))
    for command in (["run", "/dev/gone"], ["watch", "/dev/gone"], ["record", "/dev/gone", "a.rec"]):
        _, err = said(capsys, *command, code=1)
        assert err.count("/dev/gone") == 1 and err.count("\n") == 1
        assert "the ports here are /dev/ttyACM0, /dev/ttyS0" in err


def test_a_port_that_may_not_be_opened_names_the_group_to_join(tmp_path, monkeypatch, capsys):
    port = tmp_path / "ttyUSB0"
    port.touch()

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", str(port))

    monkeypatch.setattr("serial.serial_for_url", denied)
    monkeypatch.setattr(ports.os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "group", lambda self: "dialout")
    _, err = said(capsys, "run", port, code=1)
    assert err == (
        f"edgesvm: cannot open {port}: Permission denied; your user is not in its group, dialout: "
        "`sudo usermod -a -G dialout $USER`, then log out and in again\n"
    )


# example


@pytest.mark.parametrize("name", ["arduino", "pi"])
def test_an_example_is_that_of_the_source_tree(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    out, _ = said(capsys, "example", name)
    assert f"{name}/" in out
    source = EXAMPLES / name
    theirs = {p.relative_to(source): p.read_bytes() for p in source.rglob("*.*") if p.is_file()}
    theirs = {path: text for path, text in theirs.items() if "__pycache__" not in path.parts}
    folder = tmp_path / name
    ours = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.*") if p.is_file()}
    assert ours == theirs and len(ours) >= 2


def test_an_example_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "edgesvm.service").write_text("mine")
    _, err = said(capsys, "example", "pi", tmp_path, code=1)
    assert "edgesvm.service is already there" in err and len(list(tmp_path.iterdir())) == 1
