"""PassiveAggressive: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.params import one_of, positive
from edgesvm.contract.registry import registered
from edgesvm.learners.papers.online._passive_aggressive import VARIANTS, PassiveAggressiveCore
from edgesvm.learners.papers.online.linear_learner import LinearLearner

__all__ = ["PassiveAggressive"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(LinearLearner):
    """Each sample moves the weights as little as it takes to classify it with margin 1.

    Parameters
    ----------
    variant : {"PA-I", "PA-II", "PA"}, default "PA-I"
        "PA" satisfies each sample in full, mislabelled ones too. "PA-I" limits the step to C,
        "PA-II" shortens it according to C.
    C : float, default 0.01
        Aggressiveness; > 0. Without effect on "PA".
    fit_intercept : bool, default True
        Add a constant feature 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included; without effect on
        "PA".

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, "Online Passive-Aggressive Algorithms",
    Figure 1: w = w + tau y x with the loss l = max(0, 1 - y w.x) and

        PA: tau = l / |x|^2,   PA-I: min(C, l / |x|^2),   PA-II: l / (|x|^2 + 1 / (2 C)).

    A weight s makes C of the sample C s; "PA" has no C, and takes every weight above zero alike.
    Bytes: see ``plan``; 48 + (D + 1) s, s = 4 or 8. Time: O(D) per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import PassiveAggressive
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], dtype=np.float32)
    >>> model = PassiveAggressive(C=0.5).partial_fit(X, ["cold", "hot", "cold", "hot"])
    >>> model.predict_one(X[2])
    'cold'
    """

    _compiled = PassiveAggressiveCore
    _param_order = ("variant", "C", "fit_intercept", "dtype")

    variant: str = "PA-I"
    C: float = 0.01

    def _check_params(self) -> None:
        super()._check_params()
        one_of("variant", self.variant, *VARIANTS)
        positive("C", self.C)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = {"C": float(self.C), "variant": self.variant}
        return super()._core_params(n_features) | own
