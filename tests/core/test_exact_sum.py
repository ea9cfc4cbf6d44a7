"""Sums without rounding: the same in any order and any grouping."""

import math
from fractions import Fraction

import numpy as np

from edgesvm.core.exact_sum import rounded, units_of

rng = np.random.default_rng(3)
TINY, LARGEST = 5e-324, float(np.finfo(np.float64).max)
WIDE = rng.random(3000) * 2.0 ** rng.integers(-1074, 1000, 3000)


def test_it_is_the_exact_sum_rounded_once():
    for values in (
        WIDE,
        rng.random(5000),
        np.array([1.0, 2.0**-53, TINY]),  # just above the middle of two doubles
        np.array([1.0, 2.0**-53]),
        np.array([TINY, 2.0**-1030, 0.0, 2.2250738585072014e-308]),
        np.array([LARGEST]),
        np.empty(0),
    ):
        exact = sum(map(Fraction, values.tolist()), Fraction(0))
        assert Fraction(units_of(values), 1 << 1074) == exact
        assert rounded(units_of(values)) == math.fsum(values)


def test_neither_order_nor_parts_matter():
    whole = units_of(WIDE)
    assert units_of(rng.permutation(WIDE)) == whole
    assert sum(units_of(part.copy()) for part in np.array_split(WIDE, 7)) == whole


def test_what_is_beyond_the_largest_double_is_infinite():
    for values in ([np.inf, 1.0], [LARGEST, LARGEST], [np.inf, np.inf]):
        assert rounded(units_of(np.array(values))) == math.inf
