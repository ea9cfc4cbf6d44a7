"""What an emulator executes is counted, of the calls alone, and what moved is found."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.ledger import boards, emulated

NO_QEMU = shutil.which("qemu-x86_64") is None


@pytest.mark.skipif(NO_QEMU, reason="no qemu-x86_64 here (apt-get install qemu-user)")
def test_twice_the_work_is_twice_the_instructions():
    counts = emulated.counts_on("x86-64", "tests.benchmarks.counted")
    assert counts["once"] > 784 / 4  # at least a load for every 16 bytes
    assert counts["twice"] == pytest.approx(2 * counts["once"], rel=2e-2)


def test_what_moved_on_a_board(capsys):
    entries = boards.json.loads(boards.LEDGER.read_text())
    assert {name.split(": ")[0] for name in entries} == set(emulated.PROCESSORS)
    assert len(entries) == 10 * len(emulated.PROCESSORS)
    assert boards.check(entries) == 0
    name, entry = next(iter(entries.items()))
    assert boards.check({**entries, name: {**entry, "instructions": 2e6}}) == 1
    assert f"{name}: instructions" in capsys.readouterr().out


def test_without_an_emulator_nothing_is_counted(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["boards", "--check"])
    assert boards.main() == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("boards: SKIPPED, there is no qemu-x86_64")
