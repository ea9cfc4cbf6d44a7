"""The twins or vectors that a learner stores, in the units of its samples, for drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.learner import Learner
from edgesvm.learners.calibrated import Calibrated
from edgesvm.preprocessing.scaler import Scaler


@dataclass(frozen=True)
class StoredPoints:
    """Stored vectors and their weights.

    Attributes
    ----------
    name : str
        What the points are: "twins", "vectors", "support vectors".
    points : ndarray of shape (n, n_features), float64
    weights : ndarray of shape (n, 2), float64
        Weight per class, in the order of ``classes_``.
    on_margin : ndarray of shape (n,), bool
    """

    name: str
    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    on_margin: NDArray[np.bool_]


def stored_points(learner: Learner) -> StoredPoints | None:
    """The vectors that `learner` stores; None if it has only a weight vector."""
    if isinstance(learner, Calibrated):
        learner = learner.learner_
    if isinstance(learner, Scaler):
        found = stored_points(learner.learner_)
        if found is None:
            return None
        raw = found.points * learner.scale_ + learner.center_
        return StoredPoints(found.name, raw, found.weights, found.on_margin)
    source: Any = learner
    if hasattr(learner, "twins_"):
        on_margin = getattr(source, "margin_", np.zeros(len(source.twins_), bool))
        return _as_float64("twins", source.twins_, source.weights_, on_margin)
    if hasattr(learner, "sample_weights_"):
        of_second = source.labels_ == source.classes_[-1]
        weights = source.sample_weights_[:, None] * np.stack([~of_second, of_second], axis=1)
        return _as_float64("vectors", source.vectors_, weights, source.margin_)
    if hasattr(learner, "support_vectors_"):
        share = source.dual_coef_[0]
        weights = np.stack([np.maximum(-share, 0.0), np.maximum(share, 0.0)], axis=1)
        return _as_float64(
            "support vectors", source.support_vectors_, weights, np.zeros(len(share), bool)
        )
    return None


def has_margins(learner: Learner) -> bool:
    """Whether the decision values 1 and -1 are margins, as in the Kuhn-Tucker conditions."""
    within = learner.inner if isinstance(learner, Scaler) else learner
    return hasattr(within, "kt_residual")


def _as_float64(name: str, points: Any, weights: Any, on_margin: Any) -> StoredPoints:
    return StoredPoints(name, points.astype(np.float64), weights.astype(np.float64), on_margin)
