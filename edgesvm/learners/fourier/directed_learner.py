"""The parameters of random directions: how many, how wide the kernel, which seed, how drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.budget import SCRATCH, Table
from edgesvm.contract.params import one_of, positive, whole
from edgesvm.learner import MAX_CAPACITY, Learner
from edgesvm.learners.fourier._directions import key_of
from edgesvm.learners.fourier.constants import ENTRY_DEVIATION, LEAST_MIXED

Self = TypeVar("Self", bound="DirectedLearner")

WIDTHS = (0.3, 1.0, 3.0, 10.0)  # times 1 / n_features, direction by direction in turn
WEIGHED = (0.1, 0.5, 2.2, 10.0)  # those whose amplitudes are learned


@dataclass(kw_only=True, eq=False, repr=False)
class DirectedLearner(Learner):
    """Base of learners that draw random directions.

    Parameters
    ----------
    n_directions : int, default 128
    gamma : float, optional
    seed : int, default 0
    directions : {"auto", "independent", "orthogonal"}, default "auto"
    """

    _capacity = "n_directions"
    _most_directions: ClassVar[int] = MAX_CAPACITY
    _absent: ClassVar[Mapping[str, Any]] = {"directions": "independent"}

    n_directions: int = 128
    gamma: float | None = None
    seed: int = 0
    directions: str = "auto"

    def with_capacity(self: Self, capacity: int) -> Self:
        other = type(self)(**self.get_params(deep=False) | {"n_directions": capacity})
        return other.as_part() if self._is_part else other

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, self._most_directions

    def _check_directions(self) -> None:
        """Raise ValueError for a parameter out of range."""
        whole("n_directions", self.n_directions, 1, self._most_directions)
        if self.gamma is not None:
            positive("gamma", self.gamma)
        whole("seed", self.seed, 0, (1 << 32) - 1)
        one_of("directions", self.directions, "auto", "independent", "orthogonal")

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x: cosines and sines."""
        return 2 * int(self.n_directions)

    @property
    def _widths(self) -> tuple[float, ...]:
        """Of the kernels mixed, times 1 / n_features."""
        return WIDTHS

    def _is_orthogonal(self, n_features: int) -> bool:
        if self.directions == "auto":
            return n_features >= LEAST_MIXED
        return self.directions == "orthogonal"

    def _n_mixed(self, n_features: int) -> int:
        """Number of orthogonal directions in a block: a power of two, at least n_features."""
        return max(LEAST_MIXED, 1 << (n_features - 1).bit_length())

    def _angles(self) -> Table:
        return [("angle", "i2", (int(self.n_directions),), SCRATCH)]

    def _mixed(self, n_features: int) -> Table:
        """Scratch of orthogonal directions."""
        if not self._is_orthogonal(n_features):
            return []
        return [("mixed", self.dtype, (self._n_mixed(n_features),), SCRATCH)]

    def _drawn_by(self, n_features: int) -> dict[str, Any]:
        """What a core draws its directions by: the key, and the factors that make them turns."""
        if self.gamma is None:
            gammas = [width / n_features for width in self._widths]
        else:
            gammas = [float(self.gamma)] * len(WIDTHS)
        # deviation of the numbers of a direction
        one = self._n_mixed(n_features) if self._is_orthogonal(n_features) else ENTRY_DEVIATION
        in_turns = 2 * math.pi * one
        return {
            "key": key_of(int(self.seed)),
            "scales": [math.sqrt(2 * gamma) / in_turns for gamma in gammas],
        }


class WeighedLearner(DirectedLearner):
    """Base of learners of gradient steps on random features, whose widths have amplitudes that are
    learned with the weights."""

    def _check_params(self) -> None:
        super()._check_params()
        self._check_directions()

    @property
    def _is_weighed(self) -> bool:
        return self.gamma is None

    @property
    def _widths(self) -> tuple[float, ...]:
        return WEIGHED if self._is_weighed else super()._widths

    def _beside(self, n_features: int) -> Table:
        amplitudes = [("tilt", "f8", (5,)), ("tilt_squares", "f8", ())] if self._is_weighed else []
        return [*self._angles(), *self._mixed(n_features), *amplitudes]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | self._drawn_by(n_features)

    @property
    def amplitudes_(self) -> np.ndarray:
        """Amplitudes of the features of the four widths, widest first, and of x; the mean of their
        squares is 1. ndarray of shape (5,), float64."""
        amplitudes: np.ndarray = self.core.amplitudes
        return amplitudes
