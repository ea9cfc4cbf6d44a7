"""The status line of a simulated node."""

import io
import sys
from types import SimpleNamespace

import pytest

from firmware_sim.options import CLEAR_LINE, NodeStatus


class Terminal(io.StringIO):
    def isatty(self):
        return True


def node_and_line(accuracy):
    scorer = SimpleNamespace(received=1234, last_accuracy=accuracy)
    node = SimpleNamespace(samples_sent=5678, samples_dropped=9, scorer=scorer, targets=False)
    return node, SimpleNamespace(faults=None)


@pytest.mark.parametrize(("accuracy", "shown"), [(None, "-"), (0.5, "0.500")])
def test_the_line_is_rewritten_in_place_and_cleared_at_the_end(monkeypatch, accuracy, shown):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("firmware_sim.options.STATUS_EVERY_S", 0.0)
    status = NodeStatus()
    status(*node_and_line(accuracy))
    status.end()
    text = f"5,678 sent  9 dropped  1,234 predicted  accuracy {shown}  faults 0  0 s"
    assert sys.stderr.getvalue() == CLEAR_LINE + text + CLEAR_LINE


def test_a_narrow_terminal_gets_what_fits_and_a_file_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "12")
    monkeypatch.setattr("firmware_sim.options.STATUS_EVERY_S", 0.0)
    NodeStatus()(*node_and_line(None))
    assert sys.stderr.getvalue() == CLEAR_LINE + "5,678 sent "
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    status = NodeStatus()
    status(*node_and_line(None))
    status.end()
    assert sys.stderr.getvalue() == ""
