"""A sum of kernel functions at stored samples: parameters and arrays of the online learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.params import whole
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.kernel_learner import KernelMethod

Arrays = list[tuple[str, str, tuple[int, ...]]]


@dataclass(kw_only=True, eq=False, repr=False)
class ExpansionLearner(KernelMethod):
    """Base of the online learners with a kernel: at most ``max_vectors`` samples, each with a
    coefficient."""

    _capacity = "max_vectors"

    max_vectors: int = 100

    @property
    def _slots(self) -> int:
        return int(self.max_vectors)

    def _check_params(self) -> None:
        whole("max_vectors", self.max_vectors, 1, MAX_CAPACITY)
        self.kernel_for(1)

    def _arrays(self, n_features: int) -> Arrays:
        return [
            ("n_held", "i8", ()),
            ("coef", "f8", (self._slots,)),
            ("vectors", self.dtype, (self._slots, n_features)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"kernel": self.kernel_for(n_features)}

    @property
    def support_vectors_(self) -> np.ndarray:
        """Stored samples, ndarray of shape (n_held, n_features), a copy."""
        views = self.core.views
        return views["vectors"][: int(views["n_held"])].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients in the decision value, ndarray of shape (1, n_held), float64."""
        core = self.core
        return core.labels.sign * core.views["coef"][None, : int(core.views["n_held"])]
