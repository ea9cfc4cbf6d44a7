"""Core and ball vector machines, with labels and without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import NOT_NEGATIVE, SCRATCH, SHARE, WORK, parse_bytes
from edgesvm.contract.counter import Counter
from edgesvm.contract.inputs import Matrix
from edgesvm.contract.params import flag, optional, param, positive, share, size, within
from edgesvm.contract.registry import registered
from edgesvm.contract.sparse import SparseRows
from edgesvm.core.constants import LARGEST_NORM
from edgesvm.data.rows import Rows
from edgesvm.data.sources import CHUNK_ROWS, Source, is_row_source
from edgesvm.data.survey import Surveyed
from edgesvm.kernels import RBF, Kernel, Linear, Polynomial
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
from edgesvm.learners.kernel_learner import KERNEL, KernelLearner, surveyed
from edgesvm.learners.kinds import NORMAL, Unlabelled
from edgesvm.learners.papers.enclosing._enclosing import (
    BallVectorMachineCore,
    CoreVectorMachineCore,
    OneClassBallVectorMachineCore,
    OneClassCoreVectorMachineCore,
)
from edgesvm.learners.papers.enclosing.constants import LARGEST, MATRIX

__all__ = [
    "BallVectorMachine",
    "CoreVectorMachine",
    "OneClassBallVectorMachine",
    "OneClassCoreVectorMachine",
]

NEAR = 8  # times n_probes: rows recorded in a pass
GEOMETRY = ("epsilon", "C", *KERNEL, "normalize", "max_core", "n_probes")  # in this order in a
EFFORT = ("cache", "max_iter", "seed", "dtype", "margin_tol")  # snapshot, a machine's own between
FETCHED = 4  # blocks of rows that were drawn
CACHED_ROWS = 16  # if ``cache`` is not given
LARGEST_CONSTANT = 1e15  # beside the features of a sample of a normalised kernel
HARD = 1e299  # C of a ball without slack

Progress = Callable[[int, int, float], Any]
Self = TypeVar("Self", bound="EnclosingMachine")
OfOneClass = TypeVar("OfOneClass", bound="OneClassMachine")


def normalizing(name: str, value: object) -> bool | str:
    return "kernel" if value == "kernel" else flag(name, value)


@dataclass(kw_only=True, eq=False, repr=False)
class EnclosingMachine(KernelLearner):
    """Base of the learners that enclose all samples by a ball; see `BallVectorMachine`."""

    _capacity = "max_core"
    _fits_in_passes = True
    _finer: ClassVar[float] = 0.5  # what epsilon is multiplied by from scale to scale
    _absent: ClassVar[dict[str, Any]] = {"margin_tol": None, "max_nonzeros": None}

    C: float = param(1.0, positive)
    epsilon: float = param(1e-4, share)
    margin_tol: float | None = size(0.1, optional(share))
    normalize: bool | str = size(False, normalizing)
    max_core: int = param(1000, within(2, MAX_CAPACITY))
    n_probes: int = size(59, within(1, 1 << 16))
    cache: int | str | None = None
    max_iter: int = param(10_000_000, within(1, 10**12))
    seed: int = size(0, within(0, (1 << 32) - 1))
    max_nonzeros: int | None = size(None, optional(within(2, MOST_NONZEROS)))

    # -- parameters and memory ---------------------------------------------------------------------

    def _check_params(self) -> None:
        super()._check_params()
        kernel = self.kernel_for(1)
        if not isinstance(kernel, RBF) and not self.normalize:
            raise ValueError(
                f"kernel={self.kernel!r}: k(x, x) must be the same for all x; use an RBF kernel,"
                " normalize='kernel', which divides k(x, z) by sqrt(k(x, x) k(z, z)), or"
                " normalize=True, which scales every row to unit norm"
            )
        seen, constant = self._seen(kernel)
        if not self._self_kernel(seen) <= LARGEST_NORM:
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
        block: Arrays = [
            ("block_rows", self.dtype, (padded(n_probes) // lanes, width, lanes), WORK)
        ]
        if self.max_nonzeros is not None:
            rows, block = nonzero_arrays(n + n_probes, self.dtype, int(self.max_nonzeros)), []
            if isinstance(self.kernel_for(1), Linear):
                rows = [("w", "f8", (n_features,)), *rows]
        return [
            ("n_core", "i8", (), (0, n)),
            *((name, "i8", ()) for name in ("n_iter", "n_given_up")),
            ("converged", "i8", (), (0, 1)),
            ("square", "f8", (), (0.0, 2.0 * LARGEST)),
            ("intercept", "f8", ()),
            *self._own_arrays(n),
            *rows,
            ("beta", "f8", (wide,)),
            ("sign", "f8", (n,)),
            ("own", "f8", (n,), (0.0, LARGEST)),
            ("number", "i8", (n,)),
            *block,
            *((f"block_{name}", "f8", (n_probes,), WORK) for name in ("f", "sign", "own")),
            ("block_number", "i8", (n_probes,), WORK),
            ("block_row", "f4", (padded(n_probes),), WORK),
            ("near_margin", "f8", (NEAR * n_probes,), WORK),
            ("near_number", "i8", (NEAR * n_probes,), WORK),
            *((name, "i4", (n,), WORK) for name in ("slot", "owner", "filled")),
            ("used", "i8", (n,), WORK),
            ("point", self.dtype, (width,), SCRATCH),
            ("cache", "f4", (min(cache, max(n, 2) * wide),), WORK),  # the whole matrix is enough
        ]

    def _own_arrays(self, n: int) -> Arrays:
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        kernel, constant = self._seen(self.kernel_for(n_features))
        epsilon, margin_tol = self._tolerance
        return super()._core_params(n_features) | {
            "C": self._penalty,
            "kernel": kernel,
            "normalize": self._scales_points(kernel),
            "width": self._width(n_features),
            "constant": constant,
            "epsilon": epsilon,
            "margin_tol": margin_tol,
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
        """Reset, then enclose all rows. Those of an array are first drawn at random, those of a
        source are read in order.

        Parameters
        ----------
        X, y, sample_weight
            As in `Learner.fit`; a weight multiplies the row's penalty.
        progress : callable, optional
            Called as ``progress(n_passes, n_core, epsilon)`` after each chunk. An exception it
            raises, or Ctrl-C, ends the passes; the ball stays as it is then.
        """
        source, labels, found = surveyed(
            self, X, y, sample_weight, C=self._penalty, max_nonzeros=self.max_nonzeros
        )
        self._check_survey(found)
        self._start_over(source.n_features, labels)
        core, data = self.core, _Data(source, self.core, found.n_rows, progress)
        core.begin(int(self.seed))
        try:
            enclose = self._enclose_all if self._begins_with_all(found) else self._enclose
            core.views["converged"][...] = enclose(data)
        finally:
            core.allow(*self._tolerance)
            core.end()
            if core.views["n_core"]:
                core.views["n_seen"][...] = found.n_rows
                core.views["n_per_class"][...] = found.per_class
                core.views["n_updates"][...] = core.views["n_core"]
                self._note_weights(found)
        if not self.enclosed_:
            limit = "max_core" if self.n_core_ == self.max_core else "max_nonzeros"
            self._warn_of_an_early_end(limit if core.is_full else "max_iter")
        return self

    def _check_survey(self, found: Surveyed) -> None:
        """ValueError for more rows than can be learned."""

    def _begins_with_all(self, found: Surveyed) -> bool:
        """Whether the rows are the first core set, all of them."""
        return False

    def _enclose_all(self, data: _Data) -> bool:
        """Algorithm 1 from a core set of all rows: one solution, and none is outside."""
        core = self.core
        data.offer(data.all(), unseen=True)
        self._begin(data)
        core.improve_all()
        data.n_passes += 1
        core.keep_supports()
        return not core.is_spent

    def _begin(self, data: _Data) -> None:
        """The first core set is complete."""

    def _enclose(self, data: _Data) -> bool:
        """Algorithms 1, 2, 3 and 4; whether every row is known to be inside."""
        while True:
            for _ in self._scales():
                data.offer(data.drawn(), until_quiet=True)
            if not self._pass_until_enclosed(data):
                return False
            if not self._smaller():
                return True

    def _pass_until_enclosed(self, data: _Data) -> bool:
        """Full passes, until the ball does not move in one of them."""
        core = self.core
        while True:
            core.improve_all()
            before = core.n_moves
            core.watch()
            data.offer(data.all())
            core.improve_all()
            data.n_passes += 1
            near = core.take_near()
            if core.n_moves == before:
                return not core.is_spent
            while core.n_moves != before and not core.is_spent:
                before = core.n_moves
                data.offer(data.numbered(near))
                core.improve_all()
            if core.is_spent:
                return False

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
        """Numbers of the rows, or samples of the stream, in the core set; ndarray of shape
        (n_core,)."""
        return self._held("number").copy()

    @property
    def support_(self) -> np.ndarray:
        """The core vectors with a coefficient, numbered as in `core_`; ndarray of shape
        (n_support,)."""
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
        """y alpha of the support vectors, sum alpha = 1; shape (1, n_support), float64."""
        return self._sign * self._held("beta")[self._supports][None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """b of eq. 4, sum y alpha, ndarray of shape (1,), float64."""
        return self._sign * np.array([self._held("beta").sum()])

    @property
    def slack_(self) -> np.ndarray:
        """xi of eq. 4, alpha / (C weight), of the support vectors, of shape (n_support,)."""
        at = self._supports
        return np.abs(self._held("beta")[at]) * self._held("own")[at]

    @property
    def _sign(self) -> float:
        return float(self.core.labels.sign)

    @property
    def radius_(self) -> float:
        """If ``enclosed_``, every row is within this distance of the centre, by eq. 3."""
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
        moved."""
        return bool(self.core.views["converged"])

    @property
    def converged_(self) -> bool:
        """`enclosed_`, each row within the share ``margin_tol`` of the level of the ball's surface;
        with ``margin_tol=None``, within less than that level. False if it is too small for float32
        kernel rows to tell, and after any sample of a stream that moved the ball."""
        core = self.core
        return self.enclosed_ and bool(core.is_resolved)


class _Data:
    """Rows with their numbers, and what the core is shown of them. A chunk is X, slots (int8),
    weights (float64, or None), numbers of the rows (int64)."""

    def __init__(self, source: Source, core: Any, n_rows: int, progress: Progress | None) -> None:
        self._source, self._core, self._progress = source, core, progress
        self.n_rows, self.n_passes = n_rows, 0
        self._in_order = self._passes()

    def offer(
        self, chunks: Iterator[Any], *, until_quiet: bool = False, unseen: bool = False
    ) -> None:
        """Show the core some chunks, until it can learn no more or, if so asked, until a block of
        rows adds nothing; `unseen` as in the core's `offer`."""
        core = self._core
        for chunk in chunks:
            quiet = core.offer(*chunk, until_quiet=until_quiet, unseen=unseen)
            if self._progress is not None:
                n_core = int(core.views["n_core"])
                core.guard.call(self._progress, self.n_passes, n_core, core.epsilon)
            if quiet or core.is_spent:
                return

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
        slots, n_known = self._core.guard.call(self._core.labels.encode, chunk.y)
        if n_known < len(chunk.y):
            raise self._has_changed()
        return chunk.X, slots, chunk.weight, numbers

    def _has_changed(self) -> ValueError:
        return ValueError(f"{self._core.owner}: the source changed between two passes")


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
        Largest number of rounds of Algorithm 4, which also ends when the ball gets no smaller. More
        rounds come closer to the SVM; each takes many times as long as the first.
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
        the ball's surface by no more than this share of it. None: epsilon alone counts, as in the
        paper; if C is large, any ball meets it.
    max_nonzeros : int, optional
        Store only the non-zeros of core vectors and of the rows examined together, and as many as
        this in all. A row with more than half as many is refused. Sums are over the non-zeros, in
        float64.

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithms 2, 3 and 4. ``fit`` draws 59 rows at a time and moves the
    centre towards those outside, until all 59 are inside. Then it reads all rows until a whole pass
    finds none outside; this is ``enclosed_``.

    If a sample is outside and the core set is full, ``fit`` stops with a `ConvergenceWarning`, and
    ``converged_`` is False. A stream goes on: the vector of the smallest coefficient is dropped and
    counted in ``n_given_up_``.

    The decision value is w.phi(x) + b of eq. 4; its unit is the margin, not one.

    On the ball's surface y f(x) with its slack is (|c|^2 + l^2 + s) / 2, where l is the centre's
    coordinate beyond the feature space (section 3.3) and s by how much Algorithm 4 reduced r^2.
    ``margin_tol`` and ``converged_`` are relative to this level.

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

    multi_scale: bool = size(True, flag)
    shrink: bool = param(True, flag)
    max_rounds: int = param(1, within(1, 10**6))

    def _own_arrays(self, n: int) -> Arrays:
        return [
            *((name, "f8", (), NOT_NEGATIVE) for name in ("lift", "shrunk")),
            ("n_rounds", "i8", (), (0, int(self.max_rounds))),
            ("f", "f8", (n,)),
        ]

    @property
    def _coarse_first(self) -> bool:
        return bool(self.multi_scale)

    def _smaller(self) -> bool:
        core = self.core
        core.views["n_rounds"][...] += 1
        return bool(self.shrink and core.views["n_rounds"] < self.max_rounds and core.shrink())

    @classmethod
    def of_paper(cls, **params: Any) -> BallVectorMachine:
        """The learner as printed: `epsilon` alone as tolerance."""
        return cls(**{"margin_tol": None} | params)

    n_iter_ = Counter("Moves of the centre.")
    n_rounds_ = Counter("Rounds of Algorithm 4.")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class CoreVectorMachine(EnclosingMachine):
    """The l2-SVM, found as the minimum enclosing ball of a small core set of the samples.

    Parameters
    ----------
    bulk : bool, default True
        False: Algorithm 1 as printed. Of each block the farthest row alone is added, and the ball
        solved for; no row is dropped, and there are no coarser tolerances before epsilon. It takes
        several times the time.
    max_iter : int, default 10,000,000
        Largest number of iterations of SMO in one ``fit`` or for one sample.
    margin_tol : float or None, default 0.1
        As for `BallVectorMachine`, of the margin, which is the level of the ball's surface.
    epsilon, C, kernel, gamma, degree, coef0, normalize, max_core, n_probes, cache, seed, dtype,
    max_nonzeros
        As for `BallVectorMachine`.

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithm 1: a sample outside the ball is added to the core set, and
    the core set's minimum enclosing ball, the dual problem of eq. 1, is found by SMO from the
    previous one, to half of what the tolerance allows. `learn_one` does so for each sample.

    Where all rows fit in the core set, and the cache holds at least a sixteenth of their kernel
    values, ``fit`` begins with all of them. Where they do not, it draws and passes as
    `BallVectorMachine` does. Where the paper adds the farthest of the 59 and solves again, ``fit``
    adds all that are at least a quarter as far outside as the worst since the last solution, and
    solves again when the core set has grown by a sixteenth. Vectors without a coefficient are
    dropped where they are more than a quarter of the core set.

    If a sample is outside and the core set is full, vectors without a coefficient are dropped; a
    stream counts them in ``n_given_up_``. If all have one, ``fit`` stops with a
    `ConvergenceWarning`; in a stream the sample is skipped and `learn_one` returns False. Either
    way ``converged_`` is False.

    Bytes: see ``plan``; 32 more per core vector than a `BallVectorMachine`.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, CoreVectorMachine
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = CoreVectorMachine(kernel=RBF(2.0), C=10.0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.converged_
    True
    """

    _compiled = CoreVectorMachineCore
    _finer = 0.25
    _param_order = (*GEOMETRY, *EFFORT, "bulk", "max_nonzeros")
    _absent: ClassVar[dict[str, Any]] = {**EnclosingMachine._absent, "bulk": True}

    bulk: bool = param(True, flag)

    @classmethod
    def of_paper(cls, **params: Any) -> CoreVectorMachine:
        """The learner as printed: one row at a time, and `epsilon` alone as tolerance."""
        return cls(**{"bulk": False, "margin_tol": None} | params)

    def _own_arrays(self, n: int) -> Arrays:
        wide = padded(n)
        return [
            ("alpha", "f8", (wide,)),
            *((name, "f8", (n,), WORK) for name in ("bound", "gradient")),
            *((name, "f4", (wide,), WORK) for name in ("curvature", "state", "spare")),
            ("order", "i4", (n,), WORK),
        ]

    def _begins_with_all(self, found: Surveyed) -> bool:
        n, n_floats = found.n_learned, self.core.views["cache"].size
        if not self.bulk or n > self.max_core or n * padded(n) > MATRIX * n_floats:
            return False
        return self.max_nonzeros is None or found.n_nonzeros <= self.max_nonzeros

    @property
    def _coarse_first(self) -> bool:
        return bool(self.bulk)

    n_iter_ = Counter("Iterations of the inner solver.")


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassMachine(Unlabelled, EnclosingMachine):
    """Base of the enclosing machines without labels."""

    margin_tol: float | None = size(1e-4, optional(share))
    nu: float | None = size(0.1, optional(share))

    def fit(  # type: ignore[override]
        self: OfOneClass, X: Matrix, y: Any = None, *, progress: Progress | None = None
    ) -> OfOneClass:
        """Forget what was learned, then enclose all rows of X, no source of chunks; `y` is ignored,
        and `progress` is as in `CoreVectorMachine.fit`. ValueError where ``max_core`` or
        ``max_nonzeros`` has no room for nu of the rows."""
        if is_row_source(X):
            raise TypeError(f"{type(self).__name__}.fit takes an array, not a source of chunks")
        n = (X if hasattr(X, "shape") else np.asarray(X)).shape[0]
        fitted: OfOneClass = EnclosingMachine.fit(self, X, np.full(n, NORMAL), progress=progress)
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

    Notes
    -----
    The minimum enclosing ball, eq. 1 of Tsang, Kocsor & Kwok 2007, is support vector data
    description (Tax & Duin 2004). With slack it is the nu form of Scholkopf et al. 2001; in
    scikit-learn's `OneClassSVM` ``dual_coef_`` and ``decision_function`` are nu n times as large.

    The share nu of the rows has to be in the core set, since the sum of alpha is 1: the search
    begins with that many, drawn by ``seed``. A stream (``learn_one``, ``partial_fit``) knows no n:
    after ``fit`` a coefficient is at most what it was there; without it there is no slack.

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
        return [
            *super()._own_arrays(n),
            ("surface", "f8", (), (0.0, 2.0 * LARGEST)),
            ("most", "f8", (), SHARE),
        ]

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

    def _enclose(self, data: Any) -> bool:
        if self.nu is not None:
            first = data.some(self._least_core(data.n_rows), int(self.seed))
            data.offer(first, unseen=True)
            if self.core.is_full:
                self.core.keep_supports()
                raise ValueError(
                    f"max_nonzeros={self.max_nonzeros:,} has no room for nu={self.nu} of"
                    f" {data.n_rows:,} rows: give more; one row is learned"
                )
            self._begin(data)
            self.core.improve_all()
        return super()._enclose(data)


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

    Notes
    -----
    Tsang, Kocsor & Kwok 2007, Algorithms 2 to 4, of the kernel k(x, z) + [x = z] / C. A ball of
    Algorithm 2 has no slack that is linear, so ``nu`` moves the boundary: after the search the
    share nu of the rows is beyond it. For the optimum take `OneClassCoreVectorMachine`.

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
        self, X: Matrix, y: Any = None, *, progress: Progress | None = None
    ) -> OneClassBallVectorMachine:
        OneClassMachine.fit(self, X, progress=progress)
        if self.nu is not None:
            self.core.views["cut"][...] = np.quantile(self.decision_function(X), self.nu)
        return self

    fit.__doc__ = OneClassMachine.fit.__doc__
