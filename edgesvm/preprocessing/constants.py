"""How far out a value counts for the statistics of `Standardized`; for the twin too.

In clips, NEAR at first, then more by WIDENING a sample, up to FAR. Early in a stream one value
has a large share, so little is let through; later a feature's rare large values belong to its scale
(8 deviations for all samples cost shuttle 0.2 points of accuracy).
"""

NEAR, FAR, WIDENING = 0.5, 2.0, 1 / 800
SEEN = 10  # samples that tell nothing of what is far out: it is not counted in them
