"""Patterns of nine values in a row, three of which count thrice, at the levels of a pyramid."""

from __future__ import annotations

from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

TRIPLES = tuple(combinations(range(9), 3))  # 84
LEAST_PLACES = 8  # of a pattern in a window, at the highest level
GOLDEN = 1.618034


class Pattern(NamedTuple):
    """Of nine values y_0 to y_8: 3 (y_a + y_b + y_c) - sum of all."""

    triple: tuple[int, int, int]  # a, b, c
    normal: float  # quantile of the normal distribution that its bias begins at
    wanted: float  # share of values that should be above the bias


def patterns(window: int) -> list[list[Pattern]]:
    """The patterns of each level of a window: 84 in all, or as many below that as make all levels
    have the same number.

    They are spread over the triples, and their quantiles by the golden ratio. The normal quantile
    is rounded: the C library's logarithm may differ in the last bit from one machine to the next.
    """
    n_levels = 1
    while (window >> n_levels) - 8 >= LEAST_PLACES:
        n_levels += 1
    each = len(TRIPLES) // n_levels
    found = []
    for level in range(n_levels):
        of_level = []
        for j in range(each):
            triple = TRIPLES[(len(TRIPLES) * j // each + level) % len(TRIPLES)]
            rank = (level * each + j + 1) * GOLDEN % 1.0
            of_level.append(Pattern(triple, round(NormalDist().inv_cdf(rank), 6), 1.0 - rank))
        found.append(of_level)
    return found
