"""Tolerances and limits of the enclosing machines, for the compiled core and the reference."""

LARGEST = 1e300  # of 1 / (C weight)
OF_A_SAMPLE = 100  # steps for one sample of a stream, for each core vector there is room for
ITERATIONS = 100  # of the solver per step
SHARE = 16  # the ball is solved for when the core set has grown by 1 / SHARE
LOOSE = 0.25  # then, how far the solution may be from optimal: of the farthest that was added
FAR = 0.25  # of the farthest that was added: samples less far outside wait
IDLE = 4  # core vectors without a coefficient are dropped where they are more than 1 / IDLE
FINEST = 5e-8  # half of the smallest epsilon that float32 kernel rows can resolve
MATRIX = 16  # fit begins with all rows where the cache holds 1 / MATRIX of their kernel values
WIDE = 1 << 20  # bytes of rows from which kernel rows are computed together
