"""BatchSVM: the public class."""

from __future__ import annotations

from edgesvm.contract.params import one_of
from edgesvm.kernels import Kernel
from edgesvm.learners.batch.store_svm import StoreSVM

__all__ = ["BatchSVM"]


class BatchSVM(StoreSVM):
    """The support vector machine of all samples held, solved to a tolerance by SMO.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of slack, times the sample's weight; > 0.
    kernel : Kernel or {"linear", "rbf", "poly"}, default "rbf"
    gamma : float, optional
        Of the named kernels "rbf" and "poly"; default 1 / n_features.
    degree : int, default 3
        Of "poly".
    coef0 : float, default 1.0
        Of "poly".
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    max_samples : int, default 1000
        Samples held.
    when_full : {"refuse", "oldest"}, default "refuse"
        What becomes of a sample beyond ``max_samples``: an error, or it takes the place of the
        oldest, so that the last ``max_samples`` are held.
    cache : int or str, default "8MiB"
        Bytes for rows of the kernel matrix, at least two; what is beyond the whole matrix is not
        taken.
    shrinking : bool, default True
        Set examples aside that are at their bounds to stay.
    max_iter : int, optional
        Iterations of one solution at most; ``converged_`` tells. Default 10,000,000, or 100
        ``max_samples`` where that is more.
    dtype : {"float32", "float64"}, default "float32"
        Of samples and the sums inside a kernel value; kernel rows are float32 always, coefficients
        and gradient float64.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    alpha_ : ndarray of shape (n_held,)
    intercept_ : ndarray of shape (1,)
    objective_, gap_ : float
    n_iter_, n_held_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    ``partial_fit`` and ``learn_one`` take samples up and solve nothing; the next decision,
    attribute of the solution, or ``solve`` does, and ``fit`` does at its end. Each solution is
    sought from zero, so a model does not depend on whether it was asked before; ``fit(alpha=)`` and
    ``solve(alpha=)`` start elsewhere.

    SMO with second-order working sets (Fan, Chen & Lin, JMLR 2005), shrinking as in LIBSVM (Chang &
    Lin 2011). Bytes: see ``plan``; some (n_features s + 72) a sample, s = 4 or 8, and the cache.

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

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Kernel | str = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-3,
        max_samples: int = 1000,
        when_full: str = "refuse",
        cache: int | str = "8MiB",
        shrinking: bool = True,
        max_iter: int | None = None,
        dtype: str = "float32",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_samples = max_samples
        self.when_full = when_full
        self.cache = cache
        self.shrinking = shrinking
        self.max_iter = max_iter
        self.dtype = dtype

    def _check_params(self) -> None:
        super()._check_params()
        one_of("when_full", self.when_full, "refuse", "oldest")

    @property
    def _policy(self) -> str:
        return self.when_full
