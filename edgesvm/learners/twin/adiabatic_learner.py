"""Bases of the learners on the adiabatic solver and its margin set: parameters, arrays, views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import positive, whole
from edgesvm.core.packed_factor import packed_length
from edgesvm.learner import exclusive
from edgesvm.learners.kernel_learner import KernelLearner

MAX_TWINS = 1 << 20  # their square still fits a number of bytes
COUNTERS = (
    "n_path_events",
    "n_exchanges",
    "n_overflowed",
    "n_refactored",
    "n_refreshed",
    "n_from_scratch",
    "paths",
)
PER_SLOT = ("s_minus", "s_plus", "coef", "g", "off", "rate", "push", "row", "ones")


@dataclass(kw_only=True, eq=False, repr=False)
class MarginSetLearner(KernelLearner):
    """Base of the learners that keep a margin set with its factor."""

    n_path_events_ = Counter("Events: times a twin reached or left a step.")
    n_exchanges_ = Counter("Times two twins were exchanged along a null direction.")
    n_refactored_ = Counter("Times the factor of the margin set was recomputed.")
    n_refreshed_ = Counter("Times all decision values were recomputed.")
    n_from_scratch_ = Counter(
        "Times a path could not continue and everything was solved from scratch."
    )

    @property
    def _slots(self) -> int:
        """Number of twins there is room for, including those added by a path in progress."""
        raise NotImplementedError

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, MAX_TWINS

    def _solver_arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        slots = self._slots
        return [
            *((name, "f8", ()) for name in ("mu", "b", "lift")),
            *((name, "i8", ()) for name in ("n", "m", *COUNTERS)),
            *((name, "f8", (slots,)) for name in PER_SLOT),
            *((name, "f8", (slots + 1,)) for name in ("border", "solution")),
            ("pool", "f8", (self._pool_length(),)),
            ("S", "i4", (slots,)),
            ("state", "i1", (slots,)),
            ("vectors", self.dtype, (slots, n_features)),
        ]

    def _pool_length(self) -> int:
        """Numbers in the block that the factor and the kernel rows of the margin set share."""
        return packed_length(self._slots)

    # -- what was learned --------------------------------------------------------------------------

    def _held(self, name: str) -> np.ndarray:
        views = self.core.views
        return views[name][: int(views["n"])]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the decision value, ndarray of shape (1, n), float64; they sum to 0."""
        core = self._fitted
        return core.labels.sign * (self._held("coef") / core.views["mu"])[None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        core = self._fitted
        return core.labels.sign * np.array([float(core.views["b"] / core.views["mu"])])

    @property
    def margin_(self) -> np.ndarray:
        """Which vectors are on the margin, their coefficients free to move; ndarray of shape (n,),
        bool."""
        return self._held("state") % 2 == 1

    @exclusive
    def kt_residual(self) -> float:
        """Largest violation of the Kuhn-Tucker conditions, computed from the stored vectors.

        In units of the margin: the distance of f from the value that its coefficient requires, plus
        the distance of the coefficient from its allowed range as a share of the twin's weight; or,
        if larger, the sum of the coefficients as a share of all weights.
        """
        return float(self._fitted.kt_residual())


@dataclass(kw_only=True, eq=False, repr=False)
class AdiabaticLearner(MarginSetLearner):
    """Base of `TwinVectorMachine` and `IncrementalDecrementalSVM`."""

    n_overflowed_ = Counter("Paths undone because the margin set would have overflowed its room.")

    max_margin: int | None = None

    def _check_shared(self) -> None:
        if self.max_margin is not None:
            whole("max_margin", self.max_margin, 1, MAX_TWINS)
        self.kernel_for(1)

    def _pool_length(self) -> int:
        slots = self._slots
        if self.max_margin is None:
            return super()._pool_length()
        most = min(int(self.max_margin), slots)
        return most * slots + packed_length(most)


class SampleVectors(MarginSetLearner):
    """The vectors of a learner whose twins are samples, with weight on one side only."""

    @property
    def vectors_(self) -> np.ndarray:
        """Stored samples, in the order learned, ndarray of shape (n, n_features), a copy."""
        return self._held("vectors").copy()

    @property
    def labels_(self) -> np.ndarray:
        """Their labels, ndarray of shape (n,)."""
        return self.core.labels.of_slots((self._held("s_plus") > 0).astype(np.int8))

    @property
    def sample_weights_(self) -> np.ndarray:
        """Their weights, ndarray of shape (n,), float64."""
        return self._held("s_minus") + self._held("s_plus")


def penalty(C: object) -> float:
    """C as a float; ValueError unless 1 / C can be divided by."""
    return divisor("C", C)


def divisor(name: str, value: object) -> float:
    """A parameter as a float; ValueError unless what it divides stays finite."""
    value = positive(name, value)
    if not 1e-100 <= value <= 1e100:
        raise ValueError(f"{name}={value!r}: give a number from 1e-100 to 1e100")
    return value
