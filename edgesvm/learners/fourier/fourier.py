"""AdaGradSVM and FourierSVM: gradient steps that scale themselves, on x or on random features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import NOT_NEGATIVE, SCRATCH, SHARE, Table, up_to
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import (
    SMALLEST,
    among,
    between,
    flag,
    optional,
    param,
    positive,
    size,
    within,
)
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY, Learner
from edgesvm.learners.fourier._fourier import AdaGradSVMCore, FourierSVMCore, key_of
from edgesvm.learners.fourier.constants import (
    ENTRY_DEVIATION,
    FADED,
    FIRST_TILT,
    LEAST_MIXED,
    MOST_RATE,
    MOST_WEIGHT,
)

__all__ = ["AdaGradSVM", "FourierSVM"]

WIDTHS = (0.3, 1.0, 3.0, 10.0)  # times 1 / n_features, direction by direction in turn
WEIGHED = (0.1, 0.5, 2.2, 10.0)  # those whose amplitudes are learned

DRAWN_BY = ("gamma", "seed", "directions", "weigh_widths")


@dataclass(kw_only=True, eq=False, repr=False)
class GradientLearner(Learner):
    """Base of the learners by gradient steps; see `AdaGradSVM` for the parameters."""

    most_epochs: ClassVar[int] = 5
    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    loss: str = param("hinge", among("hinge", "logistic"))
    learning_rate: float = param(0.5, between(SMALLEST, MOST_RATE))
    n_classes: int = size(2, within(2, MOST_CLASSES))
    class_weight: str | None = None
    dtype: str = "float32"

    @property
    def n_classes_planned(self) -> int:
        return within(2, MOST_CLASSES)("n_classes", self.n_classes)

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x."""
        return 0

    def _beside(self, n_features: int) -> Table:
        """Arrays of the learner beside the weights."""
        return []

    def _arrays(self, n_features: int) -> Table:
        n = self.n_classes_planned
        n_vectors = n if n > 2 else 1
        shape = (n_vectors, self._n_ahead + n_features + 1)
        return [
            ("G", "f8", (n_vectors,), NOT_NEGATIVE),
            ("error_rates", "f8", (2,), SHARE),
            ("w", self.dtype, shape, up_to(MOST_WEIGHT)),
            ("w_mean", self.dtype, shape, up_to(MOST_WEIGHT)),
            *self._beside(n_features),
            *([("scores", "f8", (n,), SCRATCH)] if n > 2 else []),
        ]

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


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class AdaGradSVM(GradientLearner):
    """Linear SVM, or logistic regression, by gradient steps that scale themselves, for any number
    of classes.

    There is nothing to tune: a step's length follows from the gradients seen. Scale the features
    first (`Standardized`).

    Parameters
    ----------
    loss : {"hinge", "logistic"}, default "hinge"
        Loss of a margin: the SVM's, or that of logistic regression.
    learning_rate : float, default 0.5
        Factor of all steps; > 0, at most 1e6. Of little influence, since steps are scaled by the
        gradients seen.
    n_classes : int, default 2
        Largest number of classes, 2 to 127. With more than two, each class has its own weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (K n_k), where n samples and n_k of its class
        have been learned so far, the sample included; K is the number of classes so far.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.

    Notes
    -----
    AdaGrad (Duchi, Hazan & Singer 2011; Streeter & McMahan 2010) with one number for all features:
    a step is rate g y f / sqrt(G), where f is x and 1, g is the loss' slope and G the sum of
    squared slopes times the mean square of the features. Besides the weights their mean is kept, in
    which step t weighs t (Lacoste-Julien, Schmidt & Bach 2012). The mean is better in a stream
    without order, the last weights follow one that drifts. Whichever was wrong less often in about
    the last 1,000 samples, each asked before it learned the sample, answers.

    Bytes: see ``plan``; with V = 1 for two classes and n_classes for more,
    24 + 8 n_classes + 16 + 8 V + 2 V (n_features + 1) s, s = 4 or 8, and padding. Time: O(V
    n_features) per sample.

    Weights must be between 1e-100 and 1e100. Without `Standardized` in front, one value far out
    makes all later steps small.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import AdaGradSVM
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], dtype=np.float32)
    >>> model = AdaGradSVM().partial_fit(X, ["cold", "hot", "cold", "hot"])
    >>> model.predict_one(X[2])
    'cold'
    """

    _compiled = AdaGradSVMCore
    _param_order = ("loss", "learning_rate", "n_classes", "dtype", "class_weight")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    @property
    def coef_(self) -> np.ndarray:
        """Weights that answer, ndarray of shape (1, n_features), positive for ``classes_[1]``; with
        more than two labels (n_labels, n_features), a row for each of ``classes_``; a copy."""
        return self._weights[:, :-1]

    @property
    def intercept_(self) -> np.ndarray:
        """Weights of the constant 1, ndarray of shape (1,) or (n_labels,)."""
        return self._weights[:, -1]


@dataclass(kw_only=True, eq=False, repr=False)
class DirectedLearner(Learner):
    """Base of the learners that draw random directions; see `FourierSVM` for the parameters."""

    _capacity = "n_directions"
    _most_directions: ClassVar[int] = MAX_CAPACITY
    _absent: ClassVar[Mapping[str, Any]] = {"directions": "independent"}

    n_directions: int = size(128, within(1, MAX_CAPACITY))
    gamma: float | None = param(None, optional(positive))
    seed: int = param(0, within(0, (1 << 32) - 1))
    directions: str = param("auto", among("auto", "independent", "orthogonal"))

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, self._most_directions

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = super()._core_params(n_features).items()
        others = {name: value for name, value in own if name not in DRAWN_BY}
        return others | self._drawn_by(n_features)

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x: cosines and sines."""
        return 2 * int(self.n_directions)

    @property
    def _widths(self) -> tuple[float, ...]:
        """Of the kernels mixed, times 1 / n_features."""
        return WIDTHS

    def _is_orthogonal(self, n_features: int) -> bool:
        if self.directions == "auto":
            return n_features >= LEAST_MIXED
        return self.directions == "orthogonal"

    def _n_mixed(self, n_features: int) -> int:
        """Number of orthogonal directions in a block: a power of two, at least n_features."""
        return max(LEAST_MIXED, 1 << (n_features - 1).bit_length())

    def _angles(self) -> Table:
        return [("angle", "i2", (int(self.n_directions),), SCRATCH)]

    def _mixed(self, n_features: int) -> Table:
        """Scratch of orthogonal directions."""
        if not self._is_orthogonal(n_features):
            return []
        return [("mixed", self.dtype, (self._n_mixed(n_features),), SCRATCH)]

    def _drawn_by(self, n_features: int) -> dict[str, Any]:
        """What a core draws its directions by: the key, and the factors that make them turns."""
        if self.gamma is None:
            gammas = [width / n_features for width in self._widths]
        else:
            gammas = [float(self.gamma)] * len(WIDTHS)
        # deviation of the numbers of a direction
        one = self._n_mixed(n_features) if self._is_orthogonal(n_features) else ENTRY_DEVIATION
        in_turns = 2 * math.pi * one
        return {
            "key": key_of(int(self.seed)),
            "scales": [math.sqrt(2 * gamma) / in_turns for gamma in gammas],
        }


class WeighedLearner(DirectedLearner):
    """Base of learners of gradient steps on random features, whose widths have amplitudes that are
    learned with the weights."""

    @property
    def _is_weighed(self) -> bool:
        return self.gamma is None

    @property
    def _widths(self) -> tuple[float, ...]:
        return WEIGHED if self._is_weighed else super()._widths

    def _beside(self, n_features: int) -> Table:
        scratch = [*self._angles(), *self._mixed(n_features)]
        if not self._is_weighed:
            return scratch
        tilts = tuple((-FADED - first, FADED) for first in FIRST_TILT)
        return [*scratch, ("tilt", "f8", (5,), tilts), ("tilt_squares", "f8", (), NOT_NEGATIVE)]

    @property
    def amplitudes_(self) -> np.ndarray:
        """Amplitudes of the features of the four widths, widest first, and of x, in the mean square
        1."""
        amplitudes: np.ndarray = self.core.amplitudes
        return amplitudes


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class FourierSVM(WeighedLearner, GradientLearner):
    """Kernel SVM on random Fourier features, for any number of classes, in a few bytes a feature.

    The Gaussian kernel is the mean of cos(v.(x - z)) over random directions v: a linear learner on
    the cosines and sines of some directions stores no sample. The directions are drawn anew from
    the seed for each sample. Scale the features first (`Standardized`).

    Parameters
    ----------
    n_directions : int, default 128
        Number of random directions. Each gives a cosine and a sine.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2); > 0. Default: a mixture of four widths, 0.1, 0.5,
        2.2 and 10 times 1 / n_features, so that it need not be known.
    weigh_widths : bool, default True
        Whether the mixture's widths, and x itself, have amplitudes that are learned with the
        weights. If not, the widths are 0.3, 1, 3 and 10 times 1 / n_features, and count the same.
    learning_rate : float, default 0.1
        As in `AdaGradSVM`.
    n_classes : int, default 2
        Largest number of classes, 2 to 127. With more than two, each class has its own weights on
        the same features.
    seed : int, default 0
        Seed of the directions, 0 to 2^32 - 1.
    directions : {"auto", "independent", "orthogonal"}, default "auto"
        "orthogonal": blocks of orthogonal directions, by Hadamard transforms; as accurate and many
        times faster from about 16 features on, where "auto" takes them.
    loss, class_weight, dtype
        As in `AdaGradSVM`.

    Notes
    -----
    Rahimi & Recht, "Random Features for Large-Scale Kernel Machines", 2007. The weights follow the
    steps of `AdaGradSVM`, f being the features, and answer as there.

    The amplitudes follow the slope of the loss by their logarithms (exponentiated gradient; Kivinen
    & Warmuth 1997). At the start each width has half the amplitude of the next wider one.

    Bytes: see ``plan``; with V = 1 for two classes and n_classes for more,
    24 + 8 n_classes + 16 + 8 V + 2 V W s + 2 n_directions + 48, W = 2 n_directions + n_features +
    1, s = 4 or 8, and padding. Time: n_directions n_features steps of a hash per sample, and 4 V W
    multiplications.

    Orthogonal directions are the rows of (H D3 H D2 H D1) / d, H the Hadamard matrix of the power
    of two d from n_features (at least 16) on, and each D of random signs (Yu et al. 2016). They
    take d s bytes more, and 3 d log2(d) additions per sample for d of them.

    Weights are limited as in `AdaGradSVM`.

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

    _compiled = FourierSVMCore
    _param_order = (
        *("n_directions", "gamma", "loss", "learning_rate", "n_classes", "seed", "dtype"),
        *("directions", "weigh_widths", "class_weight"),
    )
    _absent: ClassVar[Mapping[str, Any]] = {
        **GradientLearner._absent,
        **WeighedLearner._absent,
        "weigh_widths": False,
    }

    weigh_widths: bool = param(True, flag)
    learning_rate: float = param(0.1, between(SMALLEST, MOST_RATE))

    @property
    def _is_weighed(self) -> bool:
        return self.weigh_widths and super()._is_weighed
