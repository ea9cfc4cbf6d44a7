"""Labels and answers given by hand to a run or a watch, and the way back from the last of them.

What is asked for is a JSON object, the same on the page and at every output; `docs/page.md` has it.
"""

from __future__ import annotations

import copy
import json
import math
import time
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator
from typing import Any, ClassVar

import numpy as np

from edgesvm.asking import Questions
from edgesvm.contract.labels import MAX_TEXT
from edgesvm.contract.names import word_of
from edgesvm.errors import NotTaught
from edgesvm.journal import Journal
from edgesvm.learner import Learner
from edgesvm.learners.novelty.novelty import NORMAL, STRANGE
from edgesvm.link.frames import REJECTED
from edgesvm.runner import Runner
from edgesvm.watcher import Watcher

__all__ = ["RunTeaching", "Teaching", "WatchTeaching", "Work"]

Work = Generator[None, None, Any]  # yields between two portions; returns the answer

AT_ONCE = 16  # rows taught between two steps
MOST_SECONDS = 3600.0


class Before:
    """A learner's state before the last request: a copy of its memory, allocated once."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self._memory = np.zeros(learner.nbytes, np.uint8)
        self._labels: tuple[tuple[Any, ...], bool] = (), False

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    def keep(self) -> None:
        core = self.learner.core
        self._memory[:] = core.arena.memory
        self._labels = core.labels.in_slots, core.labels.closed

    def restore(self) -> None:
        learner, core = self.learner, self.learner.core
        core.arena.memory[:] = self._memory
        learner._load(learner.plan(core.n_features), core.arena, core.n_features, *self._labels)


class Teaching(ABC):
    """What somebody may ask of a run or a watch, as work for its loop. A request that has taught
    something can be undone until the next one: the learner is then as it was before it, so that
    what was learned since is forgotten too, and what other ports taught it.

    Parameters
    ----------
    learner : Learner
        Allocated.
    """

    # Several ports may teach one learner.
    _all: ClassVar[weakref.WeakSet[Teaching]] = weakref.WeakSet()

    def __init__(self, learner: Learner) -> None:
        self.before = Before(learner)
        self.taught = 0
        self.n: int | None = None
        self._learned_before = 0
        self._others: dict[Teaching, int] = {}
        self._all.add(self)

    def asked(self, body: dict[str, Any]) -> Work:
        """The work that a request asks for.

        Raises
        ------
        ValueError
            It is no request.
        """
        if "undo" in body:
            return self.undo()
        label = self._label(body)
        if "question" in body:
            return self.answer(_integer(body, "question", 0, 1 << 62), label)
        return self._taught(body, label)

    def told(self, text: str) -> Work:
        """What a line asks for: a request, or only a label, which answers the newest question.
        ValueError as by `asked`, or if there is no question."""
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        if body is None and not text.lstrip().startswith("{"):
            body = text.strip()
        if isinstance(body, int | float | str):
            body = {"question": self._asking().newest(), "label": body}
        if not isinstance(body, dict):
            raise ValueError("give a JSON object, or a label")
        return (yield from self.asked(body))

    def _label(self, body: dict[str, Any]) -> Any:
        return _integer(body, "label", -0x8000, 0x7FFF)

    @property
    @abstractmethod
    def questions(self) -> Questions | None:
        """Those of the run or watch."""

    def _asking(self) -> Questions:
        if self.questions is None:
            raise NotTaught("nothing is asked: see --ask")
        return self.questions

    @abstractmethod
    def answer(self, number: int, label: Any) -> Work:
        """Teach what a question was about. NotTaught if nothing is learned."""

    @abstractmethod
    def undo(self) -> Work:
        """Forget what the last request taught. NotTaught if there is nothing to undo."""

    def _taught(self, body: dict[str, Any], label: Any) -> Work:
        raise ValueError("question is missing")

    def _keep(self, learned: int) -> None:
        """Keep the learner's state, at which it has learned so many rows."""
        self.before.keep()
        self.n, self._learned_before = None, learned
        ours = self.before.learner
        shared = (one for one in self._all if one is not self and one.before.learner is ours)
        self._others = {other: other.taught for other in shared}

    def _count(self, n: int) -> None:
        """Count n more rows as taught by this request."""
        self.n = (self.n or 0) + n
        self.taught += n

    def _undone(self, learned: int) -> dict[str, int]:
        """Go back to the state that was kept; `learned` is how many rows have been by now."""
        if self.n is None:
            raise NotTaught("there is nothing to undo")
        told = {"undone": self.n, "forgotten": learned - self._learned_before - self.n}
        if others := sum(other.lost(before) for other, before in self._others.items()):
            told["taught_elsewhere"] = others
        self.before.restore()
        self.taught -= self.n
        self.n = None
        return told

    def lost(self, before: int) -> int:
        """Another port's undo went back to when so many rows had been taught here: how many are
        forgotten. What was kept since would bring back what that undo took away."""
        n, self.taught = self.taught - before, before
        if n:
            self.n = None
        return n


class RunTeaching(Teaching):
    """Labels for a run.

    Parameters
    ----------
    runner : Runner

    Attributes
    ----------
    taught : int
        Rows taught, but for those undone.
    n : int or None
        Rows that `undo` would forget; None if there is nothing to undo.
    """

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner.learner)
        self._runner = runner
        self._places: list[tuple[Journal, int]] = []
        self._answered = False
        self._scores: tuple[Any, ...] = ()

    def _label(self, body: dict[str, Any]) -> Any:
        runner, label = self._runner, body.get("label")
        if runner.learner.regresses:
            return _number(body, "label")
        if not isinstance(label, str):
            return word_of(runner.link.class_names, super()._label(body))
        names = runner.link.class_names
        if label not in names:
            known = list(names) or runner.learner.classes_.tolist()
            if not names and known:
                raise ValueError(f"label {label!r}: give a number, as of {known}")
            if not 0 < len(label.encode()) <= MAX_TEXT:
                raise ValueError(f"a label has 1 to {MAX_TEXT} bytes")
            if len(known) == runner.learner.n_classes_allocated:
                raise NotTaught(f"label {label!r}: there is room for {known}, and no other")
            runner.link.name_classes([*names, label])
        return label

    def _taught(self, body: dict[str, Any], label: Any) -> Work:
        if "seconds" in body:
            return self.label_last(label, _seconds(body))
        sequence = _integer(body, "sequence", 0, 0xFFFFFFFF)
        return self.label(label, sequence, _integer(body, "place", 0, 1 << 62))

    @property
    def questions(self) -> Questions | None:
        return self._runner.questions

    def answer(self, number: int, label: Any) -> Work:
        self._asking().question(number)
        self._begin()
        self._learned(self._runner.answer(number, label))
        self._answered = True
        return {"taught": 1, "refused": {}}
        yield

    def label(self, label: Any, sequence: int, place: int) -> Work:
        """Teach the row that was shown at this place; returns how many were learned.

        Raises
        ------
        NotTaught
            See `Runner.teach`; or the node has restarted, and the number is another row's now.
        """
        journal = self._runner.journal
        if journal is not None and journal.find(sequence) not in {place, None}:
            raise NotTaught(f"the node has restarted: number {sequence:,} is another row by now")
        self._begin()
        self._learned(self._runner.teach(sequence, label))
        return {"taught": 1, "refused": {}}
        yield

    def open_rows(self, seconds: float) -> np.ndarray:
        """Sequence numbers of the rows without a label that came in the last so many seconds."""
        if self._runner.journal is None:
            return np.zeros(0, np.int64)
        entries, _ = self._runner.journal.since(0)
        is_open = ~entries["has_label"] & ((entries["flags"] & REJECTED) == 0)
        return np.unique(entries["sequence"][is_open & (entries["time"] >= time.time() - seconds)])

    def label_last(self, label: Any, seconds: float) -> Work:
        """Teach the rows without a label that came in the last so many seconds, a few between two
        steps; returns how many were learned, and why others were not.

        Raises
        ------
        NotTaught
            There are none, or none could be learned.
        """
        sequences = self.open_rows(seconds)
        if not len(sequences):
            raise NotTaught(f"no row without a label came in the last {seconds:g} s")
        self._begin()
        refused = Counter[str]()
        for n, sequence in enumerate(sequences.tolist(), start=1):
            try:
                self._learned(self._runner.teach(sequence, label))
            except NotTaught as why:
                refused[str(why)] += 1
            if n % AT_ONCE == 0:
                yield
        if self.n is None:
            raise NotTaught(next(iter(refused)))
        return {"taught": self.n, "refused": dict(refused)}

    def undo(self) -> Work:
        told = self._undone(self._runner.learner.n_seen_)
        runner = self._runner
        runner.take_back(self._places, told["undone"])
        runner.score, runner.forecasts, drawn = self._scores
        runner.remarks.facts.score = runner.score
        if runner.questions is not None:
            runner.questions.answered -= self._answered
            runner.questions.drawn = drawn
        return told
        yield

    def _begin(self) -> None:
        """Keep the state: what is taught from now on can be undone."""
        runner = self._runner
        self._keep(runner.learner.n_seen_)
        drawn = None if runner.questions is None else runner.questions.drawn
        self._scores = copy.deepcopy((runner.score, runner.forecasts, drawn))
        self._places, self._answered = [], False

    def _learned(self, places: list[tuple[Journal, int]]) -> None:
        self._places += places
        self._count(1)


class WatchTeaching(Teaching):
    """Answers for a watch: an alarm, or a row, was normal after all, or was not.

    Parameters
    ----------
    watcher : Watcher
    """

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher.learner)
        self._watcher = watcher
        self._number = 0

    @property
    def questions(self) -> Questions | None:
        return self._watcher.questions

    def answer(self, number: int, label: Any) -> Work:
        if label not in (NORMAL, STRANGE):
            raise NotTaught(f"label {label}: say 1, it was normal, or -1, it was not")
        self._asking().question(number)
        self._keep(self._watcher.learned)
        self._count(self._watcher.answer(number, int(label)))
        self._number = number
        return {"taught": self.n, "refused": {}}
        yield

    def undo(self) -> Work:
        told = self._undone(self._watcher.learned + (self.n or 0))
        self._watcher.take_back(self._number, told["undone"])
        return told
        yield


def _integer(body: dict[str, Any], name: str, least: int, most: int) -> int:
    value = body.get(name)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}")
    return value


def _number(body: dict[str, Any], name: str) -> float:
    value: Any = body.get(name)
    if type(value) not in {int, float} or not abs(value) < math.inf:
        raise ValueError(f"{name} must be a number")
    return float(value)


def _seconds(body: dict[str, Any]) -> float:
    value = body["seconds"]
    if type(value) not in {int, float} or not 0 < value <= MOST_SECONDS:
        raise ValueError(f"seconds must be > 0 and <= {MOST_SECONDS:g}")
    return float(value)
