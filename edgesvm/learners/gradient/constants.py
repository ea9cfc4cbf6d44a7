"""Numbers that both cores of the learners by gradient steps share."""

RECENT = 1000  # samples that error rates are counted over
# A step is at most the rate times sqrt(W) long, so no stream of 2^62 samples makes longer weights.
MOST_RATE = 1e6
MOST_WEIGHT = 1e30
