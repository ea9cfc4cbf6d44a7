"""Base of IncrementalSVM and WindowedSVM: parameters, the workspace, counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import one_of, whole
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.batch.batch import (
    Arrays,
    SmoLearner,
    check_cache,
    most_rows,
    padded,
    smo_arrays,
)
from edgesvm.learners.kernel_learner import KERNEL

SCHEMES = ("error_driven", "fixed_partition", "exceeding_margin", "exceeding_margin_errors")
RETRAINED = (  # parameters, in the order of a snapshot
    *("scheme", "batch_size", "max_vectors", "C", *KERNEL),
    *("tol", "cache", "max_iter", "dtype"),
)
CACHED_ROWS = 16  # if ``cache`` is not given


@dataclass(kw_only=True, eq=False, repr=False)
class RetrainedSVM(SmoLearner):
    """Base of the learners that train one batch at a time; see `IncrementalSVM`."""

    n_cycles_ = Counter("Training cycles, without those while the first batch filled.")
    n_given_up_ = Counter("Support vectors dropped because there were more than ``max_vectors``.")
    n_iter_ = Counter("Iterations of the solver in the last training.")

    _capacity = "max_vectors"
    _schemes: ClassVar[tuple[str, ...]] = SCHEMES

    scheme: str = "fixed_partition"
    batch_size: int | None = None
    max_vectors: int = 500
    cache: int | str | None = None

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        super()._check_params()
        whole("max_vectors", self.max_vectors, 2, MAX_CAPACITY)
        one_of("scheme", self.scheme, *self._schemes)
        if self.batch_size is not None:
            whole("batch_size", self.batch_size, 1, MAX_CAPACITY)
        if self.cache is not None:
            rows = f"max_vectors + batch_size = {self._n_rows:,}"
            check_cache(self.cache, self._n_rows, rows)

    @property
    def _batch_size(self) -> int:
        return int(self.max_vectors if self.batch_size is None else self.batch_size)

    @property
    def _n_rows(self) -> int:
        """Rows of the workspace."""
        return int(self.max_vectors) + self._batch_size

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        if self.cache is None:
            return 2, MAX_CAPACITY
        n_rows = most_rows(self.cache)
        most = n_rows // 2 if self.batch_size is None else n_rows - int(self.batch_size)
        return 2, max(2, min(MAX_CAPACITY, most))

    def _arrays(self, n_features: int) -> Arrays:
        n = self._n_rows
        cache = 4 * CACHED_ROWS * padded(n) if self.cache is None else self.cache
        return [
            *((name, "i8", ()) for name in ("n_cycles", "n_given_up", "n_iter", "converged")),
            *self._own_arrays(n_features),
            *smo_arrays(n, n_features, self.dtype, cache),
        ]

    def _own_arrays(self, n_features: int) -> Arrays:
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        most = max(1_000_000, 100 * self._n_rows)
        return {
            "C": float(self.C),
            "kernel": self.kernel_for(n_features),
            "tol": float(self.tol),
            "scheme": self.scheme,
            "batch_size": self._batch_size,
            "max_vectors": int(self.max_vectors),
            "max_iter": most if self.max_iter is None else self.max_iter,
        }

    # -- what was learned --------------------------------------------------------------------------

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Rows, coefficients and intercept of the model that predicts."""
        raise NotImplementedError

    def _supports(self) -> tuple[np.ndarray, np.ndarray, float]:
        if not self.is_fitted:
            self._raise_not_fitted()
        rows, beta, intercept = self._model()
        flat = rows.transpose(0, 2, 1).reshape(-1, rows.shape[1])[: len(beta)]
        sign = float(self.core.labels.sign)
        return flat[beta != 0], sign * beta[beta != 0], sign * intercept

    @property
    def support_vectors_(self) -> np.ndarray:
        """Support vectors of the model that predicts, oldest first, ndarray of shape (n_support,
        n_features), a copy."""
        return self._supports()[0]

    @property
    def dual_coef_(self) -> np.ndarray:
        """y alpha of the support vectors, ndarray of shape (1, n_support), float64."""
        return self._supports()[1][None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        return np.array([self._supports()[2]])

    @property
    def condensed_(self) -> float:
        """Size of the condensed set: support vectors as a share of the samples seen."""
        return len(self.support_vectors_) / self.n_seen_

    @property
    def converged_(self) -> bool:
        """Whether the last training ended below ``tol``; otherwise ``max_iter`` was reached, or
        rounding hides the remaining gap."""
        return bool(self.core.views["converged"])
