"""What a new user sees of a signal before anything is learned."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tools.first_hour import look


def test_a_signal_gets_windows_and_bands_to_copy():
    shown = look.a_recorded_signal()
    assert shown.endswith("exit code 0\n") and "30 Hz has" in shown
    assert "Next: edgesvm watch pump.csv --window" in shown and "--bands 15-61,61-450" in shown


@pytest.mark.parametrize("said", ["only rises", "at its highest value: clipped?", "constant"])
def test_what_is_odd_about_a_channel_is_said(said):
    assert said in look.a_clipped_channel_and_a_clock()
