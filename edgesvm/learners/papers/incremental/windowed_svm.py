"""WindowedSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import whole
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.batch.batch import LANES
from edgesvm.learners.papers.incremental._windowed_svm import WindowedSVMCore
from edgesvm.learners.papers.incremental.retrained_svm import RETRAINED, Arrays, RetrainedSVM

__all__ = ["WindowedSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class WindowedSVM(RetrainedSVM):
    """The SVM of the last ``window`` batches, each seen once: for streams that change.

    It stores models of the last 1, 2, ..., ``window`` batches. When a batch is complete, each model
    is trained on its support vectors and the samples of the batch that its scheme selects, and a
    new model of the batch alone replaces the oldest. The oldest model predicts.

    Parameters
    ----------
    window : int, default 3
        Number of batches, and of models.
    scheme : str, default "fixed_partition"
        Which samples of a batch a model learns, as for `IncrementalSVM`; a new model learns all of
        them.
    batch_size : int, optional
        Samples of a batch, selected or not; default ``max_vectors``.
    max_vectors : int, default 500
        Support vectors of each model; see `IncrementalSVM`.
    C, kernel, gamma, degree, coef0, tol, cache, max_iter, dtype
        As for `IncrementalSVM`.

    Attributes
    ----------
    support_vectors_, dual_coef_, intercept_, condensed_ : as for `IncrementalSVM`
        Of the model that predicts.
    n_batches_, n_cycles_, n_given_up_, n_waiting_, n_iter_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Domeniconi & Gunopulos 2001, section 3. While the first batch fills, it is solved at each
    doubling, so that there is a model from the second sample on.

    The sample that completes a batch takes the time of ``window`` trainings. Bytes: see ``plan``;
    about n_features s + 16 for each of ``window`` times ``max_vectors``, plus those of
    `IncrementalSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, WindowedSVM
    >>> X = np.random.default_rng(0).standard_normal((4000, 2)).astype(np.float32)
    >>> y = np.where(np.arange(4000) < 2000, X[:, 0] > 0, X[:, 0] < 0)  # the labels are swapped
    >>> model = WindowedSVM(batch_size=100, max_vectors=200, kernel=RBF(1.0)).partial_fit(X, y)
    >>> model.n_batches_, model.score(X[3000:], y[3000:]) > 0.97
    (40, True)
    """

    n_batches_ = Counter("Completed batches.")
    n_waiting_ = Counter("Samples in the current batch.")

    _compiled = WindowedSVMCore
    _param_order = ("window", *RETRAINED)

    window: int = 3

    def _check_params(self) -> None:
        super()._check_params()
        whole("window", self.window, 1, MAX_CAPACITY)

    def _own_arrays(self, n_features: int) -> Arrays:
        w, b, lanes = int(self.window), self._batch_size, LANES[self.dtype]
        wide = -(-int(self.max_vectors) // lanes) * lanes
        return [
            ("n_batches", "i8", ()),
            ("n_waiting", "i8", ()),
            ("n_support", "i8", (w,)),
            ("intercept", "f8", (w,)),
            ("model_rows", self.dtype, (w, wide // lanes, n_features, lanes)),
            ("model_bound", "f8", (w, wide)),
            ("model_beta", "f8", (w, wide)),
            ("batch", self.dtype, (b, n_features)),
            ("batch_bound", "f8", (b,)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"window": int(self.window)}

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        views, m = self.core.views, self.core.answering
        n = int(views["n_support"][m])
        return views["model_rows"][m], views["model_beta"][m, :n], float(views["intercept"][m])
