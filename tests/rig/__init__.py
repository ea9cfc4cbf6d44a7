"""Simulated machines, power cuts, boards, thread storms: what tests and `make conformance` use."""
