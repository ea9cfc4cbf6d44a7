"""CoreVectorMachine: the public class."""

from __future__ import annotations

import math
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
    """The l2-SVM by the minimum enclosing ball of a small core set of the samples.

    Parameters
    ----------
    epsilon : float, default 1e-4
        The ball's surface is taken (1 + epsilon) times as far out; 0 < epsilon < 1. Larger is
        faster, with fewer core vectors. It must be well below the margin, ``margin_``, which is
        small where C is large: or any ball will do, and `fit` says truly that it ``converged_``.
    C : float, default 1.0
        Penalty of squared slack; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name: see `edgesvm.learners.KernelLearner`.
        k(x, x) must be the same for all x: RBF, or any with ``normalize``.
    normalize : bool, default False
        Make every row of unit norm, predicted ones too; rows of zeros stay.
    max_core : int, default 1000
        Vectors of the core set, at least 2.
    n_probes : int, default 59
        Rows looked at together, at most ``max_core``: of 59 drawn at random one is among the
        farthest twentieth of all, with probability 0.95.
    cache : int or str, optional
        Bytes for rows of the kernel matrix, at least two; default 16 rows.
    max_iter : int, default 10,000,000
        Iterations of SMO at most, in one ``fit`` or for one sample.
    seed : int, default 0
        Of the draws; 0 to 2**32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Of samples and the sums inside a kernel value; cached kernel rows are float32 always,
        coefficients float64.

    Attributes
    ----------
    core_, support_ : ndarray of shape (n_core,), (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    slack_ : ndarray of shape (n_support,)
    radius_, margin_ : float
    n_core_, n_iter_, n_given_up_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithm 1. ``fit`` draws 59 rows at a time, takes the farthest of
    those outside into the core set and finds the core set's minimum enclosing ball anew, by SMO
    from where it was, until 59 are all inside; then it reads all rows, until in a whole pass none
    is outside: then ``converged_``. The inner problem is solved to a gap of epsilon R^2 / 2.

    Where a sample outside finds ``max_core`` vectors, those without a coefficient give way, counted
    in ``n_given_up_``, which leaves the ball as it is. Where all have one ``fit`` ends there; in a
    stream (``learn_one``, ``partial_fit``) the sample is passed over, `learn_one` answers False,
    and a stream that changes is not followed; either way ``converged_`` is False. A sample of a
    stream is met once; it was inside when it was met.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    Bytes: see ``plan``; some n_features s + 92 a core vector, s = 4 or 8, 64 of the default cache,
    and 64 n_features s for the rows looked at together.

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

    @property
    def radius_(self) -> float:
        core = self._allocated
        return (1.0 + core.epsilon) * math.sqrt(core.square_radius)

    n_iter_ = Counter("Iterations of the inner solver.")
