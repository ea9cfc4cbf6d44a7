"""Forgetron: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.registry import registered
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.papers.online._forgetron import ForgetronCore
from edgesvm.learners.papers.online.expansion_learner import Arrays, ExpansionLearner

__all__ = ["Forgetron"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Forgetron(ExpansionLearner):
    """Kernel perceptron on a budget that shrinks all coefficients before it removes the oldest.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored: the paper's budget B.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples; coefficients are float64.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_held, n_features)
    dual_coef_ : ndarray of shape (1, n_held)
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Dekel, Shalev-Shwartz & Singer 2008, "The Forgetron: A Kernel-Based Perceptron on a Budget", the
    self-tuned form. A sample with y f(x) <= 0 adds y k(x, .) to f. When that makes one vector too
    many, of which r is the oldest with coefficient sigma y_r, all coefficients are multiplied by
    the largest phi <= 1 with

        (phi sigma)^2 + 2 phi sigma (1 - phi y_r f(x_r)) + Q <= 15/32 M,

    and r is removed; Q is the sum of the first two terms over all removals so far, M the number of
    mistakes, ``n_updates_``. The paper's bound on M assumes k(x, x) <= 1. There is no intercept. A
    weight s multiplies the sample's coefficient, which the paper does not have. Bytes: see
    ``plan``; 64 + M (D s + 8), M = max_vectors, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, Forgetron
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = Forgetron(max_vectors=10, kernel=RBF(2.0))
    >>> for _ in range(2):
    ...     _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _compiled = ForgetronCore
    _param_order = ("max_vectors", *KERNEL, "dtype")

    def _arrays(self, n_features: int) -> Arrays:
        return [("Q", "f8", ()), ("oldest", "i8", ()), *super()._arrays(n_features)]
