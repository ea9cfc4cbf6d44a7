"""Read snapshots and checkpoints by file name; errors name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from edgesvm import persist
from edgesvm.contract.registry import is_a
from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner, learner_in
from edgesvm.persist.store import read_file, restore

if TYPE_CHECKING:
    from edgesvm.persist import Slot
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.window_features import WindowFeatures

Model: TypeAlias = "Learner | Chain | WindowFeatures"


@contextmanager
def of_file(path: str) -> Iterator[None]:
    """Add the file's name to errors raised while it is read."""
    try:
        yield
    except CorruptModelError as error:
        raise type(error)(f"{path}: {error}") from error


def read_learner(path: str) -> Learner | None:
    """The learner of a snapshot, or the newest of a checkpoint; None before its first save. Raises
    as `learner_of` does."""
    with of_file(path):
        if persist.is_checkpoint(path):
            _, model = newest(persist.inspect_slots(path))
        else:
            _, model = snapshot(path)
    return None if model is None else learner_of(model, path)


def learner_of(model: Model, path: str) -> Learner:
    """The learner that was saved at `path`; of a chain, that of the features of its windows.

    Raises
    ------
    ValueError
        There are windows without a learner.
    """
    if is_a(model, "WindowFeatures"):
        raise ValueError(f"{path} holds windows of raw samples, and no learner")
    return learner_in(model)


def snapshot(path: str) -> tuple[bytes, Model]:
    """The bytes of a snapshot file, and what it holds."""
    data = read_file(path)
    return data, restore(data)


def newest(slots: list[Slot]) -> tuple[bytes, Model | None]:
    """Snapshot and model of the newest valid slot; no model before the first save."""
    valid = [slot for slot in slots if slot.sequence is not None]
    if not valid:
        problems = [slot.problem for slot in slots if slot.problem]
        raise problems[0] if problems else CorruptModelError("neither slot was ever written")
    data = persist.read_slot(max(valid, key=lambda slot: slot.sequence or 0))
    return data, restore(data) if data else None
