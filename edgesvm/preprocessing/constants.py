"""Numbers that compiled cores and their twins share."""

SEEN = 10  # samples that tell nothing of what is far out: it is not counted in them
LARGEST = 1e15  # of a raw sample: then every feature is finite, in float32 too

# Of `ClockFeatures`
DAY, HOURS = 24, 168  # hours of a day and of a week
WEEK = 604800.0  # s
MEMORY = 43200.0  # s that a slow mean is of, measured on the Numenta series
LONGEST = 5400.0  # s that one sample counts for at most in it, so that none decides it after a gap
FAR = 8.0  # usual distances from the slow mean that a value counts as at most
LEAST_VISITS = 2  # times that an hour was seen before what it has is usual
LEAST_SHARE = 0.125  # of a visit in what an hour has, however many there were
BOUND = 3.0  # deviations that a visit counts as at most,
LEAST_STEP = 16.0  # and codes, so that no rounding keeps what is usual where it is
PRIOR = 0.25  # visits that the usual distance from the slow mean counts as
MOST = 16.0  # deviations of a residual
FINE = 4096.0  # the first code
LARGEST_CODE = 32767.0
