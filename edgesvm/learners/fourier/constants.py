"""Numbers that the compiled cores and their twins share."""

import math

# Random directions, and the amplitudes of their widths
ENTRY_DEVIATION = 147.8  # of a number of a direction: sqrt(4 (256^2 - 1) / 12)
LEAST_MIXED = 16  # orthogonal directions of a block: lanes of a vector of float32

# Log amplitudes before the first sample: each width half of the one before, x and 1 as the widest.
FIRST_TILT = (*(k * math.log(0.5) for k in range(4)), 0.0)
TILT_RATE = 0.5
FADED = math.log(100.0)  # how far below the largest an amplitude may fall
MOST_PULL = 1e300  # sum of the squares of what moved them

# Gradient steps
RECENT = 1000  # samples that errors are counted over
# A step is at most the rate times sqrt(W) long, so no stream of 2^62 samples makes longer weights.
MOST_RATE = 1e6
MOST_WEIGHT = 1e30

# Regression. Of the targets, as `Standardized` counts the values of a feature.
CLIP = 16.0  # deviations
LARGEST_ERROR = 1e150  # that a prediction can have made: its square is a number
SETTLED = 20  # samples before the range of the targets limits, and before the stack answers
# The stack: recursive least squares of three coefficients, and rho of the residuals.
FORGETTING = 0.999
NOISE = 0.1
MOST_VARIANCE = 10.0
MOST_RHO = 0.99
# The interval.
FIRST_HALF = 2.0  # each side, in mean absolute residuals
MOST_HALF = 1000.0
STEP = 0.05  # of a side, with labels at once
MEMORY = 50  # residuals that the mean is of, with labels at once; 10 more for each sample of delay
SCORED_FROM = 10  # samples before the interval is scored
NOT_ISSUED = "{}: issued={!r}: give the (value, low, high) of forecast_one, or None"
# The weights.
MOST_SLOPE = 50.0  # of the squared loss, in deviations
LARGEST_SQUARE = 1e30  # of a slope times the features: a sum of 2^26 of them is a float32
# Of FourierRLS: amplitudes of the widths before the first sample, widest first.
FIRST_AMPLITUDES = (1.0, 0.5, 0.25, 0.125)
RLS_NOISE = 0.1  # variance of a target that the features do not explain
# Of an arena that was read: more than learning can leave, and all answers are finite.
LARGEST_SPREAD = 1e240
MOST_COEFFICIENT = 1e30
MOST_COVARIANCE = 1e12
LEAST_VARIANCE = 1e-24  # a smaller one counts as this
