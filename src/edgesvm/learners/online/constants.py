"""Limits of the online learners, for the compiled core and the reference."""

# Of w.w, by the dtype of w: below it, the product of w with any sample is finite.
MOST_WW = {"float32": 1e38, "float64": 1e300}
