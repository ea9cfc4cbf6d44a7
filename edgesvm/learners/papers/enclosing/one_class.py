"""OneClassCoreVectorMachine and OneClassBallVectorMachine: the ball of samples without labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from edgesvm.contract.inputs import Matrix
from edgesvm.contract.params import share
from edgesvm.contract.registry import registered
from edgesvm.data.sources import is_row_source
from edgesvm.data.survey import Surveyed
from edgesvm.learner import fits
from edgesvm.learners.batch.batch import Arrays
from edgesvm.learners.papers.enclosing._ball_vector_machine import OneClassBallVectorMachineCore
from edgesvm.learners.papers.enclosing._core_vector_machine import OneClassCoreVectorMachineCore
from edgesvm.learners.papers.enclosing.ball_vector_machine import BallVectorMachine
from edgesvm.learners.papers.enclosing.core_vector_machine import CoreVectorMachine
from edgesvm.learners.papers.enclosing.enclosing_machine import EnclosingMachine, Progress
from edgesvm.learners.unlabelled import NORMAL, Unlabelled

__all__ = ["OneClassBallVectorMachine", "OneClassCoreVectorMachine"]

HARD = 1e299  # C of a ball without slack
Self = TypeVar("Self", bound="OneClassMachine")


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassMachine(Unlabelled, EnclosingMachine):
    """Base of the enclosing machines without labels."""

    margin_tol: float | None = 1e-4
    nu: float | None = 0.1

    def _check_params(self) -> None:
        super()._check_params()
        if self.nu is not None:
            share("nu", self.nu)

    def fit(  # type: ignore[override]
        self: Self, X: Matrix, y: Any = None, *, progress: Progress | None = None
    ) -> Self:
        """Forget what was learned, then enclose all rows.

        Parameters
        ----------
        X : array, np.memmap or CSR matrix of shape (n_samples, n_features)
        y : ignored
        progress : callable, optional
            As in `CoreVectorMachine.fit`.

        Raises
        ------
        TypeError
            X is a source of chunks.
        ValueError
            As for any learner, or ``max_core`` or ``max_nonzeros`` has no room for nu of the rows;
            nothing is reset, unless the rows drawn have more non-zeros than the mean: then one row
            is learned.
        """
        if is_row_source(X):
            raise TypeError(f"{type(self).__name__}.fit takes an array, not a source of chunks")
        n = (X if hasattr(X, "shape") else np.asarray(X)).shape[0]
        fitted: Self = EnclosingMachine.fit(self, X, np.full(n, NORMAL), progress=progress)
        return fitted

    @property
    def offset_(self) -> float:
        """``decision_function`` is ``score_samples - offset_``; that is the sum of alpha k(x, .)
        over the support vectors, at most k(x, x)."""
        return float(self._fitted.offset)

    @property
    def intercept_(self) -> np.ndarray:
        """-offset_, ndarray of shape (1,), float64."""
        return np.array([-self.offset_])

    @property
    def margin_(self) -> float:
        """|c|^2"""
        return float(self.core.views["square"]) - 1.0


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class OneClassCoreVectorMachine(OneClassMachine, CoreVectorMachine):
    """The smallest ball around samples without labels, but for a share of them: the one-class SVM.

    Parameters
    ----------
    nu : float or None, default 0.1
        Largest share of the rows of ``fit`` outside the ball, 0 < nu < 1; those on its surface
        are on either side, by the tolerance. None: the squared slack has the penalty C instead.
    C : float, default 1.0
        Penalty of the squared slack if ``nu`` is None; > 0.
    margin_tol : float or None, default 1e-4
        A second tolerance: sum alpha k(x, .) of a row inside may be below ``offset_`` by no more
        than this share of it. None: epsilon alone counts.
    epsilon, kernel, gamma, degree, coef0, normalize, max_core, n_probes, cache, max_iter, seed,
    dtype, bulk, max_nonzeros
        As for `CoreVectorMachine`.

    Attributes
    ----------
    core_, support_ : ndarray of shape (n_core,), (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features); `SparseRows` with ``max_nonzeros``
    dual_coef_ : ndarray of shape (1, n_support), sum 1
    offset_, radius_, margin_ : float
    intercept_ : ndarray of shape (1,)
    n_core_, n_iter_, n_given_up_ : int
    converged_, enclosed_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    The minimum enclosing ball, eq. 1 of Tsang, Kocsor & Kwok 2007, is support vector data
    description (Tax & Duin 2004). Its form with slack has 0 <= alpha <= 1 / (nu n) in the dual; as
    k(x, x) is the same for all x, that is the nu form of Scholkopf et al. 2001, which
    scikit-learn's `OneClassSVM` has. There ``dual_coef_`` and ``decision_function`` are nu n times
    as large.

    The share nu of the rows has to be in the core set, since the sum of alpha is 1. The search
    begins with that many rows, drawn by ``seed``, all of the same coefficient, and adds rows
    outside as `CoreVectorMachine` does. A stream (``learn_one``, ``partial_fit``) knows no n: after
    ``fit`` a coefficient is at most what it was there; without it there is no slack, and every
    sample is enclosed.

    With C, all support vectors are outside, at a distance that alpha / C tells.

    Bytes: see ``plan``; 16 more than a `CoreVectorMachine`, less the mean weight.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, OneClassCoreVectorMachine
    >>> X = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32)
    >>> model = OneClassCoreVectorMachine(kernel=RBF(0.5), nu=0.05).fit(X)
    >>> model.predict([[0, 0], [5, 5]])
    array([ 1, -1])
    >>> float((model.decision_function(X) < -1e-4).mean()) <= 0.05
    True
    """

    _compiled = OneClassCoreVectorMachineCore

    def _own_arrays(self, n: int) -> Arrays:
        return [*super()._own_arrays(n), ("surface", "f8", ()), ("most", "f8", ())]

    @property
    def _penalty(self) -> float:
        return super()._penalty if self.nu is None else HARD

    def _check_survey(self, found: Surveyed) -> None:
        least = self._least_core(found.n_rows)
        needed = {"max_core": least, "max_nonzeros": least * found.n_nonzeros // found.n_rows}
        for name, n in needed.items():
            if (given := getattr(self, name)) is not None and n > given:
                raise ValueError(
                    f"{name}={given:,} has no room for nu={self.nu} of {found.n_rows:,} rows: give"
                    f" at least {n:,}, better a quarter more"
                )

    def _least_core(self, n: int) -> int:
        return 1 if self.nu is None else math.ceil(self.nu * n)

    def _begin(self, data: Any) -> None:
        if self.nu is not None:
            self.core.spread(min(1.0, 1.0 / (self.nu * data.n_rows)))

    def _enclose(self, data: Any, progress: Progress | None) -> bool:
        if self.nu is not None:
            first = data.some(self._least_core(data.n_rows), int(self.seed))
            self._offer(data, first, progress, unseen=True)
            if self.core.is_full:
                self.core.keep_supports()
                raise ValueError(
                    f"max_nonzeros={self.max_nonzeros:,} has no room for nu={self.nu} of"
                    f" {data.n_rows:,} rows: give more; one row is learned"
                )
            self._begin(data)
            self.core.improve_all()
        return super()._enclose(data, progress)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class OneClassBallVectorMachine(OneClassMachine, BallVectorMachine):
    """A ball around samples without labels, found without a numerical solver.

    Parameters
    ----------
    nu : float or None, default 0.1
        Share of the rows of ``fit`` outside the boundary, 0 < nu < 1. None: the boundary is the
        ball's surface.
    C : float, default 1.0
        Penalty of the squared slack; > 0.
    margin_tol : float or None, default 1e-4
        As for `OneClassCoreVectorMachine`.
    epsilon, kernel, gamma, degree, coef0, normalize, max_core, n_probes, multi_scale, shrink,
    max_rounds, cache, max_iter, seed, dtype, max_nonzeros
        As for `BallVectorMachine`.

    Attributes
    ----------
    core_, support_ : ndarray of shape (n_core,), (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features); `SparseRows` with ``max_nonzeros``
    dual_coef_ : ndarray of shape (1, n_support), sum 1
    offset_, radius_, margin_ : float
    intercept_ : ndarray of shape (1,)
    n_core_, n_iter_, n_given_up_, n_rounds_ : int
    converged_, enclosed_ : bool
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithms 2 to 4, of the kernel k(x, z) + [x = z] / C. The centre is
    one of those near the smallest ball's; see `BallVectorMachine`. A ball of Algorithm 2 has no
    slack that is linear, so ``nu`` moves the boundary: after the search the share nu of the rows is
    beyond it, and it stays as far from the surface when a stream goes on. For the optimum of that
    nu take `OneClassCoreVectorMachine`.

    Bytes: see ``plan``; as a `BallVectorMachine`.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, OneClassBallVectorMachine
    >>> X = np.random.default_rng(0).standard_normal((300, 2)).astype(np.float32)
    >>> model = OneClassBallVectorMachine(kernel=RBF(0.5), nu=0.05).fit(X)
    >>> model.predict([[0, 0], [5, 5]])
    array([ 1, -1])
    >>> int((model.predict(X) < 0).sum())
    15
    """

    _compiled = OneClassBallVectorMachineCore

    def _own_arrays(self, n: int) -> Arrays:
        return [*super()._own_arrays(n), ("cut", "f8", ())]

    @fits
    def fit(  # type: ignore[override]
        self: Self, X: Matrix, y: Any = None, *, progress: Progress | None = None
    ) -> Self:
        OneClassMachine.fit(self, X, progress=progress)
        if self.nu is not None:
            self.core.views["cut"][...] = np.quantile(self.decision_function(X), self.nu)
        return self

    fit.__doc__ = OneClassMachine.fit.__doc__
