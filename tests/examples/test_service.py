"""The systemd unit and the udev rule of examples/pi, and that `edgesvm run` is what they need."""

import configparser
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edgesvm.persist import Checkpoint

PI = Path(__file__).parents[2] / "examples" / "pi"
UNIT = PI / "edgesvm.service"
needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(UNIT)
    return parser


def options_of_the_unit():
    """What the unit gives `edgesvm run` behind the port."""
    words = shlex.split(unit()["Service"]["ExecStart"])
    assert Path(words[0]).name == "edgesvm" and words[1:3] == ["run", "/dev/edgesvm0"]
    return words[3:]


def test_the_unit_is_what_systemd_takes(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    # The program it names is not installed there: any program will do for its grammar.
    text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text())
    text = re.sub(r"(?m)^Documentation=.*\n", "", text)
    (tmp_path / UNIT.name).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / UNIT.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert done.returncode == 0 and said == [], done.stderr


def test_the_unit_says_what_it_must():
    service = unit()["Service"]
    assert (service["Restart"], service["KillSignal"]) == ("on-failure", "SIGTERM")
    assert int(service["TimeoutStopSec"]) >= 10
    assert unit()["Unit"]["BindsTo"] == "dev-edgesvm0.device"
    folder = f"/var/lib/{service['StateDirectory']}/"
    options = options_of_the_unit()
    assert options[options.index("--checkpoint") + 1].startswith(folder)


def test_the_udev_rule_names_the_port_and_the_unit():
    pair = r'[A-Z_]+(\{[^}]+\})?(==|\+=|=)"[^"]*"'
    rules = [
        line
        for line in (PI / "99-edgesvm.rules").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(rf"{pair}(, {pair})*", rule) for rule in rules)
    naming = [rule for rule in rules if "SYMLINK+=" in rule]
    assert naming
    for rule in naming:
        assert 'SYMLINK+="edgesvm0"' in rule
        assert 'ENV{SYSTEMD_WANTS}+="edgesvm.service"' in rule


@contextlib.contextmanager
def node():
    process = subprocess.Popen(
        [sys.executable, "-m", "firmware_sim", "serve", "--json", "--rate", "2000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.terminate()
            process.stdout.read()


def run_under_the_unit(port, model, log_lines):
    """Start what the unit starts, stop it as systemd does after so many lines; all it said."""
    options = options_of_the_unit()
    options[options.index("--checkpoint") + 1] = str(model)
    process = subprocess.Popen(
        [sys.executable, "-m", "edgesvm.cli", "run", port, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    said = [process.stderr.readline() for _ in range(log_lines)]
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert out == ""
    return "".join(said) + err


@needs_pty
def test_sigterm_saves_and_the_next_start_goes_on(tmp_path):
    model = tmp_path / "model.ckpt"
    seen = []
    for start in (1, 2):
        with node() as port:
            # The first line is of the link, the second, seconds later, of the samples.
            said = run_under_the_unit(port, model, log_lines=3 - start)
        with contextlib.closing(Checkpoint(model)) as checkpoint:
            seen.append(checkpoint.load().n_seen_)
        lines = said.splitlines()
        assert "\x1b" not in said and "\r" not in said  # a journal is no terminal
        assert start == 2 or re.match(r"[\d,]+ samples  .*accuracy", lines[1])
        assert (f"after {seen[0]:,} samples" in lines[0]) == (start == 2)
    assert seen[1] >= seen[0] > 0
