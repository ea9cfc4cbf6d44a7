"""Numbers of Auto that both cores share."""

RECENT = 1000  # samples that lapses are counted over
UNCOUNTED = 1000  # first samples, of which errors do not count; a review after each doubling
CLEARLY = 2.0  # standard errors that a candidate may be behind the best
