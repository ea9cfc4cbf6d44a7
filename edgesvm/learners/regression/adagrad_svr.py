"""AdaGradSVR: the public class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgesvm.contract.registry import registered
from edgesvm.learners.regression._adagrad_svr import AdaGradSVRCore
from edgesvm.learners.regression.stream_regressor import GradientRegressor

__all__ = ["AdaGradSVR"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradSVR(GradientRegressor):
    """Linear regression of a stream by gradient steps that scale themselves, with an interval.

    Scale the features first (`Standardized`). All else is as in `FourierSVR`, without its random
    features.

    Parameters
    ----------
    loss, epsilon, quantile, learning_rate, coverage, label_delay, dtype
        As in `FourierSVR`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    coverage_, n_scored_, far_targets_, n_seen_, n_updates_, n_features_in_

    Notes
    -----
    Bytes: see ``plan``; 272 + 2 (n_features + 1) s, s = 4 or 8, and padding. Time: O(n_features)
    per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import AdaGradSVR, Standardized
    >>> X = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    >>> y = X @ [3.0, -1.0, 0.5] + 20.0
    >>> model = Standardized(learner=AdaGradSVR()).partial_fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    _compiled = AdaGradSVRCore

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    @property
    def coef_(self) -> np.ndarray:
        """Change of the prediction by each feature, ndarray of shape (n_features,); a copy."""
        weights: np.ndarray = self._deviation * self.core.views["w"][:-1].astype(float)
        return weights

    @property
    def intercept_(self) -> np.ndarray:
        """Prediction at the origin, ndarray of shape (1,)."""
        views = self.core.views
        return np.array([views["target"][0] + self._deviation * float(views["w"][-1])])

    @property
    def _deviation(self) -> float:
        """Standard deviation of the targets; 1 if they have not varied."""
        views = self.core.views
        variance = float(views["target"][1]) / max(int(views["n_per_class"][0]), 1)
        return float(variance**0.5) if variance > 0 else 1.0
