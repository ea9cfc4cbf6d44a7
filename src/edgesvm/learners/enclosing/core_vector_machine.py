"""CoreVectorMachine: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.counter import Counter
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.smo_learner import Arrays, padded
from edgesvm.learners.enclosing._core_vector_machine import CoreVectorMachineCore
from edgesvm.learners.enclosing.enclosing_machine import EFFORT, GEOMETRY, EnclosingMachine

__all__ = ["CoreVectorMachine"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class CoreVectorMachine(EnclosingMachine):
    """The l2-SVM, found as the minimum enclosing ball of a small core set of the samples.

    Parameters
    ----------
    epsilon : float, default 1e-4
        Tolerance: a sample counts as inside if it is within (1 + epsilon) times the radius; 0 <
        epsilon < 1.
    C : float, default 1.0
        Penalty of the squared margin violation; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`. k(x, x) must be the
        same for all x: RBF, or any with ``normalize``.
    normalize : bool, default False
        Scale every row to unit norm, also when predicting; rows of zeros stay zero.
    max_core : int, default 1000
        Vectors of the core set, at least 2.
    n_probes : int, default 59
        Rows examined together, at most ``max_core``. Of 59 random rows at least one is among the
        farthest 5 % of all rows, with probability 0.95.
    cache : int or str, optional
        Bytes for cached kernel rows, at least two rows; default 16 rows.
    max_iter : int, default 10,000,000
        Largest number of iterations of SMO in one ``fit`` or for one sample.
    seed : int, default 0
        Seed of the random draws, 0 to 2**32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Cached kernel rows are always float32,
        coefficients float64.
    margin_tol : float or None, default 0.1
        A second tolerance, 0 < margin_tol < 1: y f(x), with its slack, may be below the margin by
        no more than this share of it. The radius hardly depends on the data, while the margin is
        small if C is large: then any ball meets epsilon. None: epsilon alone counts, as in the
        paper.

    Attributes
    ----------
    core_, support_ : ndarray of shape (n_core,), (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    slack_ : ndarray of shape (n_support,)
    radius_, margin_ : float
    n_core_, n_iter_, n_given_up_ : int
    converged_, enclosed_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithm 1. ``fit`` draws 59 rows at a time, adds the farthest of
    those outside to the core set and updates the core set's minimum enclosing ball, by SMO from the
    previous one, until all 59 are inside. Then it reads all rows until a whole pass finds none
    outside; this is ``enclosed_``. The inner problem is solved to half of what the tolerance
    allows. With ``margin_tol`` all this is done for an epsilon of 1/2 first, then 1/4, and so on
    down to the tolerance, which takes a fifth of the time.

    If a sample is outside and the core set is full, vectors without a coefficient are dropped and
    counted in ``n_given_up_``, which leaves the ball as it is. If all have one, ``fit`` stops; in a
    stream (``learn_one``, ``partial_fit``) the sample is skipped and `learn_one` returns False, so
    that a full core set does not follow a stream that changes. Either way ``converged_`` is False.
    In a stream each sample is seen once; it was inside the ball at that moment.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    Bytes: see ``plan``; about n_features s + 92 per core vector, s = 4 or 8, 64 more for the
    default cache, and 64 n_features s for the rows examined together.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, CoreVectorMachine
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = CoreVectorMachine(kernel=RBF(2.0), C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.converged_
    True
    """

    _compiled = CoreVectorMachineCore
    _param_order = (*GEOMETRY, *EFFORT)

    def _own_arrays(self, n: int) -> Arrays:
        wide = padded(n)
        return [
            ("alpha", "f8", (wide,)),
            *((name, "f8", (n,)) for name in ("bound", "gradient")),
            *((name, "f4", (wide,)) for name in ("curvature", "state", "spare")),
            ("order", "i4", (n,)),
        ]

    n_iter_ = Counter("Iterations of the inner solver.")
