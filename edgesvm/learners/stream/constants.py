"""Tolerances and limits of the stream learners, for the compiled core and the reference."""

MAX_SQUARE = 1e300  # of a new sample's squared length: no sum of a few overflows
MAX_STORED_SQUARE = 1e304  # of a squared length in a file: a radius can be slightly larger
SHARES_WITHIN = 1e-3  # of one, after any number of steps
LEVEL = 1e-9  # values whose relative difference is smaller count as equal
AT_POINT = 1e-12  # share of the farthest reach: closer than this, the centre is at a ball's centre

# Steps to the smallest ball around a few. On the paper's data sets finer tolerances do not change
# the accuracy; the cap bounds the work of one sample.
UPPER_TOLERANCE = 1e-4  # of the radius
UPPER_STEPS = 1000
LOWER_TOLERANCE = 0.1  # of |c|^2
LOWER_STEPS = 16

# KernelStreamSVM with when_full="newton"
LARGEST_PENALTY = 1e10  # of one sample, C weight times its largest kernel value: A keeps K
RIDGE = 1e-6  # added to k(z, z), as a share of it: duplicates stay apart from rounding
