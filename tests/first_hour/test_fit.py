"""What a user sees who comes from scikit-learn."""

import re

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from tools.first_hour import fit


def test_their_own_sets_are_learned_as_by_svc():
    shown = fit.scikit_learns_sets_as_they_come()
    ours, theirs = (float(value) for value in re.findall(r"([\d.]+) %", shown.splitlines()[-1]))
    assert ours > theirs - 1.0


def test_any_number_of_classes():
    learned, refused = fit.more_than_two_classes().splitlines()
    assert learned.startswith("setosa, versicolor, virginica: 9")
    assert re.fullmatch(r"n_bytes=\d+: 10 classes need at least \d+", refused)


def test_labels_that_do_not_fit_say_the_bytes():
    assert "needs at least 496 B, the budget is 400 B" in fit.more_labels_than_bytes()


def test_an_order_that_does_harm_is_said():
    shown = fit.an_order_that_is_kept()
    assert "class by class" in shown and "shuffle=False" in shown and "\n" not in shown
    assert "the rows come class by class" in fit.a_file_in_the_order_of_its_classes()
