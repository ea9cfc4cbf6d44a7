"""Base class of all learners: planned memory, one sample or many, labels of any kind, save and
load.

The whole state of a learner is in its arena. The public class holds parameters and checks; the core
(compiled, or its reference in NumPy) holds state and step. A subclass adds its parameters,
`_check_params`, `_arrays`, the class of its core and `_core_params`.

Other packages of edgesvm, such as fleet, export and compat, also use `core`, `like_new`,
`with_capacity`, `n_classes_planned`, `n_classes_allocated`, `takes_labels` and `snapshot`, of a
wrapper `inner`, and of a learner with a kernel `kernel_for`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from edgesvm.budget import (
    PARTS,
    SCRATCH,
    BeyondAnyMachine,
    MemoryBudgetError,
    MemoryPlan,
    Table,
    format_bytes,
    parse_bytes,
)
from edgesvm.contract.core import common_arrays
from edgesvm.contract.engine import of_engine
from edgesvm.contract.estimator import Estimator, of_classes
from edgesvm.contract.guard import Guard
from edgesvm.contract.inputs import Matrix, as_floats, as_labels, as_rows, as_targets, as_weights
from edgesvm.contract.labels import CANDIDATES, Labels, check_labels
from edgesvm.contract.names import Names, check_names, names_of
from edgesvm.contract.order import is_sorted_by_class, shuffled
from edgesvm.contract.params import checked, flag, one_of, rounded, whole
from edgesvm.contract.registry import registered_name
from edgesvm.contract.team import Team, n_threads
from edgesvm.core.arena import Arena
from edgesvm.core.constants import MEAN_WEIGHT, MOST_TIMES
from edgesvm.core.status import Status
from edgesvm.data.rows import Rows, RowSource, Stream
from edgesvm.data.sources import Source, is_row_source
from edgesvm.errors import (
    ConvergenceWarning,
    CorruptModelError,
    NotFittedError,
    SampleRefused,
    as_sklearns,
    refusal,
)
from edgesvm.persist.format import Snapshot, Wrapped
from edgesvm.persist.saved import Saved
from edgesvm.persist.store import read_file, restore

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from edgesvm.data.survey import Surveyed

Self = TypeVar("Self", bound="Learner")
Method = TypeVar("Method", bound=Callable[..., Any])

DTYPES = ("float32", "float64")
MAX_FEATURES = 1 << 24
MAX_CAPACITY = 1 << 24
MOST_SAMPLES = 50_000  # that several passes of `fit` make, if the caller says no number


def exclusive(method: Method) -> Method:
    """Method decorator: the learner's memory is its own until it returns."""

    @functools.wraps(method)
    def entered(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._guard:
            return method(self, *args, **kwargs)

    return cast(Method, entered)


def fits(method: Method) -> Method:
    """Method decorator of `fit`: `exclusive`; the names of the features are those of X from now
    on."""

    @functools.wraps(method)
    def entered(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        with self._guard as guard:
            names = guard.call(names_of, X)
            before, known = self._state, self._columns
            try:
                method(self, X, *args, **kwargs)
            except BaseException:
                self._columns = known if self._state is before else names
                raise
            self._columns = names
        return self

    return cast(Method, entered)


class Place(NamedTuple):
    """What every core is built with, besides its parameters."""

    plan: MemoryPlan
    arena: Arena
    labels: Labels
    n_features: int
    dtype: str
    owner: str  # name of the public class, for messages
    guard: Guard


class ReadingPlan(NamedTuple):
    """The arrays of a core that only decides: those of another core, but for its own scratch."""

    core: Any

    def cut(self, _: np.ndarray) -> dict[str, np.ndarray]:
        views: dict[str, np.ndarray] = self.core.views
        own = {array.name for array in self.core.plan.arrays if array.role == SCRATCH}
        return {name: np.zeros_like(v) if name in own else v for name, v in views.items()}


class State(NamedTuple):
    """The core of a learner that has memory."""

    core: Any
    params: dict[str, Any]  # the parameters the core was built with; others may be set later


class Learner(Estimator, Saved):
    """Base of all learners; see a concrete one, such as `StreamSVM`, for how to use it.

    Guarantees, each checked by a test:

    * ``allocate`` allocates exactly ``plan(n_features).total`` bytes; nothing is allocated later.
    * Learning one sample at a time equals learning in batches, bit for bit, however the stream is
      split.
    * A refused sample does not change the arena's bytes.
    * Saving, loading and continuing equals never stopping, bit for bit.

    Threads may share a learner: learning excludes everything, predictions exclude learning, and
    whoever comes second waits. Predictions run in parallel if deciding needs no scratch memory. A
    callback, such as `progress`, gets `LearnerBusy` if it learns with its learner, solves, saves or
    resets it.
    """

    dtype: str
    class_weight: str | None = None  # a parameter of some
    forecasts: ClassVar[bool] = False  # a regressor of a stream, which has intervals
    scales_itself: ClassVar[bool] = False  # a scaler in front would only take memory
    shuffles: ClassVar[bool] = True  # `fit` does; False: the order says something, or nothing
    most_epochs: ClassVar[int] = 1  # passes of `fit` over few rows, if the caller says no number
    _fits_in_passes: bool = False  # a part of a multiclass learner needs its own rows for that
    # How many vectors a part of OneVsOne, and of OneVsRest, must hold. With fewer, answers were
    # less than a third of the way from the largest class to the default learner.
    _least_in_parts: ClassVar[tuple[int, int]] = (0, 0)
    _capacity: ClassVar[str] = ""  # the parameter that `within` makes as large as fits, if any
    _compiled: ClassVar[type[Any]]  # the core; `of_engine` finds its reference
    _param_order: ClassVar[tuple[str, ...]] = ()  # in snapshots, if not that of the signature
    _engine: str = "compiled"  # or "reference", in NumPy, for tests and readers
    _state: State | None = None  # None: no memory yet
    _own_guard: Guard | None = None
    _is_part: bool = False  # of another learner, which knows the mean weight of the samples

    # -- what a subclass adds ----------------------------------------------------------------------

    def _check_params(self) -> None:
        """Raise ValueError for a parameter out of range."""
        self._checked()

    def _checked(self) -> dict[str, Any]:
        """The parameters that are fields with a check, as it returns them."""
        return checked(self)

    def _arrays(self, n_features: int) -> Table:
        """The table of the learner's own arrays."""
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        """The core's own parameters, besides its `Place`."""
        fields = getattr(type(self), "__dataclass_fields__", {})
        return {
            name: value
            for name, value in self._checked().items()
            if "of_plan" not in fields[name].metadata
        }

    def _build(self, engine: str, place: Place) -> Any:
        """Build the core for an engine. A wrapper builds the inner learner's core with it."""
        core = of_engine(self._compiled, engine)(*place, **self._core_params(place.n_features))
        core.balanced = self.class_weight == "balanced"
        return core

    def _part(self, n_features: int) -> MemoryPlan | None:
        """The plan of one part, for a learner whose array `parts` holds several; else None."""
        return None

    @property
    def _most_samples(self) -> int | None:
        """Number of samples after which the next one is refused; None if there is no limit."""
        return None

    @property
    def _caution(self) -> str | None:
        """That it would answer little better than chance, as it is planned; else None."""
        return None

    def _warn_of_an_early_end(self, limit: str = "max_iter") -> None:
        """Warn, as the last thing in `fit`, that the parameter of this name was reached."""
        warnings.warn(
            f"{type(self).__name__} ended before it converged ({limit}={getattr(self, limit)});"
            f" scale the features, as Standardized(learner=...) does, or give a larger {limit}",
            as_sklearns(ConvergenceWarning),
            stacklevel=4,
        )

    # -- parameters, as in scikit-learn ------------------------------------------------------------

    @classmethod
    @functools.cache
    def _param_names(cls) -> tuple[str, ...]:
        names = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
        order = cls._param_order
        rank = {name: place for place, name in enumerate(order)}
        return tuple(sorted(names, key=lambda name: rank.get(name, len(rank))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments by name, as given."""
        return {name: getattr(self, name) for name in self._param_names()}

    @property
    def _guard(self) -> Guard:
        """Guard of the memory, shared with all learners that work in it."""
        if self._own_guard is None:
            # one for all threads, without a lock that a forked child would find locked
            return cast(Guard, vars(self).setdefault("_own_guard", Guard(type(self).__name__)))
        return self._own_guard

    def set_params(self: Self, **params: Any) -> Self:
        """Change constructor arguments. The learned model is dropped.

        Raises
        ------
        ValueError
            There is no such parameter. Nothing is changed and the model is kept.
        """
        self._check_names(params)
        with self._guard:
            for name, value in params.items():
                setattr(self, name, value)
            self._state = None
        return self

    def _check_names(self, params: Mapping[str, Any]) -> None:
        """Raise ValueError for a name that `set_params` cannot set."""
        names = self._param_names()
        for name in params:
            if name not in names:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}"
                )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={rounded(repr(value))}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_features: int) -> MemoryPlan:
        """The arrays this learner needs and their total size in bytes. Nothing is allocated.

        Raises
        ------
        ValueError
            A parameter is out of range.
        """
        one_of("dtype", self.dtype, *DTYPES)
        if self.class_weight is not None:
            one_of("class_weight", self.class_weight, "balanced")
        n_features = whole("n_features", n_features, 1, MAX_FEATURES)
        self._check_params()
        arrays = [*common_arrays(self._n_counted), *self._arrays(n_features)]
        if self.takes_labels and not self._is_part:
            arrays.append(MEAN_WEIGHT)
            if getattr(self, "n_classes", 2) is None:  # each that comes takes memory from others
                arrays.append(CANDIDATES)
        part = self._part(n_features)
        return MemoryPlan.of(arrays, {} if part is None else {PARTS: part})

    def allocate(
        self: Self, n_features: int, classes: Sequence[Any] | None = None, buffer: Any = None
    ) -> Self:
        """Allocate the planned bytes and forget what was learned. A learner allocates memory
        nowhere else.

        Parameters
        ----------
        n_features : int
        classes : sequence of two labels, optional
            If given, any other label is refused. Otherwise the first two labels seen become the
            classes. A learner of n_classes classes accepts 2 to n_classes labels here.
        buffer : writable contiguous buffer, optional
            At least ``plan(n_features).total`` bytes, aligned to 8; used instead of new memory.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` is the number of bytes needed.
        """
        plan = self.plan(n_features)
        plan.check_buffer(buffer, f"{self!r} with {n_features} features")
        labels = Labels(classes, self._most_classes(n_features))
        arena = Arena(plan.total, buffer)
        with self._guard:
            self._adopt(plan, arena, labels, n_features)
        return self

    def _adopt(self, plan: MemoryPlan, arena: Arena, labels: Labels, n_features: int) -> None:
        owner = type(self).__name__
        place = Place(plan, arena, labels, int(n_features), self.dtype, owner, self._guard)
        self._hold(self._build(self._engine, place))

    def _hold(self, core: Any) -> None:
        """Make `core`, which was built with the current parameters, this learner's core. Another
        thread may still have the old one: if its memory is the same, it passes calls on."""
        old = None if self._state is None else self._state.core
        self._state = State(core, self._built_with())
        if old is not None and old is not core and old.arena is core.arena:
            old.successor = core

    def _built_with(self) -> dict[str, Any]:
        """The parameters, for a learner with the same plan."""
        return self.like_new().get_params(deep=False)

    def _at_work(self: Self, core: Any, engine: str) -> Self:
        """A learner with the same parameters, on a core in another learner's memory."""
        learner = self.like_new().as_part()
        learner._engine = engine
        learner._own_guard = core.guard
        learner._hold(core)
        return learner

    def like_new(self: Self) -> Self:
        """An unfitted learner with the same parameters, including those of a wrapped learner."""
        params = self.get_params(deep=False)
        return type(self)(
            **{k: v.like_new() if isinstance(v, Learner) else v for k, v in params.items()}
        )

    @property
    def _n_counted(self) -> int:
        """Number of classes whose samples the common arrays count."""
        return self.n_classes_planned

    def _most_classes(self, n_features: int) -> int:
        """Largest number of classes with so many features; of a regressor 0."""
        return 0 if self.regresses else self.n_classes_planned

    def _most_to_come(self, n_features: int) -> int:
        """`_most_classes` that a `fit` could take up."""
        return self._most_classes(n_features)

    def wrapped(self: Self, n_classes: int = 2) -> Self:
        """This learner as a wrapper has it: it must know its number of classes, `n_classes` if it
        takes them as they come."""
        return self

    def _take_up(self, y: np.ndarray, n_features: int) -> None:
        """Plan for the classes of these labels, if nothing says how many there are; ValueError,
        and the plan as it was, if the bytes are too few."""

    def as_part(self: Self) -> Self:
        """This learner, whose memory is to be in another's."""
        self._is_part = True
        return self

    @classmethod
    def within(cls: type[Self], budget: int | str, n_features: int, **params: Any) -> Self:
        """The learner with the largest capacity whose plan fits ``budget`` bytes.

        Parameters
        ----------
        budget : int or str
            Bytes, or "64KiB".
        n_features : int
        **params
            Other constructor arguments.

        Raises
        ------
        MemoryBudgetError
            Not even the smallest capacity fits; ``.required`` is the number of bytes it needs.

        Warns
        -----
        UserWarning
            What fits would answer little better than chance: a multiclass learner of tiny parts.
        """
        learner = cls(**params)
        return learner.fitted_into(budget, n_features, fixed=cls._capacity in params)

    def fitted_into(self: Self, budget: int | str, n_features: int, *, fixed: bool = False) -> Self:
        """This learner with the largest capacity that fits; with ``fixed``, with its own capacity.

        It is `within` for an existing learner, and raises `MemoryBudgetError` in the same cases.
        """
        fitted = self._fitted_into(budget, n_features, fixed=fixed)
        if (caution := fitted._caution) is not None:
            warnings.warn(caution, stacklevel=2)
        return fitted

    def _fitted_into(self: Self, budget: int | str, n_features: int, *, fixed: bool) -> Self:
        n_bytes = parse_bytes(budget)
        least, most = self._capacity_range(n_features)
        smallest = self if fixed else self.with_capacity(least)
        required = smallest.plan(n_features).total
        if required > n_bytes:
            raise MemoryBudgetError(
                f"{smallest!r} with {n_features} features needs {'' if fixed else 'at least '}"
                f"{format_bytes(required)}, the budget is {format_bytes(n_bytes)}",
                required,
                n_bytes,
            )
        if fixed:
            return self
        while least < most:
            middle = (least + most + 1) // 2
            if self.with_capacity(middle)._fits(n_bytes, n_features):
                least = middle
            else:
                most = middle - 1
        return self.with_capacity(least)

    def _fits(self, n_bytes: int, n_features: int) -> bool:
        try:
            return self.plan(n_features).total <= n_bytes
        except BeyondAnyMachine:
            return False

    def with_capacity(self: Self, capacity: int) -> Self:
        """The same learner with another capacity, if it has one."""
        if not self._capacity:
            return self
        other = type(self)(**{**self.get_params(deep=False), self._capacity: capacity})
        return other.as_part() if self._is_part else other

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        """Smallest and largest capacity to consider."""
        return 1, MAX_CAPACITY

    @property
    def nbytes(self) -> int:
        """Size of the arena in bytes; 0 before ``allocate``."""
        state = self._state
        return 0 if state is None else state.core.arena.nbytes

    @property
    def arena(self) -> Arena:
        """The learner's memory; ``bytes(learner.arena)`` is its whole state."""
        return self.core.arena

    @property
    def core(self) -> Any:
        """The core, when no other thread is learning with it; AttributeError if there is no memory
        yet."""
        return self._held_state.core

    @property
    def _held_state(self) -> State:
        if self._state is not None:
            self._guard.wait()
        state = self._state
        if state is None:
            raise AttributeError(
                f"this {type(self).__name__} has no memory yet: call allocate, or learn a sample"
            )
        return state

    def reset(self: Self, *, keep_labels: bool = False) -> Self:
        """Forget what was learned, and keep the memory and the labels given in advance.

        Parameters
        ----------
        keep_labels : bool
            Also keep the labels seen, each in its place: for a new start on the same stream.
        """
        with self._guard:
            if self._state is not None:
                self._empty(self._state.core, keep_labels)
        return self

    def _empty(self, core: Any, keep_labels: bool = False) -> None:
        plan = self.plan(core.n_features)
        self._zero(core)
        known = core.labels
        if keep_labels:
            labels = Labels.restore(known.in_slots, known.closed, known.room)
        else:
            labels = Labels(known.in_slots if known.closed else None, known.room)
        if plan.total != core.arena.nbytes or labels.room != self._most_classes(core.n_features):
            self._state = None
        else:
            self._adopt(plan, core.arena, labels, core.n_features)

    def _fresh_labels(self) -> Labels:
        """Labels for a new start: those given in advance, else none."""
        known = Labels() if self._state is None else self._state.core.labels
        return Labels(known.in_slots if known.closed else None, self.n_classes_planned)

    def _start_over(self, n_features: int, labels: Labels) -> None:
        """Start with empty memory and these labels, in a `fit` that has checked its data."""
        plan = self.plan(n_features)
        if self.nbytes == plan.total and self.n_features_in_ == n_features:
            self._zero(self.core)
        else:
            self._state = None
            self.allocate(n_features)
        self._adopt(plan, self.core.arena, labels, n_features)

    def _zero(self, core: Any) -> None:
        """Zero the memory."""
        for some in self._used(core):
            core.arena.memory[some] = 0

    def _used(self, core: Any) -> list[slice]:
        """The memory that may not be zero between samples."""
        return [slice(0, core.arena.nbytes)]

    @staticmethod
    def _place(core: Any, name: str) -> slice:
        """The memory of an array."""
        view = core.views[name]
        at = view.ctypes.data - core.arena.memory.ctypes.data
        return slice(at, at + view.nbytes)

    # -- learning ----------------------------------------------------------------------------------

    def learn_one(self, x: ArrayLike, y: Any, weight: float = 1.0) -> bool:
        """Learn one sample. Returns whether the model changed.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            With the learner's dtype no allocator call is made. Anything else is converted.
        y : label
        weight : float, default 1.0
            As in `partial_fit`.

        Raises
        ------
        ValueError
            A feature is NaN or infinite, the length is wrong, the label is new and there is no room
            for another class, or the weight is invalid. The sample is not learned; the model does
            not change.
        """
        state = self._state
        if state is not None:
            return state.core.learn_one(x, y, weight)
        with self._guard as guard, self._first_samples():
            row = guard.call(self._row, x)
            if self._state is None:  # else another thread's sample was the first
                self.allocate(len(row))
            return self.core.learn_one(row, y, weight)

    @property
    def _dtype(self) -> np.dtype:
        return np.dtype(one_of("dtype", self.dtype, *DTYPES))

    def _layout(self) -> tuple[np.dtype, int | None, str]:
        """Dtype and number of the features, those of the memory, and the name for messages; before
        ``allocate``, the dtype of the parameters."""
        state = self._state
        if state is not None:
            return state.core.dtype, state.core.n_features, state.core.owner
        return self._dtype, None, type(self).__name__

    def _row(self, x: ArrayLike) -> np.ndarray:
        """One sample."""
        dtype, n_features, owner = self._layout()
        return as_floats(x, dtype, 1, n_features, owner)

    def _matrix(self, X: Matrix) -> Any:
        """Rows, an ndarray or `SparseRows`."""
        self._note_columns(names_of(X))
        return as_rows(X, *self._layout())

    def _note_columns(self, names: Names) -> None:
        """Check columns against those of the rows learned; the first ones are kept."""
        state = self._state
        if state is not None and state.core.views["n_seen"]:
            check_names(names, self._columns, state.core.owner)
        elif names is not None:
            self._columns = names

    @contextlib.contextmanager
    def _first_samples(self) -> Iterator[None]:
        """If the very first sample is refused, release the memory allocated for it, and forget the
        number of features and the labels."""
        before = self._state
        try:
            yield
        except BaseException:
            if self._state is not None and self.n_seen_ == 0:
                self._state = before
                if before is not None:
                    before.core.successor = None
            raise

    def partial_fit(
        self: Self,
        X: Matrix,
        y: ArrayLike,
        classes: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn rows in order; equal to ``learn_one`` row by row, bit for bit.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), labels
        classes : sequence of two labels, optional
            As for ``allocate``; on a later call they must be the same.
        sample_weight : array of shape (n_samples,), float64, optional
            Any scale will do: a weight counts by its ratio to the others. It is 0, or from 2^-40
            (9.1e-13) to 2^40 (1.1e12). One above 8 times the mean weight of about the last 1,000
            rows learned is learned as that and counted (`capped_weights_`), so that no row
            outweighs all others; `fit` takes the mean of all its rows. A row of weight zero is
            counted as seen and otherwise ignored. ``class_weight`` multiplies the weight afterwards
            and is not bounded.

        Raises
        ------
        ValueError
            Names the first refused row. The rows before it are learned; it and later rows are not.

        Warns
        -----
        UserWarning
            The rows come class by class: the last class is then what most learners know best.
            `ByteSVM` keeps samples of the others.
        """
        with self._guard as guard, self._first_samples():
            rows, labels, weights = guard.call(self._rows, X, y, sample_weight)
            if self.shuffles and guard.call(is_sorted_by_class, labels):
                warnings.warn(
                    "the rows come class by class, and are learned in that order: mix them, or let"
                    " fit do it",
                    stacklevel=2,
                )
            if self._state is None:
                self.allocate(rows.shape[1], classes)
            elif classes is not None:
                guard.call(self._name_classes, classes)
            self._learn_rows(rows, labels, weights)
        return self

    @exclusive
    def predict_and_learn(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Predict each row, then learn it, as by `predict_one` and `learn_one`, up to the first
        that is refused or has a new label. The learner is fitted. Returns the labels predicted."""
        core = self.core
        slots, n = self._guard.call(core.labels.encode, y)
        predicted = np.empty(n, np.int8)
        rows = as_rows(X, *self._layout())
        n, _ = core.learn_many(rows, slots[:n], as_weights(weights, len(X)), predicted)
        return core.labels.of_slots(predicted[:n])

    def _name_classes(self, classes: Sequence[Any]) -> None:
        """Take up the classes, if there are none yet; ValueError if they are others."""
        core = self.core
        if not core.labels.in_slots:
            named = Labels(classes, self._most_classes(core.n_features))
            self._adopt(self.plan(core.n_features), core.arena, named, core.n_features)
        elif not core.labels.names(classes):
            raise ValueError(
                f"classes={list(classes)!r} differ from the labels so far,"
                f" {list(core.labels.in_slots)!r}"
            )

    def _rows(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Arrays of rows, labels or targets, and weights."""
        rows = self._matrix(X)
        as_array = as_targets if self.regresses else as_labels
        y = as_array(y, len(rows), type(self).__name__)
        return rows, y, as_weights(sample_weight, len(rows))

    def _learn_rows(
        self,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        numbers: np.ndarray | None = None,
    ) -> None:
        """Learn them in order, by the thread that is alone; `numbers` are theirs in messages."""
        core, n_learned, status = self.core, 0, Status.UNCHANGED
        while n_learned < len(y) and status <= Status.CHANGED:
            slots, n = y[n_learned:], len(y) - n_learned
            if not self.regresses:
                slots, n = self._guard.call(core.labels.encode, slots)
            some = None if weights is None else weights[n_learned:]
            if n:
                n, status = core.learn_many(X[n_learned:] if n_learned else X, slots[:n], some)
                n_learned += n
                continue
            try:
                core.learn_one(X[n_learned], y[n_learned], 1.0 if some is None else some[0])
                n_learned += 1
            except SampleRefused as refused:
                status = refused.status
        if status > Status.CHANGED:
            row = n_learned if numbers is None else int(numbers[n_learned])
            sample = f"{type(self).__name__}: row {row} ({core.kind_of_y} {y[n_learned]!r})"
            weight = 1.0 if weights is None else weights[n_learned]
            error = core.labels.refused(status, y[n_learned], sample, self.dtype, weight)
            raise core.explained(error)

    @fits
    def fit(
        self: Self,
        X: Matrix,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        shuffle: bool | None = None,
        random_state: int = 0,
        epochs: int | None = None,
    ) -> Self:
        """Forget what was learned, then learn the rows, shuffled; `partial_fit` keeps their order.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            At most 1,024 rows are copied at a time.
        y : array of shape (n_samples,), labels
        sample_weight : array of shape (n_samples,), float64, optional
            As in `partial_fit`.
        shuffle : bool, optional
            False: learn the rows in their order, as a stream. None: regressors, novelty learners
            and learners that keep the last samples or solve exactly do so, others shuffle.
        random_state : int, default 0
            Seed of the order, 0 to 2^32 - 1. The order is computed, not stored.
        epochs : int, optional
            Passes over the rows, each in another order if shuffled, at least 1. None: one; of
            `ByteSVM`, `FourierSVM` and `AdaGradSVM` five, or as many as 50,000 samples make.
            `n_seen_` counts each pass.

        Raises
        ------
        ValueError
            There is no row, a label is missing, there are too many classes, or every weight is
            zero: nothing is forgotten. Otherwise as in ``partial_fit``.

        Warns
        -----
        UserWarning
            With ``shuffle=False``, as `partial_fit`.
        """
        whole("random_state", random_state, 0, (1 << 32) - 1)
        shuffle = self.shuffles if shuffle is None else flag("shuffle", shuffle)
        rows, labels, weights = self._guard.call(self._rows_to_fit, X, y, sample_weight)
        n = len(rows)
        if epochs is None:
            epochs = min(max(MOST_SAMPLES // n, 1), self.most_epochs)
        whole("epochs", epochs, 1, 1 << 30)
        self._take_up(labels, rows.shape[1])
        self._forget(rows.shape[1])
        mean = None if weights is None else float(weights[weights > 0.0].mean())
        with self._all_given(rows.shape[1], mean):
            for epoch in range(epochs):
                if not shuffle:
                    self.partial_fit(rows, labels, sample_weight=weights)
                    continue
                for part in shuffled(n, random_state, epoch):
                    some = None if weights is None else weights[part]
                    self._learn_rows(rows[part], labels[part], some, part)
        return self

    @contextlib.contextmanager
    def _all_given(self, n_features: int, mean: float | None = None) -> Iterator[None]:
        """Rows learned meanwhile are those of a fit: their weights are capped by this mean, of all
        of them, and no label has to wait."""
        with self._first_samples():
            if self._state is None:
                self.allocate(n_features)
            core = self.core
            core.most_weight, sifts = MOST_TIMES * mean if mean else 0.0, core.labels.sifts
            core.labels.sifts = False
            try:
                yield
            finally:
                core.most_weight, core.labels.sifts = 0.0, sifts

    def _learn_chunks(self, source: Source, found: Surveyed) -> None:
        """Learn the rows of a `fit` one after the other."""
        with self._all_given(source.n_features, found.mean_weight):
            for chunk in source.chunks(dtype=self._dtype):
                self.partial_fit(chunk.X, chunk.y, sample_weight=chunk.weight)
            self.core.n_capped = found.n_capped

    def _note_weights(self, found: Surveyed) -> None:
        """Of the rows of a `fit` that were not learned one after the other."""
        self.core.n_capped = found.n_capped
        if "mean_weight" in self.core.views:
            self.core.views["mean_weight"][...] = found.mean_weight

    def _forget(self, n_features: int) -> None:
        """What was learned; keep the memory if it is for as many features."""
        if self._state is not None and self._state.core.n_features == n_features:
            self.reset()
        else:
            self._state = None

    def _rows_to_fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """As `_rows`, whatever was learned so far; refused if there is nothing to learn."""
        owner = type(self).__name__
        rows = as_rows(X, self._dtype, None, owner)
        if len(rows) == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is"
                " required."
            )
        if self.regresses:
            y = as_targets(y, len(rows), owner, finite=True)
        else:
            y = as_labels(y, len(rows), owner)
            check_labels(y, owner, self._most_to_come(rows.shape[1]))
        weights = as_weights(sample_weight, len(rows))
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero for every row: nothing to learn")
        return rows, y, weights

    def _closed(self, X: Any) -> Any:
        """`X`; if it is a source of chunks, one that cannot come back to this learner."""
        if is_row_source(X) and not isinstance(X, Stream):
            return ClosedSource(X, self._guard)
        return X

    # -- predicting --------------------------------------------------------------------------------

    @property
    def _fitted(self) -> Any:
        state = self._state
        if state is None:
            self._raise_not_fitted()
        return state.core

    def _raise_not_fitted(self) -> NoReturn:
        raise as_sklearns(NotFittedError)(
            f"{type(self).__name__} has not learned a sample yet; call learn_one or partial_fit"
            " first"
        )

    def decision_one(self, x: ArrayLike, out: np.ndarray | None = None) -> Any:
        """Decision values of one sample, like a row of ``decision_function``.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
        out : ndarray of shape (n_labels,), float64, optional
            With more than two labels, where to put the values, so that no memory is allocated.

        Returns
        -------
        float, positive for ``classes_[1]``, or with more than two labels ndarray of shape
        (n_labels,), float64

        Raises
        ------
        As `learn_one`.
        """
        return self._fitted.decision_one(x, out)

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one sample. If only one class has been seen, it is that class."""
        return self._fitted.predict_one(x)

    def predict_with_score(self, x: ArrayLike) -> tuple[Any, float]:
        """The results of `predict_one` and `decision_one`, from one decision.

        Returns
        -------
        label
        score : float
            The decision value; with more than two labels, that of the predicted label.
        """
        return self._fitted.predict_with_score(x)

    @of_classes
    def decision_function(
        self, X: Matrix, out: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Decision values.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        out : ndarray of shape (n_samples,), float64, C-contiguous, writeable, optional
            Written and returned instead of a new array. With more than two labels, its shape and
            that of the result is (n_samples, n_labels): a column for each of ``classes_``.
        n_jobs : int, optional
            Threads, as scikit-learn counts them: None is 1, -1 one for each processor. Any number
            gives the same bits. Each has a contiguous part of the rows, and fewer are started where
            the work would be too short. If deciding needs scratch memory, each but the first
            allocates its own until the call returns: as many bytes as the plan's scratch arrays.

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        NotFittedError
        ValueError
            A feature is not finite (the message names the first such row), or `out` has the wrong
            dtype or shape.
        TypeError
            `out` is not an ndarray.
        """
        return self._answers("decide_many", X, n_jobs, out)

    def predict(self, X: Matrix, n_jobs: int | None = None) -> np.ndarray:
        """Predicted labels or targets, ndarray of shape (n_samples,); `n_jobs` as in
        `decision_function`."""
        if self.regresses:
            return self._answers("decide_many", X, n_jobs, None)
        return self._answers("predict_many", X, n_jobs)

    def _answers(self, method: str, X: Matrix, n_jobs: int | None, *out: Any) -> np.ndarray:
        """What the core's method of this name says of all rows, or the error for one of them."""
        core, n = self._fitted, n_threads(n_jobs)
        team = None if n == 1 else Team(n, self._reader_of)  # else the caller's thread alone
        found, row, status = getattr(core, method)(self._matrix(X), *out, team)
        if status > Status.CHANGED:
            raise refusal(
                status, f"{type(self).__name__}: row {row}", self.dtype, core.labels.in_slots
            )
        return cast(np.ndarray, found)

    def _reader_of(self, core: Any) -> Any:
        state = self._state
        params = self.get_params(deep=False) if state is None else state.params
        return type(self)(**params)._reader(core)

    def _reader(self, core: Any) -> Any:
        """A core that decides as `core` does, in the same memory but for scratch of its own; `core`
        itself if it needs none. It holds while the memory is not written."""
        if not core.has_scratch:
            return core
        place = Place(
            cast(MemoryPlan, ReadingPlan(core)),
            core.arena,
            core.labels,
            core.n_features,
            core.dtype,
            core.owner,
            core.guard,
        )
        params = self._core_params(core.n_features)
        return type(core)(*place, **params, **self._inner_readers(core))

    def _inner_readers(self, core: Any) -> dict[str, Any]:
        """The core's own parameters that are cores."""
        return {}

    def score(
        self,
        X: Matrix,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> float:
        """Accuracy: the share of rows, by weight, whose label is predicted correctly; of a
        regressor R^2, the share of the variance of y that the prediction explains. `n_jobs` as in
        `decision_function`."""
        predicted = self.predict(X, n_jobs)
        if self.regresses:
            y = as_targets(y, len(predicted), type(self).__name__, finite=True)
            return r_squared(y, predicted, as_weights(sample_weight, len(predicted)))
        y, _ = self.core.labels.spelled(as_labels(y, len(predicted), type(self).__name__))
        hits = predicted == y
        return float(np.average(hits, weights=as_weights(sample_weight, len(predicted))))

    # -- what was learned --------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        """Whether a sample was learned, so that predictions are possible."""
        state = self._state
        return state is not None and state.core.is_fitted

    @property
    def classes_(self) -> np.ndarray:
        """The labels so far, sorted, ndarray of shape (n_labels,)."""
        if self.regresses:
            raise AttributeError(f"{type(self).__name__} predicts numbers; it has no classes")
        return self.core.labels.classes

    @property
    def n_features_in_(self) -> int:
        return self.core.n_features

    @property
    def n_seen_(self) -> int:
        """Samples seen, including those of weight zero."""
        return int(self.core.views["n_seen"])

    @property
    def n_updates_(self) -> int:
        """Samples that changed the model."""
        return int(self.core.views["n_updates"])

    @property
    def capped_weights_(self) -> int:
        """Samples whose weight was learned as less, as `partial_fit` says; from 0 again in a
        learner that was reset or loaded."""
        return int(self.core.n_capped)

    @property
    def rare_labels_(self) -> int:
        """Samples that were not learned, as their label came for the first or second time within
        1,000: the third is of a class, which takes memory from the others. It is one at once if it
        is among the first two, the first 100 samples or 16 for each class, in `fit`, and if
        `n_classes` or ``classes=`` say how many. From 0 again as `capped_weights_`."""
        return int(self.core.labels.n_rare)

    # -- saving and loading ------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The contents of this learner's snapshot; the arena is not copied."""
        core, params = self._held_state
        described = self._described(params)
        labels = core.labels
        return Snapshot(
            described.learner,
            described.params,
            core.n_features,
            labels.in_slots,
            labels.closed,
            core.arena.memory.data,
            self._columns or (),
        )

    @property
    def n_classes_allocated(self) -> int:
        """Largest number of labels in the allocated memory."""
        return int(self.core.labels.room)

    def _described(self, params: dict[str, Any]) -> Wrapped:
        """Class name and parameters, including those of a wrapped learner."""
        absent = self._absent
        return Wrapped(
            registered_name(type(self)),
            {
                name: v._described(v.get_params(deep=False)) if isinstance(v, Learner) else v
                for name, v in params.items()
                if name not in absent or v != absent[name]
            },
        )

    def __getstate__(self) -> dict[str, Any]:
        with self._guard:
            own = "_state", "_own_guard"
            state = {name: value for name, value in self.__dict__.items() if name not in own}
            if self._state is not None:
                core, params = self._state
                labels = core.labels
                memory = bytes(core.arena)
                state["_saved"] = (core.n_features, labels.in_slots, labels.closed, memory, params)
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update({**self._absent, **state})
        if saved is not None:
            *rest, params = saved
            # other parameters may have been set after `allocate`
            built = type(self)(**{**self._absent, **params})
            built._engine, built._is_part = self._engine, self._is_part
            built._restore(*rest)
            self._own_guard, self._state = built._guard, built._state

    def _restore(
        self, n_features: int, labels: tuple[Any, ...], closed: bool, memory: bytes
    ) -> None:
        """`_load` a copy of an arena's bytes."""
        plan = self.plan(n_features)
        arena = Arena(plan.total)
        arena.memory[:] = np.frombuffer(memory, np.uint8)
        self._load(plan, arena, n_features, labels, closed)

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        restored = Labels.restore(labels, closed, self._most_classes(n_features))
        before = zlib.crc32(arena.memory)
        with self._guard:
            self._adopt(plan, arena, restored, n_features)
        if zlib.crc32(arena.memory) != before:
            raise CorruptModelError("the snapshot is of an arena that was never set up")
        with np.errstate(all="ignore"):  # numbers of a damaged arena may overflow
            self._check(self.core)

    def _check(self, core: Any) -> None:
        """Raise CorruptModelError if no stream of samples could have produced this arena."""
        core.check()

    # -- scikit-learn, which is not a dependency ---------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted


def r_squared(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> float:
    """1 - sum (y - predicted)^2 / sum (y - mean)^2; of targets that do not vary 1 if they are
    predicted exactly, else 0."""
    total = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    rest = float(np.average((y - predicted) ** 2, weights=weights))
    return 1.0 - rest / total if total > 0.0 else float(rest == 0.0)


class ClosedSource:
    """A source of chunks whose own code runs as a callback of the learner that reads it."""

    def __init__(self, source: RowSource, guard: Guard) -> None:
        self.n_features = source.n_features
        self._source, self._guard = source, guard

    def chunks(self, rows: int) -> Iterator[Rows]:
        chunks = self._guard.call(iter, self._guard.call(self._source.chunks, rows))
        while (chunk := self._guard.call(next, chunks, None)) is not None:
            yield chunk


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Load what was saved at `path`; it continues as if it had never stopped.

    Parameters
    ----------
    path : path
    max_bytes : int, optional
        Memory of the largest learner to load. Of a larger one only the header is read.

    Returns
    -------
    Learner, Chain or WindowFeatures; the latter two in the middle of a window

    Raises
    ------
    CorruptModelError, FormatVersionError
        The file is not a valid snapshot, or has an unknown format version.
    MemoryBudgetError
        It has more than `max_bytes`.
    OSError
        The file cannot be read, or is not a regular file.
    """
    return restore(read_file(path, max_bytes))


def learner_in(model: Any) -> Learner:
    """The learner of a Chain or of a virtual sensor, or the learner that this is."""
    return model if isinstance(model, Learner) else cast(Learner, model.learner_)
