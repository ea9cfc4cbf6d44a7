"""Saves a learner now and then while it learns: copied between two samples, written by a thread of
its own.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from edgesvm.errors import CorruptModelError
from edgesvm.persist.checkpoint import Checkpoint
from edgesvm.persist.store import Model

# The system's default of 8 MiB would count against the process's limit.
STACK_BYTES = 256 * 1024


@dataclass(frozen=True)
class Interval:
    """So many seconds, or so many samples."""

    seconds: float | None = None
    samples: int | None = None

    @classmethod
    def parse(cls, text: str) -> Interval:
        """ "60s" or "0.5s" are seconds, "1000" are samples; ValueError for anything else."""
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?s", text) and float(text[:-1]) > 0:
            return cls(seconds=float(text[:-1]))
        if re.fullmatch(r"[0-9]{1,15}", text) and int(text) > 0:
            return cls(samples=int(text))
        raise ValueError(
            f"an interval of {text!r}: give seconds, as 60s, or a number of samples, as 1000"
        )

    def __str__(self) -> str:
        """As `parse` takes it."""
        return str(self.samples) if self.seconds is None else f"{self.seconds:f}s"


class LearningModel(Model, Protocol):
    """What is saved while it learns."""

    @property
    def n_seen_(self) -> int:
        """Samples taken so far."""


class Checkpointer:
    """Calls for a save whenever the interval is over, and never waits for the disk before `close`.

    A disk that is slower than the interval, or fails, costs saves and no samples.

    Parameters
    ----------
    checkpoint : Checkpoint
        Loaded from already.
    learner : Learner
        With its memory. Only between two samples are methods of this object to be called.
    every : Interval
    report : callable
        Told once when saving fails, and once when it works again.
    clock : callable
        Seconds.

    Raises
    ------
    ValueError
        The files' slots are too small for the learner.
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
        self._failure: Exception | None = None  # of the last write
        self._writing = self._ending = False
        self._changed = threading.Condition()
        self._saved_at, self._saved_seen = clock(), learner.n_seen_
        try:
            checkpoint.prepare(learner)
        except (OSError, CorruptModelError) as failure:
            self._failure = failure
            self._tell()
        self._thread = _start_thread(self._write_when_asked)

    @property
    def counters(self) -> dict[str, int]:
        """``saves``, ``save_failed`` and ``slot_rejected`` of the checkpoint."""
        names = ("saves", "save_failed", "slot_rejected")
        return {name: getattr(self._checkpoint, name) for name in names}

    def step(self) -> None:
        """Save if it is time to. Costs a comparison if not."""
        if (self._failure is not None) != self._failing:
            self._tell()
        n_new = self._learner.n_seen_ - self._saved_seen
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
        if self._writing or not self._wanted:
            return
        self._take()
        with self._changed:
            self._writing = True
            self._changed.notify_all()

    def close(self) -> None:
        """Wait for the save under way, save once more if there is something new, and give the files
        back.
        """
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._thread.join()
        if self._wanted:
            self._take()
            self._write()
        self._tell()
        self._checkpoint.close()

    @property
    def _wanted(self) -> bool:
        """Whether there is something that is not on the disk."""
        return self._learner.n_seen_ != self._saved_seen or self._failure is not None

    def _take(self) -> None:
        self._checkpoint.take(self._learner)
        self._saved_at, self._saved_seen = self._clock(), self._learner.n_seen_

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
        except (OSError, ValueError) as failure:  # ValueError: a file put in the place of ours
            self._failure = failure
        else:
            self._failure = None

    def _tell(self) -> None:
        """Once for each time it begins to fail, and once for each time it works again."""
        failure = self._failure
        if failure is not None and not self._failing:
            self._report(f"the checkpoint cannot be written: {failure}; learning goes on")
        elif failure is None and self._failing:
            self._report("the checkpoint is written again")
        self._failing = failure is not None


def _start_thread(target: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=target, name="checkpoint", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
