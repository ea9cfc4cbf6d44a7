"""The block of memory: zeroed, exactly as long as asked, the caller's own where one is lent."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm.core.arena import Arena


@each("n_bytes", [0, 1, 8, 4097])
def test_own_block_is_zeroed_and_exact(n_bytes):
    arena = Arena(n_bytes)
    assert arena.nbytes == n_bytes and bytes(arena) == b"\0" * n_bytes
    assert arena.memory.dtype == np.uint8 and arena.memory.shape == (n_bytes,)
    assert arena.memory.ctypes.data % 8 == 0


def test_lent_block_is_used_in_place_and_zeroed():
    lent = bytearray(b"\xff" * 64)
    arena = Arena(48, lent)
    arena.memory[:4] = [1, 2, 3, 4]
    assert lent == b"\1\2\3\4" + b"\0" * 44 + b"\xff" * 16
    with pytest.raises(BufferError):
        lent.clear()  # it is held as long as the arena lives


@each(
    "buffer, why",
    [
        (bytes(64), "writable"),
        (memoryview(bytearray(128))[::2], "contiguous"),
        (np.zeros((8, 16), np.uint8).T, "contiguous"),
        (memoryview(bytearray(80))[1:73], "multiple of 8"),
    ],
)
def test_unfit_buffers_are_refused(buffer, why):
    with pytest.raises(ValueError, match=why):
        Arena(64, buffer)


def test_what_is_no_buffer_is_a_type_error():
    with pytest.raises(TypeError):
        Arena(64, "text")


def test_a_wider_type_is_taken_by_its_bytes():
    lent = np.ones(8, np.float64)
    Arena(64, lent).memory[0] = 7
    assert lent.view(np.uint8)[0] == 7 and not lent.view(np.uint8)[1:].any()


def test_a_part_is_the_same_memory():
    arena = Arena(64)
    arena.memory[:] = np.arange(64)
    part = arena.part(16, 24)
    assert part.nbytes == 24 and bytes(part) == bytes(range(16, 40))
    part.memory[:] = 7
    assert bytes(arena)[16:40] == b"\7" * 24 and bytes(arena)[40] == 40
    assert bytes(part.part(8, 16)) == b"\7" * 16


@each("offset, n_bytes", [(-8, 8), (0, 65), (64, 8), (8, -8), (1 << 62, 8)])
def test_a_part_beyond_the_arena_is_refused(offset, n_bytes):
    with pytest.raises(IndexError, match="arena of 64"):
        Arena(64).part(offset, n_bytes)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux what is resident")
def test_what_is_not_written_is_not_resident():
    """A byte in every 2 MiB, which could be one page."""
    arena = Arena(64 << 20)
    before = resident()
    arena.memory[:: 2 << 20] = 1
    assert resident() - before < 8 << 20
    assert arena.memory.sum() == 32


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
