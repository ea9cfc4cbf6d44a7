"""Limits of the online learners, for the compiled core and the reference."""

# Of w.w, by the dtype of w: below it, the product of w with any sample is finite.
MOST_WW = {"float32": 1e38, "float64": 1e300}

# Of k(x, x) and of a weight: sums of products of the two do not overflow.
MOST = 1e100
LEAST_WEIGHT = 1e-100

FORGETRON_SHARE = 15 / 32  # of the mistakes, that the sum of the forgetron's deviations may reach
