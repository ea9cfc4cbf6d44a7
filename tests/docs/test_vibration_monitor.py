"""Every command of docs/vibration-monitor.md for the simulated sensor, as it stands there."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edgesvm import load

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here"),
    pytest.mark.xdist_group("one at a time"),
]
PAGE = Path(__file__).parents[2] / "docs" / "vibration-monitor.md"
PATIENCE_S = 300
FIRST_OF_THE_FAULT = 300_000
WATCH = [sys.executable, "-m", "edgesvm.cli", "watch", "--help"]


def commands():
    """Each command's words, and the exit code that the page says."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.DOTALL)
    for line in "".join(blocks).replace("\\\n", "").splitlines():
        command, _, note = line.partition("  # exit code ")
        yield command, int(note or 0)


def here(words):
    """The words of a command with this interpreter's programs."""
    own = {"python": [sys.executable], "edgesvm": [sys.executable, "-m", "edgesvm.cli"]}
    return [*own[words[0]], *words[1:]]


def appears(path):
    deadline = time.monotonic() + PATIENCE_S
    while not path.is_symlink():
        assert time.monotonic() < deadline, path
        time.sleep(0.05)


def test_the_afternoon(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    has_out = "--out" in subprocess.run(WATCH, capture_output=True, text=True, check=True).stdout
    machines, shown = [], {}
    try:
        for command, code in commands():
            words = shlex.split(command)
            name = words[words.index("--symlink") + 1] if "--symlink" in words else words[2]
            if name == "again" and not has_out:
                continue
            if words[-1] == "&":
                machines.append(subprocess.Popen(here(words[:-1]), cwd=tmp_path))
                appears(tmp_path / name)
                continue
            done = subprocess.run(
                here(words),
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
            assert done.returncode == code, (command, done.stdout, done.stderr)
            shown[command] = done.stdout
        for machine in machines:
            assert machine.wait(PATIENCE_S) == 0
    finally:
        for machine in machines:
            machine.kill()
    _record, _look, watched, inspected, *with_out = shown.values()
    # Which window comes first, and which features lead in it, depends on where reading began.
    alarm = re.search(r"ALARM 1 .*number ([\d,]+) .*: (.*\d+%.*)", watched)
    assert FIRST_OF_THE_FAULT < int(alarm[1].replace(",", "")) < FIRST_OF_THE_FAULT + 60_000
    assert "x1_" in alarm[2]
    assert "19,048" in inspected
    assert (tmp_path / "pump.png").stat().st_size > 10_000
    if with_out:
        lines = (tmp_path / "alarms.jsonl").read_text(encoding="utf-8").splitlines()
        assert 0 < sum('"alarm": true' in line for line in lines) < len(lines) < 832
        assert load(tmp_path / "pump.esvm").nbytes == 19_048
