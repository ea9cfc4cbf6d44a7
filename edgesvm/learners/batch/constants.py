"""Tolerances and limits of the SMO solver, for the compiled core and the reference."""

SHRINK_EVERY = 1000  # iterations, or n if smaller; as in LIBSVM
LEAST_CURVATURE = 1e-12  # replaces a curvature that rounding made <= 0
BALANCED = 1e-12  # relative; sums of coefficients that differ by less are equal
HIDEABLE = 0.25  # of `tol`: more uncertainty than this, and float64 is used
LARGEST_TARGET = 1e100  # of a regressor
SUM_SQUARE = 0.1  # what the sum of coefficients adds to their curvature, of the mean x.x
SHARE = 0.3  # of the gap among all samples: where passes of those not set aside end
ROUNDING = 1e-15  # gaps below this times k_max sum |beta| are noise


def most_iterations(max_iter: int | None, max_samples: int, *, by_w: bool = False) -> int:
    """The value of ``max_iter`` for a learner that stores its samples; `by_w`: an iteration is one
    coefficient, and costs no kernel row."""
    n = (10_000 if by_w else 1000) * max_samples
    return max(1_000_000, n) if max_iter is None else max_iter
