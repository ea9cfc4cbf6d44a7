"""Base of what makes rows of features from raw samples: its memory, methods and snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.contract.guard import Guard
from edgesvm.contract.inputs import as_floats
from edgesvm.contract.registry import registered_name
from edgesvm.core.arena import Arena
from edgesvm.errors import CorruptModelError
from edgesvm.persist.format import Snapshot, Wrapped, pack, unpack
from edgesvm.persist.saved import Saved

COUNTS = [(name, "i8", ()) for name in ("n_pushed", "n_rows", "n_dropped", "n_run")]


class RawFeatures(Saved):
    """Base of dataclasses that take raw samples and give rows of features.

    A subclass has `dtype`, `names`, `plan`, whose arrays begin with `COUNTS` and end with the row,
    `_written`, and `_core_params` if its core has more of them.
    """

    dtype: str
    _compiled: ClassVar[type[Any]]
    _engine: ClassVar[str] = "compiled"  # or "reference", in NumPy, for tests and readers

    # Samples of a row, and from row to row
    window: int = 1
    hop: int = 1

    def __post_init__(self) -> None:
        self._guard = Guard(type(self).__name__)
        self._core: Any = None
        self._params: dict[str, Any] = {}  # those that the core was built with

    @property
    def _n_windows(self) -> int:
        """Rows under way at a time."""
        return -(-self.window // self.hop)

    @property
    def _written(self) -> dict[str, Any]:
        """The parameters as a snapshot has them."""
        raise NotImplementedError

    def _core_params(self, n_channels: int) -> dict[str, Any]:
        return {}

    def like_new(self) -> Any:
        """Of the same parameters, without memory."""
        return replace(self)  # type: ignore[type-var]

    def apart(self) -> Any:
        """Others in memory of their own, for a stretch of samples apart from the stream."""
        return self.like_new().allocate(self.core.n_channels)

    def names(
        self, n_channels: int | None = None, channels: Sequence[str] | None = None
    ) -> list[str]:
        """Names of the numbers in a row, in order."""
        raise NotImplementedError

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_channels: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated.

        Raises
        ------
        ValueError
            A parameter is out of range.
        """
        raise NotImplementedError

    def allocate(self, n_channels: int, buffer: Any = None) -> Any:
        """Allocate the planned bytes, and forget what was pushed. Nothing is allocated later.

        Parameters
        ----------
        n_channels : int
            Numbers in a raw sample.
        buffer : writable contiguous buffer, optional
            At least ``plan(n_channels).total`` bytes, aligned to 8; used instead of new memory.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` is the number of bytes needed.
        """
        plan = self.plan(n_channels)
        plan.check_buffer(buffer, f"{self!r} with {n_channels} channels")
        self._adopt(plan, Arena(plan.total, buffer), int(n_channels))
        return self

    def _adopt(self, plan: MemoryPlan, arena: Any, n_channels: int) -> None:
        with self._guard:
            self._core = self._build(plan, arena, n_channels)
            self._params = self._written

    def _build(self, plan: MemoryPlan, arena: Arena, n_channels: int) -> Any:
        return of_engine(self._compiled, self._engine)(
            plan,
            arena,
            n_channels=n_channels,
            window=int(self.window),
            hop=int(self.hop),
            dtype=self.dtype,
            owner=type(self).__name__,
            guard=self._guard,
            **self._core_params(n_channels),
        )

    @property
    def core(self) -> Any:
        if self._core is None:
            raise AttributeError(f"this {type(self).__name__} has no memory yet: call allocate")
        return self._core

    @property
    def nbytes(self) -> int:
        """Size of the arena in bytes; 0 before ``allocate``."""
        return 0 if self._core is None else self._core.arena.nbytes

    @property
    def arena(self) -> Arena:
        """The memory; ``bytes(windows.arena)`` is the whole state."""
        return self.core.arena

    def reset(self) -> Any:
        """Forget what was pushed, and keep the memory."""
        with self._guard:
            if self._core is not None:
                self._core.arena.memory[:] = 0
        return self

    # -- samples -----------------------------------------------------------------------------------

    def push(self, x: ArrayLike) -> np.ndarray | None:
        """Take in one raw sample. Returns the features of the window that it completes, if any.

        Parameters
        ----------
        x : ndarray of shape (n_channels,)
            With the dtype of the parameters no allocator call is made. Anything else is converted.

        Returns
        -------
        None, or ndarray of shape (n_features_out,)
            Read-only, in the arena: the next window overwrites it.

        Raises
        ------
        SampleRefused
            A value is NaN, infinite or beyond 1e15; nothing has changed. If the sample is lost for
            good, call `gap`.
        """
        core = self._core
        if core is None:
            first = as_floats(x, np.dtype(self.dtype), 1, None, type(self).__name__)
            core = self.allocate(len(first))._core
        return core.push(x)

    def push_many(self, X: ArrayLike) -> np.ndarray:
        """Take in rows in order: the same as `push`, one by one.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_channels)

        Returns
        -------
        ndarray of shape (n_windows, n_features_out)
            A row for each window that was completed, new memory.

        Raises
        ------
        SampleRefused
            As `push`, and names the row; none of the rows was taken in.
        """
        n_channels = None if self._core is None else self._core.n_channels
        rows = as_floats(X, np.dtype(self.dtype), 2, n_channels, type(self).__name__)
        core = self.allocate(rows.shape[1])._core if self._core is None else self._core
        with self._guard:
            at = int(core.views["n_run"])
            n_windows = self._n_complete(core, at + len(rows)) - self._n_complete(core, at)
            out = np.empty((n_windows, len(core.row)), core.dtype)
            return core.push_many(rows, out)

    @staticmethod
    def _n_complete(core: Any, n: int) -> int:
        """Windows that are complete after n samples."""
        return 0 if n < core.window else (n - core.window) // core.hop + 1

    def gap(self) -> None:
        """Samples are missing here: drop the windows that are open, and count them. The next sample
        is the first of new windows."""
        self.core.break_off()

    @property
    def n_features_in_(self) -> int:
        """Channels."""
        return int(self.core.n_channels)

    @property
    def n_pushed_(self) -> int:
        return int(self.core.views["n_pushed"])

    @property
    def n_rows_(self) -> int:
        return int(self.core.views["n_rows"])

    @property
    def n_dropped_(self) -> int:
        return int(self.core.views["n_dropped"])

    # -- save and load -----------------------------------------------------------------------------

    @property
    def n_classes_allocated(self) -> int:
        return 0

    def snapshot(self) -> Snapshot:
        core = self.core
        memory = core.arena.memory.data
        named, names = self._described(), self._columns or ()
        return Snapshot(named.learner, named.params, core.n_channels, (), False, memory, names)

    def _described(self) -> Wrapped:
        """Class name and parameters."""
        return Wrapped(registered_name(type(self)), self._params)

    def __getstate__(self) -> dict[str, Any]:
        with self._guard:
            own = "_core", "_guard", "_params"
            state = {name: value for name, value in self.__dict__.items() if name not in own}
            return state if self._core is None else {**state, "_saved": pack(self.snapshot())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update(state)
        self.__post_init__()
        if saved is not None:
            built = type(self)._of_snapshot(unpack(saved))
            self._guard, self._core, self._params = built._guard, built._core, built._params

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        if labels or closed:
            raise CorruptModelError("the snapshot has labels, but windows have none")
        self._adopt(plan, arena, n_features)
        self._core.check()
