"""IncrementalSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from edgesvm.contract.registry import registered
from edgesvm.learners.incremental._incremental_svm import IncrementalSVMCore
from edgesvm.learners.incremental.retrained_svm import RETRAINED, Arrays, RetrainedSVM

__all__ = ["IncrementalSVM"]

Self = TypeVar("Self", bound="IncrementalSVM")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalSVM(RetrainedSVM):
    """An SVM trained again whenever a batch is full, on its support vectors and the batch.

    Parameters
    ----------
    scheme : str, default "fixed_partition"
        Which samples join the batch, f being the model's decision value and y = -1 or 1:

        - "error_driven": those misclassified, y f <= 0
        - "fixed_partition": all
        - "exceeding_margin": those inside the band, |f| <= 1
        - "exceeding_margin_errors": those inside it or misclassified, y f <= 1
    batch_size : int, optional
        Samples kept, beside the support vectors, until the model is trained again; default
        ``max_vectors``.
    max_vectors : int, default 500
        Support vectors kept, >= 2. Of more than that, of each class in proportion, those farthest
        on the wrong side of the margin (least y f, of equals the oldest) are given up, and the rest
        is solved again; ``n_given_up_`` counts them.
    C : float, default 1.0
        Penalty of slack, times the sample's weight; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name: see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    cache : int or str, optional
        Bytes for rows of the kernel matrix, at least two; what is beyond the whole matrix is not
        taken. Default 16 rows.
    max_iter : int, optional
        Iterations of the solver at most; ``converged_`` tells. Default 1,000,000, or 100
        (``max_vectors`` + ``batch_size``) where that is more.
    dtype : {"float32", "float64"}, default "float32"
        Of samples and the sums inside a kernel value; kernel rows are float32 always, coefficients
        and gradient float64.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    condensed_ : float
    n_cycles_, n_given_up_, n_waiting_, n_iter_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_
        ``n_updates_`` counts the samples that joined a batch.

    Notes
    -----
    Domeniconi & Gunopulos 2001, section 2. The paper gives the last two schemes one formula,
    y f <= 1, which has the misclassified samples in it already; its Table 1 shows that they are
    two. Hence |f| <= 1 for the third, which fits its small models there.

    The first batch is kept whole. While it fills, it is solved at each doubling, so that there is a
    model from the second sample on. A cycle starts from the coefficients of the last. While the
    samples kept are of one class there are no support vectors; the newest ``max_vectors`` of them
    stay. Samples that wait when a stream ends are learned by ``update``.

    A cycle's time falls on the sample that completes a batch. Bytes: see ``plan``; some (n_features
    s + 124) for each of ``max_vectors + batch_size``, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 2)).astype(np.float32)
    >>> y = (X**2).sum(axis=1) > 1.5
    >>> model = IncrementalSVM(batch_size=100, kernel=RBF(1.0), C=10.0).partial_fit(X, y)
    >>> model.n_cycles_, model.n_given_up_, model.score(X, y) > 0.97
    (20, 0, True)
    """

    _compiled = IncrementalSVMCore
    _param_order = RETRAINED

    def _own_arrays(self, n_features: int) -> Arrays:
        return [("n_support", "i8", ()), ("n_held", "i8", ()), ("intercept", "f8", ())]

    def update(self: Self) -> Self:
        """Train now, on the support vectors and the samples that wait, where there are any.

        Raises
        ------
        NotFittedError
            No sample was learned.
        """
        if not self.is_fitted:
            self._raise_not_fitted()
        self._allocated.update()
        return self

    @property
    def n_waiting_(self) -> int:
        """Samples of the batch so far."""
        views = self._allocated.views
        return int(views["n_held"] - views["n_support"])

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        views = self._allocated.views
        n = int(views["n_support"] if views["n_cycles"] else views["n_held"])
        return views["rows"], views["beta"][:n], float(views["intercept"])
