"""A pupil without labels: first it learns what is normal, then it tells when a row is strange."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.learner import learner_in
from edgesvm.learners.novelty.novelty import NORMAL, STRANGE, NoveltyLearner
from edgesvm.link.wire import ABSTAIN, ALARM, TRAINED
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.clock_features import ClockFeatures
from edgesvm.preprocessing.virtual_sensor import VirtualSensor
from edgesvm.serve.job import Job, Pupil, Row, Stage
from edgesvm.serve.journal import Journal
from edgesvm.serve.remarks import Facts, Remarks
from edgesvm.serve.windows import Timed, Windows

# A threshold that fewer rows have set is no threshold.
LEAST_LEARNED = 100
NAMED, LEAST_SHARE = 3, 0.05  # features that stand out in an alarm: so many, with so much each
COUNTS = ("learned", "not_learned", "watched", "strange", "stuck", "lost", "alarms")


@dataclass
class Episode:
    """One alarm, from its first rows to the end.

    kind : "strange", the learner's alarm is on, or what it was of is still held apart; "stuck", a
    feature repeats its value, and no row is judged; "lost", 250 rows are held apart, and what is
    like them raises no alarm; or "stale", no samples come.
    """

    kind: str
    sequence: int  # of the sample that began it, or the last one before it
    row: int  # how many rows came up to it
    score: float
    threshold: float
    shares: NDArray[np.float64]  # of each feature in the score; 0 if no samples come
    highest: float
    began: float  # by the job's clock
    number: int  # of the alarm, from 1
    ended: float | None = None  # None while it lasts

    def standing_out(self, names: Sequence[str]) -> dict[str, float]:
        """The features with the largest shares of the score, first the largest."""
        order, shares = np.argsort(-self.shares, kind="stable")[:NAMED], self.shares.tolist()
        shown = [j for j in order if shares[j] >= LEAST_SHARE or j == order[0]]
        return {names[j]: round(shares[j], 3) for j in shown}


class Residual(Stage):
    """The residual of one channel, as the other channels say it."""

    def __init__(self, sensor: VirtualSensor) -> None:
        self._sensor = sensor

    def row(self, x: np.ndarray, label: Any, weight: float, sequence: int) -> Row | None:
        return self._sensor.residual(x), None, weight

    def learned(self, x: np.ndarray) -> None:
        self._sensor.learn_channel(x)


class Watch(Pupil):
    """Learns rows without labels, then watches them: a strange one may begin an alarm.

    Every sample is accounted for: ``taken = rows + in_windows + late + refused_value``, and
    ``rows = learned + not_learned``. Alarms are of all kinds, also that no samples come, which is
    one while it learns too.

    The model, which is allocated, learns until its ``warm_up`` is over, or for `learn_s` seconds,
    but not before 100 rows. With `learns` it goes on learning while it watches, as the learner's
    ``learn`` says.
    """

    def __init__(
        self,
        link: Any,
        model: NoveltyLearner | Chain | VirtualSensor,
        *,
        learn_s: float | None = None,
        learns: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        learner = learner_in(model)
        if not isinstance(learner, NoveltyLearner):
            raise ValueError(f"{learner!r} learns with labels; a watch has none")
        self.link, self.model, self.learner = link, model, learner
        self.learn_s, self.learns = learn_s, learns
        self.rows = self.refused_value = self.learned = self.not_learned = self.watched = 0
        self.strange = self.stuck = self.lost = self.alarms = 0
        self.episode: Episode | None = None
        self.score = 0.0
        self._ended: Episode | None = None
        self._behind: Episode | None = None
        self._clock = clock
        self._started = clock()
        self.remarks = Remarks(Facts(learner=learner, names=self.names))
        self.state = self.watching, 0

    @property
    def watching(self) -> bool:
        return self.learner.n_updates_ >= self.learner.warm_up

    @property
    def of_windows(self) -> bool:
        """Whether a row is of several samples."""
        model = self.model
        return isinstance(model, Chain) and not isinstance(model.windows_, ClockFeatures)

    @property
    def names(self) -> list[str]:
        """The features of a row."""
        model, channels = self.model, self.model.n_features_in_
        if isinstance(model, Chain):
            return model.windows_.names()
        named = self.link.feature_names or [f"x{j}" for j in range(channels)]
        if isinstance(model, VirtualSensor):
            return [f"{named[model.target % channels]}, by the other channels"]
        return list(named)

    @property
    def learning_left(self) -> float | None:
        """Seconds until the learning ends; None if rows are counted instead."""
        if self.learn_s is None:
            return None
        return max(0.0, self.learn_s - (self._clock() - self._started))

    def take_ended(self) -> Episode | None:
        """The alarm that ended since the last call."""
        ended, self._ended = self._ended, None
        return ended

    def look(self, job: Job) -> None:
        """Begin an alarm if no samples come, and end it when they do."""
        is_on = self.episode is not None and self.episode.kind == "stale"
        if self.link.freshness.is_stale != is_on:
            kind = None if is_on else "stale"
            self._turn_to(kind, job.sequence, 0.0, np.zeros(self.learner.n_features_in_))
            self._note_state()

    def refused(self) -> None:
        self.refused_value += 1

    def answer(
        self, x: np.ndarray, label: Any, weight: float, sequence: int
    ) -> tuple[Any, float, int]:
        learner, watching = self.learner, self.watching
        label, value = NORMAL, 0.0
        if learner.is_fitted:
            label, value = learner.predict_with_score(x)
        threshold = -learner.offset_ if learner.is_fitted else 0.0
        self.score = threshold - value
        changed = self.learns or not watching
        if changed:
            changed = learner.learn_one(x)
        else:
            learner.watch_one(x)
        self.rows += 1
        self.watched += watching
        self.learned += changed
        self.not_learned += not changed
        self._watch(x, watching and label == STRANGE, threshold, sequence)
        if not watching and self.learning_left == 0 and learner.n_updates_ >= LEAST_LEARNED:
            learner.end_warm_up()
        flags = (TRAINED if changed else 0) | (0 if watching else ABSTAIN)
        flags |= ALARM if self.episode else 0
        self._note_state()
        return label, value, flags

    def _note_state(self) -> None:
        state = self.watching, 0 if self.episode is None else self.episode.number
        if state != self.state:
            self.state = state

    def _watch(self, row: np.ndarray, strange: bool, threshold: float, sequence: int) -> None:
        stuck = self.learner.stuck_features_
        self.strange += strange and not stuck
        self.stuck += bool(stuck)
        kind = self._kind(stuck)
        if self.episode is not None and self.episode.kind == kind:
            self.episode.highest = max(self.episode.highest, self.score)
        elif kind is not None or self.episode is not None:
            self._turn_to(kind, sequence, threshold, self._shares(row, stuck))

    def _kind(self, stuck: list[int]) -> str | None:
        """Of the alarm that is on, if one is."""
        if self.link.freshness.is_stale:  # rows that have waited
            return "stale"
        if stuck:
            return "stuck"
        if self.learner.alarm_on_:
            return "strange"
        if self.learner.is_lost_:
            return "lost"
        lasts = self.episode is not None and self.learner.n_apart_
        return "strange" if lasts else None

    def _shares(self, row: np.ndarray, stuck: list[int]) -> NDArray[np.float64]:
        if not stuck:
            return self.learner.shares_one(row)
        shares = np.zeros(self.learner.n_features_in_)
        shares[stuck] = 1 / len(stuck)
        return shares

    def _turn_to(
        self, kind: str | None, sequence: int, threshold: float, shares: NDArray[np.float64]
    ) -> None:
        """End the alarm that is on, and begin one of this kind. One that the learner is lost goes
        on behind a fault."""
        before, behind, self._behind, now = self.episode, self._behind, None, self._clock()
        if before is not None and before.kind == "lost" and kind == "strange":
            self._behind = before
        elif before is not None:
            before.ended, self._ended = now, before
        self.episode = behind if kind == "lost" else None
        if kind is not None and self.episode is None:
            self.alarms += 1
            self.lost += kind == "lost"
            own = self.score, threshold, shares, self.score, now, self.alarms
            self.episode = Episode(kind, sequence, self.rows, *own)

    def counters(self, taken: int, stage: Stage) -> dict[str, Any]:
        windows = stage.counters()
        late = windows.get("late_samples", 0)
        own = {
            "taken": taken,
            "rows": self.rows,
            "in_windows": windows["pushed"] - windows["windows"] if windows else 0,
            "late": late,
            "refused_value": self.refused_value,
            **{name: getattr(self, name) for name in COUNTS},
        }
        return own | {name: windows[name] for name in ("windows_dropped", "gaps") if windows}

    def broken(self, taken: int, stage: Stage) -> list[str]:
        broken = stage.broken(taken)
        c = self.counters(taken, stage)
        if taken != c["rows"] + c["in_windows"] + c["late"] + c["refused_value"]:
            broken.append(f"samples taken {taken} in {c}")
        if self.rows != self.learned + self.not_learned:
            broken.append(f"rows {self.rows} = {self.learned} learned + {self.not_learned} not")
        return broken


def watched(
    link: Any,
    model: NoveltyLearner | Chain | VirtualSensor,
    *,
    answers: bool = True,
    journal: Journal | None = None,
    time_of_week: Callable[[], float] | None = None,
    **options: Any,
) -> Job:
    """The job of a watch; `options` are those of `Watch`, and `time_of_week` of `Timed`. Behind a
    chain a row is what a window of raw samples gives, or a sample against the clock; of a virtual
    sensor it is the residual of a sample; else each sample is one."""
    pupil, stage = Watch(link, model, **options), Stage()
    if isinstance(model, VirtualSensor):
        stage = Residual(model)
        pupil.remarks.facts.sensor = model
    elif isinstance(model, Chain) and isinstance(model.windows_, ClockFeatures):
        stage = Timed(model, time_of_week)
    elif isinstance(model, Chain):
        stage = Windows(model)
        pupil.remarks.facts.samples_a_window = model.windows_.window
    return Job(link, pupil, stage=stage, model=model, answers=answers, journal=journal)
