"""What a user sees of a sensor that stops, and comes again."""

import os

import pytest

from tools.first_hour import stale

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def healthz(shown):
    before, after = [line for line in shown.splitlines() if line.startswith("/healthz: ")]
    assert before.startswith('/healthz: 503 {"error": "/dev/') and "no sample for" in before, shown
    assert after == "/healthz: 200 ok", shown


def test_run_says_that_samples_stop_and_come_again():
    shown = stale.run_whose_sensor_stops()
    assert "PORT: no sample for 2 s; see --stale\n" in shown, shown
    assert "PORT: samples come again, after" in shown
    assert "no samples for too long 1 times" in shown and shown.count("see --stale") == 1
    healthz(shown)


def test_watch_has_an_alarm_of_that_kind():
    shown = stale.watch_whose_sensor_stops()
    assert "NO DATA: PORT has sent no sample for 2 s" in shown, shown
    assert "samples come again" in shown and "exit code 3\n" in shown
    assert "watched: 0 alarms" in shown, "it is none of those by chance"
    healthz(shown)
