"""Mutants that no test can find: names, where `*` stands for anything, and why."""

EQUIVALENT = {
    "edgesvm/window_runner.py:*:87 2 * 1.0": "all weights but 0 count alike",
    "edgesvm/learners/twin/twin_passes.h:*:24 > to >=": "the greater of two equal numbers",
}
