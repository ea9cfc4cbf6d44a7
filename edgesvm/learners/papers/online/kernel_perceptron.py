"""KernelPerceptron: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import one_of, whole
from edgesvm.contract.registry import registered
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.papers.online._kernel_perceptron import WHEN_FULL, KernelPerceptronCore
from edgesvm.learners.papers.online.expansion_learner import Arrays, ExpansionLearner

__all__ = ["KernelPerceptron"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(ExpansionLearner):
    """Perceptron with a kernel: each sample on the wrong side is stored, at most ``max_vectors``.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    when_full : {"ignore", "oldest", "random"}, default "ignore"
        What happens to a sample on the wrong side when `max_vectors` are stored. "ignore": it
        is not learned, which is the most accurate unless the stream changes. "oldest": it replaces
        the first that was stored. "random": it replaces one drawn at random.
    seed : int, default 0
        Of the random numbers; 0 to 2^32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples; coefficients are float64.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_held, n_features)
    dual_coef_ : ndarray of shape (1, n_held)
    n_ignored_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Aizerman, Braverman & Rozonoer 1964: a sample with y f(x) <= 0 adds y k(x, .) to f. With
    "random" it is the randomized budget perceptron (Cesa-Bianchi & Gentile 2006, "Tracking the Best
    Hyperplane with a Simple Budget Perceptron"). `Forgetron` also removes the oldest, after it has
    shrunk all coefficients. There is no intercept. A weight s multiplies the sample's coefficient.
    Bytes: see ``plan``; 88 + M (D s + 8), M = max_vectors, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, KernelPerceptron
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = KernelPerceptron(max_vectors=10, kernel=RBF(2.0))
    >>> for _ in range(2):
    ...     _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _compiled = KernelPerceptronCore
    _param_order = ("max_vectors", *KERNEL, "when_full", "seed", "dtype")

    when_full: str = "ignore"
    seed: int = 0

    n_ignored_ = Counter("Samples on the wrong side not learned for want of room.")

    def _check_params(self) -> None:
        super()._check_params()
        one_of("when_full", self.when_full, *WHEN_FULL)
        whole("seed", self.seed, 0, (1 << 32) - 1)

    def _arrays(self, n_features: int) -> Arrays:
        return [
            ("n_ignored", "i8", ()),
            ("oldest", "i8", ()),
            ("rng", "u8", (4,)),
            *super()._arrays(n_features),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = {"when_full": self.when_full, "seed": int(self.seed)}
        return super()._core_params(n_features) | own
