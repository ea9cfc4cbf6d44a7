"""Numbers that both cores of FourierSVM share."""

BLOCK = 64  # directions whose cosines, and then sines, lie together
RECENT = 1000  # samples that lapses are counted over
LEAST_WEIGHT = 1e-100  # of a sample; the largest is its reciprocal
ENTRY_DEVIATION = 147.8  # of a number of a direction: sqrt(4 (256^2 - 1) / 12)
