"""Kernel SVMs on the adiabatic solver that are exact: of the samples they hold, one by one or in
passes over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import NOT_NEGATIVE, MemoryBudgetError, Table, format_bytes
from edgesvm.contract.counter import Counter
from edgesvm.contract.params import among, optional, param, positive, size, within
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.learner import exclusive, fits
from edgesvm.learners.kernel_learner import KERNEL, KernelLearner, surveyed
from edgesvm.learners.kinds import Regressor
from edgesvm.learners.twin._adiabatic import (
    IncrementalDecrementalSVMCore,
    IncrementalDecrementalSVRCore,
    SimpleSVMCore,
)
from edgesvm.learners.twin.constants import LARGEST_WEIGHT

__all__ = ["IncrementalDecrementalSVM", "IncrementalDecrementalSVR", "SimpleSVM"]

MAX_TWINS = 1 << 20  # their square still fits a number of bytes
COUNTERS = (
    "n_path_events",
    "n_exchanges",
    "n_overflowed",
    "n_refactored",
    "n_refreshed",
    "n_from_scratch",
    "paths",
)
PER_SLOT = ("coef", "g", "off", "rate", "push", "row", "ones")

Progress = Callable[[int, int], Any]
Self = TypeVar("Self", bound="IncrementalDecrementalLearner")
OfSimple = TypeVar("OfSimple", bound="SimpleSVM")


@dataclass(kw_only=True, eq=False, repr=False)
class MarginSetLearner(KernelLearner):
    """Base of the learners that keep a margin set with its factor."""

    _unit: ClassVar[str] = "mu"  # what the solver's numbers are measured in

    n_path_events_ = Counter("Events: times a twin reached or left a step.")
    n_exchanges_ = Counter("Times two twins were exchanged along a null direction.")
    n_refactored_ = Counter("Times the factor of the margin set was recomputed.")
    n_refreshed_ = Counter("Times all decision values were recomputed.")
    n_from_scratch_ = Counter(
        "Times a path could not continue and everything was solved from scratch."
    )

    @property
    def _slots(self) -> int:
        """Number of twins there is room for, including those added by a path in progress."""
        raise NotImplementedError

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, MAX_TWINS

    def _solver_arrays(self, n_features: int) -> Table:
        slots = self._slots
        return [
            ("mu", "f8", (), (0.0, LARGEST_WEIGHT)),
            *((name, "f8", ()) for name in ("b", "lift")),
            *((name, "i8", ()) for name in ("n", "m", *COUNTERS)),
            *((name, "f8", (slots,), NOT_NEGATIVE) for name in ("s_minus", "s_plus")),
            *((name, "f8", (slots,)) for name in PER_SLOT),
            *((name, "f8", (slots + 1,)) for name in ("border", "solution")),
            ("pool", "f8", (self._pool_length(),)),
            ("S", "i4", (slots,)),
            ("state", "i1", (slots,), (0, 4)),
            ("vectors", self.dtype, (slots, n_features)),
        ]

    def _pool_length(self) -> int:
        """Numbers in the block that the factor and the kernel rows of the margin set share."""
        return packed_length(self._slots)

    # -- what was learned --------------------------------------------------------------------------

    def _held(self, name: str) -> np.ndarray:
        views = self.core.views
        return views[name][: int(views["n"])]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of what is decided, ndarray of shape (1, n), float64; they sum to 0."""
        core = self._fitted
        return core.labels.sign * (self._held("coef") / core.views[self._unit])[None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        core = self._fitted
        return core.labels.sign * np.array([float(core.views["b"] / core.views[self._unit])])

    @property
    def margin_(self) -> np.ndarray:
        """Which vectors are on the margin, their coefficients free; ndarray of shape (n,), bool."""
        return self._held("state") % 2 == 1

    @exclusive
    def kt_residual(self) -> float:
        """Largest violation of the Kuhn-Tucker conditions, computed from the stored vectors, in
        units of the margin: of f, of a coefficient as a share of the twin's weight, or of the sum
        of all."""
        return float(self._fitted.kt_residual())


@dataclass(kw_only=True, eq=False, repr=False)
class AdiabaticLearner(MarginSetLearner):
    """Base of `TwinVectorMachine` and `IncrementalDecrementalSVM`."""

    n_overflowed_ = Counter("Paths undone because the margin set would have overflowed its room.")

    max_margin: int | None = size(None, optional(within(1, MAX_TWINS)))

    def _pool_length(self) -> int:
        slots = self._slots
        if self.max_margin is None:
            return super()._pool_length()
        most = min(int(self.max_margin), slots)
        return most * slots + packed_length(most)


class StoredSamples(MarginSetLearner):
    """A learner whose twins are samples."""

    @property
    def vectors_(self) -> np.ndarray:
        """Stored samples, in the order learned, ndarray of shape (n, n_features), a copy."""
        return self._held("vectors").copy()


class SampleVectors(StoredSamples):
    """A learner whose twins are samples with labels, with weight on one side only."""

    @property
    def labels_(self) -> np.ndarray:
        """Their labels, ndarray of shape (n,)."""
        return self.core.labels.of_slots((self._held("s_plus") > 0).astype(np.int8))

    @property
    def sample_weights_(self) -> np.ndarray:
        """Their weights, ndarray of shape (n,), float64."""
        return self._held("s_minus") + self._held("s_plus")


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalLearner(AdiabaticLearner, StoredSamples):
    """Base of `IncrementalDecrementalSVM` and `IncrementalDecrementalSVR`."""

    shuffles: ClassVar[bool] = False  # exact, or of the last samples
    _capacity = "max_vectors"

    C: float = param(1.0, positive)
    max_vectors: int = size(100, within(1, MAX_TWINS))

    n_unlearned_ = Counter("Samples removed by `unlearn`.")
    n_forgotten_ = Counter("Samples removed to make room.")
    n_ignored_ = Counter("New samples not learned for want of room.")

    @property
    def _slots(self) -> int:
        return int(self.max_vectors) + 1

    def _arrays(self, n_features: int) -> Table:
        counters = ("n_unlearned", "n_forgotten", "n_ignored")
        return [*((name, "i8", ()) for name in counters), *self._solver_arrays(n_features)]

    @exclusive
    def unlearn(self, index: int) -> None:
        """Unlearn one sample, an index into `vectors_`: the model becomes what it would be without
        it; later ones move down by one. MemoryBudgetError where the margin set would need more room
        than `max_margin` gives: nothing changes."""
        core = self._fitted
        n = int(core.views["n"])
        if not isinstance(index, (int, np.integer)) or not 0 <= index < n:
            raise IndexError(f"index={index!r}: give a whole number from 0 to {n - 1}")
        if not core.unlearn(int(index)):
            raise self._margin_full()

    @exclusive
    def set_C(self: Self, C: float) -> Self:
        """Change C, > 0, following the path of solutions. MemoryBudgetError as for `unlearn`."""
        return self._set("C", positive("C", C))

    def _set(self: Self, name: str, value: float) -> Self:
        """Change a parameter of the core by its method."""
        if self._state is None:
            setattr(self, name, value)
            return self
        core = self._state.core
        if not getattr(core, f"set_{name}")(value):
            raise self._margin_full()
        setattr(self, name, value)
        self._hold(core)
        return self

    def _margin_full(self) -> MemoryBudgetError:
        """The error for a margin set that would overflow its room."""
        core, params = self._held_state
        roomy = type(self)(**{**params, "max_margin": None}).plan(core.n_features).total
        own = type(self)(**params).plan(core.n_features).total
        return MemoryBudgetError(
            f"not enough room for the margin set in {format_bytes(own)}: give a larger max_margin;"
            f" max_margin=None has room for all samples, in {format_bytes(roomy)}",
            roomy,
            own,
        )

    def _without_each(self, value: Callable[[np.ndarray], float]) -> np.ndarray:
        """For each stored sample x, value(x) without it. The memory is restored byte for byte."""
        core = self._fitted
        memory = core.arena.memory
        before = memory.copy()
        vectors = self._held("vectors").copy()
        values = np.empty(len(vectors))
        try:
            for i, x in enumerate(vectors):
                self.unlearn(i)
                values[i] = value(x)
                memory[:] = before
        finally:
            memory[:] = before
        return values


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalSVM(IncrementalDecrementalLearner, SampleVectors):
    """Kernel SVM that is exact after each sample learned or unlearned and each change of C.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored, support vectors or not.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 1.0
        Penalty of a margin violation per unit of weight; > 0. `set_C` changes it later without
        relearning.
    when_full : {"oldest", "farthest", "ignore"}, default "oldest"
        What happens to a sample when `max_vectors` are stored. "oldest": it replaces the first
        learned, a sliding window. "farthest": it replaces the sample with the largest y f(x); meant
        for separable data. "ignore": it is not learned.
    max_margin : int, optional
        As for `TwinVectorMachine`.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors; everything else is float64.

    Notes
    -----
    Cauwenberghs & Poggio 2000, on the solver described in `TwinVectorMachine`. The decision values
    are those of a batch SVM on the same samples. Bytes: see ``plan``; with
    M = max_vectors + 1 and max_margin=None, 152 + M (D s + 93) + 4 M (M + 1), s
    = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalDecrementalSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0], [5, 5]], dtype=np.float32)
    >>> model = IncrementalDecrementalSVM(kernel=RBF(2.0), C=10.0).partial_fit(X, [0, 0, 1, 1, 1])
    >>> model.unlearn(4)
    >>> model.predict(X[:4])
    array([0, 0, 1, 1])
    """

    _least_in_parts = (4, 5)
    _compiled = IncrementalDecrementalSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "when_full", "max_margin", "dtype")

    when_full: str = param("oldest", among("farthest", "oldest", "ignore"))

    @exclusive
    def leave_one_out_decisions(self) -> np.ndarray:
        """For each stored sample, its decision value if it were unlearned; ndarray of shape (n,),
        float64. The memory is restored byte for byte, from a copy of the arena."""
        return self._without_each(self._fitted.decision_one)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalSVR(Regressor, IncrementalDecrementalLearner):
    """Kernel support vector regression that is exact after each sample learned or unlearned and
    each change of C or epsilon.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of an error beyond epsilon per unit of weight; > 0. `set_C` changes it later without
        relearning.
    epsilon : float, default 0.1
        Errors up to it cost nothing; > 0, in units of the target. `set_epsilon` changes it later
        without relearning.
    when_full : {"oldest", "nearest", "ignore"}, default "oldest"
        What happens to a sample when `max_vectors` are stored. "oldest": it replaces the first
        learned, a sliding window. "nearest": it replaces the sample whose target is nearest to its
        prediction. "ignore": it is not learned.
    max_margin : int, optional
        As for `TwinVectorMachine`.
    max_vectors, kernel, gamma, degree, coef0, dtype
        As in `IncrementalDecrementalSVM`.

    Notes
    -----
    Ma, Theiler & Perkins 2003 and Martin 2002, on the solver described in `TwinVectorMachine`. The
    predictions are those of a batch SVR on the same samples. Scale targets and features: epsilon
    should not be below a millionth of the largest target. Bytes: see ``plan``.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalDecrementalSVR
    >>> X = np.linspace(0, 6, 61, dtype=np.float32)[:, None]
    >>> model = IncrementalDecrementalSVR(kernel=RBF(0.5), C=100.0, epsilon=0.01)
    >>> model.partial_fit(X, np.sin(X[:, 0])).unlearn(60)
    >>> model.predict(X[[10, 30]]).round(2)
    array([0.84, 0.14])
    """

    _unit: ClassVar[str] = "nu"
    _compiled = IncrementalDecrementalSVRCore
    _param_order = ("max_vectors", *KERNEL, "C", "epsilon", "when_full", "max_margin", "dtype")

    epsilon: float = param(0.1, positive)
    when_full: str = param("oldest", among("nearest", "oldest", "ignore"))

    def _arrays(self, n_features: int) -> Table:
        return [
            *(("nu", "f8", ()), ("nu_to", "f8", ())),
            *super()._arrays(n_features),
            ("targets", "f8", (self._slots,)),
        ]

    @exclusive
    def set_epsilon(self: Self, epsilon: float) -> Self:
        """Change epsilon, > 0, following the path of solutions to it. MemoryBudgetError as for
        `unlearn`."""
        return self._set("epsilon", positive("epsilon", epsilon))

    @exclusive
    def leave_one_out_predictions(self) -> np.ndarray:
        """For each stored sample, what would be predicted if it were unlearned; ndarray of shape
        (n,), float64. The memory is restored byte for byte, from a copy of the arena."""
        return self._without_each(self._fitted.predict_one)

    # -- what was learned --------------------------------------------------------------------------

    @property
    def targets_(self) -> np.ndarray:
        """Their targets, ndarray of shape (n,), float64, a copy."""
        return self._held("targets").copy()

    @property
    def sample_weights_(self) -> np.ndarray:
        """Their weights, ndarray of shape (n,), float64, a copy."""
        return self._held("s_plus").copy()


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class SimpleSVM(SampleVectors):
    """Kernel SVM by an active set: the exact solution of the samples it holds, found by taking in
    one violator at a time.

    Parameters
    ----------
    max_vectors : int, default 500
        Number of samples stored. `fit` needs room for all support vectors.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    C : float, default 1.0
        Penalty of a margin violation per unit of weight; > 0.
    when_full : {"oldest", "ignore"}, default "oldest"
        What happens in a stream to a violator when `max_vectors` are stored and all have a
        coefficient. "oldest": it replaces the first learned, which is unlearned exactly. "ignore":
        it is not learned. `fit` stops in either case.
    max_passes : int, default 1000
        Passes over the data of a `fit` at most.
    dtype
        As in `IncrementalDecrementalSVM`.

    Notes
    -----
    Vishwanathan, Smola & Murty 2003, with the linear penalty, 0 <= alpha <= C weight: the problem
    of LIBSVM.

    `fit` takes in each row that violates; one whose coefficient has become zero is removed. A pass
    without a violator ends it: the solution is then that of all rows, and ``converged_``. It ends
    early if there is no room or after `max_passes`. In a stream, a sample that violates is stored.
    One without a coefficient stays until its place is needed, the farthest beyond the margin first.

    Bytes: see ``plan``; 176 + M (D s + 101) +
    4 M (M + 1), M = max_vectors, s = 4 or 8. Time of a row: n kernel values; of a violator, n m in
    addition for each sample that enters or leaves the working set.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, SimpleSVM
    >>> X = np.random.default_rng(0).standard_normal((500, 2)).astype(np.float32)
    >>> y = (X**2).sum(axis=1) > 1.5
    >>> model = SimpleSVM(kernel=RBF(1.0), C=10.0).fit(X, y)
    >>> model.converged_, len(model.vectors_) < 60, model.kt_residual() < 1e-9
    (True, True, True)
    """

    _capacity = "max_vectors"
    _fits_in_passes = True
    _least_in_parts = (5, 6)
    _compiled = SimpleSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "when_full", "max_passes", "dtype")

    C: float = param(1.0, positive)
    max_vectors: int = size(500, within(2, MAX_TWINS))
    when_full: str = param("oldest", among("oldest", "ignore"))
    max_passes: int = size(1000, within(1, 1 << 30))

    n_forgotten_ = Counter("Samples with a coefficient removed to make room.")
    n_ignored_ = Counter("New samples not learned for want of room.")

    # -- parameters and memory ---------------------------------------------------------------------

    @property
    def _slots(self) -> int:
        return int(self.max_vectors)

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 2, MAX_TWINS

    def _arrays(self, n_features: int) -> Table:
        return [
            *((name, "i8", ()) for name in ("n_forgotten", "n_ignored")),
            ("converged", "i8", (), (0, 1)),
            ("number", "i8", (self._slots,)),
            *self._solver_arrays(n_features),
        ]

    # -- learning ----------------------------------------------------------------------------------

    @fits
    def fit(  # type: ignore[override]
        self: OfSimple,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
    ) -> OfSimple:
        """Reset, then solve the SVM of all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `Learner.fit`; a weight multiplies the row's penalty.
        progress : callable, optional
            Called as ``progress(n_passes, n_vectors)`` after each chunk. An exception it raises, or
            Ctrl-C, ends the passes; the model is then the SVM of what is stored.
        """
        source, labels, found = surveyed(
            self, X, y, sample_weight, self.kernel_for, C=float(self.C)
        )
        self._start_over(source.n_features, labels)
        views = self.core.views
        try:
            views["converged"][...] = self._sweep(source, found.n_rows, progress)
        finally:
            if views["n"]:
                views["n_seen"][...] = found.n_rows
                views["n_per_class"][...] = found.per_class
                views["n_updates"][...] = views["n"]
                self._note_weights(found)
        return self

    def _sweep(self, source: Source, n_rows: int, progress: Progress | None) -> bool:
        """Passes over the rows until none violates; whether they ended so."""
        core = self.core
        for n_passes in range(int(self.max_passes)):
            before = core.n_moves
            for chunk in source.chunks(CHUNK_ROWS, core.dtype):
                slots, n_known = self._guard.call(core.labels.encode, chunk.y)
                if n_known < len(chunk.y) or chunk.first + len(chunk.y) > n_rows:
                    raise ValueError(f"{core.owner}: the source changed between two passes")
                if not core.sweep(chunk.X, slots, chunk.weight, chunk.first):
                    return False
                if progress is not None:
                    self._guard.call(progress, n_passes, int(core.views["n"]))
            if core.n_moves == before:
                return True
        return False

    # -- what was learned --------------------------------------------------------------------------

    @property
    def support_(self) -> np.ndarray:
        """Numbers of the stored rows, or samples of the stream, from 0; ndarray of shape (n,),
        int64."""
        return self._held("number").copy()

    @property
    def converged_(self) -> bool:
        """Whether `fit` ended with no violator among all rows, and none came since."""
        return bool(self.core.views["converged"])
