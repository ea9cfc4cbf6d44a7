"""The rows of a partition that lie outside a ball. What runs on a worker.

A pass answers with k rows of all: some of those outside, drawn at random, and if there are fewer
than k, those that are nearest to the surface. Which they are is decided by a number that each row
draws from its number among all rows, so it does not matter how the rows are divided: the k that
come first are among the k that come first in each part of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgesvm.core.status import Status
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.errors import refusal
from edgesvm.fleet.partitions import PartitionError, source_of
from edgesvm.fleet.workers import Sent

BALL = ("n_core", "intercept", "rows", "beta", "number")  # what a decision value takes


class Candidates(NamedTuple):
    """Rows that may come into the core set next; `numbers` are those among all rows."""

    inside: np.ndarray
    rank: np.ndarray
    numbers: np.ndarray
    X: np.ndarray
    slots: np.ndarray
    weights: np.ndarray

    def first(self, k: int) -> Candidates:
        """Those outside first, as they are ranked; equal ones by their numbers."""
        order = np.lexsort((self.numbers, self.rank, self.inside))[:k]
        return Candidates(*(values[order] for values in self))


class Search(NamedTuple):
    """What is asked in a pass.

    Attributes
    ----------
    ball : Sent
    least : float, f of a row inside is not below it
    seed : int, another in each pass
    k : int, rows of the answer
    """

    ball: Sent
    least: float
    seed: int
    k: int

    @classmethod
    def of(cls, machine: Any, n_passes: int, k: int) -> Search:
        core = machine.core
        seed = (int(machine.seed) << 32) + n_passes
        return cls(Sent.of(machine, core, BALL), core.least_inside, seed, k)


def first_of(k: int, *parts: Candidates) -> Candidates:
    """The first of several parts."""
    joined = (np.concatenate(values) for values in zip(*parts, strict=True))
    return Candidates(*joined).first(k)


def candidates(part: Any, search: Search, rows: tuple[int, int]) -> Candidates:
    """The first of a partition, whose rows have the numbers from rows[0] to before rows[1]."""
    core = search.ball.core()
    core.views["n_per_class"][0] = 1  # it has learned, though its pass has not ended
    in_core = core.views["number"][: int(core.views["n_core"])]
    first, end = rows
    found: list[Candidates] = []
    for chunk in source_of(part, core.owner).chunks(CHUNK_ROWS, core.dtype):
        slots, n_known, _ = core.labels.encode(chunk.y)
        if n_known < len(chunk.y):
            raise PartitionError("it changed between two passes")
        f, row, status = core.decide_many(chunk.X)
        if status > Status.CHANGED:
            sample = f"row {chunk.first + row}"
            raise refusal(status, sample, core.dtype.name, core.labels.in_slots)
        f *= np.where(slots == 1, core.labels.sign, -core.labels.sign)
        numbers = np.arange(first, first + len(f))
        first += len(f)
        weights = np.ones(len(f)) if chunk.weight is None else chunk.weight
        inside = ~(f < search.least)
        rank = np.where(inside, f, drawn(numbers, search.seed))
        here = Candidates(inside, rank, numbers, np.asarray(chunk.X), slots, weights)
        at = np.flatnonzero((weights > 0.0) & ~np.isin(numbers, in_core))
        found = [first_of(search.k, *found, Candidates(*(values[at] for values in here)))]
    if first != end:
        raise PartitionError("it changed between two passes")
    return found[0]


def drawn(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A number from 0 to 1 for each row, by its number alone."""
    start = _mixed(np.array([seed], np.uint64))
    return (_mixed(start + numbers.astype(np.uint64)) >> np.uint64(11)) * 2.0**-53


def _mixed(x: np.ndarray) -> np.ndarray:
    """splitmix64: one step from each state."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = z ^ (z >> np.uint64(31))
    return mixed
