"""Core and ball vector machine of any kernel: by a function, or by the matrix of its values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import as_labels
from edgesvm.contract.params import one_of, positive, share, whole
from edgesvm.errors import NotFittedError, as_sklearns
from edgesvm.learners.papers.enclosing.constants import FINEST

__all__ = ["GramMachine"]

Self = TypeVar("Self", bound="GramMachine")
Kernel = Callable[[Any, Any], ArrayLike]
ROUNDING = 1e-6  # of k(x, x): what may differ between values that are the same


@dataclass(kw_only=True, eq=False)
class GramMachine:
    """The l2-SVM of two classes as an enclosing ball, of a kernel that is a function or a matrix.

    Parameters
    ----------
    kernel : "precomputed" or callable, default "precomputed"
        ``kernel(X, Z)`` gives the values of all pairs of rows, of shape (len(X), len(Z)).
        "precomputed": `fit` and `decision_function` take such matrices instead of rows.
    method : {"core", "ball"}, default "core"
        Algorithm 1, the smallest ball; or Algorithms 2 and 3, one round of Algorithm 4, a ball of
        fixed radius that needs no solver.
    epsilon, margin_tol
        As in `edgesvm.CoreVectorMachine`.
    C : float, default 1.0
        Penalty of the squared margin violation; > 0.
    max_iter : int, default 10,000,000
        Largest number of moves of the centre.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int64
    dual_coef_ : ndarray of shape (1, n_support), y alpha, sum alpha = 1
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
    margin_ : float, |c|^2
    converged_ : bool
    n_iter_ : int

    Notes
    -----
    Tsang, Kocsor & Kwok 2007. All kernel values are at hand, so that the farthest row of all is
    known at each step: there is no core set to be kept small, and no budget. 16 n^2 bytes for n
    rows; a step takes some n additions. There is no snapshot; see `edgesvm.CoreVectorMachine` for a
    learner in fixed bytes.

    The paper's conditions are checked: values are finite and symmetric, k(x, x) is the same
    positive number for all x (eq. 2), and no value is larger. That the matrix is positive
    semidefinite, which is for the kernel to promise, is not.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm.learners.papers.enclosing.gram import GramMachine
    >>> X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    >>> laplace = lambda X, Z: np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=2))
    >>> model = GramMachine(kernel=laplace, C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    kernel: str | Kernel = "precomputed"
    method: str = "core"
    epsilon: float = 1e-4
    margin_tol: float | None = 0.1
    C: float = 1.0
    max_iter: int = 10_000_000

    def fit(self: Self, X: ArrayLike, y: ArrayLike) -> Self:
        """Enclose all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features); (n_samples, n_samples) if precomputed
        y : array of shape (n_samples,), labels of two classes

        Raises
        ------
        ValueError
            A parameter is out of range, there are not two classes, or a condition on the kernel
            does not hold.
        """
        one_of("method", self.method, "core", "ball")
        share("epsilon", self.epsilon)
        if self.margin_tol is not None:
            share("margin_tol", self.margin_tol)
        whole("max_iter", self.max_iter, 1, 10**12)
        rows = np.asarray(X)
        labels = as_labels(y, len(rows), "GramMachine")
        self.classes_, slots = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"GramMachine takes two classes, there are {len(self.classes_)}")
        K = checked(self._values(rows, rows))
        sign = 2.0 * slots - 1.0
        ball = (_Core if self.method == "core" else _Ball)(K, sign, positive("C", self.C))
        self.converged_ = ball.enclose(self)
        self.support_ = np.flatnonzero(ball.alpha)
        self.dual_coef_ = (sign * ball.alpha)[None, self.support_]
        self.intercept_ = self.dual_coef_.sum(axis=1)
        self.margin_, self.n_iter_ = ball.square, ball.n_iter
        self._vectors = None if self.kernel == "precomputed" else rows[self.support_]
        return self

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """w.phi(x) + b of eq. 4, ndarray of shape (n_samples,), float64; if precomputed, X has the
        kernel values of rows with all training rows."""
        if not hasattr(self, "support_"):
            raise as_sklearns(NotFittedError)("GramMachine has not learned yet; call fit first")
        rows = np.asarray(X)
        if self._vectors is None:
            K = self._values(rows, rows)[:, self.support_]
        else:
            K = self._values(rows, self._vectors)
        decided: np.ndarray = K @ self.dual_coef_[0] + self.intercept_[0]
        return decided

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each row."""
        slots = (self.decision_function(X) > 0.0).astype(int)
        return self.classes_[slots]

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Share of rows whose class is predicted."""
        return float((self.predict(X) == np.asarray(y)).mean())

    def _values(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        if callable(self.kernel):
            return np.asarray(self.kernel(X, Z), np.float64)
        one_of("kernel", self.kernel, "precomputed")
        return np.asarray(X, np.float64)


def checked(K: np.ndarray) -> np.ndarray:
    """The kernel values of the training rows, of shape (n, n); ValueError if they are not what the
    paper takes."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel values of shape {K.shape}: give a square matrix, (n, n)")
    if not np.isfinite(K).all():
        raise ValueError("a kernel value is NaN or infinite")
    own = K.diagonal()
    kappa = float(own[0])
    if not kappa > 0.0 or np.ptp(own) > ROUNDING * kappa:
        raise ValueError(
            f"k(x, x) is between {own.min():g} and {own.max():g}, but must be the same positive"
            " number for all x: divide k(x, z) by sqrt(k(x, x) k(z, z))"
        )
    if np.abs(K - K.T).max() > ROUNDING * kappa:
        raise ValueError("the kernel is not symmetric: k(x, z) differs from k(z, x)")
    if np.abs(K).max() > (1.0 + ROUNDING) * kappa:
        raise ValueError("|k(x, z)| is larger than k(x, x): that is no kernel")
    return K


class _Enclosing:
    """A ball in the space of eq. 3; f = K~ alpha, and a row is outside where f is below a
    threshold."""

    square_radius = level = 0.0

    def __init__(self, K: np.ndarray, sign: np.ndarray, C: float) -> None:
        self.K = np.outer(sign, sign) * (K + 1.0)
        self.K[np.diag_indices(len(K))] += 1.0 / C
        self.kappa = float(self.K[0, 0])
        self.alpha = np.zeros(len(K))
        self.alpha[0] = 1.0
        self.f, self.square, self.n_iter = self.K[0].copy(), self.kappa, 0

    def allowed(self, epsilon: float, margin_tol: float | None) -> float:
        slack = 0.5 * (2.0 + epsilon) * epsilon * self.square_radius
        if margin_tol is None:
            return slack
        return min(slack, max(margin_tol * self.level, FINEST * self.square_radius))


class _Core(_Enclosing):
    """min alpha' K~ alpha over sum alpha = 1, alpha >= 0, by pairs of coefficients."""

    def enclose(self, machine: GramMachine) -> bool:
        alpha, f, K = self.alpha, self.f, self.K
        while self.n_iter < machine.max_iter:
            i = int(f.argmin())
            held = np.flatnonzero(alpha)
            gap = f[held] - f[i]
            self.square = self.level = float(alpha @ f)
            self.square_radius = self.kappa - self.square
            if gap.max() <= self.allowed(machine.epsilon, machine.margin_tol):
                return True
            curvature = np.maximum(2.0 * (self.kappa - K[i, held]), 1e-12)
            j = int(held[(np.maximum(gap, 0.0) ** 2 / curvature).argmax()])
            step = min((f[j] - f[i]) / max(2.0 * (self.kappa - K[i, j]), 1e-12), alpha[j])
            alpha[i] += step
            alpha[j] = 0.0 if step == alpha[j] else alpha[j] - step
            f += step * (K[i] - K[j])
            self.n_iter += 1
        return False


class _Ball(_Enclosing):
    """A ball of radius sqrt(k~(x, x)), whose centre moves to the farthest row until none is
    outside."""

    def enclose(self, machine: GramMachine) -> bool:
        self.lift = self.square_radius = self.kappa  # squares; of section 3.3
        epsilon = 0.5
        while True:
            epsilon = max(epsilon, machine.epsilon)
            last = epsilon == machine.epsilon
            while self.n_iter < machine.max_iter:
                self.level = 0.5 * (self.square + self.lift)
                tol = machine.margin_tol if last else None
                p = int(self.f.argmin())
                if not self.f[p] < self.level - self.allowed(epsilon, tol):
                    break
                self.move_to(p)
            else:
                return False
            if last:
                return True
            epsilon /= 2.0

    def move_to(self, p: int) -> None:
        """Eq. 5 and 6"""
        f, kappa = float(self.f[p]), self.kappa
        keep = math.sqrt(kappa / (self.square + self.lift - 2.0 * f + kappa))
        gain = 1.0 - keep
        self.square = keep**2 * self.square + gain * (2.0 * keep * f + gain * kappa)
        self.lift *= keep**2
        self.f *= keep
        self.f += gain * self.K[p]
        self.alpha *= keep
        self.alpha[p] += gain
        self.n_iter += 1
