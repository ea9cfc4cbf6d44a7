"""`edgesvm run` killed with -9: its checkpoint holds a learner of the first n samples, none
acknowledged lost.
"""

import os

import pytest

from rig.power import kills
from rig.power.kills import kill_again_and_again

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def check(report, n):
    print(report.text())
    assert (report.unloadable, report.mixed, report.acknowledged_lost) == (0, 0, 0), report
    assert report.kills == n == report.newest + report.previous


def test_some_kills(tmp_path):
    check(kill_again_and_again(tmp_path, kills=8, seed=3), 8)


def test_some_kills_with_a_second_file(tmp_path):
    check(kill_again_and_again(tmp_path, kills=4, seed=4, second=True), 4)


@pytest.mark.long
def test_two_hundred_kills(tmp_path):
    check(kill_again_and_again(tmp_path, kills=200, seed=5), 200)


@pytest.mark.long
def test_kills_with_a_second_file(tmp_path):
    check(kill_again_and_again(tmp_path, kills=50, seed=6, second=True, every="50"), 50)


def test_control_saves_that_were_told_and_not_made(tmp_path, monkeypatch):
    lying = kills._DOT_PER_SYNC.replace('b"."', 'b"..."')
    assert lying != kills._DOT_PER_SYNC
    monkeypatch.setattr(kills, "_DOT_PER_SYNC", lying)
    assert kill_again_and_again(tmp_path, kills=4, seed=3).acknowledged_lost > 0


def test_control_a_stream_with_a_sample_missing(tmp_path, monkeypatch):
    real = kills._Rows.__init__
    monkeypatch.setattr(
        kills._Rows, "__init__", lambda self, X, y, at: real(self, X, y, at + (at > 0))
    )
    assert kill_again_and_again(tmp_path, kills=4, seed=3).mixed > 0
