"""The generator's published outputs, and draws without bias: of its twin, whose learners draw what
the compiled ones do."""

import numpy as np
from each import each

from reference.rng import below, next_of, seeded

# xoshiro256** from state 1, 2, 3, 4 (the reference program's first ten outputs)
XOSHIRO = [
    11520,
    0,
    1509978240,
    1215971899390074240,
    1216172134540287360,
    607988272756665600,
    16172922978634559625,
    8476171486693032832,
    10595114339597558777,
    2904607092377533576,
]


def test_published_outputs():
    state = np.array([1, 2, 3, 4], np.uint64)
    assert [next_of(state) for _ in XOSHIRO] == XOSHIRO


@each("n", [1, 2, 3, 7, 1000, 2**62, 2**63 - 1])
def test_below_stays_below(n):
    state = seeded(11)
    draws = [below(state, n) for _ in range(300)]
    assert min(draws) >= 0 and max(draws) < n


def test_below_throws_away_the_incomplete_last_range():
    """For n = 3 * 2^61 a quarter of the 64-bit draws belong to no whole range."""
    n = 3 * 2**61
    state = seeded(2)
    again = state.copy()
    limit = (2**64 - n) % n
    expected = []
    while len(expected) < 200:
        draw = next_of(again)
        if draw >= limit:
            expected.append(draw % n)
    assert [below(state, n) for _ in range(200)] == expected
    assert state.tolist() == again.tolist() and limit > 0
