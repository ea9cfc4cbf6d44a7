"""Gradient steps that scale themselves: parameters and arrays of the learners that take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import SCRATCH, Table
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import one_of, positive, whole
from edgesvm.learner import Learner
from edgesvm.learners.gradient.constants import MOST_RATE


@dataclass(kw_only=True, eq=False, repr=False)
class GradientLearner(Learner):
    """Base of the learners by gradient steps.

    Parameters
    ----------
    loss : {"hinge", "logistic"}, default "hinge"
    learning_rate : float, default 0.5
    n_classes : int, default 2
    class_weight : {None, "balanced"}, default None
    dtype : {"float32", "float64"}, default "float32"
    """

    most_epochs: ClassVar[int] = 5
    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    loss: str = "hinge"
    learning_rate: float = 0.5
    n_classes: int = 2
    class_weight: str | None = None
    dtype: str = "float32"

    def _check_params(self) -> None:
        one_of("loss", self.loss, "hinge", "logistic")
        if positive("learning_rate", self.learning_rate) > MOST_RATE:
            raise ValueError(f"learning_rate={self.learning_rate!r}: give at most 1e6")
        whole("n_classes", self.n_classes, 2, MOST_CLASSES)

    @property
    def n_classes_planned(self) -> int:
        return whole("n_classes", self.n_classes, 2, MOST_CLASSES)

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x."""
        return 0

    def _beside(self, n_features: int) -> Table:
        """Arrays of the learner beside the weights."""
        return []

    def _arrays(self, n_features: int) -> Table:
        n = self.n_classes_planned
        several = n > 2
        n_vectors = n if several else 1
        shape = (n_vectors, self._n_ahead + n_features + 1)
        return [
            ("G", "f8", (n_vectors,)),
            ("error_rates", "f8", (2,)),
            ("w", self.dtype, shape),
            ("w_mean", self.dtype, shape),
            *self._beside(n_features),
            *([("scores", "f8", (n,), SCRATCH)] if several else []),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"rate": float(self.learning_rate), "is_hinge": self.loss == "hinge"}

    @property
    def answers_(self) -> str:
        """Which weights answer: "mean", or "last" where these were wrong less often lately."""
        last, mean = self._fitted.views["error_rates"]
        return "mean" if mean <= last else "last"

    @property
    def _weights(self) -> np.ndarray:
        """Weights that answer, a row if there are two labels, else one for each of ``classes_``."""
        core = self.core
        last, mean = core.views["error_rates"]
        weights = core.views["w_mean" if mean <= last else "w"]
        if len(weights) == 1:
            return core.labels.sign * weights
        rows = weights[list(core.labels.sorted_slots)]
        return rows if len(rows) > 2 else rows[-1:] - rows[:1]
