"""Power cuts, kills, boards, thread storms and liveness: what tests and `make conformance` use."""
