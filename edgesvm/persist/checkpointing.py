"""Save a learner at intervals while it learns: copied between two samples, written by a thread."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from edgesvm.contract.threads import start_thread
from edgesvm.errors import CorruptModelError
from edgesvm.persist.checkpoint import Checkpoint
from edgesvm.persist.store import Model


@dataclass(frozen=True)
class Interval:
    """A number of seconds, or a number of samples."""

    seconds: float | None = None
    samples: int | None = None

    @classmethod
    def parse(cls, text: str) -> Interval:
        """Parse seconds ("60s" or "0.5s") or samples ("1000"); ValueError for anything else."""
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?s", text) and float(text[:-1]) > 0:
            return cls(seconds=float(text[:-1]))
        if re.fullmatch(r"[0-9]{1,15}", text) and int(text) > 0:
            return cls(samples=int(text))
        raise ValueError(
            f"interval {text!r}: give seconds, such as 60s, or a number of samples, such as 1000"
        )

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return str(self.samples) if self.seconds is None else f"{self.seconds:f}s"


class LearningModel(Model, Protocol):
    """A learner that is saved while it learns."""

    @property
    def n_seen_(self) -> int:
        """Samples seen so far."""


class Checkpointer:
    """Starts a save whenever the interval has passed, and does not wait for the disk until `close`.

    A slow or failing disk costs saves, never samples.

    `checkpoint` is one after its `load`, and the learner is allocated; call the methods of this
    object only between two samples. `report` is called with a message when saving starts to fail,
    and when it works again.

    Raises
    ------
    ValueError
        The files' slots are too small for the learner.
    OSError
        Of `close`: the last save failed.
    RuntimeError
        Of `save`, `close` and a `step` that is due, in a forked child.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        learner: LearningModel,
        every: Interval,
        *,
        report: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._checkpoint, self._learner, self._every = checkpoint, learner, every
        self._report, self._clock = report, clock
        self._failing = False
        self._failure: Exception | None = None  # exception of the last write
        self._writing = self._ending = False
        self._changed = threading.Condition()
        self._saved_at, self._saved_seen = clock(), learner.n_seen_
        self._is_another = False  # than the one saved
        try:
            checkpoint.prepare(learner)
        except (OSError, CorruptModelError) as failure:
            self._failure = failure
            self._report_change()
        self._thread = start_thread(self._write_when_asked, "checkpoint")

    @property
    def counters(self) -> dict[str, int]:
        """``saves``, ``save_failed`` and ``slot_rejected`` of the checkpoint."""
        names = ("saves", "save_failed", "slot_rejected")
        return {name: getattr(self._checkpoint, name) for name in names}

    def step(self) -> None:
        """Save if the interval has passed. If not, this costs only a comparison."""
        if (self._failure is not None) != self._failing:
            self._report_change()
        n_new = self._learner.n_seen_ - self._saved_seen
        if self._writing:
            self._check_thread()
        if self._writing or not self._wanted:
            return
        if self._every.samples is not None:
            due = n_new >= self._every.samples
        else:
            due = self._clock() - self._saved_at >= (self._every.seconds or 0.0)
        if due:
            self.save()

    def save(self) -> None:
        """Save now, unless the last save is still being written or there is nothing new."""
        self._check_thread()
        if self._writing or not self._wanted:
            return
        self._take()
        with self._changed:
            self._writing = True
            self._changed.notify_all()

    def forget(self) -> None:
        """The learner was reset: whatever its number of samples, it is another model than saved."""
        self._saved_seen, self._is_another = 0, True

    def close(self) -> None:
        """Wait for a running save, save again if there is something new, and release the files."""
        self._check_thread()
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._thread.join()
        if self._wanted:
            self._take()
            self._write()
        self._report_change()
        self._checkpoint.close()
        if self._failure is not None:
            raise OSError(f"the last save has failed: {self._failure}") from self._failure

    def _check_thread(self) -> None:
        """Raise RuntimeError in a forked child, in which nobody would write what is taken."""
        if not (self._ending or self._thread.is_alive()):
            raise RuntimeError(
                "this process was forked from the one that saves the checkpoint: save in that one,"
                " or open a checkpoint of another file here"
            )

    @property
    def _wanted(self) -> bool:
        """Whether there is something to save."""
        is_new = self._is_another or self._learner.n_seen_ != self._saved_seen
        return is_new or self._failure is not None

    def _take(self) -> None:
        self._checkpoint.take(self._learner)
        self._saved_at, self._saved_seen = self._clock(), self._learner.n_seen_
        self._is_another = False

    def _write_when_asked(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._writing or self._ending)
                if not self._writing:
                    return
            self._write()
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def _write(self) -> None:
        try:
            self._checkpoint.commit()
        except (OSError, ValueError) as failure:  # ValueError: the file was replaced by another
            self._failure = failure
        else:
            self._failure = None

    def _report_change(self) -> None:
        """Report once when saving starts to fail, and once when it works again."""
        failure = self._failure
        if failure is not None and not self._failing:
            self._report(f"cannot write the checkpoint: {failure}; learning continues")
        elif failure is None and self._failing:
            self._report("the checkpoint can be written again")
        self._failing = failure is not None
