"""BatchSVM: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.contract.params import one_of, whole
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.smo_learner import MOST_NONZEROS
from edgesvm.learners.batch.store_svm import StoreSVM
from edgesvm.learners.kernel_learner import KERNEL

__all__ = ["BatchSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BatchSVM(StoreSVM):
    """The support vector machine of all stored samples, solved to a tolerance by SMO.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation, multiplied by the sample's weight; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    max_samples : int, default 1000
        Number of samples to store.
    when_full : {"refuse", "oldest"}, default "refuse"
        What happens to a sample when ``max_samples`` are stored. "refuse": an error. "oldest": it
        replaces the oldest, so that the last ``max_samples`` are stored.
    cache : int or str, default "8MiB"
        Bytes for cached kernel rows, at least two rows; never more than the whole matrix.
    shrinking : bool, default True
        Set aside samples that will stay at their bounds (shrinking, as in LIBSVM).
    max_iter : int, optional
        Largest number of iterations of one solution; ``converged_`` says whether it was enough, and
        `fit` warns if not.
        Default: 10,000,000 or 100 ``max_samples``, whichever is larger; 1,000 ``max_samples`` where
        an iteration is one coefficient.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Kernel rows are always float32,
        coefficients and gradient float64. Where rounding to float32 may hide a quarter of ``tol``
        (large kernel values or coefficients), the gradient of a solution is checked, and decision
        values are summed, with kernel values in float64; ``gap_`` is always the true gap.
    max_nonzeros : int, optional
        Store only the non-zeros of the samples, and as many as this in all. A sample that does not
        fit is refused, whatever ``when_full`` says. Sums are over the non-zeros, in float64. The
        linear kernel is then solved by dual coordinate descent, which needs no ``cache``: an
        iteration is one coefficient.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features); `SparseRows` with ``max_nonzeros``
    dual_coef_ : ndarray of shape (1, n_support)
    alpha_ : ndarray of shape (n_held,)
    intercept_ : ndarray of shape (1,)
    objective_, gap_ : float
    n_iter_, n_held_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    ``partial_fit`` and ``learn_one`` only store samples. The next decision, solution attribute or
    call of ``solve`` solves; ``fit`` solves at its end. Each solution starts from zero, so the
    model does not depend on earlier decisions; ``fit(alpha=)`` and ``solve(alpha=)`` start
    elsewhere.

    SMO with second-order working sets (Fan, Chen & Lin, JMLR 2005), shrinking as in LIBSVM (Chang &
    Lin 2011). Bytes: see ``plan``; about n_features s + 72 per sample, s = 4 or 8, and the cache.
    With ``max_nonzeros`` 88 + s per sample, 4 + s per non-zero, and the cache, or for the linear
    kernel 8 per feature.

    Dual coordinate descent with shrinking: Hsieh et al., ICML 2008; the intercept is free, as it is
    in SMO, by the method of multipliers. With a large C (100 and more) and few features
    it needs many iterations, and may end unconverged where SMO of dense rows converges.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BatchSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = BatchSVM(max_samples=4, kernel=RBF(2.0), C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.converged_
    True
    """

    _param_order = (
        *("C", *KERNEL, "tol", "max_samples", "when_full"),
        *("cache", "shrinking", "max_iter", "dtype", "max_nonzeros"),
    )
    _absent: ClassVar[Mapping[str, Any]] = {"max_nonzeros": None}

    when_full: str = "refuse"
    max_nonzeros: int | None = None

    def _check_params(self) -> None:
        super()._check_params()
        if self.max_nonzeros is not None:
            whole("max_nonzeros", self.max_nonzeros, 1, MOST_NONZEROS)
        one_of("when_full", self.when_full, "refuse", "oldest")

    @property
    def _policy(self) -> str:
        return self.when_full

    @property
    def _nonzeros(self) -> int | None:
        return self.max_nonzeros
