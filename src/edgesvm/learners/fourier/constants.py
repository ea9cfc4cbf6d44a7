"""Numbers of random directions that both cores share."""

ENTRY_DEVIATION = 147.8  # of a number of a direction: sqrt(4 (256^2 - 1) / 12)
LEAST_MIXED = 16  # orthogonal directions of a block: lanes of a vector of float32
