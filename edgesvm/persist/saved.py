"""What learners, and windows of raw samples, share in being saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.budget import MemoryPlan, format_bytes
from edgesvm.contract.names import Names
from edgesvm.contract.registry import kind_of
from edgesvm.core.arena import Arena
from edgesvm.errors import CorruptModelError, MemoryBudgetError
from edgesvm.persist.format import Snapshot, Wrapped, pack, unpack
from edgesvm.persist.store import save

Self = TypeVar("Self", bound="Saved")


class Saved:
    """Base of what has snapshots: its parameters, and an arena as large as they plan it."""

    # Parameters that older snapshots do not have, with the value that is meant there. A snapshot
    # leaves out a parameter of this value.
    _absent: ClassVar[Mapping[str, Any]] = {}
    _columns: Names = None  # names of the features, or of the channels

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        """Go on with what a saved arena holds. CorruptModelError if it cannot have been saved."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot atomically (see FORMATS.md); read it with ``edgesvm.load``.

        If `path` is a symbolic link, the file it points to is replaced and the link stays.

        Raises
        ------
        CorruptModelError
            `load` would refuse the model, for example as a number in it is not finite; an older
            file of that name is unchanged.
        TypeError
            A label is not a bool, int, float or str, or the class is not registered, so that `load`
            would not find it.
        OSError
            The disk is full or read-only, or `path` is a link to no file; an older file of that
            name is unchanged.
        """
        save(self, path)  # type: ignore[arg-type]

    def name_features(self: Self, names: Sequence[str] | None) -> Self:
        """Give the features, of windows the channels, their names, as learning a DataFrame does:
        snapshots keep them. Before the first sample; None or () leaves them as they are.

        Raises
        ------
        ValueError
            There are not as many names as features.
        """
        if names:
            if len(names) != self.n_features_in_:  # type: ignore[attr-defined]
                raise ValueError(f"{len(names)} names for {self.n_features_in_} features")  # type: ignore[attr-defined]
            self._columns = tuple(names)
        return self

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, ndarray of shape (n_features,), objects: the columns of the
        DataFrame learned, or those of `name_features`. There is no such attribute if there are
        none. Snapshots keep them."""
        if self._columns is None or not self.n_seen_:  # type: ignore[attr-defined]
            raise AttributeError(f"the features of this {type(self).__name__} have no names")
        return np.array(self._columns, dtype=object)

    @classmethod
    def _of_params(cls, claimed: Mapping[str, Any]) -> Any:
        """What a snapshot's parameters describe, without memory; so are learners in it."""
        given = {
            name: kind_of(v.learner)._of_params(v.params) if isinstance(v, Wrapped) else v
            for name, v in claimed.items()
        }
        return cls(**{**cls._absent, **given})

    @classmethod
    def _claimed(cls, snapshot: Snapshot) -> tuple[Any, MemoryPlan]:
        """What a snapshot of this class describes, without memory, and its plan, whose total is the
        size of the snapshot's arena."""
        try:
            model = cls._of_params(snapshot.params)
            plan = model.plan(snapshot.n_features)
        except (TypeError, ValueError, OverflowError) as error:
            raise CorruptModelError(
                f"the snapshot's parameters are not valid for {snapshot.learner}: {error}"
            ) from error
        snapshot.check_size(plan)
        return model, plan

    @classmethod
    def _of_snapshot(cls, snapshot: Snapshot, *, in_place: bool = False) -> Any:
        """What is in a snapshot, in memory of its own, or with `in_place` in that of the snapshot's
        arena, which is aligned to 8. CorruptModelError if no stream of samples could have produced
        it."""
        model, plan = cls._claimed(snapshot)
        if in_place:
            arena = Arena(plan.total, snapshot.arena, keep=True)
        else:
            arena = Arena(plan.total)  # of an earlier build's snapshot it may be the longer one
            arena.memory[: len(snapshot.arena)] = np.frombuffer(snapshot.arena, np.uint8)
        model._load(plan, arena, snapshot.n_features, snapshot.labels, snapshot.closed)
        if snapshot.names:
            model._columns = snapshot.names
        return model


class Composed(Saved):
    """Base of a dataclass whose parts are in one block of memory, which is the whole state: its
    size, and being pickled.

    Its ``__post_init__`` leaves it without memory, `_arena` None.
    """

    _arena: Arena | None
    _guard: Any

    @property
    def _given(self) -> dict[str, Any]:
        """The parameters."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def nbytes(self) -> int:
        """Size of the arena in bytes; 0 before ``allocate``."""
        return 0 if self._arena is None else self._arena.nbytes

    @property
    def arena(self) -> Arena:
        """The memory; its bytes are the whole state."""
        if self._arena is None:
            raise AttributeError(f"this {type(self).__name__} has no memory yet: call allocate")
        return self._arena

    def _part_fitted_into(
        self,
        n_bytes: int,
        part: Any,
        width: int,
        *,
        told: str,
        before: int,
        others: str,
        **how: Any,
    ) -> Any:
        """The part, of so many features, that fits into a budget beside the `before` bytes of
        others. MemoryBudgetError if none fits."""
        try:
            return part.fitted_into(max(n_bytes - before, 0), width, **how)
        except MemoryBudgetError as error:
            required = before + error.required
            raise MemoryBudgetError(
                f"{type(self).__name__} {told} needs {format_bytes(required)},"
                f" {format_bytes(before)} of it for its {others}; the budget is"
                f" {format_bytes(n_bytes)}",
                required,
                n_bytes,
            ) from error

    def snapshot(self) -> Snapshot:
        """The contents of the snapshot; the arena is not copied."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        if self._arena is None:
            return self._given
        with self._guard:
            return {**self._given, "_saved": pack(self.snapshot())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update(state)
        self.__post_init__()  # type: ignore[attr-defined]
        if saved is not None:
            built = type(self)._of_snapshot(unpack(saved))
            self.__dict__.update({**built.__dict__, **state})
