"""The room that a learning process takes at its start is there when it is needed."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

# The objects of a burst, after what is held already has filled the arenas up: with room taken
# before, the process need not grow.
PROBE = """
import sys
from edgesvm.serve import process

def size():
    pages, *_ = open("/proc/self/statm").read().split()
    return int(pages) * 4096

room = process.reserve() if sys.argv[1] == "with" else None
before = size()
burst = [bytes(400) for _ in range(2000)]
large = [bytes(12_000) for _ in range(16)]
print(size() - before)
"""


def growth(how):
    run = subprocess.run(
        [sys.executable, "-c", PROBE, how], check=True, capture_output=True, text=True
    )
    return int(run.stdout)


def test_a_burst_finds_room():
    assert growth("with") == 0
    assert growth("without") >= 128 * 1024
