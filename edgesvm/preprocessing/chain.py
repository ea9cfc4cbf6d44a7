"""Chain: raw samples in, a prediction for each window out, in one block of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import MemoryPlan, parse_bytes
from edgesvm.contract.inputs import as_floats
from edgesvm.contract.names import Names
from edgesvm.contract.params import one_of
from edgesvm.contract.registry import also_loaded, registered_name
from edgesvm.core.arena import Arena
from edgesvm.learner import Learner
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.persist.format import Snapshot
from edgesvm.persist.saved import Composed
from edgesvm.preprocessing._windows import ChainCore
from edgesvm.preprocessing.window_features import RawFeatures, WindowFeatures

__all__ = ["Chain"]


@also_loaded
@dataclass(kw_only=True, eq=False)
class Chain(Composed):
    """Windows of raw samples, and a learner of their features: one plan, one block of memory, one
    snapshot.

    Parameters
    ----------
    windows : WindowFeatures or ClockFeatures, default WindowFeatures()
        Only its parameters are used. Behind `ClockFeatures` each sample is a window.
    learner : Learner, default ByteSVM()
        Of the same dtype. Only its parameters are used. One that learns without labels, such as
        `KernelNovelty`, learns every window, and labels are ignored.
    label : {"majority", "last"}, default "majority"
        Whose label is that of a window: the one that most of its labelled samples have (of several
        the one that was seen first in the stream), or its last sample's. A window without it is
        predicted and not learned.

    Notes
    -----
    Bytes: those of both, and 8 K ceil(window / hop) for the votes, K the learner's number of
    classes.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Chain, Standardized, WindowFeatures
    >>> chain = Chain(windows=WindowFeatures(rate=1000, bands=[(10, 50), (50, 200)]))
    >>> chain = chain.fitted_into("16KiB", n_channels=1).allocate(n_channels=1)
    >>> waves = np.sin(np.arange(20_000, dtype=np.float32) / 5)
    >>> answers = [chain.push(x, "fine") for x in waves[:, None]]
    >>> sum(answer is not None for answer in answers), chain.nbytes <= 16384
    (155, True)
    """

    windows: RawFeatures | None = field(default=None, kw_only=False)
    learner: Learner | None = field(default=None, kw_only=False)
    label: str = "majority"

    def __post_init__(self) -> None:
        self._core: Any = None
        self._arena: Arena | None = None

    # -- memory ------------------------------------------------------------------------------------

    def _parts(self) -> tuple[RawFeatures, Learner]:
        """Unused copies of both."""
        windows: Any = WindowFeatures() if self.windows is None else self.windows
        learner = ByteSVM() if self.learner is None else self.learner
        if not isinstance(windows, RawFeatures) or not isinstance(learner, Learner):
            raise ValueError(
                f"windows={self.windows!r}, learner={self.learner!r}: give WindowFeatures or"
                " ClockFeatures, and a learner, such as ByteSVM()"
            )
        if learner.regresses:
            raise ValueError(
                f"learner={self.learner!r}: it predicts a number, and the label of a window is that"
                " of its samples; teach it the rows of WindowFeatures"
            )
        if windows.dtype != learner.dtype:
            raise ValueError(f"dtype: {windows.dtype} windows, but {learner.dtype} in the learner")
        one_of("label", self.label, "majority", "last")
        return windows.like_new(), learner.wrapped().like_new()

    def plan(self, n_channels: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated."""
        windows, learner = self._parts()
        first = windows.plan(n_channels)
        (width,) = first.arrays[-1].shape
        behind = learner.plan(width)
        return MemoryPlan.of(
            [
                ("votes", "i8", (windows._n_windows, learner.n_classes_planned)),
                ("windows", "u1", (first.total,)),
                ("learner", "u1", (behind.total,)),
            ],
            {"windows": first, "learner": behind},
        )

    def fitted_into(self, budget: int | str, n_channels: int, *, fixed: bool = False) -> Chain:
        """This chain with the largest learner that fits into `budget` bytes, windows included; with
        ``fixed``, with its own learner. MemoryBudgetError if none fits."""
        n_bytes = parse_bytes(budget)
        windows, learner = self._parts()
        first = windows.plan(n_channels)
        (width,) = first.arrays[-1].shape
        before = first.total + 8 * windows._n_windows * learner.n_classes_planned
        fitted = self._part_fitted_into(
            n_bytes,
            learner,
            width,
            told=f"with {n_channels} channels",
            before=before,
            others="windows",
            fixed=fixed,
        )
        return type(self)(windows=windows, learner=fitted, label=self.label)

    def allocate(
        self, n_channels: int, classes: Sequence[Any] | None = None, buffer: Any = None
    ) -> Chain:
        """Allocate the planned bytes, and forget what was learned; `classes` and `buffer` as for
        `Learner.allocate`. Nothing is allocated later."""
        plan = self.plan(n_channels)
        plan.check_buffer(buffer, f"{self!r} with {n_channels} channels")
        arena = Arena(plan.total, buffer)
        views = plan.cut(arena.memory)
        windows, learner = self._parts()
        windows.allocate(n_channels, views["windows"])
        learner.allocate(len(windows._core.row), classes, views["learner"])
        self._adopt(arena, views["votes"], windows, learner)
        return self

    def _adopt(
        self, arena: Arena, votes: np.ndarray, windows: RawFeatures, learner: Learner
    ) -> None:
        self.windows_, self.learner_ = windows, learner
        self._arena, self._label = arena, self.label
        self._core = ChainCore(
            votes, windows._core, learner.core, self.label == "last", type(self).__name__
        )

    def _described(self) -> dict[str, Any]:
        windows, learner = self.windows_, self.learner_
        return {
            "windows": windows._described(),
            "learner": learner._described(learner._held_state.params),
            "label": self._label,
        }

    @property
    def n_features_in_(self) -> int:
        """Number of channels, the numbers in a raw sample."""
        return self.windows_._core.n_channels

    @property
    def _columns(self) -> Names:
        """The names of the channels, which the windows have."""
        return None if self._core is None else self.windows_._columns

    @_columns.setter
    def _columns(self, names: Names) -> None:
        self.windows_._columns = names

    @property
    def n_seen_(self) -> int:
        """Raw samples taken in."""
        return self.windows_.n_pushed_

    # -- samples -----------------------------------------------------------------------------------

    def push(self, x: ArrayLike, y: Any = None) -> tuple[Any, float] | None:
        """Take in one raw sample. If it completes a window, that is predicted, then learned.

        Returns None, or (label, decision value) of the window, as `Learner.predict_with_score`
        gives them, before it was learned; (None, 0.0) as long as nothing has been learned. `y` is
        None if the sample has no label. With the dtype of the parameters no allocator call is made.

        Raises
        ------
        SampleRefused
            A value is NaN, infinite or beyond 1e15, or the label is new and there is no room for
            it; nothing has changed. A learner that is full, or to which the features are too large
            to be squared, refuses the window: the sample was taken in.
        """
        if self._core is None:
            dtype = np.dtype(self._parts()[0].dtype)
            self.allocate(len(as_floats(x, dtype, 1, None, type(self).__name__)))
        return self._core.push(x, y)

    def window(self, x: ArrayLike, y: Any = None) -> tuple[np.ndarray, Any] | None:
        """Take in one raw sample as `push` does, but leave it to the caller what becomes of a
        window: ``learner_`` predicts and learns its row.

        Returns None, or (row, label) of the window that the sample completes: its features, ndarray
        of shape (n_features_out,) that the next window overwrites, and its label, None if it has
        none.
        """
        self.arena  # noqa: B018  (raises before `allocate`)
        return self._core.window(x, y)

    def partial_fit(self, X: ArrayLike, y: Sequence[Any] | np.ndarray) -> Chain:
        """Push rows with their labels, in order; predictions are dropped."""
        rows = list(np.asarray(X))
        if len(rows) != len(y):
            raise ValueError(f"X has {len(rows)} rows, y {len(y)} labels")
        for row, label in zip(rows, y, strict=True):
            self.push(row, label)
        return self

    def predict(self, X: ArrayLike, n_jobs: int | None = None) -> np.ndarray:
        """Labels of every window of a stretch of raw samples X, apart from the stream; nothing of
        the chain changes. `n_jobs` as in `Learner.decision_function`; one thread makes the
        features."""
        apart = self.windows_.apart()
        return self.learner_.predict(apart.push_many(X), n_jobs)

    def gap(self) -> None:
        """Samples are missing here: drop the windows that are open, and count them."""
        self.arena  # noqa: B018  (raises before `allocate`)
        self.windows_.gap()

    # -- save and load -----------------------------------------------------------------------------

    @property
    def _guard(self) -> Any:
        return self.windows_._guard

    @property
    def n_classes_allocated(self) -> int:
        return self.learner_.n_classes_allocated

    def snapshot(self) -> Snapshot:
        memory = self.arena.memory.data
        labels = self.learner_.core.labels
        n_channels = self.windows_._core.n_channels
        name = registered_name(type(self))
        known = labels.in_slots, labels.closed
        names = self._columns or ()
        return Snapshot(name, self._described(), n_channels, *known, memory, names)

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        windows, learner = self._parts()
        first, behind = plan.inside["windows"], plan.inside["learner"]
        at, width = plan.offsets, first.arrays[-1].shape[0]
        windows._load(first, arena.part(at["windows"], first.total), n_features, (), False)
        learner._load(behind, arena.part(at["learner"], behind.total), width, labels, closed)
        self._adopt(arena, plan.cut(arena.memory)["votes"], windows, learner)
        self._core.check()
