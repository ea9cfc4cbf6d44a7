"""A number that `Standardized` and its twin share."""

SEEN = 10  # samples that tell nothing of what is far out: it is not counted in them
