"""Pegasos: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import flag, positive, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.papers.online._pegasos import PegasosCore
from edgesvm.learners.papers.online.linear_learner import Arrays, LinearLearner

__all__ = ["Pegasos"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Pegasos(LinearLearner):
    """Linear SVM by steps along the subgradient of its primal problem, of length 1 / (lambda t).

    Parameters
    ----------
    lambda_ : float, default 0.01, 1e-30 to 1e30
        Factor of |w|^2 / 2 beside the mean hinge loss. An SVM's C on n samples is 1 / (n
        lambda).
    batch_size : int, default 1
        Samples per step: the paper's k. Samples of the stream that do not fill a batch have not
        moved the weights yet.
    project : bool, default False
        After each step, scale w to at most 1 / sqrt(lambda), the length within which the solution
        lies.
    fit_intercept : bool, default True
        Add a constant feature 1, whose weight then counts in |w|^2.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    n_steps_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Shalev-Shwartz, Singer & Srebro 2007, "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM",
    Figure 1, where the projection is part of the step; in the paper of 2011 with Cotter it is
    optional. There the k samples are drawn at random; here they are the next k of the stream. After
    batch t, of which A are the samples with y w.x < 1:

        w = (1 - 1/t) w + 1/(lambda t k) sum over A of y x.

    A weight s multiplies the sample's loss. Samples longer than 1e19 lambda (1e150 lambda in
    float64) are refused, since w could overflow. Bytes: see ``plan``; 64 + 2 (D + 1) s, s = 4 or 8.
    Time: O(D) per sample.

    A step has the size of its sample: one value 1e5 deviations out, of the wrong class, and 18,000
    rows later 16 % were right instead of 99. `Standardized` in front limits it.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Pegasos
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], dtype=np.float32)
    >>> model = Pegasos(lambda_=0.1).partial_fit(X, ["cold", "hot", "cold", "hot"])
    >>> model.predict_one(X[2])
    'cold'
    """

    _compiled = PegasosCore
    _param_order = ("lambda_", "batch_size", "project", "fit_intercept", "dtype")

    lambda_: float = 0.01
    batch_size: int = 1
    project: bool = False

    n_steps_ = Counter("Steps taken: full batches.")

    def _check_params(self) -> None:
        super()._check_params()
        if not 1e-30 <= positive("lambda_", self.lambda_) <= 1e30:
            raise ValueError(f"lambda_={self.lambda_!r}: give a number from 1e-30 to 1e30")
        whole("batch_size", self.batch_size, 1, MAX_CAPACITY)
        flag("project", self.project)

    def _arrays(self, n_features: int) -> Arrays:
        return [
            ("n_steps", "i8", ()),
            ("n_waiting", "i8", ()),
            *super()._arrays(n_features),
            ("gradient", self.dtype, (self._width(n_features),)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = {
            "lambda_": float(self.lambda_),
            "batch_size": int(self.batch_size),
            "project": bool(self.project),
        }
        return super()._core_params(n_features) | own
