"""BallVectorMachine: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import flag, whole
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.batch import Arrays
from edgesvm.learners.papers.enclosing._ball_vector_machine import BallVectorMachineCore
from edgesvm.learners.papers.enclosing.enclosing_machine import EFFORT, GEOMETRY, EnclosingMachine

__all__ = ["BallVectorMachine"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BallVectorMachine(EnclosingMachine):
    """The l2-SVM, found as a ball of fixed radius that encloses all samples, without a numerical
    solver.

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
    multi_scale : bool, default True
        Algorithm 3: enclose by 1 + 1/2 first, then 1 + 1/4, and so on down to the tolerance.
    shrink : bool, default True
        Algorithm 4: search for a ball smaller than r = sqrt(k~(x, x)).
    max_rounds : int, default 1
        Largest number of rounds of Algorithm 4, which also ends when the ball gets no smaller. The
        paper's experiments use one round. More rounds come closer to the minimum enclosing ball,
        which is the SVM; each takes many times as long as the first.
    cache : int or str, optional
        Bytes for cached kernel rows, at least two rows; default 16 rows.
    max_iter : int, default 10,000,000
        Largest number of moves of the centre in one ``fit`` or for one sample.
    seed : int, default 0
        Seed of the random draws, 0 to 2**32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Cached kernel rows are always float32,
        coefficients float64.
    margin_tol : float or None, default 0.1
        A second tolerance, 0 < margin_tol < 1: y f(x), with its slack, may be below the level of
        the ball's surface by no more than this share of it. The radius hardly depends on the data,
        while that level is small if C is large: then any ball meets epsilon. None: epsilon alone
        counts, as in the paper.
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
    Tsang, Kocsor & Kwok 2007, Algorithms 2, 3 and 4. ``fit`` draws 59 rows at a time and moves the
    centre towards those outside, until all 59 are inside. Then it reads all rows until a whole pass
    finds none outside; this is ``enclosed_``. In between, core vectors that are now outside are
    handled first, which costs next to nothing.

    If a sample is outside and the core set is full, ``fit`` stops with a `ConvergenceWarning`, the
    ball stays as it is, and ``converged_`` is False. A stream (``learn_one``, ``partial_fit``) goes
    on: the vector of the smallest coefficient is dropped and counted in ``n_given_up_``. In a
    stream each sample is seen once; it was inside the ball at that moment.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    On the ball's surface y f(x) with its slack is (|c|^2 + l^2 + s) / 2, where l is the centre's
    coordinate beyond the feature space (section 3.3) and s by how much Algorithm 4 reduced r^2:
    half of ``margin_`` with ``shrink=False``, some 0.7 to 0.9 of it after one round, all of it when
    the ball is the smallest. ``margin_tol`` and ``converged_`` are relative to this level.

    Eq. 10 has the centre within R* sqrt((1 + sqrt 2) epsilon) of the best one, c*, but needs r =
    R*, the smallest radius. One round ends with a larger one: on two clouds of 60 rows, C = 1 to
    100, the centre was 0.23 to 0.53 |c*| away (in the mean 0.050, 0.023 and 0.013 R*, where the
    bound is 0.016 R*), without ``shrink`` 0.58 to 0.96, and with ``max_rounds=100`` 0.002 to 0.05.

    Bytes: see ``plan``; about n_features s + 60 per core vector, s = 4 or 8, 64 more for the
    default cache, and 64 n_features s for the rows examined together. With ``max_nonzeros`` 76 + s
    per core vector, 4 + s per non-zero, n_features s, for the linear kernel 8 n_features more, and
    the cache.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BallVectorMachine
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = BallVectorMachine(kernel=RBF(2.0), C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.converged_
    True
    """

    _least_in_parts = (5, 7)
    _compiled = BallVectorMachineCore
    _param_order = (*GEOMETRY, "multi_scale", "shrink", "max_rounds", *EFFORT, "max_nonzeros")

    multi_scale: bool = True
    shrink: bool = True
    max_rounds: int = 1

    def _check_params(self) -> None:
        super()._check_params()
        flag("multi_scale", self.multi_scale)
        flag("shrink", self.shrink)
        whole("max_rounds", self.max_rounds, 1, 10**6)

    def _own_arrays(self, n: int) -> Arrays:
        return [
            *((name, "f8", ()) for name in ("lift", "shrunk")),
            ("n_rounds", "i8", ()),
            ("f", "f8", (n,)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = {"shrink": bool(self.shrink), "max_rounds": int(self.max_rounds)}
        return super()._core_params(n_features) | own

    @property
    def _coarse_first(self) -> bool:
        return bool(self.multi_scale)

    def _smaller(self) -> bool:
        core = self.core
        core.views["n_rounds"][...] += 1
        return bool(self.shrink and core.views["n_rounds"] < self.max_rounds and core.shrink())

    n_iter_ = Counter("Moves of the centre.")
    n_rounds_ = Counter("Rounds of Algorithm 4.")
