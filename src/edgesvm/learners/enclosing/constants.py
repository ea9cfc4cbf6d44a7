"""Tolerances and limits of the enclosing machines, for the compiled core and the reference."""

LARGEST = 1e300  # of 1 / (C weight)
ITERATIONS = 100  # of the solver per step
FINEST = 5e-8  # half of the smallest epsilon that float32 kernel rows can resolve
