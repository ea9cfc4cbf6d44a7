"""Which weights a sample may have, as `Learner.partial_fit` says to users; how far out a value
counts for running statistics, as `Standardized` says; and the largest target."""

import math

LEAST_WEIGHT, LARGEST_WEIGHT = 2.0**-40, 2.0**40  # but for zero
MOST_TIMES = 8.0  # the mean: what a larger weight is learned as; ten wrong labels are outgrown soon
RECENT_WEIGHTS = 1000  # samples that the mean is of, about
# At the end of a learner's own arena, not of a part's; 0: not known. Earlier builds do not have it.
MEAN_WEIGHT = ("mean_weight", "f8", (), (0.0, math.inf))

LARGEST_TARGET = 1e100  # of a regressor
# Of k(x, x): what is larger is refused, what is smaller counts as zero. With weights and parameters
# products of a few do not overflow, nor do their squares vanish.
LEAST_NORM, LARGEST_NORM = 1e-30, 1e30

# In clips, NEAR at first, then more by WIDENING a sample, up to FAR. Early in a stream one value
# has a large share, so little is let through; later a feature's rare large values belong to its
# scale (8 deviations for all samples cost shuttle 0.2 points of accuracy).
NEAR, FAR, WIDENING = 0.5, 2.0, 1 / 800
