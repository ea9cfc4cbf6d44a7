"""Snapshots and checkpoints by name: what is wrong with one is said of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner
from edgesvm.persist import Slot, inspect_slots, is_checkpoint, read_slot, restore
from edgesvm.persist.store import read_file


@contextmanager
def of_file(path: str) -> Iterator[None]:
    """Name the file in the error of what is read from it."""
    try:
        yield
    except CorruptModelError as error:
        raise type(error)(f"{path}: {error}") from error


def read_model(path: str) -> Learner | None:
    """The learner of a snapshot, or the newest of a checkpoint; None before its first save."""
    with of_file(path):
        return (newest(inspect_slots(path)) if is_checkpoint(path) else snapshot(path))[1]


def snapshot(path: str) -> tuple[bytes, Learner]:
    """Its bytes and its learner."""
    data = read_file(path)
    return data, restore(data)


def newest(slots: list[Slot]) -> tuple[bytes, Learner | None]:
    """Snapshot and learner of the newest sound slot; none before the first save."""
    sound = [slot for slot in slots if slot.sequence is not None]
    if not sound:
        problems = [slot.problem for slot in slots if slot.problem]
        raise problems[0] if problems else CorruptModelError("it has no slot that was ever written")
    data = read_slot(max(sound, key=lambda slot: slot.sequence or 0))
    return data, restore(data) if data else None
