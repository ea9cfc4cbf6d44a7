"""Deterministic simulation: `edgesvm run` on a simulated machine, all of it drawn from a seed."""
