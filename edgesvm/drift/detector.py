"""Base class of drift detectors: planned memory, one error or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.core.arena import Arena

HEAD = [("n_added", "i8", ()), ("n_drifts", "i8", ()), ("before", "f8", ()), ("now", "f8", ())]


@dataclass(kw_only=True, eq=False)
class Detector:
    """Base of drift detectors; see `PageHinkley` for how to use one.

    The memory is taken when the detector is made, and nothing later. Its state is in one block of
    bytes; `pickle` and `copy` carry it on, bit for bit. It is no part of a learner's snapshot.
    """

    _compiled: ClassVar[type[Any]]  # the core; `of_engine` finds its reference
    _engine: ClassVar[str] = "compiled"  # or "reference", in NumPy, for tests and readers

    # -- what a subclass adds ----------------------------------------------------------------------

    def _check_params(self) -> None:
        """Raise ValueError for a parameter out of range."""
        raise NotImplementedError

    def _arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """The detector's own arrays, (name, dtype, shape)."""
        raise NotImplementedError

    def _core_params(self) -> dict[str, Any]:
        """The core's own parameters."""
        raise NotImplementedError

    # -- memory ------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        self.allocate()

    def plan(self) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated.

        Raises
        ------
        ValueError
            A parameter is out of range.
        """
        self._check_params()
        return MemoryPlan.of([*HEAD, *self._arrays()])

    def allocate(self, buffer: Any = None) -> Detector:
        """Start anew, in new memory or in a caller's.

        Parameters
        ----------
        buffer : writable contiguous buffer, optional
            At least ``plan().total`` bytes, aligned to 8; used instead of new memory.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` is the number of bytes needed.
        """
        plan = self.plan()
        plan.check_buffer(buffer, repr(self))
        arena = Arena(plan.total, buffer)
        self._core = of_engine(self._compiled, self._engine)(plan, arena, **self._core_params())
        return self

    @property
    def nbytes(self) -> int:
        """Size of the arena in bytes."""
        return int(self._core.arena.nbytes)

    @property
    def arena(self) -> Arena:
        """The memory; ``bytes(detector.arena)`` is the whole state."""
        return self._core.arena

    # -- errors ------------------------------------------------------------------------------------

    def add(self, error: float) -> bool:
        """Add the error of one sample. Returns whether errors are now found to be more.

        Parameters
        ----------
        error : float or bool
            1 if the prediction was wrong and 0 if it was right, or any loss from 0 to 1. No
            allocator call is made.

        Raises
        ------
        ValueError
            It is NaN, or not from 0 to 1; nothing has changed.
        """
        return bool(self._core.add(error))

    def add_many(self, errors: ArrayLike) -> np.ndarray:
        """Add errors in order: the same as `add`, one by one.

        Parameters
        ----------
        errors : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,), bool
            Where `add` would have returned True; new memory.

        Raises
        ------
        ValueError
            As `add`, and names the row; none of them was added.
        """
        given = np.ascontiguousarray(errors, np.float64)
        if given.ndim != 1:
            raise ValueError(f"errors of shape {given.shape}: give one number a sample")
        out = np.empty(len(given), bool)
        self._core.add_many(given, out)
        return out

    def reset(self) -> Detector:
        """Forget the errors, as for a new learner; the counts and the last drift stay."""
        self._core.forget()
        return self

    @property
    def n_added_(self) -> int:
        """Errors so far."""
        return int(self._core.views["n_added"])

    @property
    def n_drifts_(self) -> int:
        """Drifts found."""
        return int(self._core.views["n_drifts"])

    @property
    def before_(self) -> float:
        """Mean error before the last drift; 0.0 while there was none."""
        return float(self._core.views["before"])

    @property
    def now_(self) -> float:
        """Mean error from the last drift on until it was found; 0.0 while there was none."""
        return float(self._core.views["now"])

    # -- copies ------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_core"}
        return {**state, "_saved": bytes(self.arena)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved")
        self.__dict__.update(state)
        self.allocate()
        self.arena.memory[:] = np.frombuffer(saved, np.uint8)
        self._core.check()


def not_an_error(error: float, row: int | None = None) -> ValueError:
    """The exception for a number that `add` refuses."""
    where = "" if row is None else f" in row {row}"
    return ValueError(f"error={error!r}{where}: give a number from 0, right, to 1, wrong")
