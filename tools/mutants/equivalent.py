"""Mutants that no test can find: names, where `*` stands for anything, and why."""

EQUIVALENT: dict[str, str] = {}
