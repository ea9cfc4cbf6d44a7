"""Numbers that the compiled cores and their references share."""

# -- how a kernel learner forgets ------------------------------------------------------------------

# The test of Page and Hinkley on its errors, as `edgesvm.PageHinkley` has it
DELTA = 0.1
MIN_SAMPLES = 30
LEAST_VARIANCE = 0.01
THRESHOLD = 50.0  # of the first drift
OF_TWINS = 75.0  # where twins fill up and merge: their errors become more by themselves
SOON, SOON_FOR = 15.0, 2000.0  # the threshold within so many samples of a drift

# At a drift all that is held keeps this share of its weight. It then halves every PACE w samples, w
# samples after the drift, as long as w is less than FORGETS_FOR.
AT_A_DRIFT = 2.0**-6
PACE, LEAST_HALF_LIFE, FORGETS_FOR = 0.25, 100.0, 8000.0

FACTOR_EXISTS = 1e-10  # of each diagonal of a matrix that ages: more than rounding can take
OPEN_FOR = 1000.0  # samples after a drift of which those on the wrong side are learned, however far
LEAST_TOTAL, LEAST_SHARE = 2.0**-100, 2.0**-400  # weights: what is less halves no more

# -- Calibrated, chosen as docs/notes/calibration.md says ------------------------------------------

FIRST_SLOPE = 2.0  # of a sigmoid, in units of the mean score
PRIOR = 1.0  # its weight, and that of the first offset, as information
RECENT = 500.0  # samples that a sigmoid is fitted to
SIZED_BY = 50.0  # samples that the mean score is of
MOST_RELATIVE = 3.0  # a score beyond so many times the mean teaches a sigmoid as one of so many
MOST_WEIGHT = 10.0  # a sample of a larger weight teaches it as one of this
QUANTILE_GAIN, QUANTILE_RECENT = 4.0, 20.0  # steps of a threshold, and the samples they settle at
SET_STEP = 0.02  # of the limit of a set, after each sample
FARTHEST = 700.0  # log-odds end here, within what exp can take
