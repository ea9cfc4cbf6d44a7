"""Regressors of a stream by gradient steps or least squares, with an interval that holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import ANY, NOT_NEGATIVE, SCRATCH, SHARE, Table, up_to
from edgesvm.contract.params import among, between, flag, param, positive, share, size, within
from edgesvm.contract.registry import registered
from edgesvm.core.constants import LARGEST_TARGET
from edgesvm.learners.fourier._regression import (
    LOSSES,
    AdaGradSVRCore,
    FourierRLSCore,
    FourierSVRCore,
)
from edgesvm.learners.fourier.constants import (
    LARGEST_ERROR,
    LARGEST_SPREAD,
    MOST_COEFFICIENT,
    MOST_HALF,
    MOST_RATE,
    MOST_VARIANCE,
    MOST_WEIGHT,
)
from edgesvm.learners.fourier.fourier import WEIGHED, DirectedLearner, WeighedLearner
from edgesvm.learners.kinds import Forecasting, Regressor

__all__ = ["AdaGradSVR", "FourierRLS", "FourierSVR"]

TARGET = up_to(LARGEST_TARGET)
# Bounds of the numbers of `Target`, of the stack's covariance, and of an `Interval`
OF_TARGET = (
    *(TARGET, (0.0, LARGEST_SPREAD), TARGET, TARGET, TARGET),
    *(ANY, up_to(LARGEST_ERROR), NOT_NEGATIVE, ANY, TARGET),
)
OF_VARIANCE = (0.0, 2.0 * MOST_VARIANCE)
OF_CHANGES = ("before", ANY), ("change", up_to(MOST_COEFFICIENT)), ("doubt", OF_VARIANCE)
OF_INTERVAL = ((0.0, LARGEST_ERROR), (0.0, MOST_HALF), (0.0, MOST_HALF))


@dataclass(kw_only=True, eq=False, repr=False)
class StreamRegressor(Forecasting, Regressor):
    """Base of the regressors of a stream: what is learned of the target; see `FourierSVR` for the
    parameters. A subclass adds `_weights`."""

    forecasts: ClassVar[bool] = True
    _absent: ClassVar[Mapping[str, Any]] = {"changes": False}

    loss: str = param("huber", among(*LOSSES))
    coverage: float = param(0.9, share)
    label_delay: int = param(0, within(0, 1 << 20))
    changes: bool = size(True, flag)
    dtype: str = "float32"

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x."""
        return 0

    def _width(self, n_features: int) -> int:
        return self._n_ahead + n_features + 1

    def _weights(self, n_features: int) -> Table:
        """The arrays of the weights."""
        raise NotImplementedError

    def _arrays(self, n_features: int) -> Table:
        changes = self.changes and self.label_delay == 0 and self.loss != "pinball"
        n = 5 if changes else 3
        of_covariance = tuple(ANY if c % (n + 1) else OF_VARIANCE for c in range(n * n))
        return [
            ("target", "f8", (9 + changes,), OF_TARGET[: 9 + changes]),
            ("far_targets", "i8", ()),
            ("stack", "f8", (n,), up_to(MOST_COEFFICIENT)),
            ("covariance", "f8", (n, n), of_covariance),
            ("interval", "f8", (2, 3), 2 * OF_INTERVAL),
            ("scored", "i8", (2,)),
            *[(name, self.dtype, (n_features,), b) for name, b in OF_CHANGES[: 3 * changes]],
            *self._weights(n_features),
        ]

    @property
    def far_targets_(self) -> int:
        """Samples learned whose target was far outside what had been seen."""
        return int(self.core.views["far_targets"])


@dataclass(kw_only=True, eq=False, repr=False)
class GradientRegressor(StreamRegressor):
    """Base of the regressors by gradient steps; see `FourierSVR` for the parameters."""

    _param_order = (
        *("loss", "epsilon", "quantile", "learning_rate", "coverage", "label_delay", "changes"),
        "dtype",
    )

    epsilon: float = param(0.1, positive)
    quantile: float = param(0.5, share)
    learning_rate: float = param(0.3, between(0.0, MOST_RATE))

    def _beside(self, n_features: int) -> Table:
        """Table of the learner beside the weights."""
        return []

    def _weights(self, n_features: int) -> Table:
        width = self._width(n_features)
        return [
            ("w", self.dtype, (width,), up_to(MOST_WEIGHT)),
            ("squares", self.dtype, (width,), NOT_NEGATIVE),
            *self._beside(n_features),
        ]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierSVR(WeighedLearner, GradientRegressor):
    """Kernel regression of a stream on random Fourier features, with an interval that holds.

    The features are those of `FourierSVM`: scale them first (`Standardized`); the target is
    scaled here.

    `predict` answers for any sample. In a stream where the target of the sample just before is
    known, `forecast_one` is better, often by much.

    Parameters
    ----------
    n_directions : int, default 128
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2); > 0. Default: a mixture of four widths, 0.1, 0.5,
        2.2 and 10 times 1 / n_features, whose amplitudes are learned.
    loss : {"huber", "epsilon", "squared", "pinball"}, default "huber"
        Loss of an error, in standard deviations of the target: Huber's, quadratic up to 1; that of
        support vector regression, linear beyond `epsilon`; its square; or that of a quantile.
    epsilon : float, default 0.1
        Error that costs nothing with loss="epsilon", in standard deviations of the target; > 0.
    quantile : float, default 0.5
        Share of the targets to lie below the prediction with loss="pinball"; between 0 and 1.
    learning_rate : float, default 0.3
        Factor of all steps; > 0, at most 1e6.
    coverage : float, default 0.9
        Share of the targets that is to lie within the interval; between 0 and 1.
    label_delay : int, default 0
        How many samples later a target is known. Beyond 0 `forecast_one`
        answers as `predict_one`; give what it said to `learn_late_one`.
    changes : bool, default True
        Whether `forecast_one` knows what has changed since the sample before, in more bytes.
    seed : int, default 0
        Seed of the directions, 0 to 2^32 - 1.
    directions : {"auto", "independent", "orthogonal"}, default "auto"
        As in `FourierSVM`.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights. Targets are float64.

    Notes
    -----
    The prediction is m + s w.f, m and s being the running mean and standard deviation of the
    targets, within the range of the targets. The loss of e = r - rho r' moves each weight by
    rate g f / sqrt(G), rate = learning_rate / sqrt(W), where r = (y - m) / s - w.f is the error and
    r' the one before, rho their correlation (Cochrane & Orcutt 1949), g the slope of the loss and G
    the weight's own sum of squared slopes (AdaGrad; Duchi, Hazan & Singer 2011).

    The forecast is m + s c.(w.f, (y' - m) / s, w'.f', (y'' - m) / s, v.(x - x')), with sample,
    prediction and target of one before, and the target of two before. The coefficients c are found
    by recursive least squares that forget a sample in 1,000; so are v, as if each were alone. The
    last two, which `predict` does without, are left out with changes=False, a `label_delay` or
    loss="pinball".

    The interval reaches q u to either side, u being the mean absolute error of about the last 50
    samples. After each target q += 0.05 (missed - (1 - coverage) / 2): the share of targets beyond
    a side tends to (1 - coverage) / 2 whatever they do (Gibbs & Candes 2021). With `label_delay` d
    it is 50 + 10 d samples and 0.05 / (1 + d / 50).

    A target counts as at most 8 to 32 deviations away; beyond 1e100 it is refused.

    Bytes: see ``plan``; 424 + 3 n_features s + 2 W s + 2 n_directions + 48, W = 2 n_directions +
    n_features + 1, s = 4 or 8, and padding. Time: n_directions n_features steps of a hash per
    sample, and 6 W multiplications and W square roots.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import FourierSVR, Standardized
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (4000, 2)).astype(np.float32)
    >>> y = 50 + 10 * np.sin(2 * X[:, 0]) * X[:, 1] + rng.standard_normal(4000)
    >>> model = Standardized.within("8KiB", n_features=2, learner=FourierSVR()).partial_fit(X, y)
    >>> model.score(X, y) > 0.9, round(model.coverage_, 1)
    (True, 0.9)
    """

    _compiled = FourierSVRCore
    _absent: ClassVar[Mapping[str, Any]] = {**WeighedLearner._absent, **StreamRegressor._absent}


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradSVR(GradientRegressor):
    """Linear regression of a stream by gradient steps that scale themselves, with an interval.

    Scale the features first (`Standardized`). All else is as in `FourierSVR`, without its random
    features.

    Parameters
    ----------
    loss, epsilon, quantile, learning_rate, coverage, label_delay, changes, dtype
        As in `FourierSVR`.

    Notes
    -----
    Bytes: see ``plan``; 424 + (5 n_features + 2) s, s = 4 or 8, and padding. Time: O(n_features)
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


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierRLS(DirectedLearner, StreamRegressor):
    """Kernel regression by recursive least squares on a few random Fourier features, with an
    interval.

    The features are those of `FourierSVR`, but as few as a covariance of all of them leaves room
    for. It is better for a stream that stays in one state for long and whose labels will stop.
    Scale the features first (`Standardized`); the target is scaled here.

    Parameters
    ----------
    n_directions : int, default 24
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        As in `FourierSVR`.
    loss : {"huber", "squared"}, default "huber"
        Huber's limits an error to one standard deviation of the target.
    forgetting : float, default 0.999
        What a sample still counts after the next, 0.5 to 1.
    coverage, label_delay, changes, seed, directions, dtype
        As in `FourierSVR`.

    Notes
    -----
    Recursive least squares on random Fourier features (Bouboulis, Pougkakiotis & Theodoridis 2016),
    its covariance as U D U' (Bierman 1976), which float32 is enough for. No variance rises above
    that before the first sample, so features that stay silent do not make it blow up. Prediction,
    forecast and interval are those of `FourierSVR`.

    Bytes: see ``plan``; 424 + (3 n_features + W (W - 1) / 2 + 4 W) s + 2 n_directions,
    W = 2 n_directions + n_features + 1, s = 4 or 8, and padding. Time: O(W^2) to learn a sample,
    O(W n_features) to predict one.

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
    _absent: ClassVar[Mapping[str, Any]] = {**DirectedLearner._absent, **StreamRegressor._absent}
    _most_directions: ClassVar[int] = 1 << 12

    n_directions: int = size(24, within(1, 1 << 12))
    loss: str = param("huber", among("huber", "squared"))
    forgetting: float = param(0.999, between(0.5, 1.0))

    @property
    def _widths(self) -> tuple[float, ...]:
        return WEIGHED

    def _weights(self, n_features: int) -> Table:
        width = self._width(n_features)
        return [
            ("w", self.dtype, (width,), up_to(MOST_WEIGHT)),
            ("upper", self.dtype, (width * (width - 1) // 2,)),
            ("variance", self.dtype, (width,), SHARE),
            ("features", self.dtype, (width,), SCRATCH),
            ("scratch", self.dtype, (width,), SCRATCH),
            *self._angles(),
            *self._mixed(n_features),
        ]
