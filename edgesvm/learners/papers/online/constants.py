"""Limits of the online learners, for the compiled core and the reference."""

# Of w.w, by the dtype of w: below it, the product of w with any sample is finite.
MOST_WW = {"float32": 1e38, "float64": 1e300}
WW_WITHIN = 1e-3  # of w.w in a snapshot: the engines sum in another order

# Of k(x, x), of a weight, and of C times it: sums of products of the two do not overflow.
MOST = 1e100
LEAST_WEIGHT = 1e-100

LEVEL = 1e-9  # gradients and distances that differ by less, relative to 1 + their size, are equal
AT_BOUND = 1e-14  # of a bound: a coefficient that is closer is on it
LEAST_TAU = 1e-8  # of LASVM: above that level

FORGETRON_SHARE = 15 / 32  # of the mistakes, that the sum of the forgetron's deviations may reach
