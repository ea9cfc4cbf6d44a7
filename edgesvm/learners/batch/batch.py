"""Learners that hold samples and solve their SVM on demand: BatchSVM, BatchSVR, ReservoirSVM; and
what other learners that solve by SMO share with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import SCRATCH, WORK, Table, parse_bytes, up_to
from edgesvm.contract.counter import Counter
from edgesvm.contract.inputs import Matrix, is_sparse, sparse_rows
from edgesvm.contract.params import (
    among,
    flag,
    not_negative,
    optional,
    param,
    positive,
    size,
    within,
)
from edgesvm.contract.registry import registered
from edgesvm.contract.sparse import SparseRows
from edgesvm.data.sources import is_row_source
from edgesvm.kernels import Linear
from edgesvm.learner import MAX_CAPACITY, exclusive, fits
from edgesvm.learners.batch._store_svm import StoreSVMCore
from edgesvm.learners.batch.constants import LARGEST_TARGET
from edgesvm.learners.kernel_learner import KERNEL, KernelLearner, surveyed
from edgesvm.learners.kinds import Regressor

__all__ = ["BatchSVM", "BatchSVR", "ReservoirSVM"]

BLOCK = 1000  # iterations between two calls of `progress`, and two checks for Ctrl-C
LANES = {"float32": 16, "float64": 8}  # rows of a tile: 64 bytes of each feature
MOST_NONZEROS = (1 << 31) - 1 - 2 * MAX_CAPACITY  # entries are counted in 32 bits
ROW_MULTIPLE = 16  # numbers of a cached kernel row: whole tiles, in either dtype

Arrays = Table
Progress = Callable[[int, float], Any]
Self = TypeVar("Self", bound="StoreSVM")


@dataclass(kw_only=True, eq=False, repr=False)
class SmoLearner(KernelLearner):
    """Base of the learners whose arena ends in `smo_arrays`."""

    shuffles: ClassVar[bool] = False  # their solution has no order, or the last samples are kept

    C: float = param(1.0, positive)
    tol: float = param(1e-3, positive)
    max_iter: int | None = param(None, optional(within(1, 1 << 62)))

    def _used(self, core: Any) -> list[slice]:
        # The cache is zero between solutions: writing it would touch all its pages.
        cache = self._place(core, "cache")
        return [slice(0, cache.start), slice(cache.stop, core.arena.nbytes)]


def smo_arrays(
    n: int,
    n_features: int,
    dtype: str,
    cache: int | str,
    nonzeros: int | None = None,
    *,
    kept: bool = False,
) -> Arrays:
    """The arrays of a solver of at most `n` rows, or of so many with as many `nonzeros`; the cache
    of `cache` bytes comes last: without it each row is a tile. `kept`: between solutions there is a
    gradient, and no order."""
    wide, lanes = padded(n), LANES[dtype]
    tiles = (wide // lanes, n_features, lanes) if cache else (n, n_features, 1)
    rows: Arrays = [("rows", dtype, tiles)]
    return [
        *(rows if nonzeros is None else nonzero_arrays(n, dtype, nonzeros)),
        ("bound", "f8", (n,)),
        ("beta", "f8", (wide,)),
        ("order", "i4", (n,), *([WORK] if kept else [])),
        ("gradient", "f8", (n,), *([] if kept else [WORK])),
        *((name, "f4", (wide,), WORK) for name in ("diagonal", "state", "spare")),
        *((name, "i4", (n,), WORK) for name in ("slot", "owner", "filled")),
        ("used", "i8", (n,), WORK),
        ("point", dtype, (n_features,), SCRATCH),
        ("cache", "f4", (min(parse_bytes(cache) // 8 * 2, max(n, 2) * wide),), WORK),
    ]


def nonzero_arrays(n: int, dtype: str, nonzeros: int, prefix: str = "") -> Arrays:
    """The arrays of at most `n` rows with as many `nonzeros`, see core/nonzeros.pyx."""
    shapes: list[Any] = [
        ("starts", "i8", (n,)),
        ("lengths", "i4", (n,)),
        ("columns", "i4", (nonzeros + n,)),
        ("values", dtype, (nonzeros + n,)),
        ("taken", "i8", (2,)),
    ]
    return [(prefix + name, *rest) for name, *rest in shapes]


def stored_rows(
    views: Mapping[str, np.ndarray], which: slice | np.ndarray, n_features: int, prefix: str = ""
) -> SparseRows:
    """Some rows of `nonzero_arrays`, a copy."""
    starts, lengths = (views[prefix + name][which] for name in ("starts", "lengths"))
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    entries = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths.astype(np.intp))
    values, columns = views[f"{prefix}values"][entries], views[f"{prefix}columns"][entries]
    return SparseRows(values, columns - 1, ends, (len(starts), n_features)).astype(values.dtype)


def padded(n: int) -> int:
    """The next multiple of 16."""
    return -(-int(n) // ROW_MULTIPLE) * ROW_MULTIPLE


def most_rows(cache: int | str) -> int:
    """The length of the longest kernel row such that two fit into the cache."""
    return parse_bytes(cache) // (8 * ROW_MULTIPLE) * ROW_MULTIPLE


def check_cache(cache: int | str, n: int, rows: str) -> None:
    """Refuse a cache without room for two kernel rows of `n` numbers; `rows` describes `n`."""
    least = 8 * padded(n)
    if parse_bytes(cache) < least:
        raise ValueError(
            f"cache={cache!r} is too small: two kernel rows of {rows} numbers take {least:,} bytes"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class StoreSVM(SmoLearner):
    """Base of the learners that store samples and solve on demand; see `BatchSVM`."""

    n_held_ = Counter("Samples in the store.")

    _capacity = "max_samples"
    _compiled = StoreSVMCore

    when_full = "refuse"
    max_nonzeros = cast("int | None", None)  # None: rows are stored dense
    by_plane = False

    max_samples: int = param(1000, within(1, MAX_CAPACITY))
    cache: int | str = "8MiB"
    shrinking: bool = param(True, flag)

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        super()._check_params()
        if not self._keeps_w:
            check_cache(self.cache, self.max_samples, f"max_samples={self.max_samples:,}")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        most = MAX_CAPACITY if self._keeps_w else most_rows(self.cache)
        return 1, max(1, min(MAX_CAPACITY, most))

    @property
    def _keeps_w(self) -> bool:
        """Whether it solves by w alone, without kernel rows."""
        linear = isinstance(self.kernel_for(1), Linear)
        return linear and (self.by_plane or self.max_nonzeros is not None)

    def _arrays(self, n_features: int) -> Arrays:
        w: Arrays = [("w", "f8", (n_features,))] if self._keeps_w else []
        cache = 0 if self._keeps_w else self.cache
        return [
            *((name, "f8", ()) for name in ("intercept", "objective", "gap")),
            ("n_held", "i8", ()),
            ("solved", "i8", (), (0, 1)),
            *((name, "i8", ()) for name in ("n_support", "n_iter")),
            ("converged", "i8", (), (0, 1)),
            *w,
            *smo_arrays(int(self.max_samples), n_features, self.dtype, cache, self.max_nonzeros),
        ]

    @property
    def _most_samples(self) -> int | None:
        return int(self.max_samples) if self.when_full == "refuse" else None

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
        X, y, sample_weight
            As in `Learner.fit`; a weight multiplies the bound of the row's coefficient. A source is
            read twice, first to check that its rows can be stored.
        alpha, progress
            As for ``solve``.

        Raises
        ------
        ValueError
            There are more rows than ``max_samples`` and ``when_full="refuse"``, or a row of a
            source is refused; nothing is reset.
        """
        if is_row_source(X):
            self._fit_source(X, y, sample_weight)
        else:
            self._guard.call(self._check_room, X, sample_weight, empty=True)
            super().fit(X, y, sample_weight)  # type: ignore[arg-type]
        self.solve(alpha=alpha, progress=progress)
        if not self.converged_:
            self._warn_of_an_early_end()
        return self

    def _fit_source(self, X: Any, y: Any, sample_weight: Any) -> None:
        source, _, found = surveyed(
            self,
            X,
            y,
            sample_weight,
            self.kernel_for,
            C=float(self.C),
            largest_target=LARGEST_TARGET if self.regresses else None,
        )
        self._refuse_beyond(found.n_learned)
        self._forget(source.n_features)
        self._learn_chunks(source, found)

    @exclusive
    def partial_fit(
        self: Self,
        X: Matrix,
        y: ArrayLike,
        classes: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """As `Learner.partial_fit`, but rows are only stored. ValueError where there are more than
        room and ``when_full="refuse"``: none is stored."""
        self._guard.call(self._check_room, X, sample_weight, empty=False)
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_room(self, X: Any, sample_weight: Any, *, empty: bool) -> None:
        """Refuse a batch that does not fit, before its first row is stored."""
        if self.when_full != "refuse":
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
        if self.max_nonzeros is not None and sample_weight is None:
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
        room = int(self.max_nonzeros)  # type: ignore[arg-type]
        if new + used > room:
            beside = f" besides the {used:,} stored" if used else ""
            size = 4 + self._dtype.itemsize
            raise ValueError(
                f"{type(self).__name__}: {new:,} non-zeros{beside} take {size * (new + used):,}"
                f" bytes, max_nonzeros={room:,} is {size * room:,}; give a larger max_nonzeros"
            )

    def _refuse_beyond(self, n_rows: int, held: int = 0) -> None:
        if self.when_full == "refuse" and n_rows + held > self.max_samples:
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
            Finite coefficients to start from, in the order of the store; forces a new solution.
            They are clipped to their bounds, and the larger sum of a class, or sign, is scaled
            down.
        progress : callable, optional
            Called as ``progress(n_iter, gap)`` every 1,000 iterations. An exception it raises, or
            Ctrl-C, ends the solver; the stored samples stay.
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
        """Places of the support vectors in the store, ascending; ndarray of shape (n_support,),
        int64."""
        return self._supports("order").astype(np.int64)

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, ndarray of shape (n_support, n_features), a copy; `SparseRows` of a
        learner with ``max_nonzeros``."""
        n_support = int(self._solution("n_support"))
        if self.max_nonzeros is not None:
            return stored_rows(self.core.views, slice(n_support), self.n_features_in_)
        rows = self._solution("rows")
        flat = rows.transpose(0, 2, 1).reshape(-1, rows.shape[1])
        return flat[:n_support].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """y alpha of the support vectors, of a regressor alpha; ndarray of shape (1, n_support)."""
        return self._allocated_sign * self._supports("beta")[None, :]

    @property
    def alpha_(self) -> np.ndarray:
        """Signed coefficients of all stored samples, in their order; ndarray of shape (n_held,)."""
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
        """Whether the gap fell below ``tol``, within ``max_iter``."""
        return bool(self._solution("converged"))


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BatchSVM(StoreSVM):
    """The support vector machine of all stored samples, solved to a tolerance by SMO.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation, multiplied by the sample's weight; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    max_samples : int, default 1000
        Number of samples to store.
    when_full : {"refuse", "oldest"}, default "refuse"
        What happens to a sample when ``max_samples`` are stored. "refuse": an error. "oldest": it
        replaces the oldest, so that the last ``max_samples`` are stored.
    cache : int or str, default "8MiB"
        Bytes for cached kernel rows, at least two rows; never more than the whole matrix.
    shrinking : bool, default True
        Set aside samples that will stay at their bounds (shrinking, as in LIBSVM).
    max_iter : int, optional
        Largest number of iterations of one solution; ``converged_`` says whether it was enough, and
        `fit` warns if not. Default: 1,000,000 or 1,000 ``max_samples``, whichever is larger; 10,000
        ``max_samples`` where an iteration is one coefficient.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Kernel rows are float32, coefficients
        and gradient float64. Where rounding may hide a quarter of ``tol``, the gradient of a
        solution is checked, and decision values are summed, with kernel values in float64.
    max_nonzeros : int, optional
        Store only the non-zeros of the samples, and as many as this in all; a sample that does not
        fit is refused. Sums are over the non-zeros, in float64.
    by_plane : bool, default True
        Solve the linear kernel by dual coordinate descent and decide by w.x, without ``cache``.
        False: as other kernels, if there is no ``max_nonzeros``.

    Notes
    -----
    ``partial_fit`` and ``learn_one`` only store samples. The next decision, solution attribute or
    call of ``solve`` solves; ``fit`` solves at its end. Each solution starts from zero, so the
    model does not depend on earlier decisions; ``fit(alpha=)`` and ``solve(alpha=)`` start
    elsewhere.

    SMO with second-order working sets (Fan, Chen & Lin, JMLR 2005), shrinking as in LIBSVM (Chang &
    Lin 2011). Bytes: see ``plan``; about n_features s + 72 per sample, s = 4 or 8, and the cache.
    With ``max_nonzeros`` 88 + s per sample, 4 + s per non-zero, and the cache; for the linear
    kernel 8 per feature instead.

    Dual coordinate descent with shrinking: Hsieh et al., ICML 2008; the intercept is free, by the
    method of multipliers. With a C of 100 and more and few features it may end unconverged.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BatchSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = BatchSVM(max_samples=4, kernel=RBF(2.0), C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.converged_
    True
    """

    _param_order = (
        *("C", *KERNEL, "tol", "max_samples", "when_full"),
        *("cache", "shrinking", "max_iter", "dtype", "max_nonzeros", "by_plane"),
    )
    _absent: ClassVar[Mapping[str, Any]] = {"max_nonzeros": None, "by_plane": False}

    when_full: str = param("refuse", among("refuse", "oldest"))
    max_nonzeros: int | None = size(None, optional(within(1, MOST_NONZEROS)))
    by_plane: bool = size(True, flag)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BatchSVR(Regressor, StoreSVM):
    """Support vector regression of all stored samples, solved to a tolerance by SMO.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of an error beyond epsilon, multiplied by the sample's weight; > 0.
    epsilon : float, default 0.1
        Errors up to it cost nothing; >= 0, in units of the target.
    tol : float, default 1e-3
        The gap, in units of the target, at which the solver stops; > 0.
    max_samples, when_full, cache, shrinking, max_iter, dtype, kernel, gamma, degree, coef0
        As for `BatchSVM`.

    Notes
    -----
    Stores and solves as `BatchSVM` does, on demand. Targets are taken as they are: scale them, or
    choose C, epsilon and tol for them. A sample takes 8 bytes more than in `BatchSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BatchSVR
    >>> X = np.linspace(0, 6, 61, dtype=np.float32)[:, None]
    >>> model = BatchSVR(max_samples=61, kernel=RBF(0.5), C=100.0, epsilon=0.01)
    >>> model.fit(X, np.sin(X[:, 0])).predict(X[[10, 30]]).round(1)
    array([0.8, 0.1])
    >>> model.converged_
    True
    """

    _param_order = (
        *("C", "epsilon", *KERNEL, "tol", "max_samples", "when_full"),
        *("cache", "shrinking", "max_iter", "dtype"),
    )

    epsilon: float = param(0.1, not_negative)
    when_full: str = param("refuse", among("refuse", "oldest"))

    def _arrays(self, n_features: int) -> Arrays:
        return [
            ("targets", "f8", (int(self.max_samples),), up_to(LARGEST_TARGET)),
            *super()._arrays(n_features),
        ]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class ReservoirSVM(StoreSVM):
    """The SVM of a uniform random sample, of fixed size, of all samples seen.

    After n samples each of them is stored with probability ``max_samples / n`` (Vitter 1985,
    algorithm R).

    Parameters
    ----------
    max_samples : int, default 100
        Number of samples to store, B.
    C, kernel, gamma, degree, coef0, tol, cache, shrinking, max_iter, dtype
        As for `BatchSVM`.
    seed : int, default 0
        Seed of the random draws, 0 to 2**32 - 1; their state is in the arena.

    Notes
    -----
    Solved on demand, like `BatchSVM`. Samples of weight zero do not take part in the draw; any
    other weight changes the coefficient's bound, not the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import ReservoirSVM
    >>> X = np.random.default_rng(0).standard_normal((500, 2)).astype(np.float32)
    >>> model = ReservoirSVM(max_samples=50).partial_fit(X, X[:, 0] > 0)
    >>> model.n_seen_, model.n_held_
    (500, 50)
    """

    _param_order = (
        *("max_samples", "C", *KERNEL, "tol"),
        *("cache", "shrinking", "max_iter", "seed", "dtype"),
    )

    max_samples: int = param(100, within(1, MAX_CAPACITY))
    seed: int = param(0, within(0, (1 << 32) - 1))

    when_full = "random"

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"when_full": self.when_full}

    def _arrays(self, n_features: int) -> Arrays:
        return [("rng", "u8", (4,)), *super()._arrays(n_features)]
