"""Base of BatchSVM, ReservoirSVM and BatchSVR: a store of samples, and their SVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.counter import Counter
from edgesvm.contract.inputs import Matrix, is_sparse, sparse_rows
from edgesvm.contract.labels import Labels
from edgesvm.contract.params import flag, whole
from edgesvm.data.sources import Source, is_row_source
from edgesvm.data.survey import survey
from edgesvm.kernels import Linear
from edgesvm.learner import MAX_CAPACITY, exclusive, fits
from edgesvm.learners.batch._store_svm import StoreSVMCore
from edgesvm.learners.batch.constants import LARGEST_TARGET
from edgesvm.learners.batch.smo_learner import (
    MOST_NONZEROS,
    Arrays,
    SmoLearner,
    check_cache,
    most_rows,
    smo_arrays,
    stored_rows,
)

BLOCK = 1000  # iterations between two calls of `progress`, and two checks for Ctrl-C

Progress = Callable[[int, float], Any]
Self = TypeVar("Self", bound="StoreSVM")


@dataclass(kw_only=True, eq=False, repr=False)
class StoreSVM(SmoLearner):
    """Base of the learners that store samples and solve on demand; see `BatchSVM`."""

    n_held_ = Counter("Samples in the store.")

    _capacity = "max_samples"
    _compiled = StoreSVMCore
    _when_full: ClassVar[str]

    max_samples: int = 1000
    cache: int | str = "8MiB"
    shrinking: bool = True

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        super()._check_params()
        whole("max_samples", self.max_samples, 1, MAX_CAPACITY)
        flag("shrinking", self.shrinking)
        if not self._keeps_w:
            check_cache(self.cache, self.max_samples, f"max_samples={self.max_samples:,}")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        most = MAX_CAPACITY if self._keeps_w else most_rows(self.cache)
        return 1, max(1, min(MAX_CAPACITY, most))

    @property
    def _nonzeros(self) -> int | None:
        """Non-zeros that there is room for; None: rows are stored dense."""
        return None

    @property
    def _keeps_w(self) -> bool:
        """Whether it solves by w alone, without kernel rows."""
        return self._nonzeros is not None and isinstance(self.kernel_for(1), Linear)

    def _arrays(self, n_features: int) -> Arrays:
        w: Arrays = [("w", "f8", (n_features,))] if self._keeps_w else []
        cache = 0 if self._keeps_w else self.cache
        return [
            *((name, "f8", ()) for name in ("intercept", "objective", "gap")),
            *((name, "i8", ()) for name in ("n_held", "solved", "n_support", "n_iter")),
            ("converged", "i8", ()),
            *w,
            *smo_arrays(int(self.max_samples), n_features, self.dtype, cache, self._nonzeros),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {
            "C": float(self.C),
            "kernel": self.kernel_for(n_features),
            "tol": float(self.tol),
            "shrinking": bool(self.shrinking),
            "max_iter": self.max_iter,
            "max_samples": int(self.max_samples),
            "when_full": self._policy,
            "seed": int(getattr(self, "seed", 0)),
        }

    @property
    def _policy(self) -> str:
        return self._when_full

    @property
    def _most_samples(self) -> int | None:
        return int(self.max_samples) if self._policy == "refuse" else None

    # -- learning ----------------------------------------------------------------------------------

    @fits
    def fit(  # type: ignore[override]
        self: Self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        alpha: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Reset, store the rows, solve.

        Parameters
        ----------
        X : array, np.memmap, CSR matrix of shape (n_samples, n_features), or a source of chunks
            A source, such as a `Recording`, has its own labels or targets; it is read twice, a
            chunk at a time, first to check that its rows can be stored.
        y : array of shape (n_samples,), labels or targets
        sample_weight : array of shape (n_samples,), float64, optional
            C times this is the bound of the row's coefficient; rows of weight zero are skipped.
        alpha : array of shape (n_held,), optional
            Coefficients to start from, as for ``solve``.
        progress : callable, optional
            As for ``solve``.

        Raises
        ------
        ValueError
            There are more rows than ``max_samples`` and ``when_full="refuse"``, or a row of a
            source is refused; nothing is reset. Otherwise as for any learner.
        """
        if is_row_source(X):
            self._fit_source(
                self._guard.call(
                    Source,
                    self._closed(X),
                    y,
                    sample_weight,
                    owner=type(self).__name__,
                    regresses=self.regresses,
                )
            )
        else:
            self._guard.call(self._check_room, X, sample_weight, empty=True)
            super().fit(X, y, sample_weight)  # type: ignore[arg-type]
        self.solve(alpha=alpha, progress=progress)
        if not self.converged_:
            self._warn_of_an_early_end()
        return self

    def _fit_source(self, source: Source) -> None:
        fits = bool(self.nbytes) and self.n_features_in_ == source.n_features
        known = self.core.labels if fits else Labels()
        labels = Labels(known.in_slots if known.closed else None)
        found = self._guard.call(
            survey,
            source,
            labels,
            owner=type(self).__name__,
            dtype=self.dtype,
            kernel=self.kernel_for(source.n_features),
            C=float(self.C),
            largest_target=LARGEST_TARGET if self.regresses else None,
        )
        self._refuse_beyond(found.n_learned)
        if fits:
            self.reset()
        else:
            self._state = None
        for chunk in source.chunks(dtype=self._dtype):
            self.partial_fit(chunk.X, chunk.y, sample_weight=chunk.weight)

    @exclusive
    def partial_fit(
        self: Self,
        X: Matrix,
        y: ArrayLike,
        classes: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Store rows; the next decision, or ``solve``, finds the SVM of all stored samples. See
        `Learner.partial_fit`.

        Raises
        ------
        ValueError
            There are more rows than room and ``when_full="refuse"``; none is stored.
        """
        self._guard.call(self._check_room, X, sample_weight, empty=False)
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_room(self, X: Any, sample_weight: Any, *, empty: bool) -> None:
        """Refuse a batch that does not fit, before its first row is stored."""
        if self._policy != "refuse":
            return
        array = X if is_sparse(X) else np.asarray(X)
        shape = array.shape
        if len(shape) != 2:
            return  # refused later, with its own message
        n_rows = shape[0]
        if sample_weight is not None:
            n_rows = int(np.count_nonzero(np.asarray(sample_weight)))
        held = 0 if empty or not self.nbytes else self.n_held_
        self._refuse_beyond(n_rows, held)
        if self._nonzeros is not None and sample_weight is None:
            self._refuse_nonzeros(array, empty=empty)

    def _refuse_nonzeros(self, X: Any, *, empty: bool) -> None:
        values = X
        if is_sparse(X):
            rows = sparse_rows(X, None, type(self).__name__)
            values = rows.data[rows.indptr[0] : rows.indptr[-1]]
        if values.dtype.kind not in "fiub":
            return  # refused later, with its own message
        new, used = int(np.count_nonzero(values)), 0
        if self.nbytes and not empty:
            used = int(self.core.views["taken"][1]) - self.n_held_
        room = whole("max_nonzeros", self._nonzeros, 1, MOST_NONZEROS)
        if new + used > room:
            beside = f" besides the {used:,} stored" if used else ""
            size = 4 + self._dtype.itemsize
            raise ValueError(
                f"{type(self).__name__}: {new:,} non-zeros{beside} take {size * (new + used):,}"
                f" bytes, max_nonzeros={room:,} is {size * room:,}; give a larger max_nonzeros"
            )

    def _refuse_beyond(self, n_rows: int, held: int = 0) -> None:
        if self._policy == "refuse" and n_rows + held > whole(
            "max_samples", self.max_samples, 1, MAX_CAPACITY
        ):
            beside = f" besides the {held:,} stored" if held else ""
            raise ValueError(
                f"{type(self).__name__}: {n_rows:,} rows{beside} are more than"
                f" max_samples={self.max_samples:,}; give a larger max_samples"
            )

    @exclusive
    def solve(
        self: Self, *, alpha: ArrayLike | None = None, progress: Progress | None = None
    ) -> Self:
        """Solve for the stored samples, unless the solution is up to date.

        Parameters
        ----------
        alpha : array of shape (n_held,), float64, optional
            Coefficients to start from, in the order of the store; forces a new solution. They are
            clipped to their bounds, and those of the class, or the sign, with the larger sum are
            scaled down until both sums are equal. The optimum does not depend on the
            start; a start close to it needs fewer iterations.
        progress : callable, optional
            Called as ``progress(n_iter, gap)`` every 1,000 iterations. An exception it raises, or
            Ctrl-C, ends the solver; the stored samples stay.

        Raises
        ------
        NotFittedError
            No sample was learned.
        ValueError
            `alpha` has the wrong shape or a value that is not finite.
        """
        if not self.is_fitted:
            self._raise_not_fitted()
        core = self.core
        start = None
        if alpha is not None:
            start = self._guard.call(np.array, alpha, np.float64, order="C")
            if start.shape != (self.n_held_,) or not np.isfinite(start).all():
                raise ValueError(
                    f"alpha must be finite and of shape ({self.n_held_},), one value per stored"
                    " sample"
                )
        elif core.is_solved:
            return self
        core.begin(start)
        try:
            while core.advance(BLOCK):
                if progress is not None:
                    self._guard.call(progress, *core.progress)
        except BaseException:
            core.abandon()
            raise
        core.finish()
        return self

    @property
    def _fitted(self) -> Any:
        state = self._state
        if state is None:
            self._raise_not_fitted()
        state.core.solve_if_due()
        return state.core

    # -- the solution ------------------------------------------------------------------------------

    def _solution(self, name: str) -> Any:
        if not self.is_fitted:
            self._raise_not_fitted()
        return self._fitted.views[name]

    def _supports(self, name: str) -> np.ndarray:
        return self._solution(name)[: int(self._solution("n_support"))]

    @property
    def support_(self) -> np.ndarray:
        """Positions of the support vectors in the store, ascending, ndarray of shape (n_support,),
        int64. The k-th row learned is at position k until rows are replaced."""
        return self._supports("order").astype(np.int64)

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, ndarray of shape (n_support, n_features), a copy; `SparseRows` of a
        learner with ``max_nonzeros``."""
        n_support = int(self._solution("n_support"))
        if self._nonzeros is not None:
            return stored_rows(self.core.views, slice(n_support), self.n_features_in_)
        rows = self._solution("rows")
        flat = rows.transpose(0, 2, 1).reshape(-1, rows.shape[1])
        return flat[:n_support].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """y alpha of the support vectors, of a regressor alpha, ndarray of shape (1, n_support),
        float64."""
        return self._allocated_sign * self._supports("beta")[None, :]

    @property
    def alpha_(self) -> np.ndarray:
        """Coefficients of all stored samples, in the order of the store, ndarray of shape
        (n_held,), float64; ``solve`` can start from them. Those of a regressor have a sign."""
        alpha = np.zeros(self.n_held_)
        beta = self._supports("beta")
        alpha[self._supports("order")] = beta if self.regresses else np.abs(beta)
        return alpha

    @property
    def _allocated_sign(self) -> float:
        return float(self.core.labels.sign)

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        return self._allocated_sign * np.array([float(self._solution("intercept"))])

    @property
    def objective_(self) -> float:
        """The dual objective, 1/2 alpha' Q alpha - sum alpha; of a regressor 1/2 alpha' K alpha -
        y' alpha + epsilon sum |alpha|."""
        return float(self._solution("objective"))

    @property
    def gap_(self) -> float:
        """By how much the worst pair violates optimality; below ``tol`` if it converged."""
        return float(self._solution("gap"))

    @property
    def n_iter_(self) -> int:
        """Iterations of the last solution."""
        return int(self._solution("n_iter"))

    @property
    def converged_(self) -> bool:
        """Whether the gap fell below ``tol``; otherwise ``max_iter`` was reached, or rounding hides
        the remaining gap."""
        return bool(self._solution("converged"))
