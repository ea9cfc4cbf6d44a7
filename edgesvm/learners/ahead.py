"""How far off a regressor of a stream is so many samples after its last target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgesvm.learners.kinds import tracked_in

OCTAVES = 24  # of samples ahead: row j is of 2^j to 2^(j+1) - 1, the last of all that are more
ENOUGH = np.minimum(2.0 ** np.arange(OCTAVES), 32.0)  # errors of a row that a mean is taken of
FIRST = 64  # samples before the first copy: it is not to be judged by what knew nothing
FADES = 0.9  # what a mean counts beside that of the next copy: drift comes in bursts
ERRORS = ("errors", "f8", (OCTAVES, 3), (0.0, 1e200))  # of a plan


class Ahead:
    """Errors of a copy that learns no more, by how many samples ahead they are.

    `copy` is like `learner`, a regressor of a stream, and becomes what it is after 64, 128, 256 ...
    samples. A row of `errors` is how many there were, their sum, and the largest mean before.
    """

    def __init__(self, learner: Any, copy: Any, errors: np.ndarray) -> None:
        self._learner, self.copy, self.errors = learner, copy, errors

    def learned(self, x: Any, y: float) -> None:
        """The learner has learned a sample."""
        n = self._learner.n_seen_
        if (ahead := n - self.copy.n_seen_) > 0 and self.copy.is_fitted:
            octave = min(ahead.bit_length(), OCTAVES) - 1
            self.errors[octave, :2] += 1.0, abs(y - self.copy.predict_one(x))
        if n >= FIRST and n & n - 1 == 0:
            self.errors[:, 2] = np.maximum(FADES * self.errors[:, 2], self._means)
            self.errors[:, :2] = 0.0
            self.copy.arena.memory[:] = self._learner.arena.memory

    @property
    def _means(self) -> np.ndarray:
        """Of the copy's errors, above 0; 0 where there are too few."""
        n, total, _ = self.errors.T
        return np.where(n < ENOUGH, 0.0, np.maximum(total / np.maximum(n, 1.0), 1e-300))

    @property
    def measured(self) -> int:
        """How many samples ahead errors are known."""
        before = np.flatnonzero(self.errors[:, 2])
        return max([int(self.errors[:, 0].sum()), *(2 << before[-1:]) - 1])

    def interval(self, ahead: int, value: float) -> tuple[float, float]:
        """Low and high end around a value so many samples after the last target, as wide as errors
        of so many or fewer call for; infinite where none was so far ahead."""
        size, below, above = map(float, tracked_in(self._learner.core).views["interval"][0])
        if ahead > 1:
            if ahead > self.measured:
                return -math.inf, math.inf
            means = np.maximum(self.errors[:, 2], self._means)
            size = max(size, float(means[: ahead.bit_length()].max()))
        return value - below * size, value + above * size
