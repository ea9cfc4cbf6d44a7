"""Base of CoreVectorMachine and BallVectorMachine: parameters, memory, the passes over data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import parse_bytes
from edgesvm.contract.counter import Counter
from edgesvm.contract.labels import Labels
from edgesvm.contract.params import flag, positive, whole
from edgesvm.contract.sparse import SparseRows
from edgesvm.data.rows import Rows
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.data.survey import Surveyed, survey
from edgesvm.kernels import LARGEST_KERNEL, RBF, Kernel, Linear, Polynomial
from edgesvm.learner import MAX_CAPACITY, fits
from edgesvm.learners.batch.batch import (
    LANES,
    MOST_NONZEROS,
    Arrays,
    check_cache,
    most_rows,
    nonzero_arrays,
    padded,
    stored_rows,
)
from edgesvm.learners.kernel_learner import KERNEL, KernelLearner

NEAR = 8  # times n_probes: rows recorded in a pass
GEOMETRY = ("epsilon", "C", *KERNEL, "normalize", "max_core", "n_probes")  # in this order in a
EFFORT = ("cache", "max_iter", "seed", "dtype", "margin_tol")  # snapshot, a machine's own between
FETCHED = 4  # blocks of rows that were drawn
CACHED_ROWS = 16  # if ``cache`` is not given
LARGEST_CONSTANT = 1e15  # beside the features of a sample of a normalised kernel

Progress = Callable[[int, int, float], Any]
Self = TypeVar("Self", bound="EnclosingMachine")


class Data(Protocol):
    """Rows that lie somewhere, as `EnclosingMachine` reads them.

    A chunk is X, slots (int8), weights (float64, or None), numbers of the rows (int64).

    Attributes
    ----------
    n_features : int
    n_passes : int
    reads_all : bool
        Whether `all` gives every row, and not only those that may be outside.
    """

    n_features: int
    n_passes: int
    reads_all: bool

    def survey(self, labels: Labels) -> Surveyed:
        """Check all rows, and put their labels into `labels`."""
        ...

    def drawn(self) -> Iterator[Any]:
        """Chunks of rows without end, continuing from the last call."""
        ...

    def all(self) -> Iterator[Any]:
        """One pass: chunks of rows among which one is outside the ball if any is."""
        ...

    def numbered(self, numbers: np.ndarray) -> Iterator[Any]:
        """Chunks with the rows of these numbers, ascending, which the last pass came across; there
        may be others among them."""
        ...


@dataclass(kw_only=True, eq=False, repr=False)
class EnclosingMachine(KernelLearner):
    """Base of the learners that enclose all samples by a ball; see `BallVectorMachine`."""

    _capacity = "max_core"
    _fits_in_passes = True
    _finer: ClassVar[float] = 0.5  # what epsilon is multiplied by from scale to scale
    _absent: ClassVar[dict[str, Any]] = {"margin_tol": None, "max_nonzeros": None}

    epsilon: float = 1e-4
    margin_tol: float | None = 0.1
    normalize: bool | str = False
    max_core: int = 1000
    n_probes: int = 59
    cache: int | str | None = None
    max_iter: int = 10_000_000
    seed: int = 0
    max_nonzeros: int | None = None

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        if positive("epsilon", self.epsilon) >= 1.0:
            raise ValueError(f"epsilon={self.epsilon!r}: give a number between 0 and 1")
        if self.margin_tol is not None and positive("margin_tol", self.margin_tol) >= 1.0:
            raise ValueError(
                f"margin_tol={self.margin_tol!r}: give a number between 0 and 1, or None"
            )
        positive("C", self.C)
        whole("max_core", self.max_core, 2, MAX_CAPACITY)
        whole("n_probes", self.n_probes, 1, 1 << 16)
        whole("max_iter", self.max_iter, 1, 10**12)
        whole("seed", self.seed, 0, (1 << 32) - 1)
        if self.max_nonzeros is not None:
            whole("max_nonzeros", self.max_nonzeros, 2, MOST_NONZEROS)
        if self.normalize != "kernel":
            flag("normalize", self.normalize)
        kernel = self.kernel_for(1)
        if not isinstance(kernel, RBF) and not self.normalize:
            raise ValueError(
                f"kernel={self.kernel!r}: k(x, x) must be the same for all x; use an RBF kernel,"
                " normalize='kernel', which divides k(x, z) by sqrt(k(x, x) k(z, z)), or"
                " normalize=True, which scales every row to unit norm"
            )
        seen, constant = self._seen(kernel)
        if not self._self_kernel(seen) <= LARGEST_KERNEL:
            raise ValueError(f"kernel={kernel!r}: k(x, x) of a row of unit norm is too large")
        if not constant <= LARGEST_CONSTANT:
            raise ValueError(f"kernel={kernel!r}: coef0 / gamma is too large to normalise it")
        if self.cache is not None:
            check_cache(self.cache, self.max_core, f"max_core={self.max_core:,}")

    def _seen(self, kernel: Kernel) -> tuple[Kernel, float]:
        """The kernel of points, and the constant that follows the features of a sample in its
        point; 0: there is none."""
        if self.normalize != "kernel" or not isinstance(kernel, Polynomial):
            return kernel, 0.0
        return Polynomial(kernel.degree, 1.0, 0.0), math.sqrt(kernel.coef0 / kernel.gamma)

    def _scales_points(self, kernel: Kernel) -> bool:
        """Whether points are scaled to unit norm; RBF is normalised as it is."""
        return bool(self.normalize) and (self.normalize != "kernel" or not isinstance(kernel, RBF))

    def _width(self, n_features: int) -> int:
        """Features of a point"""
        return n_features + (self._seen(self.kernel_for(n_features))[1] > 0.0)

    @staticmethod
    def _self_kernel(kernel: Kernel) -> float:
        """k(x, x), for a row of unit norm if the kernel depends on it."""
        if isinstance(kernel, RBF):
            return 1.0
        with np.errstate(over="ignore"):
            return float(kernel.of_square(np.ones(1))[0])

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        if self.cache is None:
            return 2, MAX_CAPACITY
        return 2, max(2, min(MAX_CAPACITY, most_rows(self.cache)))

    def _arrays(self, n_features: int) -> Arrays:
        n, lanes = int(self.max_core), LANES[self.dtype]
        wide, n_probes = padded(n), min(int(self.n_probes), n)
        width = self._width(n_features)
        cache = CACHED_ROWS * wide if self.cache is None else parse_bytes(self.cache) // 8 * 2
        rows: Arrays = [("rows", self.dtype, (wide // lanes, width, lanes))]
        block: Arrays = [("block_rows", self.dtype, (padded(n_probes) // lanes, width, lanes))]
        if self.max_nonzeros is not None:
            rows, block = nonzero_arrays(n + n_probes, self.dtype, int(self.max_nonzeros)), []
            if isinstance(self.kernel_for(1), Linear):
                rows = [("w", "f8", (n_features,)), *rows]
        return [
            *((name, "i8", ()) for name in ("n_core", "n_iter", "n_given_up", "converged")),
            *((name, "f8", ()) for name in ("square", "intercept")),
            *self._own_arrays(n),
            *rows,
            ("beta", "f8", (wide,)),
            *((name, "f8", (n,)) for name in ("sign", "own")),
            ("number", "i8", (n,)),
            *block,
            *((f"block_{name}", "f8", (n_probes,)) for name in ("f", "sign", "own")),
            ("block_number", "i8", (n_probes,)),
            ("block_row", "f4", (padded(n_probes),)),
            ("near_margin", "f8", (NEAR * n_probes,)),
            ("near_number", "i8", (NEAR * n_probes,)),
            *((name, "i4", (n,)) for name in ("slot", "owner", "filled")),
            ("used", "i8", (n,)),
            ("point", self.dtype, (width,)),
            ("cache", "f4", (min(cache, max(n, 2) * wide),)),  # the whole matrix is enough
        ]

    def _own_arrays(self, n: int) -> Arrays:
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        kernel, constant = self._seen(self.kernel_for(n_features))
        epsilon, margin_tol = self._tolerance
        return {
            "C": self._penalty,
            "kernel": kernel,
            "normalize": self._scales_points(kernel),
            "width": self._width(n_features),
            "constant": constant,
            "epsilon": epsilon,
            "margin_tol": margin_tol,
            "max_core": int(self.max_core),
            "max_iter": int(self.max_iter),
            "kappa": self._self_kernel(kernel) + 1.0 + 1.0 / self._penalty,
        }

    def _used(self, core: Any) -> list[slice]:
        # The cache and the tiles behind the core set are zero between samples: writing them would
        # touch all their pages.
        cache = self._place(core, "cache")
        if self.max_nonzeros is not None:
            return [slice(0, cache.start), slice(cache.stop, core.arena.nbytes)]
        rows, tiles = self._place(core, "rows"), core.views["rows"]
        n_used = -(-int(core.views["n_core"]) // tiles.shape[2])
        return [
            slice(0, rows.start + tiles[:n_used].nbytes),
            slice(rows.stop, cache.start),
            slice(cache.stop, core.arena.nbytes),
        ]

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
        """Reset, then enclose all rows.

        Parameters
        ----------
        X : array, np.memmap, CSR matrix of shape (n_samples, n_features), or a source of chunks
            A source, such as a `Recording`, has its own labels. Rows of an array are first drawn at
            random, those of a source are read in order.
        y : array of shape (n_samples,), labels
        sample_weight : array of shape (n_samples,), float64, optional
            C times this is the row's penalty; rows of weight zero are skipped.
        progress : callable, optional
            Called as ``progress(n_passes, n_core, epsilon)`` after each chunk. An exception it
            raises, or Ctrl-C, ends the passes; the ball stays as it is then.

        Raises
        ------
        ValueError
            As for any learner; nothing is reset.
        """
        source = self._guard.call(
            Source, self._closed(X), y, sample_weight, owner=type(self).__name__
        )
        self._fit(_Data(source, self), self._fresh_labels(), progress)
        if limit := self._limit_reached:
            self._warn_of_an_early_end(limit)
        return self

    def _fit(self, data: Data, labels: Labels, progress: Progress | None) -> None:
        self.plan(data.n_features)
        found = self._guard.call(data.survey, labels)
        self._check_survey(found)
        self._start_over(data.n_features, labels)
        core = self.core
        core.begin(int(self.seed))
        try:
            if data.reads_all and self._begins_with_all(found):
                core.views["converged"][...] = self._enclose_all(data, progress)
            else:
                core.views["converged"][...] = self._enclose(data, progress)
        finally:
            core.allow(*self._tolerance)
            core.end()
            if core.views["n_core"]:
                core.views["n_seen"][...] = found.n_rows
                core.views["n_per_class"][...] = found.per_class
                core.views["n_updates"][...] = core.views["n_core"]
                self._set_mean_weight(found.mean_weight)

    def _check_survey(self, found: Surveyed) -> None:
        """ValueError for more rows than can be learned."""

    @property
    def _limit_reached(self) -> str | None:
        """The parameter that ended `fit` before every row was inside; None if all are."""
        if self.enclosed_:
            return None
        if not self.core.is_full:
            return "max_iter"
        return "max_core" if self.n_core_ == self.max_core else "max_nonzeros"

    @property
    def _survey_options(self) -> dict[str, Any]:
        """What `survey` is to check rows for."""
        return {
            "owner": type(self).__name__,
            "dtype": self.dtype,
            "C": self._penalty,
            "bounded": not self._is_part,
            "max_nonzeros": self.max_nonzeros,
        }

    def _begins_with_all(self, found: Surveyed) -> bool:
        """Whether the rows are the first core set, all of them."""
        return False

    def _enclose_all(self, data: Data, progress: Progress | None) -> bool:
        """Algorithm 1 from a core set of all rows: one solution, and none is outside."""
        core = self.core
        self._offer(data, data.all(), progress, unseen=True)
        self._begin(data)
        core.improve_all()
        data.n_passes += 1
        core.keep_supports()
        return not core.is_spent

    def _begin(self, data: Data) -> None:
        """The first core set is complete."""

    def _enclose(self, data: Data, progress: Progress | None) -> bool:
        """Algorithms 1, 2, 3 and 4; whether every row is known to be inside."""
        core = self.core
        while True:
            for _ in self._scales():
                for chunk in data.drawn():
                    quiet = core.offer(*chunk, until_quiet=True)
                    self._call_progress(data, progress)
                    if quiet or core.is_spent:
                        break
            if not self._pass_until_enclosed(data, progress):
                return False
            if not self._smaller():
                return True

    def _pass_until_enclosed(self, data: Data, progress: Progress | None) -> bool:
        """Full passes, until the ball does not move in one of them."""
        core = self.core
        while True:
            core.improve_all()
            before = core.n_moves
            core.watch()
            self._offer(data, data.all(), progress)
            core.improve_all()
            data.n_passes += 1
            near = core.take_near()
            if core.n_moves == before:
                return not core.is_spent
            while core.n_moves != before and not core.is_spent:
                before = core.n_moves
                self._offer(data, data.numbered(near), progress)
                core.improve_all()
            if core.is_spent:
                return False

    def _offer(
        self, data: Data, chunks: Iterator[Any], progress: Progress | None, unseen: bool = False
    ) -> None:
        core = self.core
        for chunk in chunks:
            core.offer(*chunk, unseen=unseen)
            self._call_progress(data, progress)
            if core.is_spent:
                return

    def _call_progress(self, data: Data, progress: Progress | None) -> None:
        if progress is not None:
            core = self.core
            n_core = int(core.views["n_core"])
            self._guard.call(progress, data.n_passes, n_core, core.epsilon)

    def _scales(self) -> Iterator[None]:
        """Sets the tolerances of one round in the core, the coarsest first."""
        core, scale = self.core, 0.5
        while self._coarse_first:
            aim = core.allow(*self._tolerance)
            if core.allow(scale, math.inf) <= aim:
                break
            yield
            scale *= self._finer
        core.allow(*self._tolerance)
        yield

    @property
    def _penalty(self) -> float:
        """C of eq. 3"""
        return float(self.C)

    @property
    def _tolerance(self) -> tuple[float, float]:
        """Epsilon, and the largest share of the margin."""
        return float(self.epsilon), math.inf if self.margin_tol is None else float(self.margin_tol)

    @property
    def _coarse_first(self) -> bool:
        """Whether a round begins with an epsilon of 1/2, and then a smaller one."""
        return self.margin_tol is not None

    def _smaller(self) -> bool:
        """Whether there is another round, with a smaller ball."""
        return False

    # -- what was learned --------------------------------------------------------------------------

    def _held(self, name: str) -> np.ndarray:
        """One of the core set's arrays, without its unused end."""
        if not self.is_fitted:
            self._raise_not_fitted()
        views = self.core.views
        return views[name][: int(views["n_core"])]

    @property
    def _supports(self) -> np.ndarray:
        return np.flatnonzero(self._held("beta"))

    @property
    def core_(self) -> np.ndarray:
        """The core set: numbers of rows of the data, or of samples of the stream, from 0; ndarray
        of shape (n_core,), int64."""
        return self._held("number").copy()

    @property
    def support_(self) -> np.ndarray:
        """The core vectors with a coefficient, numbered as in `core_`; ndarray of shape
        (n_support,), int64."""
        return self._held("number")[self._supports]

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, of unit norm with ``normalize=True``; ndarray of shape (n_support,
        n_features), a copy; `SparseRows` of a machine with ``max_nonzeros``."""
        core = self.core
        if self.max_nonzeros is not None:
            return self._without_constant(stored_rows(core.views, self._supports, core.width))
        tiles = core.views["rows"]
        points = tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[self._supports]
        if not core.constant:
            return points
        return points[:, :-1] * (core.constant / points[:, -1:]).astype(points.dtype)

    def _without_constant(self, rows: SparseRows) -> SparseRows:
        """Points as samples: the constant is the last entry of each."""
        core = self.core
        if not core.constant:
            return rows
        lengths, last = np.diff(rows.indptr).astype(np.intp), rows.indptr[1:] - 1
        scales = np.repeat(core.constant / rows.data[last], lengths).astype(rows.dtype)
        data, columns = (np.delete(array, last) for array in (rows.data * scales, rows.indices))
        ends = rows.indptr - np.arange(len(rows.indptr))
        return SparseRows(data, columns, ends, (len(rows), core.n_features))

    @property
    def dual_coef_(self) -> np.ndarray:
        """y alpha of the support vectors, sum alpha = 1; ndarray of shape (1, n_support),
        float64."""
        return self._sign * self._held("beta")[self._supports][None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """b of eq. 4, sum y alpha, ndarray of shape (1,), float64."""
        return self._sign * np.array([self._held("beta").sum()])

    @property
    def slack_(self) -> np.ndarray:
        """xi of eq. 4, alpha / (C weight), of the support vectors, ndarray of shape (n_support,),
        float64; zero for all other samples."""
        at = self._supports
        return np.abs(self._held("beta")[at]) * self._held("own")[at]

    @property
    def _sign(self) -> float:
        return float(self.core.labels.sign)

    @property
    def radius_(self) -> float:
        """If ``enclosed_``, every row of the data is within this distance of the centre, in the
        space of eq. 3; at most (1 + epsilon) times the ball's radius."""
        return math.sqrt(max(self.core.square_distance, 0.0))

    @property
    def margin_(self) -> float:
        """|c|^2; at the optimum, y (w.phi(x) + b) of a support vector plus its slack."""
        return float(self.core.views["square"])

    n_core_ = Counter("Vectors in the core set.")
    n_given_up_ = Counter("Core vectors that a stream dropped for want of room.")

    @property
    def enclosed_(self) -> bool:
        """Whether `fit` ended with every row inside, within the tolerance, and the ball has not
        moved since; otherwise ``max_core`` or ``max_iter`` was reached, or the samples are those of
        a stream."""
        return bool(self.core.views["converged"])

    @property
    def converged_(self) -> bool:
        """`enclosed_`, each row within the share ``margin_tol`` of the level of the ball's surface;
        with ``margin_tol=None``, within less than that level, so that each has y f(x) plus its
        slack > 0. The level is ``margin_`` of a `CoreVectorMachine`, and what its notes say of a
        `BallVectorMachine`. False if it is too small for float32 kernel rows to tell, from about
        1e-7 / margin_tol down, and after any sample of a stream that moved the ball."""
        core = self.core
        return self.enclosed_ and bool(core.is_resolved)


class _Data:
    """Rows with their numbers, as the core needs them."""

    reads_all = True

    def __init__(self, source: Source, machine: EnclosingMachine) -> None:
        self._source, self._machine = source, machine
        self.n_features = source.n_features
        self.n_rows = 0
        self._in_order = self._passes()
        self.n_passes = 0

    def survey(self, labels: Labels) -> Surveyed:
        found = survey(self._source, labels, **self._machine._survey_options)
        self.n_rows = found.n_rows
        return found

    @property
    def _core(self) -> Any:
        return self._machine.core

    def all(self) -> Iterator[Any]:
        """One pass."""
        for chunk in self._source.chunks(CHUNK_ROWS, self._core.dtype):
            end = chunk.first + len(chunk.X)
            if end > self.n_rows:
                raise self._has_changed()
            yield self._encoded(chunk, np.arange(chunk.first, end))

    def drawn(self) -> Iterator[Any]:
        """Rows without end: drawn at random if the source allows it, otherwise in order, continuing
        from the last call."""
        return self._draws() if self._source.has_rows else self._in_order

    def _passes(self) -> Iterator[Any]:
        while True:
            yield from self.all()

    def _draws(self) -> Iterator[Any]:
        core, numbers = self._core, np.empty(min(CHUNK_ROWS, self.n_rows), np.int64)
        # Most are not asked for. A chunk is whole blocks, but where rows may have no weight.
        few = len(numbers) if self._source.is_weighted else FETCHED * core.views["block_f"].size
        while True:
            core.draw(self.n_rows, numbers)
            for first in range(0, len(numbers), few):
                some = numbers[first : first + few]
                yield self._encoded(self._source.take(some, core.dtype), some)

    def numbered(self, numbers: np.ndarray) -> Iterator[Any]:
        """The rows with these numbers, ascending."""
        if self._source.has_rows:
            yield self._encoded(self._source.take(numbers, self._core.dtype), numbers)
            return
        for X, slots, _, at in self.all():
            wanted = np.isin(at, numbers)
            if wanted.any():
                yield X[wanted], slots[wanted], None, at[wanted]

    def some(self, n: int, seed: int) -> Iterator[Any]:
        """So many rows, no one twice."""
        order = np.random.default_rng(seed).permutation(self.n_rows)
        return self.numbered(np.sort(order[:n]))

    def _encoded(self, chunk: Rows, numbers: np.ndarray) -> tuple[Any, ...]:
        slots, n_known, _ = self._core.guard.call(self._core.labels.encode, chunk.y)
        if n_known < len(chunk.y):
            raise self._has_changed()
        return chunk.X, slots, chunk.weight, numbers

    def _has_changed(self) -> ValueError:
        return ValueError(f"{self._core.owner}: the source changed between two passes")
