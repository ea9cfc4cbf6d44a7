"""Lapses, read and checked: the shares of recent samples that each of several, mostly the last
weights and their mean, had wrong before it learned them. `core/lapses.pxd` is the compiled form."""

from __future__ import annotations

import numpy as np

from edgesvm.errors import CorruptModelError


def note_lapses(lapses: np.ndarray, is_wrong: list[bool], n: int, recent: int) -> None:
    """The shares among n samples, this one included; over about the last `recent`."""
    lapses += (np.array(is_wrong, float) - lapses) / min(n, recent)


def mean_decides(lapses: np.ndarray) -> bool:
    """Whether the mean was wrong no more often than the last weights."""
    last, mean = lapses
    return bool(mean <= last)


def check_lapses(lapses: np.ndarray) -> None:
    """Raise CorruptModelError unless all are shares."""
    if not ((lapses >= 0) & (lapses <= 1)).all():
        raise CorruptModelError("a share of lapses is not between 0 and 1")
