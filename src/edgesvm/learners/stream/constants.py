"""Tolerances and limits of the stream learners, for compiled core and twin."""

LARGEST_SQUARE = 1e300  # squared length taken in, so that no sum of a few of them overflows
LARGEST_HELD = 1e304  # squared length a file may hold, since a radius reaches a little beyond
SHARES_WITHIN = 1e-3  # of one, after however many steps
LEVEL = 1e-9  # of two values, as a share: what rounding must not choose by
AT_POINT = 1e-12  # of the farthest reach: nearer than this the centre is at a ball's centre

# Of the steps to the smallest ball around a few. Measured on the paper's data sets: finer changes
# no accuracy; the cap bounds the work of one sample.
UPPER_TOLERANCE = 1e-4  # of the radius
UPPER_STEPS = 1000
LOWER_TOLERANCE = 0.1  # of |c|^2
LOWER_STEPS = 16
