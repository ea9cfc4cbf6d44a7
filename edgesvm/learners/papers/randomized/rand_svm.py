"""RandSVM, and how many support vectors keep the margin (Krishnan, Bhattacharyya & Hariharan, NIPS
2007)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import MOST_COUNTED, WORK
from edgesvm.contract.core import COMMON_ARRAYS
from edgesvm.contract.counter import Counter
from edgesvm.contract.engine import of_engine
from edgesvm.contract.params import among, flag, optional, positive, share, size, whole, within
from edgesvm.contract.registry import registered
from edgesvm.contract.sparse import SparseRows
from edgesvm.core.status import Status
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.data.survey import unknown_label
from edgesvm.errors import refusal
from edgesvm.learner import MAX_CAPACITY, Learner, Place, exclusive, fits
from edgesvm.learners.batch.batch import Arrays, BatchSVM, nonzero_arrays, stored_rows
from edgesvm.learners.kernel_learner import surveyed
from edgesvm.learners.papers.randomized._rand_svm import WorkingSet
from edgesvm.learners.wrapper import Wrapper

__all__ = ["RandSVM", "estimated_support", "support_for_margin"]

MOST = MOST_COUNTED  # a count in an arena
STOP_REASONS = (
    None,
    "optimal",
    "support_vectors",
    "sample_full",
    "max_passes",
    "unsolved",
)  # by index
SCRATCH = ("before", "best_numbers", "best_alpha", "decisions", "draws")  # and what is drawn
COUNTS = ("k", "sample_size", "n_passes", "n_violators", "n_fitted")
SOLVER_INTERFACE = (
    *("C", "tol", "kernel", "gamma", "degree", "coef0"),
    *("solve", "support_", "alpha_", "objective_", "converged_"),
)

Progress = Callable[[int, int, int], Any]
Self = TypeVar("Self", bound="RandSVM")


def at_least_one(name: str, value: object) -> float:
    if positive(name, value) < 1.0:
        raise ValueError(
            f"{name}={value!r}: give a number >= 1, so that a sample holds at least k rows"
        )
    return float(value)  # type: ignore[arg-type]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class RandSVM(Wrapper):
    """The SVM of data of any length, found by solving random samples.

    A sample is solved. The rest of the data is read in chunks, and some rows violate the solution.
    The next sample is the support vectors and as many random violators as fit. It stops when no row
    violates, or when there are as many support vectors as the theory expects.

    Parameters
    ----------
    solver : Learner, default BatchSVM(max_samples=16384, cache="64MiB")
        `BatchSVM`, or a learner with its interface. Its ``max_samples`` is the largest size of a
        sample. Only its parameters are used; the object itself is not changed.
    epsilon, delta : float, default 0.2, 0.9
        Parameters of `estimated_support`, both between 0 and 1. What equation 4 promises holds with
        probability 1 - delta.
    separable : bool, default False
        Whether the classes are linearly separable; if so, half as many support vectors are
        expected.
    k : int, optional
        The number of support vectors to stop at, instead of equation 4; such as
        `edgesvm.learners.papers.randomized.rand_svm.support_for_margin` (Theorems 1 to 3).
    c : float, default 2.0
        A sample has c k rows, if the solver has room for them; >= 1.
    max_passes : int, default 100
        Largest number of passes that search for violators.
    seed : int, default 0
        Seed of the random draws, 0 to 2**32 - 1.
    returns : {"best", "last"}, default "best"
        The solution to return if none is optimal. "best": the one with the smallest primal
        objective over all the data. "last": as in the paper, the last, which can be far worse than
        the first.

    Notes
    -----
    Algorithm 1 and equation 4 of Krishnan, Bhattacharyya & Hariharan (NIPS 2007). What the paper
    leaves open is decided as follows:

    * Equation 4 is for rows of unit norm, k(x, x) = 1 in the space of the kernel: true of RBF, of
      others if the rows are scaled so. `fit` warns where k(x, x) of the first sample's longest row
      is more than 1 % off; such data need ``k``.
    * Equation 4 can require more rows than there is room for, or than there are. A sample then has
      ``max_samples`` rows, and `fit` stops when all of them are support vectors ("sample_full").
    * A row violates if y f(x) < 1 by more than the solver's ``tol``.
    * A sample of one class has no support vectors; half of it is kept. Otherwise the next sample
      would consist of the other class alone, and so on.
    * Each solution starts from the coefficients of the previous one.
    * The solution of support vectors and violators can be far worse than the first. Each pass adds
      up the loss over all the data, for ``returns="best"``.

    Bytes: the solver's, plus n_features s + 49 for each of its ``max_samples``, s = 4 or 8; with
    ``max_nonzeros`` in the solver, instead of n_features s 16 + s, and 4 + s for each non-zero. The
    data are read once to check and count the rows, once for the first sample, once per pass, and
    once to return to a better solution. Besides the plan, a chunk of 1,024 rows is in memory.

    ``partial_fit`` and ``learn_one`` are the solver's: there is no second pass over the data.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BatchSVM, RandSVM
    >>> X = np.random.default_rng(0).uniform(0, 4, (20_000, 2)).astype(np.float32)
    >>> y = np.floor(X).sum(axis=1) % 2 == 0
    >>> model = RandSVM(solver=BatchSVM(max_samples=500, C=100.0, kernel=RBF(2.0))).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    @classmethod
    def of_paper(cls, **params: Any) -> RandSVM:
        """The learner as printed: the last solution is returned, not the best."""
        return cls(**{"returns": "last"} | params)

    k_ = Counter("The number of support vectors at which `fit` stops.")
    sample_size_ = Counter("Rows of a sample, r: the smallest of c k, the room and all rows.")
    n_passes_ = Counter("Passes that searched for violators.")
    n_violators_ = Counter("Rows outside the sample that violate the solution.")

    _parameter = "solver"
    _passes_on = False
    _fits_in_passes = True
    _expected = "a learner with BatchSVM's interface, such as BatchSVM()"

    solver: Learner | None = None
    epsilon: float = size(0.2, share)
    delta: float = size(0.9, share)
    separable: bool = size(False, flag)
    k: int | None = size(None, optional(within(1, MOST)))
    c: float = size(2.0, at_least_one)
    max_passes: int = size(100, within(1, MOST))
    seed: int = size(0, within(0, (1 << 32) - 1))
    returns: str = size("best", among("best", "last"))

    # -- the solver and the parameters -------------------------------------------------------------

    @staticmethod
    def _default() -> Learner:
        return BatchSVM(max_samples=16384, cache="64MiB")

    _first_default = _default

    def _wraps(self, inner: Learner) -> bool:
        return all(
            hasattr(type(inner), name) or name in inner._param_names() for name in SOLVER_INTERFACE
        )

    # -- memory ------------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        """Rows the solver can store."""
        inner = self.inner
        return whole(inner._capacity, getattr(inner, inner._capacity), 1, MAX_CAPACITY)

    @property
    def _nonzeros(self) -> int | None:
        """Non-zeros that the solver stores; None: its rows are dense."""
        nonzeros: int | None = getattr(self.inner, "max_nonzeros", None)
        return nonzeros

    def _arrays(self, n_features: int) -> Arrays:
        room, nonzeros = self._room, self._nonzeros
        rows: Arrays = [("drawn_rows", self.dtype, (room, n_features))]
        if nonzeros is not None:
            rows = nonzero_arrays(room, self.dtype, nonzeros, "drawn_")
        of_fit: Arrays = [
            ("draws", "u8", (4,)),
            *rows,
            ("drawn_slots", "i1", (room,)),
            ("drawn_weights", "f8", (room,)),
            ("drawn_numbers", "i8", (room,)),
            ("before", "i8", (room,)),
            ("best_numbers", "i8", (room,)),
            ("best_alpha", "f8", (room,)),
            ("decisions", "f8", (self._chunk_rows,)),
        ]
        return [
            *((name, "i8", ()) for name in COUNTS),
            ("stop", "i8", (), (0, len(STOP_REASONS) - 1)),
            ("primal", "f8", ()),
            *((*line, WORK) for line in of_fit),
            *self.inner._arrays(n_features),
        ]

    def _build(self, engine: str, place: Place) -> Any:
        return self.inner._build(engine, place)  # on the same memory, under its own names

    def _reader(self, core: Any) -> Any:
        return self.inner._reader(core)

    def _used(self, core: Any) -> list[slice]:
        used: list[slice] = self.inner._used(core)
        return used

    @property
    def solver_(self) -> Any:
        """The solver in this learner's memory, for ``solver_.alpha_`` and the like."""
        return self._inner_at_work(self.core)

    # -- learning ----------------------------------------------------------------------------------

    @fits
    def fit(  # type: ignore[override]
        self: Self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Reset, then run Algorithm 1.

        Parameters
        ----------
        X, y, sample_weight
            As in `Learner.fit`; a weight multiplies the bound of the row's coefficient.
        progress : callable, optional
            Called as ``progress(n_passes, n_support, n_violators)`` after each pass. An exception
            it raises, or Ctrl-C, ends the passes; the last sample and its solution stay.
        """
        inner, rows = self.inner, self._chunk_rows
        source, labels, found = surveyed(
            self, X, y, sample_weight, inner.kernel_for, rows=rows, C=inner.C
        )
        self._start_over(source.n_features, labels)
        try:
            self._sample_and_solve(source, found.n_learned, progress)
        finally:
            # the samples seen are the rows of the data, not those of the last sample
            views = self.core.views
            if views["n_seen"]:
                views["n_seen"][...] = found.n_rows
                self._note_weights(found)
            if views["stop"]:
                views["n_fitted"][...] = found.n_rows
            for array in _scratch(views):
                array[...] = 0
        return self

    @property
    def _chunk_rows(self) -> int:
        return min(self._room, CHUNK_ROWS)

    def _sample_and_solve(self, source: Source, n_rows: int, progress: Progress | None) -> None:
        views = self.core.views
        k = self.k or estimated_support(
            n_rows, self.epsilon, self.delta, separable=bool(self.separable)
        )
        size = min(math.ceil(min(self.c * k, 1e18)), self._room, n_rows)
        views["k"][...], views["sample_size"][...] = k, size
        working = of_engine(WorkingSet, self._engine)(views, int(self.seed))
        self._offer(source, working, self._keep(working, np.empty(0, np.int64), size))
        if self.k is None:
            self._warn_unless_of_unit_norm(working.n_rows)
        self._solve(working, None)
        best = _Best(views)
        while True:
            places, alpha = self._support(working)
            loss = self._offer(source, working, self._keep(working, places, size), self.solver_)
            views["n_passes"][...] += 1
            primal = self._primal(loss)
            best.offer(primal, working.n_offered, views["drawn_numbers"], alpha)
            if progress is not None:
                n_support = len(self.solver_.support_)
                self._guard.call(progress, self.n_passes_, n_support, working.n_offered)
            stop = self._stop(working.n_offered)
            if stop is not None:
                break
            self._solve(working, alpha)
        n_violators = working.n_offered
        if best.primal < primal and stop != "optimal" and self.returns == "best":
            primal, n_violators = self._recall(source, working, best)
        views["primal"][...], views["n_violators"][...] = primal, n_violators
        views["stop"][...] = STOP_REASONS.index(stop)

    def _keep(self, working: Any, places: np.ndarray, size: int) -> np.ndarray:
        """Keep the rows at these places, and prepare to draw up to `size`; return the numbers of
        all rows before, ascending."""
        views, n = self.core.views, working.n_rows
        before: np.ndarray = views["before"][:n]
        before[:] = views["drawn_numbers"][:n]
        before.sort()
        working.keep(places, size)
        return before

    def _offer(
        self,
        source: Source,
        working: Any,
        known: np.ndarray,
        solver: Any = None,
        *,
        recalling: bool = False,
    ) -> float:
        """One pass: draw from all rows, or from those that violate the solution, but for the known
        ones; with `recalling`, those alone. Returns the sum of weight max(0, 1 - y f), which is
        exact, so that it does not depend on the order of the rows."""
        return math.fsum(self._losses(source, working, known, solver, recalling))

    def _losses(
        self, source: Source, working: Any, known: np.ndarray, solver: Any, recalling: bool
    ) -> Iterator[float]:
        core, owner, dtype = self.core, type(self).__name__, self.dtype
        for chunk in source.chunks(self._chunk_rows, self._dtype):
            slots, n_known = self._guard.call(core.labels.encode, chunk.y)
            if n_known < len(chunk.y):
                raise unknown_label(owner, chunk, n_known, core.labels, dtype)
            which = np.isin(chunk.first + np.arange(len(chunk.X)), known) == recalling
            if chunk.weight is not None:
                which &= chunk.weight > 0.0
            if solver is not None:
                f = core.views["decisions"][: len(chunk.X)]
                _, row, status = core.decide_many(chunk.X, f)
                if status > Status.CHANGED:
                    sample = f"{owner}: row {chunk.first + row}"
                    raise refusal(status, sample, dtype, core.labels.in_slots)
                f *= np.where(slots == 1, core.labels.sign, -core.labels.sign)
                which &= f < 1.0 - float(solver.tol)
                missing = np.maximum(1.0 - f, 0.0)
                yield from missing if chunk.weight is None else chunk.weight * missing
            at = np.flatnonzero(which).astype(np.int64)
            working.offer(chunk.first, chunk.X, slots, chunk.weight, at)

    def _drawn(self, first: int, last: int) -> Any:
        """Rows of the working set."""
        views = self.core.views
        if self._nonzeros is None:
            return views["drawn_rows"][first:last]
        return stored_rows(views, slice(first, last), self.core.n_features, "drawn_")

    def _warn_unless_of_unit_norm(self, n: int) -> None:
        """Of rows longer or shorter than 1 equation 4 says nothing; n: those drawn."""
        kernel, rows = self.inner.kernel_for(self.core.n_features), self._drawn(0, n)
        if isinstance(rows, SparseRows):
            squares = rows.astype(np.float64).squares()
        else:
            squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        longest = float(kernel.of_square(squares).max())
        if abs(longest - 1.0) > 0.01:
            warnings.warn(
                f"{type(self).__name__}: equation 4 is for rows of unit norm, and the longest has"
                f" k(x, x) = {longest:.4g}; scale the rows, or give k",
                stacklevel=5,
            )

    def _stop(self, n_violators: int) -> str | None:
        """Line 4: why to stop; None to go on."""
        n_support = len(self.solver_.support_)
        if n_violators == 0:
            return "optimal" if self.solver_.converged_ else "unsolved"
        if n_support >= self.k_:
            return "support_vectors"
        if n_support >= self.sample_size_:
            return "sample_full"
        return "max_passes" if self.n_passes_ >= self.max_passes else None

    def _primal(self, loss: float) -> float:
        """C-SVM-1: 1/2 |w|^2 + C loss, of the current solution."""
        solver = self.solver_
        return float(solver.objective_ + solver.alpha_.sum() + solver.C * loss)

    def _recall(self, source: Source, working: Any, best: _Best) -> tuple[float, int]:
        """Return to the best solution: solve its support vectors again from its coefficients."""
        numbers, alpha = best.solution()
        working.keep(np.empty(0, np.int64), len(numbers))
        self._offer(source, working, numbers, recalling=True)
        if working.n_rows < len(numbers):
            raise ValueError(f"{type(self).__name__}: the source changed between two passes")
        self._solve(working, alpha)
        if np.allclose(self.solver_.alpha_, alpha, rtol=1e-12, atol=0.0):
            return best.primal, best.n_violators
        known = self._keep(working, np.arange(working.n_rows), working.n_rows)
        loss = self._offer(source, working, known, self.solver_)
        return self._primal(loss), working.n_offered

    def _support(self, working: Any) -> tuple[np.ndarray, np.ndarray]:
        """Lines 5 and 6: places of the support vectors, which are kept, and coefficients."""
        solver = self.solver_
        places = np.sort(solver.support_)
        if len(places) == 0:
            places = np.arange(working.n_rows // 2)
        return places, solver.alpha_[places]

    def _solve(self, working: Any, alpha: np.ndarray | None) -> None:
        """Line 6: solve the working set, starting from the coefficients of its first rows."""
        core, m = self.core, working.n_rows
        solvers = [name for name, *_ in (*COMMON_ARRAYS, *self.inner._arrays(core.n_features))]
        for name in solvers:
            if core.views[name].any():
                core.views[name][...] = 0
        self._adopt(self.plan(core.n_features), core.arena, core.labels, core.n_features)
        core = self.core
        v = core.views
        core.bound_weights(False)  # `survey` has compared all of them
        n_learned, status = 0, Status.UNCHANGED
        while n_learned < m and status <= Status.CHANGED:
            some = slice(n_learned, min(n_learned + CHUNK_ROWS, m) if self._nonzeros else m)
            n, status = core.learn_many(
                self._drawn(some.start, some.stop), v["drawn_slots"][some], v["drawn_weights"][some]
            )
            n_learned += n
        core.bound_weights("mean_weight" in v)
        if status > Status.CHANGED:
            sample = f"{type(self).__name__}: row {v['drawn_numbers'][n_learned]}"
            raise refusal(status, sample, self.dtype, core.labels.in_slots)
        start = None
        if alpha is not None:
            start = np.zeros(m)
            start[: len(alpha)] = alpha
        self.solver_.solve(alpha=start)

    @exclusive
    def solve(self: Self) -> Self:
        """Solve for the samples in the solver's store, if that is not done."""
        self.solver_.solve()
        return self

    @property
    def _fitted(self) -> Any:
        state = self._state
        if state is None:
            self._raise_not_fitted()
        state.core.solve_if_due()
        return state.core

    # -- the solution ------------------------------------------------------------------------------

    @property
    def _solved(self) -> Any:
        if not self.is_fitted:
            self._raise_not_fitted()
        return self.solver_

    def _count(self, name: str) -> int:
        return int(self.core.views[name])

    @property
    def stop_(self) -> str | None:
        """Why `fit` stopped. "optimal": no row violates. "unsolved": that, but the solver did not
        converge. "support_vectors": there are ``k_`` or more. "sample_full": every row of the
        sample is one. "max_passes". None if `fit` did not finish, or other samples were learned
        since."""
        return (
            STOP_REASONS[self._count("stop")] if self._count("n_fitted") == self.n_seen_ else None
        )

    @property
    def converged_(self) -> bool:
        """Whether the solution is that of all the data, within the solver's tolerance."""
        return self.stop_ == "optimal" and bool(self.solver_.converged_)

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, ndarray of shape (n_support, n_features), a copy; `SparseRows` of a
        solver with ``max_nonzeros``."""
        return self._solved.support_vectors_

    @property
    def dual_coef_(self) -> np.ndarray:
        """y alpha of the support vectors, ndarray of shape (1, n_support), float64."""
        return self._solved.dual_coef_

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        return self._solved.intercept_

    @property
    def objective_(self) -> float:
        """The dual objective of the sample; that of all the data if ``converged_``."""
        return self._solved.objective_

    @property
    def primal_objective_(self) -> float:
        """1/2 |w|^2 + C loss over all the data, of the solution of `fit`."""
        return float(self.core.views["primal"])


def _scratch(views: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The arrays that are zero outside `fit`."""
    return [a for name, a in views.items() if name in SCRATCH or name.startswith("drawn_")]


class _Best:
    """Of the solutions so far, the one with the smallest primal objective: the numbers of its rows
    and their coefficients, in the arena."""

    def __init__(self, views: dict[str, np.ndarray]) -> None:
        self._numbers, self._alpha = views["best_numbers"], views["best_alpha"]
        self.primal, self.n_violators, self._n = math.inf, 0, 0

    def offer(
        self, primal: float, n_violators: int, numbers: np.ndarray, alpha: np.ndarray
    ) -> None:
        if primal < self.primal:
            self.primal, self.n_violators, self._n = primal, n_violators, len(alpha)
            order = np.argsort(numbers[: self._n])
            self._numbers[: self._n] = numbers[order]
            self._alpha[: self._n] = alpha[order]

    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        return self._numbers[: self._n], self._alpha[: self._n]


def estimated_support(
    n_samples: int, epsilon: float = 0.2, delta: float = 0.9, *, separable: bool = False
) -> int:
    """k of equation 4: ceil(32 / epsilon^2 log(4 n / delta)), or with 16 if the classes are
    linearly separable.

    So many support vectors keep the margin with a probability of at least 1 - delta, if the rows
    are of unit norm in the space of the kernel, k(x, x) = 1. For others see `support_for_margin`.
    `epsilon` is the allowed distortion of norms, 0 < epsilon < 1, and 0 < delta < 1.
    """
    factor = 16.0 if separable else 32.0
    return _count(factor * math.log(4.0 * n_samples / delta) / max(epsilon * epsilon, 1e-300))


def support_for_margin(
    n_samples: int,
    margin: float,
    radius: float = 1.0,
    *,
    loss: float = 0.2,
    delta: float = 0.9,
    n_removed: int = 0,
) -> int:
    """k of Theorems 1 to 3, for data whose margin is known: ``RandSVM(k=support_for_margin(...))``.

        ceil(8 / loss^2 (1 + (1 + radius^2) / (2 margin))^2 log(4 n / delta) + n_removed)

    `margin`, > 0, is l*, 1 / |w|; `radius`, > 0, is L, the largest norm of a point, in the space of
    the kernel; `loss` is the paper's gamma, the share of the margin that may be lost; `n_removed`
    points are those without which the data are separable. ValueError for others.

    Examples
    --------
    >>> from edgesvm.learners.papers.randomized.rand_svm import support_for_margin
    >>> support_for_margin(100_000, margin=0.5)
    23409
    """
    whole("n_samples", n_samples, 1, MOST)
    whole("n_removed", n_removed, 0, MOST)
    share("loss", loss)
    share("delta", delta)
    # equation 1: what the norms may lose for the margin to lose `loss`
    factor = 1.0 + (1.0 + positive("radius", radius) ** 2) / (2.0 * positive("margin", margin))
    epsilon = loss / factor
    return _count(8.0 * math.log(4.0 * n_samples / delta) / max(epsilon**2, 1e-300) + n_removed)


def _count(k: float) -> int:
    return math.ceil(min(k, float(MOST)))
