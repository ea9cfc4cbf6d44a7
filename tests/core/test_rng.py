"""The generator's published outputs, its seeding, and draws without bias."""

import numpy as np
from each import each

from edgesvm.core.views import below_view, next_view, seed_view

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
    assert [next_view(state) for _ in XOSHIRO] == XOSHIRO


def splitmix64(seed):
    """Steele, Lea & Flood 2014, in Python's integers."""
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


@each("seed", [0, 1, 1477776061723855037, 2**64 - 1])
def test_seeding_is_splitmix64(seed):
    words = splitmix64(seed)
    assert seed_view(seed).tolist() == [next(words) for _ in range(4)]
    assert any(seed_view(seed)), "a state of all zeros would stay there"


def test_a_saved_state_goes_on():
    state = seed_view(7)
    for _ in range(10):
        next_view(state)
    saved = state.copy()
    assert [next_view(state) for _ in range(5)] == [next_view(saved) for _ in range(5)]


@each("n", [1, 2, 3, 7, 1000, 2**62, 2**63 - 1])
def test_below_stays_below(n):
    state = seed_view(11)
    draws = [below_view(state, n) for _ in range(300)]
    assert min(draws) >= 0 and max(draws) < n


def test_below_is_even():
    """Chi-square of 7 cells: 22.5 has a chance of one in a thousand; the seed is fixed."""
    state = seed_view(5)
    counts = np.bincount([below_view(state, 7) for _ in range(7000)], minlength=7)
    assert ((counts - 1000) ** 2 / 1000).sum() < 22.5


def test_below_throws_away_the_incomplete_last_range():
    """For n = 3 * 2^61 a quarter of the 64-bit draws belong to no whole range."""
    n = 3 * 2**61
    state = seed_view(2)
    again = state.copy()
    limit = (2**64 - n) % n
    expected = []
    while len(expected) < 200:
        draw = next_view(again)
        if draw >= limit:
            expected.append(draw % n)
    assert [below_view(state, n) for _ in range(200)] == expected
    assert state.tolist() == again.tolist() and limit > 0
