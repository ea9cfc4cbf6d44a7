"""SVMs trained one batch at a time, on the previous support vectors and the batch (Domeniconi &
Gunopulos): IncrementalSVM and WindowedSVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import among, not_negative, optional, param, within
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY, exclusive
from edgesvm.learners.batch.batch import (
    LANES,
    Arrays,
    SmoLearner,
    check_cache,
    most_rows,
    padded,
    smo_arrays,
)
from edgesvm.learners.batch.constants import most_iterations
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.papers.incremental._incremental import (
    SCHEMES,
    IncrementalSVMCore,
    WindowedSVMCore,
)

__all__ = ["IncrementalSVM", "WindowedSVM"]

RETRAINED = (  # parameters, in the order of a snapshot
    *("scheme", "batch_size", "max_vectors", "C", *KERNEL),
    *("tol", "cache", "max_iter", "dtype"),
)
CACHED_ROWS = 16  # if ``cache`` is not given

Self = TypeVar("Self", bound="IncrementalSVM")


def part(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = not_negative(name, value)
    if number > 1.0:
        raise ValueError(f"{name}={value!r}: give a number from 0 to 1")
    return number


@dataclass(kw_only=True, eq=False, repr=False)
class RetrainedSVM(SmoLearner):
    """Base of the learners that train one batch at a time; see `IncrementalSVM`."""

    n_cycles_ = Counter("Training cycles, without those while the first batch filled.")
    n_given_up_ = Counter("Support vectors dropped because there were more than ``max_vectors``.")
    n_iter_ = Counter("Iterations of the solver in the last training.")

    _capacity = "max_vectors"

    scheme: str = param("fixed_partition", among(*SCHEMES[:-1]))
    batch_size: int | None = param(None, optional(within(1, MAX_CAPACITY)))
    max_vectors: int = param(500, within(2, MAX_CAPACITY))
    cache: int | str | None = None

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        super()._check_params()
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
            *((name, "i8", ()) for name in ("n_cycles", "n_given_up", "n_iter")),
            ("converged", "i8", (), (0, 1)),
            *self._own_arrays(n_features),
            *smo_arrays(n, n_features, self.dtype, cache, kept=True),
        ]

    def _own_arrays(self, n_features: int) -> Arrays:
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        params = super()._core_params(n_features)
        most = most_iterations(params["max_iter"], self._n_rows)
        return params | {"batch_size": self._batch_size, "max_iter": most}

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
        """Support vectors of the model that predicts, oldest first; a copy."""
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
        """Whether the last training ended below ``tol``, as of `BatchSVM`."""
        return bool(self.core.views["converged"])


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalSVM(RetrainedSVM):
    """An SVM retrained whenever a batch is full, on its support vectors and the batch.

    Parameters
    ----------
    scheme : str, default "fixed_partition"
        Which samples join the batch, f being the model's decision value and y = -1 or 1:

        - "error_driven": those misclassified, y f <= 0
        - "fixed_partition": all
        - "exceeding_margin": those inside the band, |f| <= 1
        - "exceeding_margin_errors": those inside it or misclassified, y f <= 1
        - "active": a share of those misclassified and a share of those correctly classified, drawn
          at random
    batch_size : int, optional
        Samples stored, besides the support vectors, before the model is retrained; default
        ``max_vectors``.
    max_vectors : int, default 500
        Number of support vectors stored, >= 2. If there are more, those farthest on the wrong side
        of the margin (smallest y f, the oldest of equals) are dropped from each class in
        proportion, and the rest is solved again; ``n_given_up_`` counts them.
    C : float, default 1.0
        Penalty of a margin violation, multiplied by the sample's weight; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    cache : int or str, optional
        Bytes for cached kernel rows, at least two rows; never more than the whole matrix. Default
        16 rows.
    max_iter : int, optional
        Largest number of iterations of the solver; ``converged_`` says whether it was enough.
        Default: 1,000,000 or 100 (``max_vectors`` + ``batch_size``), whichever is larger.
    errors_kept, correct_kept : float, default 1.0 and 0.1
        The two shares of "active", 0 to 1, not both zero; other schemes do not read them. With 1
        and 0 it is "error_driven", with 1 and 1 "fixed_partition".
    seed : int, default 0
        Seed of the draws of "active", 0 to 2**32 - 1; their state is in the arena.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Kernel rows are always float32,
        coefficients and gradient float64.

    Notes
    -----
    Domeniconi & Gunopulos 2001, section 2. The paper gives the last two schemes the same formula, y
    f <= 1; its Table 1 shows that they differ. Hence |f| <= 1 for the third.

    "active" is the scheme of Mitra, Murthy & Pal 2000 as Domeniconi & Gunopulos state it, with the
    shares as parameters and each sample drawn by itself.

    The first batch is stored whole. While it fills, it is solved at each doubling. A cycle starts
    from the coefficients of the previous one. While all samples are of one class, the newest
    ``max_vectors`` stay. When a stream ends, ``update`` learns the samples still waiting.

    The sample that completes a batch takes the time of the whole cycle. Bytes: see ``plan``; about
    n_features s + 124 for each of ``max_vectors + batch_size``, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 2)).astype(np.float32)
    >>> y = (X**2).sum(axis=1) > 1.5
    >>> model = IncrementalSVM(batch_size=100, kernel=RBF(1.0), C=10.0).partial_fit(X, y)
    >>> model.n_cycles_, model.n_given_up_, model.score(X, y) > 0.97
    (20, 0, True)
    """

    _compiled = IncrementalSVMCore
    _param_order = (*RETRAINED, "errors_kept", "correct_kept", "seed")
    _absent: ClassVar[dict[str, Any]] = {"errors_kept": 1.0, "correct_kept": 0.1, "seed": 0}

    scheme: str = param("fixed_partition", among(*SCHEMES))
    errors_kept: float = param(1.0, part)
    correct_kept: float = param(0.1, part)
    seed: int = param(0, within(0, (1 << 32) - 1))

    def _check_params(self) -> None:
        super()._check_params()
        if not self.errors_kept and not self.correct_kept:
            raise ValueError("errors_kept and correct_kept are zero: no sample would be learned")

    def _own_arrays(self, n_features: int) -> Arrays:
        own: Arrays = [
            ("n_support", "i8", (), (0, int(self.max_vectors))),
            ("n_held", "i8", ()),
            ("intercept", "f8", ()),
        ]
        return [*own, ("rng", "u8", (4,))] if self.scheme == "active" else own

    @exclusive
    def update(self: Self) -> Self:
        """Train now, on the support vectors and the samples that wait, if there are any.

        Raises
        ------
        NotFittedError
            No sample was learned.
        """
        if not self.is_fitted:
            self._raise_not_fitted()
        self.core.update()
        return self

    @property
    def n_waiting_(self) -> int:
        """Samples in the current batch."""
        views = self.core.views
        return int(views["n_held"] - views["n_support"])

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        views = self.core.views
        n = int(views["n_support"] if views["n_cycles"] else views["n_held"])
        return views["rows"], views["beta"][:n], float(views["intercept"])


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class WindowedSVM(RetrainedSVM):
    """The SVM of the last ``window`` batches, each seen once: for streams that change.

    It stores models of the last 1, 2, ..., ``window`` batches. When a batch is complete, each model
    is trained on its support vectors and the samples of the batch that its scheme selects, and a
    new model of the batch alone replaces the oldest. The oldest model predicts.

    Parameters
    ----------
    window : int, default 3
        Number of batches, and of models.
    scheme : str, default "fixed_partition"
        Which samples of a batch a model learns, as for `IncrementalSVM`; a new model learns all of
        them.
    batch_size : int, optional
        Samples of a batch, selected or not; default ``max_vectors``.
    max_vectors : int, default 500
        Support vectors of each model; see `IncrementalSVM`.
    C, kernel, gamma, degree, coef0, tol, cache, max_iter, dtype
        As for `IncrementalSVM`.

    Notes
    -----
    Domeniconi & Gunopulos 2001, section 3. While the first batch fills, it is solved at each
    doubling, so that there is a model from the second sample on.

    The sample that completes a batch takes the time of ``window`` trainings. Bytes: see ``plan``;
    about n_features s + 16 for each of ``window`` times ``max_vectors``, plus those of
    `IncrementalSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, WindowedSVM
    >>> X = np.random.default_rng(0).standard_normal((4000, 2)).astype(np.float32)
    >>> y = np.where(np.arange(4000) < 2000, X[:, 0] > 0, X[:, 0] < 0)  # the labels are swapped
    >>> model = WindowedSVM(batch_size=100, max_vectors=200, kernel=RBF(1.0)).partial_fit(X, y)
    >>> model.n_batches_, model.score(X[3000:], y[3000:]) > 0.97
    (40, True)
    """

    n_batches_ = Counter("Completed batches.")
    n_waiting_ = Counter("Samples in the current batch.")

    _compiled = WindowedSVMCore
    _param_order = ("window", *RETRAINED)

    window: int = param(3, within(1, MAX_CAPACITY))

    def _own_arrays(self, n_features: int) -> Arrays:
        w, b, lanes = int(self.window), self._batch_size, LANES[self.dtype]
        wide = -(-int(self.max_vectors) // lanes) * lanes
        return [
            ("n_batches", "i8", ()),
            ("n_waiting", "i8", (), (0, b - 1)),
            ("n_support", "i8", (w,), (0, int(self.max_vectors))),
            ("intercept", "f8", (w,)),
            ("model_rows", self.dtype, (w, wide // lanes, n_features, lanes)),
            ("model_bound", "f8", (w, wide)),
            ("model_beta", "f8", (w, wide)),
            ("batch", self.dtype, (b, n_features)),
            ("batch_bound", "f8", (b,)),
        ]

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        views, m = self.core.views, self.core.answering
        n = int(views["n_support"][m])
        return views["model_rows"][m], views["model_beta"][m, :n], float(views["intercept"][m])
