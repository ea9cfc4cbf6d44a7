"""What the process at the other end writes, read while it writes."""

import sys
from contextlib import closing

from firmware_sim.harness import EdgeProcess

LINES = 20_000
WRITER = f"for i in range({LINES}): print(i, flush=True)"


def test_reading_its_lines_moves_none_of_them():
    with closing(EdgeProcess([sys.executable, "-c", WRITER], "no port")) as edge:
        while edge.exit_code is None:
            seen = edge.lines()
            assert seen == [str(i) for i in range(len(seen))]
        assert len(edge.lines()) == LINES and edge.exit_code == 0, edge.output()
