"""ClockFeatures: what is usual at an hour, clocks that jump, and sensors that fail. What holds for
all that takes raw samples is in tests/conformance/test_raw.py."""

import numpy as np
import pytest
from each import each

from edgesvm import Chain, ClockFeatures, CorruptModelError, GaussianNovelty
from edgesvm.errors import SampleRefused
from edgesvm.learner import learner_in
from reference.windows import LARGEST_CODE, WEEK

HOUR, DAY = 3600.0, 86400.0


class InNumPy(ClockFeatures):
    _engine = "reference"


def week_of(values, step=HOUR / 4, start=0.0):
    """Samples of one channel, every quarter of an hour from `start` on, and their times."""
    times = (start + step * np.arange(len(values))) % WEEK
    return np.column_stack([values, times])


def pump(n_weeks, seed=0):
    """Every quarter of an hour of a pump that runs from 8 to 17 on workdays, and whether it does"""
    hours = np.arange(0, 168 * n_weeks, 0.25)
    runs = (hours % 24 >= 8) & (hours % 24 < 17) & (hours % 168 < 120)
    return runs + np.random.default_rng(seed).normal(0, 0.05, len(hours)), runs


def fed(X, kind=ClockFeatures, dtype="float64"):
    features = kind(dtype=dtype).allocate(X.shape[1])
    return features, features.push_many(X.astype(dtype))


@each("dtype", ["float32", "float64"])
def test_it_is_as_its_twin(dtype):
    rng = np.random.default_rng(1)
    steps, often = [0.0, 60.0, 900.0, -900.0, HOUR, 3 * DAY], [0.1, 0.3, 0.5, 0.06, 0.03, 0.01]
    t = np.cumsum(rng.choice(steps, 4000, p=often)) % WEEK
    wave = np.sin(2 * np.pi * t / DAY)[:, None] * [1.0, 1e4] + [0.0, 1e6]
    X = np.column_stack([wave + rng.standard_normal((4000, 2)), np.full(4000, 3.0), t])
    X[rng.random(4000) < 0.01, 0] *= 1e9
    core, twin = ClockFeatures(dtype=dtype).allocate(4), InNumPy(dtype=dtype).allocate(4)
    for at in range(0, 4000, 400):
        rows = [of.push_many(X[at : at + 400].astype(dtype)) for of in (core, twin)]
        np.testing.assert_allclose(*rows, rtol=1e-6, atol=1e-9)
        core.gap()
        twin.gap()
    for name, array in core.core.views.items():
        np.testing.assert_allclose(array, twin.core.views[name], rtol=1e-9, err_msg=name)
    assert core.visits_.max() > 3 and core.core.views["codes"][1].max() > 1000


def test_a_row_by_hand():
    """A value of 10 at every sample, 16 at the last: its level, difference and residual."""
    values = np.full(4 * 24 * 2 + 1, 10.0)
    values[::2] += 1
    values[-1] = 16
    features, rows = fed(week_of(values))
    assert features.names() == ["x0_value", "x0_level", "x0_difference", "x0_residual"]
    value, level, difference, residual = rows[-1]
    assert (value, difference) == (16, 6)
    assert level == pytest.approx(16 - 10.5, abs=0.05), "as many of 11 as of 10"
    assert residual == pytest.approx(5.5 / 0.5, abs=0.1), "that hour was seen on two days"
    assert (np.abs(rows[8:96, 3]) < 1.3).all(), "before that the slow mean is usual"
    assert features.visits_.tolist() == [1] * 48 + [0] * 120


def test_the_rhythm_of_the_week_is_normal_and_its_breach_is_not():
    values, _ = pump(8)
    _, rows = fed(week_of(values))
    last = rows[-4 * 168 :]
    assert np.abs(last[:, 3]).max() < 7, "on workdays and at the weekend"
    sunday = 4 * (6 * 24 + 10)
    values[-4 * 168 + sunday] += 1
    _, rows = fed(week_of(values))
    assert rows[-4 * 168 + sunday, 3] > 10
    first_saturday = rows[4 * (5 * 24 + 8) : 4 * (5 * 24 + 17), 3]
    assert (first_saturday < -2).all(), "so far the hour of the day is all that is known"


def test_a_strange_hour_moves_what_is_usual_by_little():
    values, _ = pump(8)
    at = 4 * (7 * 168 + 24 + 10)
    values[at : at + 4] = 1e9
    values[at - 40] = -1e9
    _, with_spikes = fed(week_of(values))
    values, _ = pump(8)
    _, without = fed(week_of(values))
    calm = with_spikes[at + 200 :]
    assert np.abs(calm[:, 1] - without[at + 200 :, 1]).max() < 1
    assert np.abs(calm[:, 3]).max() < 7


def test_strange_hours_stay_strange_and_another_rhythm_becomes_usual():
    values, _ = pump(40)
    sundays = [4 * (168 * week + 6 * 24 + 10) for week in (8, 10, 12, 14)]
    for at in sundays:
        values[at : at + 8] += 1
    saturdays = np.concatenate([np.arange(36) + 4 * (168 * w + 5 * 24 + 8) for w in range(20, 40)])
    values[saturdays] += 1
    residual = fed(week_of(values))[1][:, 3]
    assert min(residual[at : at + 8].min() for at in sundays) > 5
    assert residual[saturdays[:36]].min() > 5
    assert np.abs(residual[saturdays[-5 * 36 :]]).max() < 3, "after some weeks"


@each("bad", [np.nan, np.inf, -1.0, WEEK + 1])
def test_a_time_that_is_none_is_refused(bad):
    features, _ = fed(week_of(np.arange(50.0)))
    before = bytes(features.arena)
    with pytest.raises(SampleRefused):
        features.push(np.array([1.0, bad]))
    assert bytes(features.arena) == before
    features.push(np.array([1.0, WEEK]))  # what float32 makes of the last milliseconds of Sunday


def test_a_clock_that_is_set_back_lets_the_hour_go_on():
    """Summer time ends: 2:00 to 3:00 is passed twice, and is one visit. A second back at the end of
    an hour does not end another."""
    times = [*np.arange(1 * HOUR, 3 * HOUR, 600), *np.arange(2 * HOUR, 4 * HOUR + 1, 600)]
    times += [4 * HOUR - 1, 4 * HOUR + 1, 4 * HOUR - 1, 5 * HOUR]
    features, rows = fed(np.column_stack([np.ones(len(times)), times]))
    assert np.flatnonzero(features.visits_).tolist() == [1, 2, 3, 4]
    assert features.visits_.max() == 1
    assert np.isfinite(rows).all()


def test_hours_that_were_missed_are_not_usual():
    """Summer time begins, or nothing comes for days."""
    times = [*np.arange(0, 2 * HOUR, 600), *np.arange(3 * HOUR, 5 * HOUR, 600), 3 * DAY + HOUR]
    features, _ = fed(np.column_stack([np.ones(len(times)), times]))
    assert np.flatnonzero(features.visits_).tolist() == [0, 1, 3, 4]


def test_a_constant_channel_gives_zeros_and_its_first_change_shows():
    values = np.full(4 * 168 * 3, 7.0)
    values[-1] = 8
    _, rows = fed(week_of(values))
    assert not rows[:-1, 1:].any()
    assert rows[-1].tolist() == [8, 1, 1, 0], "it has no deviation yet"


def test_the_unit_of_the_codes_grows():
    """A week of thousandths, then a year of thousands: what is usual is right to a thousandth."""
    wave = np.sin(2 * np.pi * np.arange(168 * 60) / 24)
    wave[:168] *= 1e-3
    wave[168:] *= 1e3
    features, _ = fed(week_of(wave[:168], step=HOUR))
    assert features.core.views["channels"][0, 6] < 1e-6
    features, _ = fed(week_of(wave, step=HOUR))
    of, codes = features.core.views["channels"][0], features.core.views["codes"][0]
    assert np.abs(codes.astype(int)).max() <= LARGEST_CODE
    assert np.abs(of[5] + of[6] * codes[:, 0] - wave[-168:]).max() < 2


def test_behind_it_a_learner_knows_the_week():
    """A pump that stands still in the middle of a workday is within its range, and strange."""
    values, _ = pump(10)
    X = week_of(values).astype(np.float32)
    chain = Chain(windows=ClockFeatures(), learner=GaussianNovelty(warm_up=4 * 168 * 4)).allocate(2)
    alone = GaussianNovelty(warm_up=4 * 168 * 4)
    alarms = np.zeros(len(X), bool)
    for i, x in enumerate(X):
        alarms[i] = chain.push(x)[0] == -1
        alone.learn_one(x[:1])
    weekend = X[:, 1] >= 5 * DAY
    assert alarms[4 * 168 * 6 :][weekend[4 * 168 * 6 :]].mean() < 0.01
    off = np.array([0.0, 4 * DAY + 12 * HOUR], np.float32)
    chain.push(np.array([1.0, off[1] - 60], np.float32))
    assert chain.push(off)[0] == -1
    assert alone.predict_one(off[:1]) == 1
    learner_in(chain).core.views["alarm"][0] = 0  # the alarms have lifted the threshold
    before = bytes(chain.arena)
    assert chain.predict(off[None]).tolist() == [-1], "apart from the stream, with its hours"
    assert bytes(chain.arena) == before


def test_a_snapshot_that_no_stream_can_leave_is_refused(tmp_path):
    features, _ = fed(week_of(np.arange(50.0)))
    clock = features.core.views["clock"]  # time, s covered, hour, samples in it, visits
    for at, value in ((0, -1.0), (1, 1e9), (2, 168.0), (2, 1.5), (3, 0.0), (4, -1.0)):
        kept, clock[at] = float(clock[at]), value
        with pytest.raises(CorruptModelError):
            features.save(tmp_path / "clock.esvm")
        clock[at] = kept
    features.core.views["codes"][0, 5, 1] = -1
    with pytest.raises(CorruptModelError):
        features.save(tmp_path / "clock.esvm")
