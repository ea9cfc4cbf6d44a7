"""Tolerances and limits of the enclosing machines, for compiled core and twin."""

LARGEST = 1e300  # of 1 / (C weight)
ITERATIONS = 100  # of the solver at a step
FINEST = 5e-8  # half an epsilon that kernel rows of float32 still hold
