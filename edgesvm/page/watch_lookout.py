"""What a watch shows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from edgesvm.asking import Questions
from edgesvm.journal import Journal
from edgesvm.page.history import History
from edgesvm.page.lookout import Lookout
from edgesvm.page.numbers import plain
from edgesvm.teaching import WatchTeaching
from edgesvm.watcher import Episode, Watcher

ROWS = 512
ALARMS = 10  # the last, with what stood out
NAMED = 3


class WatchLookout(Lookout):
    """What a `Watcher` shows.

    Parameters
    ----------
    watcher : Watcher
        Gets a journal of the last 512 rows if it has none, and the rows of its alarms are kept.
    teaching : WatchTeaching, optional
        Of answers given by hand.
    clock : callable
        Monotonic clock, in seconds.
    """

    kind = "watch"

    def __init__(
        self,
        watcher: Watcher,
        teaching: WatchTeaching | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        learner = watcher.learner
        if watcher.journal is None:
            watcher.journal = Journal(learner.n_features_in_, ROWS, dtype=learner.dtype)
        if watcher.questions is None:
            watcher.questions = Questions(learner)
        history = History(["rate", "score", "threshold"], highest=["score"])
        super().__init__(
            watcher.model,
            watcher.link,
            watcher.journal,
            history,
            watcher.remarks,
            teaching=WatchTeaching(watcher) if teaching is None else teaching,
            clock=clock,
        )
        self._watcher = watcher
        self._alarms: deque[Episode] = deque(maxlen=ALARMS)
        self._place = watcher.journal.written
        self._names = watcher.names

    @property
    def taken(self) -> int:
        return self._watcher.taken

    def counters(self) -> dict[str, Any]:
        return {**self._watcher.counters(), "taught": self.teaching.taught}

    @property
    def _threshold(self) -> float | None:
        learner = self._watcher.learner
        return float(-learner.offset_) if learner.is_fitted else None

    def tick(self) -> None:
        episode = self._watcher.episode
        if episode is not None and (not self._alarms or self._alarms[-1] is not episode):
            self._alarms.append(episode)
        super().tick()

    def figures(self) -> dict[str, float | None]:
        """The highest score since the last point, of the rows that are still in the journal."""
        entries, lost = self.journal.since(self._place)
        self._place += lost + len(entries)
        scores = [score for score in self._scores(entries) if score is not None]
        return {"score": max(scores, default=None), "threshold": self._threshold}

    def _scores(self, entries: np.ndarray) -> list[float | None]:
        """How strange each row is; the journal has how normal."""
        threshold = self._threshold
        if threshold is None:
            return [None] * len(entries)
        return [threshold - value for value in entries["score"].tolist()]

    def _predictions(
        self, journal: Journal, entries: np.ndarray, places: Iterable[int]
    ) -> list[dict[str, Any]]:
        answers = super()._predictions(journal, entries, places)
        for answer, score in zip(answers, self._scores(entries), strict=True):
            answer["score"] = plain(score)
        return answers

    def own(self) -> dict[str, Any]:
        w = self._watcher
        left = w.learning_left
        done = w.learner.n_updates_ / w.learner.warm_up
        if left is not None and w.learn_s:
            done = 1 - left / w.learn_s
        return {
            "watching": w.watching,
            "learning": 1.0 if w.watching else plain(min(done, 1.0)),
            "threshold": plain(self._threshold),
            "last_score": plain(w.score),
            "alarm": w.episode is not None,
            "alarms": [self._alarm(episode) for episode in reversed(self._alarms)],
            "is_window": w.of_windows,
        }

    def _question(self, episode: Episode) -> int | None:
        """Its number, while an answer is of use."""
        questions, number = self._watcher.questions, episode.question
        if questions is None or number is None or not questions.is_open(number):
            return None
        return number

    def _alarm(self, episode: Episode) -> dict[str, Any]:
        now, wall = self.clock(), time.time()
        order = np.argsort(-episode.shares, kind="stable")[:NAMED].tolist()
        return {
            "time": round(wall - (now - episode.began), 3),
            "seconds": plain((now if episode.ended is None else episode.ended) - episode.began),
            "on": episode.ended is None,
            "kind": episode.kind,
            "sequence": episode.sequence,
            "question": self._question(episode),
            "score": plain(episode.score),
            "threshold": plain(episode.threshold),
            "highest": plain(episode.highest),
            "features": [
                {"name": self._names[j], "share": plain(float(episode.shares[j]))} for j in order
            ],
        }
