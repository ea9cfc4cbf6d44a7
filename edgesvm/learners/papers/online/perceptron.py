"""Perceptron: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.registry import registered
from edgesvm.learners.papers.online._perceptron import PerceptronCore
from edgesvm.learners.papers.online.linear_learner import LinearLearner

__all__ = ["Perceptron"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearLearner):
    """Rosenblatt's perceptron: each sample on the wrong side of the plane is added to its weights.

    Parameters
    ----------
    fit_intercept : bool, default True
        Add a constant feature 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Rosenblatt 1958: w = w + y x if y w.x <= 0, so ``n_updates_`` counts the mistakes. A weight s
    adds s y x. Bytes: see ``plan``; 48 + (D + 1) s, s = 4 or 8. Time: O(D) per sample.

    A step has the size of its sample: one value 1e5 deviations out, of the wrong class, and 18,000
    rows later 16 % were right instead of 99. `Standardized` in front limits it.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Perceptron
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], dtype=np.float32)
    >>> model = Perceptron().partial_fit(X, ["cold", "hot", "cold", "hot"])
    >>> model.predict_one(X[2])
    'cold'
    """

    _compiled = PerceptronCore
