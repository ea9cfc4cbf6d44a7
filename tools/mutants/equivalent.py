"""Mutants that no test can find: names, where `*` stands for anything, and why."""

EQUIVALENT = {
    "edgesvm/persist/format.py:*:64 16 + 1": "labels that need that byte are refused as too long",
}
