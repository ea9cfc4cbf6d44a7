"""Room for passing objects, taken at the start, so that a process that learns grows by no step.

CPython takes memory for small objects in arenas of 1 MiB, the C library for larger ones in steps
of 128 KiB. A process whose arenas happen to be full takes another for the one batch that is larger
than those before; under a limit that is close it would die of that.
"""

from __future__ import annotations

SMALL = 400  # bytes of a block: of CPython's own allocator
LARGE = 16 * 1024  # of the C library's
ARENA = 1 << 20
HEAP = 256 * 1024


def take() -> tuple[bytes, bytes]:
    """Fill arenas and a stretch of the heap, and free them but for the last block of each.

    For as long as the caller holds these, what is before them stays mapped.
    """
    small = [bytes(SMALL) for _ in range(2 * ARENA // SMALL)]  # two: one of them to be filled
    large = [bytes(LARGE) for _ in range(HEAP // LARGE)]
    return small[-1], large[-1]
