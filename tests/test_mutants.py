"""The list of mutants is alive: each entry still finds the text that it replaces."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "mutants"

LEAST = {"core", "contract", "stream", "batch", "incremental", "randomized", "enclosing"}
LEAST |= {"twin", "multiclass", "preprocessing", "link", "persist", "runner", "cli"}
LEAST |= {"data", "firmware_sim"}


def test_every_entry_applies():
    command = [sys.executable, str(TOOL), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    lines = listed.stdout.splitlines()
    areas = [line.split()[0] for line in lines]
    assert len(set(lines)) == len(lines) > 100
    assert set(areas) >= LEAST and min(map(areas.count, LEAST)) >= 5


def test_a_text_that_is_gone_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL))
    from mutant import DoesNotApply, Mutant

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "file.py").write_text("a = 1\nb = 1\n")
    assert Mutant("file.py", "a = 1", "a = 2", "a is two").applied(tmp_path) == "a = 2\nb = 1\n"
    for old, new in (("c", "d"), ("= 1", "= 2"), ("a", "a")):
        with pytest.raises(DoesNotApply, match=r"file.py: it is wrong"):
            Mutant("file.py", old, new, "it is wrong").applied(tmp_path)
