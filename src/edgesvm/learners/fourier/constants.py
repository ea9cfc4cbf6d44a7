"""Numbers that both cores of FourierSVM share."""

RECENT = 1000  # samples that lapses are counted over
LEAST_WEIGHT = 1e-100  # of a sample; the largest is its reciprocal, and both squares are numbers
ENTRY_DEVIATION = 147.8  # of a number of a direction: sqrt(4 (256^2 - 1) / 12)
