"""FourierRLS: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.budget import SCRATCH
from edgesvm.contract.params import one_of, positive
from edgesvm.contract.registry import registered
from edgesvm.learners.fourier.directed_learner import WEIGHED, DirectedLearner
from edgesvm.learners.regression._fourier_rls import FourierRLSCore
from edgesvm.learners.regression._regressor import Loss
from edgesvm.learners.regression.constants import RLS_NOISE
from edgesvm.learners.regression.stream_regressor import Arrays, StreamRegressor

__all__ = ["FourierRLS"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierRLS(DirectedLearner, StreamRegressor):
    """Kernel regression by recursive least squares on a few random Fourier features, with an
    interval.

    The features are those of `FourierSVR`, but as few as a covariance of all of them leaves room
    for. It fits the whole stream at once, where gradient steps follow the state that the stream is
    in. So it is better for a stream that stays in one state for long and whose labels will stop,
    and in 4 KiB and less where they come late. Scale the features first (`Standardized`); the
    target is scaled here.

    Parameters
    ----------
    n_directions : int, default 24
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        As in `FourierSVR`.
    loss : {"huber", "squared"}, default "huber"
        Huber's limits an error to one standard deviation of the target.
    forgetting : float, default 0.999
        What a sample still counts after the next, above 0 and at most 1.
    coverage, label_delay, seed, directions, dtype
        As in `FourierSVR`.

    Attributes
    ----------
    coverage_, n_scored_, far_targets_, n_seen_, n_updates_, n_features_in_

    Notes
    -----
    Recursive least squares on random Fourier features (Bouboulis, Pougkakiotis & Theodoridis 2016),
    its covariance as U D U' (Bierman 1976), which float32 is enough for. No variance rises above
    that before the first sample, so features that stay silent do not make it blow up. Prediction,
    forecast and interval are those of `FourierSVR`.

    Bytes: see ``plan``; 272 + (W (W - 1) / 2 + 4 W) s + 2 n_directions, W = 2 n_directions +
    n_features + 1, s = 4 or 8, and padding. Time: O(W^2) to learn a sample, O(W n_features) to
    predict one.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import FourierRLS, Standardized
    >>> X = np.random.default_rng(0).uniform(-2, 2, (2000, 2)).astype(np.float32)
    >>> y = 50 + 10 * np.sin(X[:, 0]) * X[:, 1]
    >>> model = Standardized.within("2KiB", n_features=2, learner=FourierRLS()).partial_fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _compiled = FourierRLSCore
    _most_directions: ClassVar[int] = 1 << 12

    n_directions: int = 24
    forgetting: float = 0.999

    def _check_params(self) -> None:
        super()._check_params()
        self._check_directions()
        one_of("loss", self.loss, "huber", "squared")
        if positive("forgetting", self.forgetting) > 1.0:
            raise ValueError(f"forgetting={self.forgetting!r}: give at most 1")

    @property
    def _widths(self) -> tuple[float, ...]:
        return WEIGHED

    def _weights(self, n_features: int) -> Arrays:
        width = self._width(n_features)
        return [
            ("w", self.dtype, (width,)),
            ("upper", self.dtype, (width * (width - 1) // 2,)),
            ("variance", self.dtype, (width,)),
            ("features", self.dtype, (width,), SCRATCH),
            ("scratch", self.dtype, (width,), SCRATCH),
            *self._angles(),
            *self._mixed(n_features),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {
            **self._target_params(),
            "loss": Loss[self.loss.upper()],
            "parameter": float(self.loss == "huber"),
            "forgetting": float(self.forgetting),
            "noise": RLS_NOISE,
            **self._drawn_by(n_features),
        }
