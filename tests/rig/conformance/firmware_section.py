"""The run's model on a microcontroller: what it takes there, and that it ends at its RAM."""

from __future__ import annotations

import subprocess
from pathlib import Path

import edgesvm
from rig.boards import (
    BOARDS,
    Board,
    compare,
    hard_samples,
    heap_symbols,
    link,
    missing,
    run,
)
from rig.conformance.section import Section

BOARD = "M3"
STACK = 4096  # bytes of RAM kept for it


def firmware_section(snapshot: Path, *, rows: int, needed: bool) -> Section:
    """Export the model that was saved, and let an emulated M3 learn `rows` hard samples more.

    Where the compiler or the emulator is absent, the line says so; if `needed`, that breaks it.
    """
    board = BOARDS[BOARD]
    if reason := missing(board):
        return Section("firmware", f"not run: {reason}", [reason] if needed else [])
    learner, folder = edgesvm.load(snapshot), snapshot.parent / "firmware"
    samples = hard_samples(rows, learner.n_features_in_, learner.dtype, 5)
    try:
        there = run(learner, board, folder, samples, stack=STACK)
    except (RuntimeError, subprocess.SubprocessError) as error:
        return Section("firmware", "no run", [str(error)], taken="qemu-system")
    equal, differs = compare(learner, there, samples)
    heap = heap_symbols(board, folder / "program.elf")
    ram = there.ram + STACK
    fits, ends = links(board, folder, ram), not links(board, folder, ram - 1)
    broken = [f"{what}: not the host's" for what in differs]
    if not fits or not ends:
        broken.append(f"it must be linked into {ram} bytes of RAM, and not into one byte less")
    if heap:
        broken.append(f"an allocator is linked: {', '.join(heap)}")
    return Section(
        "firmware",
        f"{BOARD} flash {there.flash:,} B, data+bss {there.ram:,} B, stack high-water "
        f"{there.stack} of {STACK} B   link error one byte over: {'yes' if ends else 'no'}   "
        f"guest errors 0   heap symbols {len(heap)}   decide {there.decide:,}, learn "
        f"{there.learn:,} instructions   device = host scores {equal:,} of {rows:,} bit-equal",
        broken,
        {"flash": there.flash, "ram": there.ram, "stack": there.stack}
        | {"decide": there.decide, "learn": there.learn, "equal": equal, "rows": rows},
        taken="qemu-system",
    )


def links(board: Board, folder: Path, ram: int) -> bool:
    """Whether the program that was compiled fits into so much RAM."""
    try:
        link(board, folder, ram=ram, stack=STACK)
    except subprocess.CalledProcessError as error:
        if b"overflowed" not in error.stderr:
            raise
        return False
    return True
