"""CoreVectorMachine: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import flag
from edgesvm.contract.registry import registered
from edgesvm.data.survey import Surveyed
from edgesvm.learners.batch.batch import Arrays, padded
from edgesvm.learners.papers.enclosing._core_vector_machine import CoreVectorMachineCore
from edgesvm.learners.papers.enclosing.constants import MATRIX
from edgesvm.learners.papers.enclosing.enclosing_machine import EFFORT, GEOMETRY, EnclosingMachine

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
    normalize : bool or "kernel", default False
        "kernel": k(x, z) / sqrt(k(x, x) k(z, z)) instead of k(x, z). True: scale every row to unit
        norm. Either also when predicting; rows of zeros stay zero.
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
    bulk : bool, default True
        False: Algorithm 1 as printed. Of each block the farthest row alone is added, and the ball
        solved for; no row is dropped, and there are no coarser tolerances before epsilon. Somewhat
        fewer support vectors where not all rows fit in the core set, in several times the time.
    max_nonzeros : int, optional
        Store only the non-zeros of core vectors and of the rows examined together, and as many as
        this in all. A row with more than half as many is refused. Where there is no room, fewer
        rows are examined together, and a core set that has none for a row outside is full. Sums
        are over the non-zeros, in float64.

    Attributes
    ----------
    core_, support_ : ndarray of shape (n_core,), (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features); `SparseRows` with ``max_nonzeros``
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    slack_ : ndarray of shape (n_support,)
    radius_, margin_ : float
    n_core_, n_iter_, n_given_up_ : int
    converged_, enclosed_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithm 1: a sample outside the ball is added to the core set, and
    the core set's minimum enclosing ball, the dual problem of eq. 1, is found by SMO from the
    previous one, to half of what the tolerance allows. `learn_one` does so for each sample.

    Where all rows fit in the core set, and the cache holds at least a sixteenth of their kernel
    values, ``fit`` begins with all of them: one solution encloses them, and vectors without a
    coefficient are dropped. Where they do not,
    ``fit`` draws 59 rows at a time until it adds none of the 59, and then reads all rows until a
    whole pass finds none outside; this is ``enclosed_``. Where the paper adds the farthest of the
    59 and solves again, ``fit`` adds all that are at least a quarter as far outside as the worst
    found since the last solution, and solves again when the core set has grown by a sixteenth: eq.
    1 takes some three iterations per core vector from a cold start, and a hundred if the vectors
    come one by one. Before the end of a pass it is solved to a quarter of that violation. Vectors
    without a coefficient are dropped where they are more than a quarter of the core set. Rows are
    drawn for an epsilon of 1/2 first, then 1/8, and so on down to the tolerance.

    If a sample is outside and the core set is full, all vectors without a coefficient are dropped,
    which leaves the ball as it is. A stream counts them in ``n_given_up_``; ``fit`` does not, as
    its passes look at their rows again. If all have a coefficient, ``fit`` stops with a
    `ConvergenceWarning`; in a stream (``learn_one``, ``partial_fit``) the sample is skipped and
    `learn_one` returns False, so that a full core set does not follow a stream that changes. Either
    way ``converged_`` is False. In a stream each sample is seen once; it was inside the ball at
    that moment.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    Bytes: see ``plan``; about n_features s + 92 per core vector, s = 4 or 8, 64 more for the
    default cache, and 64 n_features s for the rows examined together. With ``max_nonzeros`` 108 + s
    per core vector, 4 + s per non-zero, n_features s, for the linear kernel 8 n_features more, and
    the cache.

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
    _finer = 0.25
    _param_order = (*GEOMETRY, *EFFORT, "bulk", "max_nonzeros")
    _absent: ClassVar[dict[str, Any]] = {**EnclosingMachine._absent, "bulk": True}

    bulk: bool = True

    def _check_params(self) -> None:
        super()._check_params()
        flag("bulk", self.bulk)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"bulk": bool(self.bulk)}

    def _own_arrays(self, n: int) -> Arrays:
        wide = padded(n)
        return [
            ("alpha", "f8", (wide,)),
            *((name, "f8", (n,)) for name in ("bound", "gradient")),
            *((name, "f4", (wide,)) for name in ("curvature", "state", "spare")),
            ("order", "i4", (n,)),
        ]

    def _begins_with_all(self, found: Surveyed) -> bool:
        n, n_floats = found.n_learned, self.core.views["cache"].size
        if not self.bulk or n > self.max_core or n * padded(n) > MATRIX * n_floats:
            return False
        return self.max_nonzeros is None or found.n_nonzeros <= self.max_nonzeros

    @property
    def _coarse_first(self) -> bool:
        return bool(self.bulk)

    n_iter_ = Counter("Iterations of the inner solver.")
