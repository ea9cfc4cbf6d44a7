"""The contract every learner keeps: planned memory, one sample or many, labels of any kind, save
and load.

A learner is its arena. The public class holds parameters and checks; the core (compiled, or its
NumPy twin) holds state and step. What a subclass adds is short: its parameters, `_check_params`,
`_arrays`, the class of its core and `_core_params`.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import (
    BeyondAnyMachine,
    MemoryBudgetError,
    MemoryPlan,
    format_bytes,
    parse_bytes,
)
from edgesvm.contract.core import common_arrays
from edgesvm.contract.engine import of_engine
from edgesvm.contract.inputs import as_floats, as_labels, as_out, as_weights
from edgesvm.contract.labels import Labels, check_labels
from edgesvm.contract.params import one_of, whole
from edgesvm.contract.registry import kind_of, registered_name
from edgesvm.core.arena import Arena
from edgesvm.core.status import Status
from edgesvm.errors import CorruptModelError, NotFittedError, refusal
from edgesvm.persist.format import Snapshot, Wrapped
from edgesvm.persist.store import read_file, restore, save

Self = TypeVar("Self", bound="Learner")

DTYPES = ("float32", "float64")
MAX_FEATURES = 1 << 24
MAX_CAPACITY = 1 << 24


class Place(NamedTuple):
    """Where a core lives and whose it is: what every core is given, beside its parameters."""

    plan: MemoryPlan
    arena: Arena
    labels: Labels
    n_features: int
    dtype: str
    owner: str  # the public class's name, for messages


class State(NamedTuple):
    """What a learner has once it has memory."""

    core: Any
    params: dict[str, Any]  # those the core was built with, whatever was set since


class Learner:
    """Base of all learners; see a concrete one, such as `StreamSVM`, for use.

    Guarantees, each held by a test:

    * ``allocate`` takes exactly ``plan(n_features).total`` bytes, and nothing is taken after it.
    * One sample at a time equals a batch, bit for bit, however the stream is cut.
    * A refused sample leaves the arena's bytes as they were.
    * Saved and continued equals never stopped, bit for bit.

    One learner is for one thread at a time.
    """

    dtype: str
    _capacity: ClassVar[str]  # the parameter that `within` makes as large as fits
    _compiled: ClassVar[type[Any]]  # the core; `of_engine` finds its twin
    _param_order: ClassVar[tuple[str, ...]] = ()  # in snapshots; the signature's where not given
    _engine: str = "compiled"  # "reference": the NumPy twin, for tests and readers
    _state: State | None = None  # None: no memory yet

    # -- what a learner adds -----------------------------------------------------------------------

    def _check_params(self) -> None:
        """Raise ValueError for a parameter out of range."""
        raise NotImplementedError

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        """The learner's own arrays, (name, dtype, shape)."""
        raise NotImplementedError

    def _core_params(self, n_features: int) -> dict[str, Any]:
        """What the core is told, beside its `Place`."""
        return {}

    def _build(self, engine: str, place: Place) -> Any:
        """The core of an engine. A learner around another builds that one's core with it."""
        return of_engine(self._compiled, engine)(*place, **self._core_params(place.n_features))

    @property
    def _n_classes(self) -> int:
        """Labels there can be."""
        return 2

    def _part(self, n_features: int) -> MemoryPlan | None:
        """Of a learner made of parts: the plan of each; the array `parts` holds them."""
        return None

    @property
    def _most_samples(self) -> int | None:
        """Samples after which the next one is refused; None: there is no such number."""
        return None

    # -- parameters, as scikit-learn has them ------------------------------------------------------

    @classmethod
    def _param_names(cls) -> list[str]:
        names = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
        order = cls._param_order
        return sorted(names, key=lambda name: order.index(name) if name in order else len(order))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments by name, as they were given."""
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Change constructor arguments. What was learned belonged to the old ones and is
        dropped.

        Raises
        ------
        ValueError
            There is no such parameter: nothing is changed and nothing dropped.
        """
        self._check_names(params)
        for name, value in params.items():
            setattr(self, name, value)
        self._state = None
        return self

    def _check_names(self, params: Mapping[str, Any]) -> None:
        """Refuse what `set_params` cannot set."""
        names = self._param_names()
        for name in params:
            if name not in names:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}"
                )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_features: int) -> MemoryPlan:
        """The arrays this learner will live in and their total bytes; arithmetic, nothing is
        allocated.

        Raises
        ------
        ValueError
            A parameter is out of range.
        """
        one_of("dtype", self.dtype, *DTYPES)
        n_features = whole("n_features", n_features, 1, MAX_FEATURES)
        self._check_params()
        arrays = [*common_arrays(self._n_classes), *self._arrays(n_features)]
        return MemoryPlan.of(arrays, self._part(n_features))

    def allocate(
        self: Self, n_features: int, classes: Sequence[Any] | None = None, buffer: Any = None
    ) -> Self:
        """Take the planned bytes: the only place where a learner takes memory. Forgets what was
        learned.

        Parameters
        ----------
        n_features : int
        classes : sequence of two labels, optional
            Named up front, any other label is refused; else the first two labels to come are the
            two. A learner of more classes takes two to as many as these.
        buffer : writable contiguous buffer, optional
            At least ``plan(n_features).total`` bytes, aligned to 8, used in place of an own block.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` says how many bytes would do.
        """
        plan = self.plan(n_features)
        available = plan.total if buffer is None else memoryview(buffer).nbytes
        if available < plan.total:
            raise MemoryBudgetError(
                f"{self!r} with {n_features} features needs {format_bytes(plan.total)}, "
                f"the buffer has {format_bytes(available)}",
                plan.total,
                available,
            )
        labels = Labels(classes, self._n_classes)
        self._adopt(plan, Arena(plan.total, buffer), labels, n_features)
        return self

    def _adopt(self, plan: MemoryPlan, arena: Arena, labels: Labels, n_features: int) -> None:
        place = Place(plan, arena, labels, int(n_features), self.dtype, type(self).__name__)
        self._hold(self._build(self._engine, place))

    def _hold(self, core: Any) -> None:
        """Have this core, which was built with the parameters as they are now."""
        self._state = State(core, self._like_new().get_params(deep=False))

    def _at_work(self: Self, core: Any, engine: str) -> Self:
        """A learner of the same parameters on a core whose memory is another learner's."""
        learner = self._like_new()
        learner._engine = engine
        learner._hold(core)
        return learner

    def _like_new(self: Self) -> Self:
        """A learner of the same parameters, a wrapped learner's too, that has learned nothing."""
        params = self.get_params(deep=False)
        return type(self)(
            **{k: v._like_new() if isinstance(v, Learner) else v for k, v in params.items()}
        )

    @classmethod
    def within(cls: type[Self], budget: int | str, n_features: int, **params: Any) -> Self:
        """The learner of the largest capacity whose plan fits ``budget`` bytes.

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
            Even the smallest capacity does not fit; ``.required`` says what it needs.
        """
        learner = cls(**params)
        return learner.fitted_into(budget, n_features, fixed=cls._capacity in params)

    def fitted_into(self: Self, budget: int | str, n_features: int, *, fixed: bool = False) -> Self:
        """This learner with the largest capacity whose plan fits; with ``fixed``, its own capacity
        or none.

        What `within` does, for a learner that is there already. Raises `MemoryBudgetError` as it
        does.
        """
        n_bytes = parse_bytes(budget)
        least, most = self._capacity_range()
        smallest = self if fixed else self._of_capacity(least)
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
            if self._of_capacity(middle)._fits(n_bytes, n_features):
                least = middle
            else:
                most = middle - 1
        return self._of_capacity(least)

    def _fits(self, n_bytes: int, n_features: int) -> bool:
        try:
            return self.plan(n_features).total <= n_bytes
        except BeyondAnyMachine:
            return False

    def _of_capacity(self: Self, capacity: int) -> Self:
        """The same learner with another capacity."""
        return type(self)(**{**self.get_params(deep=False), self._capacity: capacity})

    def _capacity_range(self) -> tuple[int, int]:
        """Least and largest capacity worth having."""
        return 1, MAX_CAPACITY

    @property
    def nbytes(self) -> int:
        """Bytes held: the arena's, 0 before ``allocate``."""
        return 0 if self._state is None else self._state.core.arena.nbytes

    @property
    def arena(self) -> Arena:
        """The block the learner lives in; ``bytes(learner.arena)`` is its whole state."""
        return self._allocated.arena

    @property
    def _allocated(self) -> Any:
        """The core; AttributeError where there is no memory yet."""
        return self._held_state.core

    @property
    def _held_state(self) -> State:
        if self._state is None:
            raise AttributeError(
                f"this {type(self).__name__} has no memory yet: allocate, or learn a sample"
            )
        return self._state

    def reset(self: Self) -> Self:
        """Forget what was learned; the memory stays."""
        if self._state is not None:
            core = self._state.core
            plan = self.plan(core.n_features)
            self._zero(core)
            named = core.labels.in_slots if core.labels.closed else None
            labels = Labels(named, core.labels.room)
            if plan.total != core.arena.nbytes or labels.room != self._n_classes:
                self._state = None
            else:
                self._adopt(plan, core.arena, labels, core.n_features)
        return self

    def _fresh_labels(self) -> Labels:
        """Those named up front, else none."""
        known = Labels() if self._state is None else self._state.core.labels
        return Labels(known.in_slots if known.closed else None, self._n_classes)

    def _start_anew(self, n_features: int, labels: Labels) -> None:
        """An empty memory of these labels, for a `fit` that has looked at the data."""
        plan = self.plan(n_features)
        if self.nbytes == plan.total and self.n_features_in_ == n_features:
            self._zero(self._allocated)
        else:
            self._state = None
            self.allocate(n_features)
        self._adopt(plan, self._allocated.arena, labels, n_features)

    def _zero(self, core: Any) -> None:
        """Zero the memory; a learner may leave out what it keeps at zero."""
        core.arena.memory[:] = 0

    # -- learning ----------------------------------------------------------------------------------

    def learn_one(self, x: ArrayLike, y: Any, weight: float = 1.0) -> bool:
        """Learn one sample; whether the model moved.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            Of the learner's dtype: no allocator call is made. Anything else is converted.
        y : label
        weight : float, default 1.0
            Finite, >= 0; zero is as if the sample were not there, but it is counted as seen.

        Raises
        ------
        ValueError
            A feature is NaN or infinite, the length is wrong, the label is one too many, or the
            weight is refused. The sample is not learned and the model is as it was.
        """
        if self._state is not None:
            return self._state.core.learn_one(x, y, weight)
        with self._first_samples():
            self.allocate(len(self._floats(x, 1)))
            return self._allocated.learn_one(x, y, weight)

    @property
    def _dtype(self) -> np.dtype:
        return np.dtype(one_of("dtype", self.dtype, *DTYPES))

    def _floats(self, x: ArrayLike, ndim: int) -> np.ndarray:
        """Features in the dtype and width of the memory, or of the parameters while there is
        none."""
        if self._state is not None:
            core = self._state.core
            return as_floats(x, core.dtype, ndim, core.n_features, core.owner)
        return as_floats(x, self._dtype, ndim, None, type(self).__name__)

    @contextlib.contextmanager
    def _first_samples(self) -> Iterator[None]:
        """Where the very first sample is refused, all is as before: the memory taken for it goes
        back, and with it width and labels."""
        before = self._state
        try:
            yield
        except BaseException:
            if self._state is not None and self.n_seen_ == 0:
                self._state = before
            raise

    def partial_fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike,
        classes: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn rows in order; equal to ``learn_one`` row by row, bit for bit.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : array of shape (n_samples,), labels
        classes : sequence of two labels, optional
            As for ``allocate``; on a later call it must name the same.
        sample_weight : array of shape (n_samples,), float64, optional
            Finite, >= 0; zero is as if the row were not there.

        Raises
        ------
        ValueError
            Names the first row that is refused. The rows before it are learned; it and later ones
            are not.
        """
        owner = type(self).__name__
        X = self._floats(X, 2)
        y = as_labels(y, len(X), owner)
        weights = as_weights(sample_weight, len(X))
        if self._state is None:
            with self._first_samples():
                return self.allocate(X.shape[1], classes).partial_fit(X, y, sample_weight=weights)
        core = self._state.core
        if classes is not None and not core.labels.in_slots:
            with self._first_samples():
                labels = Labels(classes, self._n_classes)
                self._adopt(self.plan(core.n_features), core.arena, labels, core.n_features)
                return self.partial_fit(X, y, sample_weight=weights)
        if classes is not None and not core.labels.names(classes):
            raise ValueError(
                f"classes={list(classes)!r} differ from the labels known so far,"
                f" {list(core.labels.in_slots)!r}"
            )
        slots, n_known, newcomers = core.labels.encode(y)
        n_learned, _, status = core.learn_many(X[:n_known], slots, weights)
        for slot, row, label in newcomers:
            if row < n_learned:
                core.labels.take(slot, label)
        if status <= Status.CHANGED and n_known < len(y):
            status = Status.UNKNOWN_LABEL
        if status > Status.CHANGED:
            sample = f"{owner}: row {n_learned} (label {y[n_learned]!r})"
            raise refusal(status, sample, self.dtype, core.labels.in_slots)
        return self

    def fit(self: Self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget, then learn the rows in one pass.

        Raises
        ------
        ValueError
            There is no row, a label is missing or one too many, or every weight is zero: nothing is
            forgotten. Else as ``partial_fit``.
        """
        owner = type(self).__name__
        X = as_floats(X, self._dtype, 2, None, owner)
        if len(X) == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        y = as_labels(y, len(X), owner)
        check_labels(y, owner, self._n_classes)
        weights = as_weights(sample_weight, len(X))
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero for every row: there is nothing to learn")
        if self._state is not None and self._state.core.n_features == X.shape[1]:
            self.reset()
        else:
            self._state = None
        return self.partial_fit(X, y, sample_weight=weights)

    # -- predicting --------------------------------------------------------------------------------

    @property
    def _fitted(self) -> Any:
        if self._state is None:
            self._raise_not_fitted()
        return self._state.core

    def _raise_not_fitted(self) -> NoReturn:
        raise NotFittedError(
            f"{type(self).__name__} has learned no sample yet; call learn_one or partial_fit first"
        )

    def decision_one(self, x: ArrayLike) -> Any:
        """Decision value of one sample, a float: positive for ``classes_[1]``. Raises as
        ``learn_one`` does."""
        return self._fitted.decision_one(x)

    def predict_one(self, x: ArrayLike) -> Any:
        """Label of one sample, as it was given. While one class has been seen, that class."""
        return self._fitted.predict_one(x)

    def predict_with_score(self, x: ArrayLike) -> tuple[Any, float]:
        """What `predict_one` and `decision_one` say of a sample, from one decision.

        Returns
        -------
        label
        score : float
            The decision value; of more than two labels, that of the label predicted.
        """
        return self._fitted.predict_with_score(x)

    def decision_function(self, X: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Decision values.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        out : ndarray of shape (n_samples,), float64, C-contiguous, writeable, optional
            Where to put them. Of more than two labels (n_samples, n_labels), as is what is
            returned: a column for each of ``classes_``.

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        NotFittedError
        ValueError
            Names the first row with a feature that is not finite, or says what `out` must be.
        TypeError
            `out` is no ndarray.
        """
        core = self._fitted
        X = self._floats(X, 2)
        shape = (len(X),) if core.n_columns == 1 else (len(X), core.n_columns)
        out = np.empty(shape) if out is None else as_out(out, shape)
        row, status = core.decide_many(X, out)
        if status > Status.CHANGED:
            raise refusal(
                status, f"{type(self).__name__}: row {row}", self.dtype, core.labels.in_slots
            )
        return out

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels, ndarray of shape (n_samples,)."""
        decisions = self.decision_function(X)
        core = self._fitted
        if decisions.ndim == 2:
            return core.labels.classes[decisions.argmax(axis=1)]
        per_class = core.views["n_per_class"]
        if np.count_nonzero(per_class) == 1:
            return core.labels.of_slots(np.full(len(decisions), per_class.argmax()))
        return core.labels.classes[(decisions > 0).astype(np.intp)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows whose predicted label is right."""
        predicted = self.predict(X)
        hits = predicted == as_labels(y, len(predicted), type(self).__name__)
        return float(np.average(hits, weights=as_weights(sample_weight, len(predicted))))

    # -- what was learned --------------------------------------------------------------------------

    @property
    def is_fitted(self) -> bool:
        """Whether a sample was learned, so that a prediction can be asked for."""
        return self._state is not None and bool(self._state.core.views["n_per_class"].any())

    @property
    def classes_(self) -> np.ndarray:
        """The labels so far, sorted, ndarray of shape (n_labels,)."""
        return self._allocated.labels.classes

    @property
    def n_features_in_(self) -> int:
        return self._allocated.n_features

    @property
    def n_seen_(self) -> int:
        """Samples taken, those of weight zero too."""
        return int(self._allocated.views["n_seen"])

    @property
    def n_updates_(self) -> int:
        """Samples that moved the model."""
        return int(self._allocated.views["n_updates"])

    # -- bytes out and in --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot, whole or not at all (see FORMATS.md); read it with ``edgesvm.load``.

        Where `path` is a symbolic link, the file it points at is replaced and the link stays.

        Raises
        ------
        TypeError
            A label is no bool, int, float or str, or the class is not registered, so that `load`
            would not find it.
        OSError
            The disk is full or read-only, or `path` is a link to nowhere; an older file of that
            name is as it was.
        """
        save(self, path)

    def _snapshot(self) -> Snapshot:
        """What a snapshot says of this learner; its arena is not copied."""
        core, params = self._held_state
        claimed = self._claim(params)
        labels = core.labels
        return Snapshot(
            claimed.learner,
            claimed.params,
            core.n_features,
            labels.in_slots,
            labels.closed,
            core.arena.memory.data,
        )

    @property
    def _most_labels(self) -> int:
        """Labels there can be in the memory that was taken."""
        return int(self._allocated.labels.room)

    def _claim(self, params: dict[str, Any]) -> Wrapped:
        """Class name and parameters, those of a wrapped learner in the same way."""
        return Wrapped(
            registered_name(type(self)),
            {
                name: v._claim(v.get_params(deep=False)) if isinstance(v, Learner) else v
                for name, v in params.items()
            },
        )

    @classmethod
    def _claimed(cls: type[Self], snapshot: Snapshot) -> tuple[Self, MemoryPlan]:
        """The empty learner that a snapshot of this class claims to be, and its plan, which is
        that of the bytes there are."""
        try:
            learner = cls(**_params_of(snapshot.params))
            plan = learner.plan(snapshot.n_features)
        except (TypeError, ValueError, OverflowError) as error:
            raise CorruptModelError(
                f"the snapshot's parameters are not those of a {snapshot.learner}: {error}"
            ) from error
        if plan.total != len(snapshot.arena):
            raise CorruptModelError(
                f"the snapshot holds {len(snapshot.arena)} bytes, its parameters plan {plan.total}"
            )
        return learner, plan

    @classmethod
    def _of_snapshot(cls: type[Self], snapshot: Snapshot) -> Self:
        """The learner of a snapshot; CorruptModelError where no stream of samples can have made
        it."""
        learner, _ = cls._claimed(snapshot)
        learner._restore(snapshot.n_features, snapshot.labels, snapshot.closed, snapshot.arena)
        return learner

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_state"}
        if self._state is not None:
            core, params = self._state
            labels = core.labels
            memory = bytes(core.arena)
            state["_saved"] = (core.n_features, labels.in_slots, labels.closed, memory, params)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update(state)
        if saved is not None:
            *rest, params = saved
            built = type(self)(**params)  # parameters may have been set since the memory was taken
            built._engine = self._engine
            built._restore(*rest)
            self._state = built._state

    def _restore(self, n_features: int, labels: tuple[Any, ...], closed: bool, memory: Any) -> None:
        """Take up a saved arena; CorruptModelError where its counts contradict one another."""
        arena = self.allocate(n_features).arena
        arena.memory[:] = np.frombuffer(memory, np.uint8)
        restored = Labels.restore(labels, closed, self._n_classes)
        self._adopt(self.plan(n_features), arena, restored, n_features)
        self._check(self._allocated)

    def _check(self, core: Any) -> None:
        """Refuse, with CorruptModelError, an arena that no stream of samples can have made."""
        core.check()

    # -- scikit-learn, which is no dependency ------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True, one_d_labels=True),
            transformer_tags=None,
            regressor_tags=None,
            classifier_tags=ClassifierTags(multi_class=self._n_classes > 2),
            input_tags=InputTags(),
        )


def load(path: str | os.PathLike[str]) -> Learner:
    """The learner saved at `path`; it goes on as if it had never stopped.

    Raises
    ------
    CorruptModelError, FormatVersionError
        The file is no sound snapshot.
    OSError
        It cannot be read.
    """
    learner: Learner = restore(read_file(path))
    return learner


def _params_of(claimed: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a snapshot has them, a wrapped learner built of its own."""
    return {
        name: kind_of(v.learner)(**_params_of(v.params)) if isinstance(v, Wrapped) else v
        for name, v in claimed.items()
    }
