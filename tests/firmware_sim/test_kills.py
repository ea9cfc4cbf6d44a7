"""`edgesvm run` killed with -9: its checkpoint holds a learner of the first n samples, none
acknowledged lost.
"""

import os

import pytest

from firmware_sim.kills import kill_again_and_again

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def check(report, kills):
    print(report.text())
    assert (report.unloadable, report.mixed, report.acknowledged_lost) == (0, 0, 0), report
    assert report.kills == kills == report.newest + report.previous


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
