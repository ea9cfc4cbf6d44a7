"""Which rows are asked about, how many, and what becomes of an answer."""

import numpy as np
import pytest
from each import each

from edgesvm import StreamSVM
from edgesvm.asking import ASKED, AT_RANDOM, BURST, Asker, Questions
from edgesvm.errors import NotTaught


class Time:
    """A clock that is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def asked(margins, per_second=0.01, seed=0, first=0.0):
    """Flags of rows a second apart."""
    clock = Time()
    asker = Asker(per_second, seed=seed, clock=clock)
    flags = []
    for margin in margins:
        clock.now += 1.0
        flags.append(asker.asks(lambda margin=margin: margin))
    assert asker.n_asked == np.count_nonzero(flags)
    return np.array(flags)


@each("scale", [1e-6, 1.0, 1e6])
@each("per_second", [0.003, 0.03, 0.3])
def test_as_many_questions_as_ordered_and_the_doubtful_ones(per_second, scale):
    margins = np.random.default_rng(1).random(20_000) * scale
    flags = asked(margins, per_second)
    n = np.count_nonzero(flags)
    assert n == pytest.approx(per_second * len(margins), rel=0.2)
    by_margin, drawn = flags == ASKED, flags == ASKED | AT_RANDOM
    assert by_margin.sum() + drawn.sum() == n and drawn.sum() < 0.5 * n
    assert np.median(margins[by_margin]) < 1.5 * per_second * scale
    assert margins[drawn].mean() == pytest.approx(margins.mean(), rel=0.4)


def test_a_change_of_the_margins_is_followed():
    margins = np.random.default_rng(0).random(20_000)
    margins[10_000:] *= 1000
    flags = asked(margins)
    assert np.count_nonzero(flags[12_000:]) == pytest.approx(80, rel=0.2)


def test_what_was_not_asked_for_a_while_comes_in_a_short_burst():
    """A thousand sure rows, and then no end of doubtful ones; and a night without any row."""
    flags = asked(np.r_[np.full(100, 1.0), np.full(1000, 50.0), np.full(50, 1e-6)])
    assert 1 <= np.count_nonzero(flags[-50:]) <= BURST + 1
    clock = Time()
    asker = Asker(1.0, clock=clock)
    assert asker.asks(lambda: 0.0) == ASKED
    clock.now = 1e6
    assert [bool(asker.asks(lambda: 0.0)) for _ in range(3)] == [True, False, False]


def test_without_a_model_rows_are_asked_about_and_the_bound_stays():
    margins = np.r_[np.zeros(1000), np.random.default_rng(0).random(20_000)]
    flags = asked(margins)
    assert np.count_nonzero(flags[:1000]) == pytest.approx(10, abs=3)
    assert np.count_nonzero(flags[1000:]) == pytest.approx(200, rel=0.2)


def test_questions_are_answered_once_while_they_are_kept():
    questions = Questions(StreamSVM().allocate(2), rows=4)
    with pytest.raises(NotTaught, match="there is no question"):
        questions.newest()
    for n in range(6):
        flags = 0 if n == 4 else ASKED
        assert questions.add(np.full(2, n), n, None, 0.0, flags, of=5 if n == 4 else -1) == n
    assert [questions.is_open(n) for n in range(7)] == [False] * 2 + [True] * 2 + [
        False,
        True,
        False,
    ]
    assert questions.newest() == 5
    assert [row[0] for row in questions.rows(5)] == [4, 5]
    questions.ring.label(5, 1)
    assert questions.newest() == 3
    with pytest.raises(NotTaught, match="has an answer"):
        questions.question(5)


def test_the_rows_just_before_an_alarm_become_its_own():
    questions = Questions(StreamSVM().allocate(1), rows=8)
    for n, flags in enumerate([0, ASKED, 0, 0]):
        questions.add(np.full(1, n), n, -1, 0.0, flags)
    number = questions.add(np.full(1, 4), 4, -1, 0.0, ASKED)
    questions.add_before(number, 2)
    questions.add(np.full(1, 5), 5, -1, 0.0, 0, of=number)
    assert [row[0] for row in questions.rows(number)] == [2, 3, 4, 5]


@each("per_second", [0.0, -1.0, float("nan")])
def test_a_rate_is_positive(per_second):
    with pytest.raises(ValueError, match="per_second"):
        Asker(per_second)
