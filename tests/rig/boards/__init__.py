"""An exported model on the processors of microcontrollers, under QEMU, and on Linux machines."""

from rig.boards.board import BOARDS, HOSTS, UNO, Board, missing
from rig.boards.here import compare, run_here
from rig.boards.program import (
    STRICT,
    Run,
    build,
    heap_symbols,
    link,
    n_values,
    run,
    sections,
    write,
)
from rig.boards.samples import Samples, hard_samples

__all__ = [
    "BOARDS",
    "HOSTS",
    "STRICT",
    "UNO",
    "Board",
    "Run",
    "Samples",
    "build",
    "compare",
    "hard_samples",
    "heap_symbols",
    "link",
    "missing",
    "n_values",
    "run",
    "run_here",
    "sections",
    "write",
]
