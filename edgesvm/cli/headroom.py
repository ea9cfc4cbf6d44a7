"""Reserve room for temporary objects at the start, so that a process does not grow as it learns.

CPython allocates small objects in arenas of 1 MiB, the C library larger ones in steps of 128 KiB.
If the arenas happen to be full, one batch larger than those before makes the process take another,
and under a tight limit that kills it.
"""

from __future__ import annotations

SMALL = 400  # bytes of a block from CPython's own allocator
LARGE = 16 * 1024  # bytes of a block from the C library
ARENA = 1 << 20
HEAP = 256 * 1024


def take() -> tuple[bytes, bytes]:
    """Fill arenas and part of the heap, then free all but the last block of each.

    The memory before these two blocks stays mapped as long as the caller holds them.
    """
    small = [
        bytes(SMALL) for _ in range(2 * ARENA // SMALL)
    ]  # two arenas: one may be partly full already
    large = [bytes(LARGE) for _ in range(HEAP // LARGE)]
    return small[-1], large[-1]
