"""Lines on the standard input of real programs: that read, die, hang, and do not want to end."""

import json
import os
import shlex
import sys
import time

import pytest
from outgoing import answers, output, until, write

from edgesvm.outputs import output as module
from edgesvm.outputs.child import Child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions are POSIX")
HEAD = """
import os, signal, sys, time
path = sys.argv[1]
open(path + ".pid", "a").write(f"{os.getpid()}\\n")
"""
COPIES = (
    HEAD + "for line in sys.stdin: open(path, 'a').write(line)\nopen(path, 'a').write('end\\n')"
)
DIES = HEAD + "for _ in range(5): open(path, 'a').write(sys.stdin.readline())\nsys.exit(7)"
HANGS = HEAD + "time.sleep(600)"
STAYS = HEAD + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen(path, 'w')\ntime.sleep(600)"


def program(code, path):
    return Child(shlex.join([sys.executable, "-c", code, str(path)]))


def pids(path):
    file = path.with_name(path.name + ".pid")
    return list(map(int, file.read_text().split())) if file.exists() else []


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines"


def test_a_program_reads_each_line_and_ends_with_its_input(path, monkeypatch):
    monkeypatch.setattr(module, "CLOSE_S", 60.0)
    with output(program(COPIES, path), answers(500)) as out:
        assert until(lambda: out.sent == 500)
    *lines, end = path.read_text().splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(500)) and end == "end"
    assert len(pids(path)) == 1 and is_gone(*pids(path))


def test_a_program_that_dies_is_started_again_after_a_pause(path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.01)
    said, journal = [], answers(5)  # enough to die of
    with output(program(DIES, path), journal, report=said.append) as out:
        assert until(lambda: out.failed == 1)
        assert until(lambda: write(journal) or out.failed >= 3)
    assert len(pids(path)) >= 3 and all(map(is_gone, pids(path)))
    assert "ended with code 7; trying again" in said[0]
    for line in path.read_text().splitlines():
        json.loads(line)


def test_a_program_that_does_not_read_or_end_loses_lines_and_is_ended(path):
    for code in (HANGS, STAYS):
        path = path.with_name(path.name + "_")
        journal = answers(64)
        with output(program(code, path), journal) as out:
            assert until(lambda path=path: pids(path))
            write(journal, 5000)  # more than a pipe takes
            assert until(lambda out=out: out.lost > 0)
        assert out.failed == 0 and 0 < out.sent < 2000
        assert until(lambda path=path: is_gone(*pids(path)))


def test_a_turn_without_lines_waits(path):
    sink, began = program(COPIES, path), time.monotonic()
    sink.open()
    sink.turn(0.05)
    assert time.monotonic() - began >= 0.05
    sink.close(60.0)


def test_a_program_that_is_not_there_is_a_failure_that_is_counted():
    said = []
    with output(Child("/nowhere/program -x"), answers(2), report=said.append) as out:
        assert until(lambda: out.failed > 1)
    assert out.lost == 2 and "No such file" in said[0]
