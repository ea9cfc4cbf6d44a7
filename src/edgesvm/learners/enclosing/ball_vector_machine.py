"""BallVectorMachine: the public class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import flag, whole
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.smo_learner import Arrays
from edgesvm.learners.enclosing._ball_vector_machine import BallVectorMachineCore
from edgesvm.learners.enclosing.enclosing_machine import EFFORT, GEOMETRY, EnclosingMachine

__all__ = ["BallVectorMachine"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BallVectorMachine(EnclosingMachine):
    """The l2-SVM by a ball of fixed radius that encloses all samples: no numerical solver.

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
    multi_scale : bool, default True
        Algorithm 3: enclose by 1 + 1/2 first, then 1 + 1/4, and so on down to epsilon.
    shrink : bool, default True
        Algorithm 4: seek a ball that is smaller than r = sqrt(k~(x, x)).
    max_rounds : int, default 1
        Of Algorithm 4, at most; it ends by itself when the ball gets no smaller. In the paper's
        experiments one round is made. More rounds come closer to the minimum enclosing ball, which
        is the SVM, each for many times the time of the first.
    cache : int or str, optional
        Bytes for rows of the kernel matrix, at least two; default 16 rows.
    max_iter : int, default 10,000,000
        Moves of the centre at most, in one ``fit`` or for one sample.
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
    Tsang, Kocsor & Kwok 2007, Algorithms 2, 3 and 4. ``fit`` draws 59 rows at a time and moves the
    centre towards those outside, until 59 are all inside; then it reads all rows, until in a whole
    pass none is outside: then ``converged_``. In between, core vectors that have come outside are
    seen to first, which costs next to nothing.

    Where a sample outside finds ``max_core`` vectors, ``fit`` ends there, the ball stays as it is,
    and ``converged_`` is False. A stream (``learn_one``, ``partial_fit``) goes on: the vector of
    the least coefficient gives way, counted in ``n_given_up_``. A sample of a stream is met once;
    it was inside when it was met.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    Bytes: see ``plan``; some n_features s + 60 a core vector, s = 4 or 8, 64 of the default cache,
    and 64 n_features s for the rows looked at together.

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

    _compiled = BallVectorMachineCore
    _param_order = (*GEOMETRY, "multi_scale", "shrink", "max_rounds", *EFFORT)

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
        return super()._core_params(n_features) | {"shrink": bool(self.shrink)}

    def _scales(self) -> list[float]:
        epsilon = float(self.epsilon)
        larger = [2.0**-m for m in range(1, math.ceil(-math.log2(epsilon)))]
        return [*(larger if self.multi_scale else []), epsilon]

    def _smaller(self) -> bool:
        core = self._allocated
        core.views["n_rounds"][...] += 1
        return bool(self.shrink and core.views["n_rounds"] < self.max_rounds and core.shrink())

    @property
    def radius_(self) -> float:
        core = self._allocated
        square = (1.0 + core.epsilon) ** 2 * core.square_radius - float(core.views["lift"])
        return math.sqrt(max(square, 0.0))

    n_iter_ = Counter("Moves of the centre.")
    n_rounds_ = Counter("Rounds of Algorithm 4 made.")
