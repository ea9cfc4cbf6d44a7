"""Numbers that compiled cores and their twins share."""

SEEN = 10  # samples that tell nothing of what is far out: it is not counted in them
