"""What a run or a watch shows: its history, which grows turn by turn, and its status on request."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from edgesvm import __version__
from edgesvm.asking import ASKED
from edgesvm.budget import MemoryPlan
from edgesvm.journal import Journal
from edgesvm.link import Link
from edgesvm.link.frames import REJECTED
from edgesvm.page import words
from edgesvm.page.history import History
from edgesvm.page.numbers import plain
from edgesvm.persist.format import pack
from edgesvm.remarks import Remarks
from edgesvm.teaching import Teaching

SHOWN = 14  # predictions in a status
SCORES = 240  # scores in a status
LEAST_S = 0.1  # over less a rate says nothing


class Shown(Protocol):
    """What a page or a screen shows; all methods are for the loop's thread."""

    teaching: Any  # None where nothing can be taught

    def tick(self) -> None:
        """Keep what is due; called in each turn."""

    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""

    def snapshot(self) -> bytes | None:
        """The bytes of a snapshot file; None where there is no model."""


class Lookout(ABC):
    """Looks at a runner or a watcher between two steps. All methods are for the loop's thread.

    Parameters
    ----------
    model : Learner or Chain
        What is saved.
    link : Link
    journal : Journal
        Of the answers.
    history : History
    remarks : Remarks
    teaching : Teaching
        Carries out what is asked for.
    clock : callable
        Monotonic clock, in seconds.

    Attributes
    ----------
    statuses : int
        How many were made.
    """

    kind: str

    def __init__(
        self,
        model: Any,
        link: Link,
        journal: Journal,
        history: History,
        remarks: Remarks,
        *,
        teaching: Teaching,
        clock: Callable[[], float],
    ) -> None:
        self.remarks, self.teaching = remarks, teaching
        self.model, self.link, self.journal, self.history = model, link, journal, history
        self._ends = ("low", "high") if journal.targets else ()
        self.statuses = 0
        self.clock = clock
        self._started = self._looked_at = clock()
        self._taken_before = 0
        self._rate: float | None = None
        self._plan = list(_memory(model.plan(model.n_features_in_)))

    @property
    @abstractmethod
    def taken(self) -> int:
        """Samples taken from the link."""

    @abstractmethod
    def counters(self) -> dict[str, Any]:
        """Of the runner or watcher, and the link's."""

    @abstractmethod
    def figures(self) -> dict[str, float | None]:
        """The next point of the history, but for the rate."""

    @abstractmethod
    def own(self) -> dict[str, Any]:
        """What only this kind of status has."""

    def tick(self) -> None:
        """Add a point to the history if it is due; call it in each turn."""
        now = self.clock()
        if self.history.is_due(now - self._started):
            self._measure_rate(now)
            self.history.add(now - self._started, {"rate": self._rate, **self.figures()})

    def _measure_rate(self, now: float) -> None:
        """Samples a second since the last point."""
        seconds = now - self._looked_at
        if seconds > LEAST_S:
            self._rate = (self.taken - self._taken_before) / seconds
            self._looked_at, self._taken_before = now, self.taken

    @property
    def stale_seconds(self) -> float | None:
        """Seconds since the last sample, if that is too long. Also for other threads."""
        fresh = self.link.freshness
        return fresh.quiet if fresh.is_stale else None

    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""
        self.statuses += 1
        counters = self.counters()
        entries, _ = self.journal.since(max(0, self.journal.written - SCORES))
        return {
            "kind": self.kind,
            "version": __version__,
            "port": self.link.name,
            "learner": repr(self.model),
            "time": time.time(),
            "seconds": plain(self.clock() - self._started),
            "rate": plain(self._rate),
            "samples": self.taken,
            "stale_seconds": plain(self.stale_seconds),
            "counters": counters,
            "lost": words.losses(counters),
            "remarks": dict(self.remarks.held),
            "memory": self._memory(),
            "history": self.history.as_dict(),
            "predictions": self._predictions(
                self.journal, entries[-SHOWN:][::-1], reversed(range(self.journal.written))
            ),
            "scores": [plain(score) for score in self._scores(entries)],
            "questions": self._open_questions(),
            "undo": self.teaching.n,
            **self.own(),
        }

    def _scores(self, entries: np.ndarray) -> list[float | None]:
        if self.journal.targets:
            return np.where(entries["has_prediction"], entries["predicted"], np.nan).tolist()
        scores: list[float | None] = entries["score"].tolist()
        return scores

    def _open_questions(self) -> list[dict[str, Any]]:
        """Those without an answer that are kept, newest first; `place` is the number."""
        if (questions := self.teaching.questions) is None:
            return []
        entries, lost = questions.ring.since(0)
        at = np.flatnonzero((entries["flags"] & ASKED != 0) & ~entries["has_label"])[::-1]
        return self._predictions(questions.ring, entries[at], (lost + at).tolist())

    def _predictions(
        self, journal: Journal, entries: np.ndarray, places: Iterable[int]
    ) -> list[dict[str, Any]]:
        """Answers, at these places of their journal."""
        return [
            {
                "place": place,
                "time": round(float(e["time"]), 3),
                "sequence": int(e["sequence"]),
                "predicted": journal.told(e, "predicted"),
                "score": plain(float(e["score"])),
                **{n: plain(e[n].item()) if e["has_prediction"] else None for n in self._ends},
                "label": journal.told(e, "label"),
                "refused": bool(e["flags"] & REJECTED),
            }
            for place, e in zip(places, entries, strict=False)
        ]

    def _memory(self) -> dict[str, Any]:
        """The bytes planned, part by part: of the model, of the link, and of what is shown."""
        shown = [
            ("last predictions", self.journal.nbytes),
            ("history of this page", self.history.nbytes),
            ("model before the last labels", self.teaching.before.nbytes),
        ]
        if self.teaching.questions is not None:
            shown.append(("questions", self.teaching.questions.nbytes))
        parts = {"model": self._plan, "link": self.link.memory(), "page": shown}
        return {
            "total": self.model.nbytes + self.link.nbytes + sum(n for _, n in shown),
            **{
                owner: [{"name": name, "bytes": n} for name, n in arrays]
                for owner, arrays in parts.items()
            },
        }

    def snapshot(self) -> bytes:
        """The bytes of a snapshot file."""
        with self.model._guard:
            return pack(self.model.snapshot())


def _memory(plan: MemoryPlan, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Name and bytes of each array; the parts of a learner together, and padding."""
    for array in plan.arrays:
        inside = plan.inside.get(array.name)
        if inside is None or len(array.shape) > 1:
            yield prefix + array.name, array.nbytes
        else:
            yield from _memory(inside, prefix)
    if padding := plan.total - sum(array.nbytes for array in plan.arrays):
        yield prefix + "padding", padding
