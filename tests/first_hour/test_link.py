"""What a user sees of a sensor that prints lines: labels that are none, words, nonsense."""

import os

import pytest

from tools.first_hour import link

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def test_watch_takes_all_columns():
    assert "3 features per sample" in (shown := link.watch_without_labels()), shown
    assert "watching: learned from 200" in shown and "bad_label" not in shown


def test_watch_leaves_the_column_out_that_it_is_told():
    assert "2 features per sample" in (shown := link.watch_with_a_label_column()), shown


def test_run_says_that_a_label_column_is_a_signal_and_shows_a_line():
    shown = link.run_on_integers_without_labels()
    assert "the label column looks like a signal: 12 values in 12 lines, such as '" in shown, shown
    assert "edgesvm watch PORT --text" in shown
    shown = link.run_on_floats_without_labels()
    assert "its last column must be a label" in shown and shown.endswith("exit code 1\n"), shown


def test_words_decimal_commas_and_semicolons():
    shown = link.run_on_words()
    assert "2 features per sample" in shown and "600 samples" in shown, shown
    assert "recall: fine " in shown or "recall: worn " in shown
    assert ", worn " in shown or ", fine " in shown


def test_a_recording_says_which_numbers_are_words():
    assert "labels that are words: 0 " in (shown := link.record_words()), shown


def test_the_line_that_could_not_be_read_is_shown():
    shown = link.run_on_nonsense_and_ctrl_c()
    assert "interrupted; PORT: in " in shown and shown.endswith("exit code 130\n"), shown
    assert "C, all fine'; expected numbers with comma, semicolon" in shown
