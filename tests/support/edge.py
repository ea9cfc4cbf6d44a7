"""A command of edgesvm, as a process, at the other end of a simulated node's line."""

import sys
from contextlib import closing

from firmware_sim.harness import simulate
from firmware_sim.line import Line, PtyLink

EDGESVM = [sys.executable, "-m", "edgesvm.cli"]


def edge(node, *words, faults=None, **options):
    """The report of both ends; ``{port}`` stands for the port in the words."""
    argv = [*EDGESVM, *map(str, words), "--json"]
    with closing(PtyLink()) as link:
        return simulate(argv, node, Line(link, faults=faults), **{"timeout_s": 120, **options})
