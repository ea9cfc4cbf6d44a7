"""The watch: learn what is normal from a link's samples, then tell when something is strange."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.asking import ASKED, NOBODY, Questions
from edgesvm.core.status import Status
from edgesvm.errors import NotTaught, SampleRefused
from edgesvm.journal import Journal
from edgesvm.learner import learner_in
from edgesvm.learners.novelty.novelty import NORMAL, STRANGE, NoveltyLearner
from edgesvm.link import Link
from edgesvm.link.frames import ABSTAIN, ALARM, REJECTED, TRAINED
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.clock_features import ClockFeatures
from edgesvm.preprocessing.in_order import InOrder
from edgesvm.preprocessing.virtual_sensor import VirtualSensor
from edgesvm.remarks import Facts, Remarks

__all__ = ["Episode", "Watcher"]

# A threshold that fewer rows have set is no threshold.
LEAST_LEARNED = 100
PASSES = 20  # over the rows of a false alarm, at most
COUNTS = (
    *("taken", "rows", "in_windows", "late", "refused_value"),
    *("learned", "not_learned", "watched", "strange", "stuck", "lost", "alarms"),
)


@dataclass
class Episode:
    """One alarm, from its first rows to the end.

    Attributes
    ----------
    kind : {"strange", "stuck", "lost", "stale"}
        "strange": the learner's alarm is on. "stuck": a feature repeats its value, and no row is
        judged. "lost": half of about the last 350 rows were in an alarm, and what is normal is
        learned anew. "stale": no samples come.
    sequence, row : int
        Of the sample that began it, or the last one before it, and how many rows came up to it.
    score, threshold : float
        Then: see `NoveltyLearner.score_one`.
    shares : ndarray of shape (n_features,), float64
        Share of each feature in that score; of those that are stuck, equal ones. Their sum is 1,
        or 0 if no samples come.
    highest : float
        The highest score in it.
    began, ended : float
        By the watcher's clock, seconds; `ended` is None while it lasts.
    question : int or None
        Its number among the watcher's questions, if it is one.
    """

    kind: str
    sequence: int
    row: int
    score: float
    threshold: float
    shares: NDArray[np.float64]
    highest: float
    began: float
    ended: float | None = None
    question: int | None = None


class Watcher:
    """Passes samples from a link to a learner without labels: first it learns, then it watches.

    Every sample is accounted for: ``taken = rows + in_windows + late + refused_value``, and
    ``rows = learned + not_learned``.

    Parameters
    ----------
    link : Link
        Open.
    model : NoveltyLearner, Chain or VirtualSensor
        Allocated. Behind a chain, a row is what a window of raw samples gives, or a sample against
        the clock; of a virtual sensor it is the residual of a sample; else each sample is one. It
        learns until its ``warm_up`` is over.
    learn_s : float, optional
        The learning ends after so many seconds instead, but not before 100 rows.
    learns : bool
        Whether it goes on learning while it watches, as the learner's ``learn`` says. A fault that
        grows slowly is learned then.
    answers : bool
        Whether to tell the node: 1 (normal) or -1 (strange), the decision value, and the flag
        ALARM while an alarm is on.
    journal : Journal, optional
        Each answered row is written there too, for others to read; without a prediction while it
        learns.
    questions : Questions, optional
        The rows of alarms are kept there, each alarm a question; and those that its asker chooses,
        which are nearest to the threshold.
    clock : callable
        Monotonic clock, in seconds.
    time_of_week : callable, optional
        Of a chain with `ClockFeatures`: the local time in seconds since Monday 0:00, which is put
        behind each sample. Without it the samples have it.

    Attributes
    ----------
    watching : bool
        Whether the learning is over.
    episode : Episode or None
        The alarm that is on.
    taken, rows, in_windows, late, refused_value : int
        Samples taken from the link; what they gave to the learner, or where they ended: within a
        window, behind a later sample, or refused because of a value.
    learned, not_learned : int
        Rows, by whether the learner changed.
    remarks : Remarks
        On the learner, looked through about every 1,000 samples.
    marked : int
        Rows learned as normal because somebody said so; see `answer`.
    watched, strange, stuck, lost, alarms : int
        Rows since the watching began; those of them beyond the threshold; rows in which a feature
        was stuck; times that the learner got lost; and alarms of all kinds, also that no samples
        come, which is one while it learns too.
    """

    def __init__(
        self,
        link: Link,
        model: NoveltyLearner | Chain | VirtualSensor,
        *,
        learn_s: float | None = None,
        learns: bool = False,
        answers: bool = True,
        journal: Journal | None = None,
        questions: Questions | None = None,
        clock: Callable[[], float] = time.monotonic,
        time_of_week: Callable[[], float] | None = None,
    ) -> None:
        self.link, self.model = link, model
        self.windows = model.windows_ if isinstance(model, Chain) else None
        self.sensor = model if isinstance(model, VirtualSensor) else None
        learner = learner_in(model)
        if not isinstance(learner, NoveltyLearner):
            raise ValueError(f"{learner!r} learns with labels; a watch has none")
        self.learner = learner
        self.learn_s = learn_s
        self.learns, self.answers, self.journal = learns, answers, journal
        self.questions = questions
        self.taken = self.rows = self.in_windows = self.refused_value = 0
        self.learned = self.not_learned = self.watched = 0
        self.strange = self.stuck = self.lost = self.alarms = 0
        self.marked = 0
        self.episode: Episode | None = None
        self.score = 0.0  # of the last row
        self._sequence = 0  # of the last sample
        self._ended: Episode | None = None
        self._clock = clock
        self._started = clock()
        self._dtype = np.dtype(learner.dtype)
        self._epochs = link.epochs
        self._samples: InOrder | None = None
        self._time_of_week = time_of_week
        self._timed = np.zeros(model.n_features_in_, self._dtype)  # a sample, and the time
        self.remarks = Remarks(Facts(learner=learner), self.counters)
        self.remarks.facts.names = self.names
        if self.windows is not None:
            self._samples = InOrder(self._push, self.windows.gap)
            self.windows.gap()  # one that was saved half full does not go on
            self._dropped_before = self.windows.n_dropped_
            self.remarks.facts.samples_a_window = self.windows.window

    @property
    def watching(self) -> bool:
        return self.learner.n_updates_ >= self.learner.warm_up

    @property
    def of_windows(self) -> bool:
        """Whether a row is of several samples."""
        return self.windows is not None and not isinstance(self.windows, ClockFeatures)

    @property
    def names(self) -> list[str]:
        """The features of a row."""
        if self.windows is not None:
            return self.windows.names()
        channels = self.model.n_features_in_
        named = self.link.feature_names or [f"x{j}" for j in range(channels)]
        if self.sensor is not None:
            return [f"{named[self.sensor.target % channels]}, by the other channels"]
        return list(named)

    @property
    def late(self) -> int:
        return 0 if self._samples is None else self._samples.late

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

    def step(self, timeout: float = 0.1, at_most: int | None = None) -> int:
        """Read once, handle a sample or more, and write the answers. Returns the number of samples.

        It returns at once where an alarm begins or ends or the learning is over, so that this can
        be told; the samples behind it wait in the link's ring.

        Raises
        ------
        LinkDown
            The port failed. Samples that had arrived are handled first.
        """
        try:
            self.link.poll(timeout)
        finally:
            self.look_for_samples()
            n = self._handle_waiting(at_most)
        if n and self.answers:
            self.link.flush()
        return n

    def look_for_samples(self) -> None:
        """Begin an alarm if no samples come, and end it when they do. `step` looks; call it while
        the port is gone."""
        is_on = self.episode is not None and self.episode.kind == "stale"
        if self.link.freshness.is_stale != is_on:
            kind = None if is_on else "stale"
            self._turn_to(kind, self._sequence, 0.0, np.zeros(self.learner.n_features_in_))

    def _handle_waiting(self, at_most: int | None) -> int:
        n, state = 0, self._state
        if self._samples is not None and self.link.epochs != self._epochs:
            self._samples.begin_again()  # the node has restarted; its numbers may fit by chance
        self._epochs = self.link.epochs
        while self.link.schema is not None and n != at_most and state == self._state:
            batch = self.link.take(None if at_most is None else at_most - n)
            if not len(batch.y):
                break
            X, handled = batch.X.astype(self._dtype, copy=False), 0
            for x, sequence in zip(X, batch.sequence.tolist(), strict=True):
                self.handle(x, sequence)
                handled += 1
                if state != self._state:
                    break
            self.link.release(handled)
            n += handled
        self.remarks.turn(self.taken)
        return n

    @property
    def _state(self) -> tuple[bool, int]:
        return self.watching, 0 if self.episode is None else self.alarms

    def handle(self, x: np.ndarray, sequence: int) -> None:
        """Take in one sample; if it makes a row, answer it and learn it.

        Parameters
        ----------
        x : ndarray of shape (n_features,) or, before windows, (n_channels,)
            Of the learner's dtype.
        sequence : int
            The sample's sequence number.
        """
        self.taken += 1
        self._sequence = sequence
        try:
            row = self._row(x, sequence)
            if row is not None and self._handle_row(row, sequence) and self.sensor is not None:
                self.sensor.learn_channel(x)
        except SampleRefused as refused:
            if refused.status != Status.NOT_FINITE:
                raise
            self.refused_value += 1
            self._tell(sequence, 0, 0.0, REJECTED)

    def _row(self, x: np.ndarray, sequence: int) -> np.ndarray | None:
        """What is learned of the sample: itself, its residual, or the features of the window that
        it completes."""
        if self.sensor is not None:
            return self.sensor.residual(x)
        if self._samples is None:
            return x
        samples, late = self._samples, self._samples.late
        if self._time_of_week is not None:
            self._timed[:-1], self._timed[-1] = x, self._time_of_week()
            x = self._timed
        row = samples.push(sequence, x)
        self.in_windows += row is None and samples.late == late
        return row

    def _push(self, x: np.ndarray, _label: None) -> np.ndarray | None:
        assert self.windows is not None
        return self.windows.push(x)

    def _handle_row(self, row: np.ndarray, sequence: int) -> bool:
        """Answer a row and learn it; whether it was learned."""
        learner, watching = self.learner, self.watching
        label, value = NORMAL, 0.0
        if learner.is_fitted:
            label, value = learner.predict_with_score(row)
        threshold = -learner.offset_ if learner.is_fitted else 0.0
        self.score = threshold - value
        changed = self.learns or not watching
        if changed:
            changed = learner.learn_one(row)
        else:
            learner.watch_one(row)
        self.rows += 1
        self.watched += watching
        self.learned += changed
        self.not_learned += not changed
        self._watch(row, watching and label == STRANGE, threshold, sequence)
        if watching and self.questions is not None:
            self._keep(self.questions, row, sequence, label, value)
        if not watching and self.learn_s is not None:
            self._end_learning()
        flags = (TRAINED if changed else 0) | (0 if watching else ABSTAIN)
        flags |= ALARM if self.episode else 0
        if self.journal is not None:
            predicted = label if watching else None
            noted = flags | self.remarks.flags
            self.journal.add(
                sequence, predicted=predicted, score=value, flags=noted, label=None, x=row
            )
        self._tell(sequence, label, value, flags)
        return changed

    def _end_learning(self) -> None:
        """End the learning if its time is over."""
        if self.learning_left == 0 and self.learner.n_updates_ >= LEAST_LEARNED:
            self.learner.end_warm_up()

    def _watch(self, row: np.ndarray, strange: bool, threshold: float, sequence: int) -> None:
        stuck = self.learner.stuck_features_
        strange = strange and not stuck
        self.strange += strange
        self.stuck += bool(stuck)
        kind = self._kind(stuck)
        if self.episode is not None and self.episode.kind == kind:
            self.episode.highest = max(self.episode.highest, self.score)
        elif kind is not None or self.episode is not None:
            self._turn_to(kind, sequence, threshold, self._shares(row, stuck))

    def _turn_to(
        self, kind: str | None, sequence: int, threshold: float, shares: NDArray[np.float64]
    ) -> None:
        """End the alarm that is on, and begin one of this kind."""
        if self.episode is not None:
            self.episode.ended = self._clock()
            self.episode, self._ended = None, self.episode
        if kind is not None:
            self.alarms += 1
            self.lost += kind == "lost"
            self.episode = Episode(
                kind, sequence, self.rows, self.score, threshold, shares, self.score, self._clock()
            )

    def _kind(self, stuck: list[int]) -> str | None:
        """Of the alarm that is on, if one is."""
        if self.link.freshness.is_stale:  # rows that have waited
            return "stale"
        if stuck:
            return "stuck"
        if self.learner.is_lost_:
            return "lost"
        return "strange" if self.learner.alarm_on_ else None

    def _keep(
        self, questions: Questions, row: np.ndarray, sequence: int, label: int, value: float
    ) -> None:
        """Keep a row that somebody may be asked about."""
        episode, asker, of = self.episode, questions.asker, NOBODY
        if episode is not None and episode.kind in ("stuck", "stale"):
            return
        flags = 0
        if episode is not None and episode.row == self.rows:  # it begins
            flags = ASKED | ALARM
        elif episode is not None:
            n = self.rows - episode.row  # of a long one fewer and fewer: others may come
            if label == NORMAL or episode.question is None or n % (1 << max(n.bit_length() - 3, 0)):
                return
            of = episode.question
        elif label == NORMAL:
            flags = 0 if asker is None else asker.asks(lambda: abs(value))
            if not flags:
                return
        place = questions.add(row, sequence, label, value, flags, of=of)
        if episode is not None and flags:
            episode.question = place
            questions.add_before(place, self.learner.n_strange_lately_ - 1)

    def answer(self, number: int, label: int) -> int:
        """Take somebody's answer to a question: 1, it was normal, or -1, it was not. What was
        normal is learned as such, all rows of an alarm that are kept. Call it between two steps.

        Returns
        -------
        int
            How many rows were learned.

        Raises
        ------
        NotTaught
            The question is no longer kept or has an answer, or the learner cannot learn; nothing
            has changed.
        """
        if (questions := self.questions) is None:
            raise NotTaught("nothing is asked: see --ask")
        questions.question(number)
        rows = questions.rows(number) if label == NORMAL else []
        try:
            self._learn_normal(rows)
        except ValueError as error:
            raise NotTaught(str(error)) from error
        questions.answer(number, label)
        self.marked += len(rows)
        return len(rows)

    def _learn_normal(self, rows: list[np.ndarray]) -> None:
        """Learn rows as normal until none of them is strange: once, a few among thousands may
        change little."""
        for _ in range(PASSES):
            for row in rows:
                self.learner.learn_normal(row)
            if not any(self.learner.predict_one(row) == STRANGE for row in rows):
                return

    def take_back(self, number: int, n: int) -> None:
        """Count a question as without an answer again, and its n rows as not learned."""
        assert self.questions is not None
        if self.questions.ring.has(number):
            self.questions.ring.label(number, None)
        self.questions.answered -= 1
        self.marked -= n

    def _shares(self, row: np.ndarray, stuck: list[int]) -> NDArray[np.float64]:
        if not stuck:
            return self.learner.shares_one(row)
        shares = np.zeros(self.learner.n_features_in_)
        shares[stuck] = 1 / len(stuck)
        return shares

    def _tell(self, sequence: int, label: int, value: float, flags: int) -> None:
        if self.answers:
            self.link.send_prediction(sequence, label, value, flags)

    def counters(self) -> dict[str, Any]:
        """The counters of the watch and of the link, in one dict."""
        own = {name: getattr(self, name) for name in COUNTS}
        if self.questions is not None:
            own |= {"marked": self.marked, **self.questions.counters()}
        if self.windows is not None and self._samples is not None:
            own["windows_dropped"] = self.windows.n_dropped_ - self._dropped_before
            own["gaps"] = self._samples.gaps
        return {**own, **self.link.counters}

    def check_identities(self) -> list[str]:
        """Counter identities that do not hold, including the link's; empty if all hold."""
        broken = list(self.link.check_identities())
        if self.taken != self.rows + self.in_windows + self.late + self.refused_value:
            broken.append(
                f"samples taken {self.taken} = {self.rows} rows + {self.in_windows} in windows + "
                f"{self.late} late + {self.refused_value} refused"
            )
        if self.rows != self.learned + self.not_learned:
            broken.append(f"rows {self.rows} = {self.learned} learned + {self.not_learned} not")
        return broken
