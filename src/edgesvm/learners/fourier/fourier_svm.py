"""FourierSVM: the public class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import one_of, positive, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY, Learner
from edgesvm.learners.fourier._fourier_svm import FourierSVMCore, key_of
from edgesvm.learners.fourier.constants import ENTRY_DEVIATION
from edgesvm.learners.lapses import mean_decides

__all__ = ["FourierSVM"]

WIDTHS = (0.3, 1.0, 3.0, 10.0)  # times 1 / n_features, direction by direction in turn


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierSVM(Learner):
    """Kernel SVM on random Fourier features, for any number of classes, in a few bytes a feature.

    The Gaussian kernel is the mean of cos(v.(x - z)) over random directions v. So a linear learner
    on the cosines and sines of some directions is a kernel machine, and it stores no sample. The
    directions are drawn anew from the seed for each sample, so they cost no memory either. Scale
    the features first (`Standardized`).

    Parameters
    ----------
    n_directions : int, default 128
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2); > 0. Default: a mixture of four widths, 0.3, 1, 3
        and 10 times 1 / n_features, so that it need not be known.
    loss : {"hinge", "logistic"}, default "hinge"
        Loss of a margin: the SVM's, or that of logistic regression.
    learning_rate : float, default 0.5
        Factor of all steps; > 0. Of little influence, since steps are scaled by the gradients seen.
    n_classes : int, default 2
        Largest number of classes, 2 to 127. With more than two, each class has its own weights on
        the same features.
    seed : int, default 0
        Seed of the directions, 0 to 2^32 - 1.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (K n_k), where n samples and n_k of its class
        have been learned so far, the sample included;
        K is the number of classes so far.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.

    Attributes
    ----------
    answers_ : str, "mean" or "last": which weights answer
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Rahimi & Recht, "Random Features for Large-Scale Kernel Machines", 2007. A step is
    rate g y f / sqrt(G), where f are the features, g is the loss' slope and G the sum of squared
    slopes times the mean square of the features (AdaGrad with one number for all features; Duchi,
    Hazan & Singer 2011; Streeter & McMahan 2010). Besides the weights their mean is kept, in which
    step t weighs t (Lacoste-Julien, Schmidt & Bach 2012). The mean is better in a stream without
    order, the last weights follow one that drifts. Whichever was wrong less often in about the last
    1,000 samples, each asked before it learned the sample, answers.

    Bytes: see ``plan``; with V = 1 for two classes and n_classes for more,
    16 + 8 n_classes + 16 + 8 V + 2 V W s + 2 n_directions, W = 2 n_directions + n_features + 1,
    s = 4 or 8, and padding. Time: n_directions n_features steps of a hash per sample, and 4 V W
    multiplications.

    Weights must be between 1e-100 and 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import FourierSVM
    >>> X = np.random.default_rng(0).standard_normal((2000, 2)).astype(np.float32)
    >>> inside = (X**2).sum(axis=1) < 1.4
    >>> model = FourierSVM.within("2KiB", n_features=2).partial_fit(X, inside)
    >>> model.score(X, inside) > 0.95
    True
    """

    _capacity = "n_directions"
    _compiled = FourierSVMCore
    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    n_directions: int = 128
    gamma: float | None = None
    loss: str = "hinge"
    learning_rate: float = 0.5
    n_classes: int = 2
    seed: int = 0
    class_weight: str | None = None
    dtype: str = "float32"

    def _capacity_range(self) -> tuple[int, int]:
        return 1, MAX_CAPACITY

    def _check_params(self) -> None:
        whole("n_directions", self.n_directions, 1, MAX_CAPACITY)
        if self.gamma is not None:
            positive("gamma", self.gamma)
        one_of("loss", self.loss, "hinge", "logistic")
        positive("learning_rate", self.learning_rate)
        whole("n_classes", self.n_classes, 2, MOST_CLASSES)
        whole("seed", self.seed, 0, (1 << 32) - 1)

    @property
    def _n_classes(self) -> int:
        return whole("n_classes", self.n_classes, 2, MOST_CLASSES)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        n = self._n_classes
        several = n > 2
        n_vectors = n if several else 1
        shape = (n_vectors, 2 * int(self.n_directions) + n_features + 1)
        return [
            ("G", "f8", (n_vectors,)),
            ("lapses", "f8", (2,)),
            ("w", self.dtype, shape),
            ("w_mean", self.dtype, shape),
            ("angle", "i2", (int(self.n_directions),)),
            *([("scores", "f8", (n,))] if several else []),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        if self.gamma is None:
            gammas = [width / n_features for width in WIDTHS]
        else:
            gammas = [float(self.gamma)] * len(WIDTHS)
        in_turns = 2 * math.pi * ENTRY_DEVIATION
        return {
            "key": key_of(int(self.seed)),
            "scales": [math.sqrt(2 * gamma) / in_turns for gamma in gammas],
            "rate": float(self.learning_rate),
            "is_hinge": self.loss == "hinge",
        }

    @property
    def answers_(self) -> str:
        """Which weights answer: "mean", or "last" where these were wrong less often lately."""
        return "mean" if mean_decides(self._fitted.views["lapses"]) else "last"
