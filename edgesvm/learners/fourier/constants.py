"""Numbers of random directions, and of the amplitudes of their widths, that both cores share."""

import math

ENTRY_DEVIATION = 147.8  # of a number of a direction: sqrt(4 (256^2 - 1) / 12)
LEAST_MIXED = 16  # orthogonal directions of a block: lanes of a vector of float32

# Log amplitudes before the first sample: each width half of the one before, x and 1 as the widest.
FIRST_TILT = (*(k * math.log(0.5) for k in range(4)), 0.0)
TILT_RATE = 0.5
FADED = math.log(100.0)  # how far below the largest an amplitude may fall
LARGEST_SQUARE = 1e300
