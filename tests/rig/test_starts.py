"""Processes started at one moment on one checkpoint: no save that has returned is lost."""

import os

import pytest

from rig.power.starts import start_again_and_again

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def check(report):
    print(report.text())
    assert (report.lost, report.unloadable, report.failed) == (0, 0, 0), report
    assert report.acknowledged > report.rounds and report.refused > 0


def test_some_starts(tmp_path):
    check(start_again_and_again(tmp_path, rounds=20, seed=1))


@pytest.mark.long
def test_five_hundred_starts_on_one_path(tmp_path):
    check(start_again_and_again(tmp_path, rounds=500, seed=2))
