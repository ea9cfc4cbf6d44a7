"""Tolerances and limits of the SMO solver, for compiled core and twin."""

SHRINK_EVERY = 1000  # iterations, or n where that is less; as LIBSVM
LEAST_CURVATURE = 1e-12  # in place of a curvature that rounding made <= 0
ROUNDING = 1e-15  # gaps below this times k_max sum |beta| are noise


def most_iterations(max_iter: int | None, max_samples: int) -> int:
    """What ``max_iter`` of a learner that stores its samples stands for."""
    return max(10_000_000, 100 * max_samples) if max_iter is None else max_iter
