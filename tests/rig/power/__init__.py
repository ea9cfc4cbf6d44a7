"""Power cuts: a simulated disk, cut at every operation, and real processes killed."""
