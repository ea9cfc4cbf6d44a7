"""Numbers that both cores of Calibrated share, chosen as docs/notes/calibration.md says."""

FIRST_SLOPE = 2.0  # of a sigmoid, in units of the mean score
PRIOR = 1.0  # its weight, and that of the first offset, as information
RECENT = 500.0  # samples that a sigmoid is fitted to
SIZED_BY = 50.0  # samples that the mean score is of
MOST_RELATIVE = 3.0  # a score beyond so many times the mean teaches a sigmoid as one of so many
MOST_WEIGHT = 10.0  # a sample of a larger weight teaches it as one of this
QUANTILE_GAIN, QUANTILE_RECENT = 4.0, 20.0  # steps of a threshold, and the samples they settle at
SET_STEP = 0.02  # of the limit of a set, after each sample
FARTHEST = 700.0  # log-odds end here, within what exp can take
