"""The points a learner holds, twins or vectors, in the units of its samples: what there is to
draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.learner import Learner
from edgesvm.preprocessing.standardized import Standardized


@dataclass(frozen=True)
class Held:
    """Points and how much each stands for.

    Attributes
    ----------
    name : str
        What they are: "twins", "vectors", "support vectors".
    points : ndarray of shape (n, n_features), float64
    weights : ndarray of shape (n, 2), float64
        Of either class, columns as ``classes_``.
    on_margin : ndarray of shape (n,), bool
    """

    name: str
    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    on_margin: NDArray[np.bool_]


def held_by(learner: Learner) -> Held | None:
    """What `learner` holds; None where it is a weight vector alone."""
    if isinstance(learner, Standardized):
        found = held_by(learner.learner_)
        if found is None:
            return None
        raw = found.points * learner.scale_ + learner.mean_
        return Held(found.name, raw, found.weights, found.on_margin)
    source: Any = learner
    if hasattr(learner, "twins_"):
        return _held("twins", source.twins_, source.weights_, source.margin_)
    if hasattr(learner, "sample_weights_"):
        of_second = source.labels_ == source.classes_[-1]
        weights = source.sample_weights_[:, None] * np.stack([~of_second, of_second], axis=1)
        return _held("vectors", source.vectors_, weights, source.margin_)
    if hasattr(learner, "support_vectors_"):
        share = source.dual_coef_[0]
        weights = np.stack([np.maximum(-share, 0.0), np.maximum(share, 0.0)], axis=1)
        return _held(
            "support vectors", source.support_vectors_, weights, np.zeros(len(share), bool)
        )
    return None


def has_margins(learner: Learner) -> bool:
    """Whether the decision values 1 and -1 are the margins, as the Kuhn-Tucker conditions have
    it."""
    within = learner._inner if isinstance(learner, Standardized) else learner
    return hasattr(within, "kt_residual")


def _held(name: str, points: Any, weights: Any, on_margin: Any) -> Held:
    return Held(name, points.astype(np.float64), weights.astype(np.float64), on_margin)
