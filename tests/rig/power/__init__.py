"""Power cuts: a simulated disk, cut at every operation."""
