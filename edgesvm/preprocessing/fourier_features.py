"""FourierFeatures: random cosines and sines in front of a linear learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_FEATURES, Learner
from edgesvm.learners.fourier.directed_learner import DirectedLearner
from edgesvm.learners.multiclass import Multiclass
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.preprocessing._fourier_features import FourierFeaturesCore
from edgesvm.preprocessing.stage import Arrays, Stage

__all__ = ["FourierFeatures"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierFeatures(DirectedLearner, Stage):
    """Make any linear learner a kernel machine that stores no sample: it learns random cosines and
    sines of x, and x itself.

    The features are those of `FourierSVM`, drawn anew from the seed for each sample. Behind them a
    `StreamSVM` is the enclosing ball of the kernel's feature space in a fixed number of weights.
    Scale the features first: ``Standardized(learner=FourierFeatures(learner=StreamSVM()))``.

    Parameters
    ----------
    learner : Learner, default StreamSVM()
        A linear one: `StreamSVM`, `AdaGradSVM`, `Perceptron`, `PassiveAggressive`, `Pegasos`, or
        `OneVsOne` or `OneVsRest` of one. Only its parameters are used; it is not changed.
    n_directions : int, default 128
        Number of random directions, 1 to 2^22. Each gives a cosine and a sine.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2); > 0. Default: a mixture of four widths, 0.3, 1, 3
        and 10 times 1 / n_features, so that it need not be known.
    seed : int, default 0
        Seed of the directions, 0 to 2^32 - 1.
    directions : {"auto", "independent", "orthogonal"}, default "auto"
        As in `FourierSVM`: "orthogonal" is many times faster from about 16 features on.

    Attributes
    ----------
    learner_ : Learner
        It has 2 n_directions + n_features features: for each 64 directions the cosines, then the
        sines; then x.
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Rahimi & Recht, "Random Features for Large-Scale Kernel Machines", 2007: the Gaussian kernel is
    the mean of cos(v.(x - z)) over random directions v, and so the product of such features.
    ``within`` finds the largest n_directions. ``fit`` is `Learner.fit`. Bytes: (2 n_directions +
    n_features) s, s = 4 or 8, and those of a learner of as many features; orthogonal directions
    take 2 n_directions + d s more, d the power of two from n_features (at least 16) on. Time:
    n_directions n_features steps of a hash per sample, and the learner's own. `OneVsOne` or
    `OneVsRest` is faster inside than outside, where each part computes the features again.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import FourierFeatures, StreamSVM
    >>> X = np.random.default_rng(0).standard_normal((2000, 2)).astype(np.float32)
    >>> inside = (X**2).sum(axis=1) < 1.4
    >>> StreamSVM().partial_fit(X, inside).score(X, inside) > 0.9
    False
    >>> FourierFeatures(learner=StreamSVM()).partial_fit(X, inside).score(X, inside) > 0.9
    True
    """

    _compiled = FourierFeaturesCore
    _most_directions = MAX_FEATURES // 4  # then their features are not too many for a learner
    _expected = "a linear learner, such as StreamSVM()"

    def _wraps(self, inner: Learner) -> bool:
        alone = inner.inner if isinstance(inner, Multiclass) else inner
        return hasattr(type(alone), "coef_")

    def _check_params(self) -> None:
        super()._check_params()
        self._check_directions()

    def _width(self, n_features: int) -> int:
        return 2 * int(self.n_directions) + n_features

    @staticmethod
    def _default() -> Learner:
        return StreamSVM()

    def _own_arrays(self, n_features: int) -> Arrays:
        mixed = self._mixed(n_features)
        features = ("features", self.dtype, (self._width(n_features),))
        return [features, *(self._angles() if mixed else []), *mixed]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        n = int(self.n_directions)
        return {"n_directions": n, **self._drawn_by(n_features)}
