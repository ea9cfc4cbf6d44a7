"""What is known of the targets in each setting, and the stack that all rivals share."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.regression.data import (
    LATE,
    NOW,
    STOP,
    bounded,
    mean_so_far,
    same_hour,
    value_before,
)
from benchmarks.regression.stack import stacked

N = 400
Y = np.arange(N, dtype=np.float64)  # each target is its row


def test_targets_known():
    assert NOW.known(N)[[0, 1, 399]].tolist() == [0, 1, 399]
    assert LATE.known(N)[[0, 100, 101, 399]].tolist() == [0, 0, 1, 299]
    assert STOP.known(N)[[199, 200, 201, 399]].tolist() == [199, 200, 200, 200]


def test_simple_guesses_use_what_is_known():
    assert value_before(Y, NOW)[399] == 398
    assert value_before(Y, LATE)[399] == 298  # 101 back
    assert value_before(Y, STOP)[399] == 199
    assert mean_so_far(Y, LATE)[102] == 0.5
    assert same_hour(Y, NOW)[399] == 399 - 24
    assert same_hour(Y, LATE)[399] == 399 - 120
    assert same_hour(Y, STOP)[[200, 223, 224]].tolist() == [176, 199, 176]
    for setting in (NOW, LATE, STOP):
        assert (same_hour(Y, setting) <= np.maximum(setting.known(N) - 1, 0)).all()


def test_predictions_are_held_to_the_targets_known():
    wild = np.full(N, 1e9)
    assert bounded(wild, Y, NOW)[[19, 20, 399]].tolist() == [1e9, 19, 398]
    assert bounded(wild, Y, LATE)[399] == 298
    assert bounded(np.full(N, np.nan), Y, STOP)[399] == Y[:200].mean()


def test_the_stack_finds_a_disturbance_that_lasts():
    rng = np.random.default_rng(0)
    told = rng.standard_normal(3000)
    lasting = np.zeros(3000)
    for i in range(1, 3000):
        lasting[i] = 0.9 * lasting[i - 1] + 0.1 * rng.standard_normal()
    y = told + lasting
    answers = stacked(told, y)
    assert np.array_equal(answers[:20], told[:20])
    alone, both = (np.std((f - y)[300:]) for f in (told, answers))
    assert both < 1.1 * 0.1 < 0.6 * alone
