"""What a job shows: its history, which grows turn by turn, and its status on request."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm import __version__
from edgesvm.link.link import Link
from edgesvm.link.wire import REJECTED
from edgesvm.persist.format import pack
from edgesvm.serve.job import Job
from edgesvm.serve.journal import Journal
from edgesvm.serve.page import words
from edgesvm.serve.page.history import History, Signal, plain
from edgesvm.serve.teaching import Teaching
from edgesvm.serve.watch import Episode

SHOWN = 14  # predictions in a status
LEAST_S = 0.1  # over less a rate says nothing
ROWS_TAUGHT, ROWS_WATCHED = 1024, 512  # in a journal
SPANS = (1, 5, 15, 60)  # seconds that the page can label at once
ALARMS = 10  # the last, with what stood out


class Shown(ABC):
    """What a page shows of a link; all methods are for the loop's thread."""

    link: Link
    teaching: Teaching | None = None

    @property
    def stale_seconds(self) -> float | None:
        """Seconds since the last sample, if that is too long. Also for other threads."""
        fresh = self.link.freshness
        return fresh.quiet if fresh.is_stale else None

    @abstractmethod
    def tick(self) -> None:
        """Keep what is due; called in each turn."""

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """All that is shown, as JSON has it."""

    def snapshot(self) -> bytes | None:
        """The bytes of a snapshot file; None where there is no model."""
        return None


class View(Shown):
    """Looks at a job between two steps, which gets a journal if it has none."""

    kind: str
    rows: int

    def __init__(
        self, job: Job, history: History, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if job.journal is None:
            job.journal = Journal.of(job.pupil.learner, self.rows)
        self.job, self.link, self.journal = job, job.link, job.journal
        self.model, self.pupil, self.history = job.model, job.pupil, history
        self._ends = ("low", "high") if job.journal.targets else ()
        n_channels = job.link.schema.n_features
        self.names = list(job.link.feature_names) or [f"x{j}" for j in range(n_channels)]
        self.signal = job.signal = Signal(n_channels, clock)
        self.statuses = 0
        self.clock = clock
        self._started = self._looked_at = clock()
        self._taken_before = 0
        self._rate: float | None = None

    @abstractmethod
    def figures(self) -> dict[str, float | None]:
        """The next point of the history, but for the rate."""

    @abstractmethod
    def own(self) -> dict[str, Any]:
        """What only this kind of status has."""

    def counters(self) -> dict[str, Any]:
        taught = {} if self.teaching is None else {"taught": self.teaching.taught}
        return self.job.counters() | taught

    def tick(self) -> None:
        """Add a point to the history if it is due; call it in each turn."""
        now = self.clock()
        if not self.history.is_due(now - self._started):
            return
        if (seconds := now - self._looked_at) > LEAST_S:
            self._rate = (self.job.taken - self._taken_before) / seconds
            self._looked_at, self._taken_before = now, self.job.taken
        self.history.add(now - self._started, {"rate": self._rate, **self.figures()})

    def status(self) -> dict[str, Any]:
        self.statuses += 1
        counters = self.counters()
        before = 0 if self.teaching is None else self.teaching.before.nbytes
        entries, _ = self.journal.since(max(0, self.journal.written - SHOWN))
        return {
            "kind": self.kind,
            "version": __version__,
            "port": self.link.name,
            "learner": repr(self.model),
            "time": time.time(),
            "seconds": plain(self.clock() - self._started),
            "rate": plain(self._rate),
            "samples": self.job.taken,
            "stale_seconds": plain(self.stale_seconds),
            "counters": counters,
            "lost": words.losses(counters),
            "remarks": dict(self.pupil.remarks.held),
            "memory": {  # which is all planned
                "model": self.model.nbytes,
                "link": self.link.nbytes,
                "page": self.journal.nbytes + self.history.nbytes + self.signal.nbytes + before,
            },
            "history": self.history.as_dict(),
            **self.signal.as_dict(self.names),
            "predictions": self._predictions(entries),
            **self.own(),
        }

    def _predictions(self, entries: np.ndarray) -> list[dict[str, Any]]:
        """The last answers, the newest first, with their places in the journal."""
        journal = self.journal
        answers = [
            {
                "place": place,
                "time": round(float(e["time"]), 3),
                "sequence": int(e["sequence"]),
                "predicted": journal.told(e, "predicted"),
                "score": plain(e["score"].item()),
                **{n: plain(e[n].item()) if e["has_prediction"] else None for n in self._ends},
                "label": journal.told(e, "label"),
                "refused": bool(e["flags"] & REJECTED),
            }
            for place, e in enumerate(entries, start=journal.written - len(entries))
        ]
        return answers[::-1]

    def snapshot(self) -> bytes:
        with self.model._guard:
            return pack(self.model.snapshot())


class RunView(View):
    """What a job with labels or targets shows; `teaching` is of labels given by hand."""

    kind, rows = "run", ROWS_TAUGHT

    def __init__(self, job: Job, teaching: Teaching | None = None, **options: Any) -> None:
        self._regresses = job.pupil.learner.regresses
        self._score_names = ("accuracy", "larger_class", "label_before")
        if self._regresses:
            self._score_names = ("mae", "mean_so_far", "value_before")
        super().__init__(job, History(["rate", *self._score_names]), **options)
        self.teaching: Teaching = Teaching(job) if teaching is None else teaching

    def figures(self) -> dict[str, float | None]:
        score = self.pupil.score
        values = score.rolling, *score.rolling_baselines
        return dict(zip(self._score_names, values, strict=True))

    def own(self) -> dict[str, Any]:
        pupil, learner = self.pupil, self.pupil.learner
        has_classes = learner.is_fitted and not self._regresses
        return {
            "undo": self.teaching.n,
            "word": self.job.word,
            "score": {
                name: plain(value) if isinstance(value, float) else value
                for name, value in pupil.score.summary().items()
                if name != "recalls"
            },
            "confusion": None if self._regresses else _confusion(pupil.score.confusion),
            "drift": None if pupil.drift is None else pupil.drift.summary(),
            "classes": learner.classes_.tolist() if has_classes else [],
            "is_window": self.model is not learner,
            "open_rows": {str(s): len(self.teaching.open_rows(s)) for s in SPANS},
        }


def _confusion(counts: dict[Any, dict[Any, int]]) -> dict[str, Any]:
    """Labels, and how often each (a row) was predicted as each (a column)."""
    labels = sorted({*counts, *(predicted for row in counts.values() for predicted in row)})
    table = [[counts.get(label, {}).get(p, 0) for p in labels] for label in labels]
    return {"labels": labels, "counts": table}


class WatchView(View):
    """What a watch shows."""

    kind, rows = "watch", ROWS_WATCHED

    def __init__(self, job: Job, **options: Any) -> None:
        history = History(["rate", "score", "threshold"], highest=["score"])
        super().__init__(job, history, **options)
        self._alarms: deque[Episode] = deque(maxlen=ALARMS)
        self._place = self.journal.written

    @property
    def _threshold(self) -> float | None:
        learner = self.pupil.learner
        return float(-learner.offset_) if learner.is_fitted else None

    def tick(self) -> None:
        episode = self.pupil.episode
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

    def _predictions(self, entries: np.ndarray) -> list[dict[str, Any]]:
        answers, scores = super()._predictions(entries), self._scores(entries)[::-1]
        return [one | {"score": plain(s)} for one, s in zip(answers, scores, strict=False)]

    def own(self) -> dict[str, Any]:
        w = self.pupil
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

    def _alarm(self, episode: Episode) -> dict[str, Any]:
        now, wall, shares = self.clock(), time.time(), episode.standing_out(self.pupil.names)
        return {
            "time": round(wall - (now - episode.began), 3),
            "seconds": plain((now if episode.ended is None else episode.ended) - episode.began),
            "on": episode.ended is None,
            "kind": episode.kind,
            "sequence": episode.sequence,
            "score": plain(episode.score),
            "threshold": plain(episode.threshold),
            "highest": plain(episode.highest),
            "features": [{"name": name, "share": share} for name, share in shares.items()],
        }
