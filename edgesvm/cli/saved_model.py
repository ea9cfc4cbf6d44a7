"""The files of a learner: claimed before the port is opened, loaded within the budget, and saved
while it learns and at the end."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from edgesvm import persist
from edgesvm.budget import parse_bytes
from edgesvm.cli import arguments
from edgesvm.cli.options import option, option_name
from edgesvm.contract.registry import is_a
from edgesvm.errors import CorruptModelError
from edgesvm.learner import Learner, learner_in, load
from edgesvm.persist.files import Claim, followed
from edgesvm.persist.store import read_file, restore

if TYPE_CHECKING:
    from edgesvm.persist.checkpoint import Checkpoint, Slot
    from edgesvm.persist.checkpointing import Checkpointer, Interval, LearningModel
    from edgesvm.preprocessing.chain import Chain
    from edgesvm.preprocessing.window_features import WindowFeatures

Model: TypeAlias = "Learner | Chain | WindowFeatures"
DEFAULT_EVERY = "60s"
PLACEHOLDER = "{port}"
FILES = ("save", "checkpoint", "checkpoint_second")


def _interval(text: str) -> Interval:
    from edgesvm.persist.checkpointing import Interval

    return Interval.parse(text)


@dataclass(frozen=True, kw_only=True)
class SavingSettings:
    """The files of a learner, and how often it is saved while it learns."""

    TITLE: ClassVar[str] = "files"

    save: str | None = option(
        None, "loaded if it exists, written at the end", unit="FILE", check=arguments.new_file
    )
    fresh: bool = option(False, "start with a new model; load no file")
    # Files that are writable, or not yet: a medium may come back.
    checkpoint: str | None = option(
        None,
        "saved while learning too; continue from it",
        unit="FILE",
        check=arguments.file_in_folder,
    )
    checkpoint_second: str | None = option(
        None, "a copy of each save on another medium", unit="FILE", check=arguments.file_in_folder
    )
    every: Interval | None = option(
        None,
        f"time or samples between saves; default {DEFAULT_EVERY}",
        unit="60s|N",
        check=_interval,
    )

    def __post_init__(self) -> None:
        if self.checkpoint_second is not None and self.checkpoint is None:
            raise ValueError("--checkpoint-second needs --checkpoint")
        arguments.different(self.files)

    @property
    def files(self) -> list[tuple[str, str]]:
        """Each option that names a file, and the file."""
        named = ((name, getattr(self, name)) for name in FILES)
        return [(option_name(name), path) for name, path in named if path]

    @property
    def models(self) -> list[str]:
        """The files that a model is loaded from, if they are there."""
        return [path for path in (self.save, self.checkpoint) if path]

    def of_port(self, port: str, *, several: bool, one_model: bool) -> SavingSettings:
        """The files of one of several ports, whose name stands for ``{port}`` in theirs. Raises
        ValueError if several learners would have one file, or one learner several."""
        for name, path in self.files:
            if several and PLACEHOLDER not in path:
                raise ValueError(
                    f"{name} {path}: each port has a learner; name their files with "
                    f"{PLACEHOLDER}, as in {PLACEHOLDER}.esvm, or give --one-model"
                )
            if one_model and PLACEHOLDER in path:
                raise ValueError(
                    f"{name} {path}: with --one-model there is one file; name it without "
                    f"{PLACEHOLDER}"
                )
        named = {name: getattr(self, name) for name in FILES}
        own = {name: path and path.replace(PLACEHOLDER, port) for name, path in named.items()}
        return dataclasses.replace(self, **own)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[Checkpoint | None]:
        """Keep other processes from the files within the block; yields the checkpoint, if there is
        one. Raises BlockingIOError if another process has a file; the message names it."""
        with contextlib.ExitStack() as held:
            checkpoint = None
            if self.checkpoint is not None:
                from edgesvm.persist.checkpoint import Checkpoint

                checkpoint = Checkpoint(
                    self.checkpoint, second=self.checkpoint_second, fresh=self.fresh
                )
                held.callback(checkpoint.close)
                checkpoint.claim()
            if self.save:
                held.enter_context(claimed(self.save))
            yield checkpoint

    def set_aside(self) -> None:
        """Rename the files, which another learner is to have: FILE becomes FILE.old."""
        for _, path in self.files:
            with contextlib.suppress(FileNotFoundError):
                os.replace(path, f"{path}.old")

    def loaded(
        self,
        checkpoint: Checkpoint | None,
        memory: str | int,
        n_inputs: int,
        contradicted: Callable[[Learner | Chain, Learner], list[tuple[str, str]]],
        *,
        labels: bool = True,
    ) -> tuple[Any, str | None]:
        """The model of the checkpoint, else of the snapshot, and its file; None without either.

        `contradicted` gives what the model and its learner have that the options contradict, which
        is a ValueError; so is a learner with labels where there are none, or the reverse, and one
        of samples of another length than `n_inputs`. Raises MemoryBudgetError if it is larger than
        `memory`, when only a header was read.
        """
        max_bytes = parse_bytes(memory)
        model: Learner | Chain | None = None
        source = None
        if checkpoint is not None:
            model, source = checkpoint.load(max_bytes), self.checkpoint
        if model is None and self.save and not self.fresh and os.path.exists(self.save):
            with of_file(self.save):
                model, source = load(self.save, max_bytes=max_bytes), self.save
        if model is None:
            return None, None
        learner = learner_of(model, str(source))
        if learner.takes_labels != labels:
            how = ("without labels; this command needs them", "with labels; this command has none")
            raise ValueError(f"the model in {source} learns {how[learner.takes_labels]}")
        if differing := contradicted(model, learner):
            raise ValueError(
                f"the model in {source} was learned with {', '.join(have for have, _ in differing)}"
                f", not {', '.join(given for _, given in differing)}; use --fresh to start over"
            )
        if model.n_features_in_ != n_inputs:
            raise ValueError(
                f"the model in {source} has {model.n_features_in_} features, "
                f"the link has {n_inputs}; use --fresh to start over"
            )
        return model, source

    def saver(
        self,
        checkpoint: Checkpoint | None,
        learner: LearningModel,
        report: Callable[[str], None],
    ) -> Checkpointer | None:
        """The object that saves at intervals; None without ``--checkpoint``."""
        if checkpoint is None:
            return None
        from edgesvm.persist.checkpointing import Checkpointer

        every = self.every or _interval(DEFAULT_EVERY)
        return Checkpointer(checkpoint, learner, every, report=report)


def claimed(path: str) -> contextlib.AbstractContextManager[object]:
    """Keep other processes from a file that is replaced when it is saved, by ``FILE.lock``. Raises
    as `SavingSettings.claimed` does."""
    name = f"{followed(path)}.lock"
    try:
        return Claim(name, path)
    except BlockingIOError:
        raise
    except OSError:  # no room for a file, say; what cannot be saved is reported at the end
        return contextlib.nullcontext()


# Files of any model, by name.


@contextlib.contextmanager
def of_file(path: str) -> Iterator[None]:
    """Add the file's name to errors raised while it is read."""
    try:
        yield
    except CorruptModelError as error:
        raise type(error)(f"{path}: {error}") from error


def read_model(path: str) -> Model:
    """What a snapshot holds, or the newest of a checkpoint. Raises ValueError before its first
    save."""
    with of_file(path):
        if persist.is_checkpoint(path):
            _, model = newest(persist.inspect_slots(path))
        else:
            _, model = snapshot(path)
    if model is None:
        raise ValueError(f"{path}: nothing was saved in it yet")
    return model


def read_learner(path: str) -> Learner:
    """The learner of such a file. Raises as `learner_of` does."""
    return learner_of(read_model(path), path)


def learner_of(model: Model, path: str) -> Learner:
    """The learner in a model that was saved at `path`; ValueError for windows without one."""
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
