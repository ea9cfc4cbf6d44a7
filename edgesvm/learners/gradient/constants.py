"""Numbers that both cores of the learners by gradient steps share."""

RECENT = 1000  # samples that lapses are counted over
LEAST_WEIGHT = 1e-100  # of a sample; the largest is its reciprocal, and both squares are numbers
# A step is at most the rate times sqrt(W) long, so no stream of 2^62 samples makes longer weights.
MOST_RATE = 1e6
MOST_WEIGHT = 1e30
