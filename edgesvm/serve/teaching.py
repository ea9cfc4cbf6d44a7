"""Labels given by hand to a run, and the way back from the last of them.

What is asked for is a JSON object; `docs/page.md` has it.
"""

from __future__ import annotations

import copy
import math
import time
from collections import Counter
from collections.abc import Generator
from typing import Any

import numpy as np

from edgesvm.contract.labels import MAX_TEXT
from edgesvm.contract.names import number_of, word_of
from edgesvm.errors import NotTaught, SampleRefused
from edgesvm.learner import Learner
from edgesvm.link.wire import REJECTED
from edgesvm.serve.job import Job

Work = Generator[None, None, Any]  # yields between two portions; returns the answer

AT_ONCE = 16  # rows taught between two steps
MOST_SECONDS = 3600.0


class Before:
    """A learner's state before the last request that taught it, at any of its ports; `keeper` is
    whose request it was, None if there is nothing to undo.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.keeper: Teaching | None = None
        self.n_seen = 0
        self._memory = np.zeros(learner.nbytes, np.uint8)
        self._labels: tuple[tuple[Any, ...], bool] = (), False

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    def keep(self, keeper: Teaching) -> None:
        core = self.learner.core
        self.keeper, self.n_seen = keeper, self.learner.n_seen_
        self._memory[:] = core.arena.memory
        self._labels = core.labels.in_slots, core.labels.closed

    def restore(self) -> None:
        learner, core = self.learner, self.learner.core
        self.keeper = None
        core.arena.memory[:] = self._memory
        learner._load(learner.plan(core.n_features), core.arena, core.n_features, *self._labels)


class Teaching:
    """What somebody may ask of a run, as work for its loop. A request that has taught something can
    be undone until the next one: the learner is then as it was before it, so that what was learned
    since is forgotten too. `taught` counts the rows taught, but for those undone. The job, of a
    `Taught`, has a journal; ports that teach one learner share `before`.
    """

    def __init__(self, job: Job, before: Before | None = None) -> None:
        self.before = Before(job.pupil.learner) if before is None else before
        self.taught = 0
        self._job, self._pupil, self._n = job, job.pupil, 0
        self._places: list[int] = []
        self._scores: tuple[Any, ...] = ()

    @property
    def n(self) -> int | None:
        """Rows that `undo` would forget; None if there is nothing to undo."""
        return self._n if self.before.keeper is self and self._n else None

    def asked(self, body: dict[str, Any]) -> Work:
        """The work that a request asks for. Raises ValueError if it is no request."""
        if "undo" in body:
            return self.undo()
        if "until" in body:
            return self.label_on(None if body.get("label") is None else self._label(body))
        label = self._label(body)
        if "seconds" in body:
            seconds = _number(body, "seconds")
            if not 0 < seconds <= MOST_SECONDS:
                raise ValueError(f"seconds must be > 0 and <= {MOST_SECONDS:g}")
            return self.label_last(label, seconds)
        sequence = _integer(body, "sequence", 0, 0xFFFFFFFF)
        return self.label(label, sequence, _integer(body, "place", 0, 1 << 62))

    def _label(self, body: dict[str, Any]) -> Any:
        learner, label, names = self._pupil.learner, body.get("label"), self._job.link.class_names
        if learner.regresses:
            return _number(body, "label")
        if not isinstance(label, str):
            return word_of(names, _integer(body, "label", -0x8000, 0x7FFF))
        if label not in names:
            known = list(names) or learner.classes_.tolist()
            if not names and known:
                raise ValueError(f"label {label!r}: give a number, as of {known}")
            if not 0 < len(label.encode()) <= MAX_TEXT:
                raise ValueError(f"a label has 1 to {MAX_TEXT} bytes")
            if len(known) == learner.n_classes_allocated:
                raise NotTaught(f"label {label!r}: there is room for {known}, and no other")
            self._job.link.name_classes([*names, label])
        return label

    def label(self, label: Any, sequence: int, place: int) -> Work:
        """Teach the row that was shown at this place; returns how many were learned. NotTaught as
        `teach`; or the node has restarted, and the number is another row's now."""
        yield from ()  # one portion
        journal = self._job.journal
        if journal is not None and journal.find(sequence) not in {place, None}:
            raise NotTaught(f"the node has restarted: number {sequence:,} is another row by now")
        self._begin()
        self.teach(sequence, label)
        return {"taught": 1, "refused": {}}

    def label_last(self, label: Any, seconds: float) -> Work:
        """Teach the rows without a label that came in the last so many seconds, a few between two
        steps; returns how many were learned, and why others were not. NotTaught if there are none,
        or none could be learned."""
        sequences = self.open_rows(seconds)
        if not len(sequences):
            raise NotTaught(f"no row without a label came in the last {seconds:g} s")
        self._begin()
        refused = Counter[str]()
        for n, sequence in enumerate(sequences.tolist(), start=1):
            try:
                self.teach(sequence, label)
            except NotTaught as why:
                refused[str(why)] += 1
            if n % AT_ONCE == 0:
                yield
        if self.n is None:
            raise NotTaught(next(iter(refused)))
        return {"taught": self.n, "refused": dict(refused)}

    def label_on(self, label: Any) -> Work:
        """Learn all samples from now on under this label; None: under their own again."""
        yield from ()  # one portion
        self._job.word = label
        return {"from_now_on": label}

    def open_rows(self, seconds: float) -> np.ndarray:
        """Sequence numbers of the rows without a label that came in the last so many seconds."""
        if self._job.journal is None:
            return np.zeros(0, np.int64)
        entries, _ = self._job.journal.since(0)
        is_open = ~entries["has_label"] & ((entries["flags"] & REJECTED) == 0)
        return np.unique(entries["sequence"][is_open & (entries["time"] >= time.time() - seconds)])

    def teach(self, sequence: int, label: Any) -> None:
        """Learn an earlier row with a label that did not come over the wire, and score the
        prediction made when it arrived. It is the newest of this number in the journal.

        Raises NotTaught: the row has a label, is gone or was refused; the learner refuses the
        label; or there were too many labels in the last second. Nothing has changed, but that a
        waiting row whose label the learner refuses counts as refused.
        """
        journal, pupil, names = self._job.journal, self._pupil, self._job.link.class_names
        place = None if journal is None else journal.find(sequence)
        if journal is None or place is None:
            raise NotTaught(f"row {sequence:,} is no longer kept")
        entry = journal.entry(place)
        if entry["has_label"]:
            known = journal.told(entry, "label")
            raise NotTaught(f"row {sequence:,} has the label {known} already")
        if int(entry["flags"]) & REJECTED:
            raise NotTaught(f"row {sequence:,} was refused: a value is too large")
        if pupil.is_over_rate():
            raise NotTaught("too many labels a second: see --max-labels-per-second")
        late = self._job.link.late
        waits = late is not None and late.claim(sequence) is not None
        try:
            pupil.teach(entry["x"], word_of(names, label), 1.0, _predicted(entry, journal.names))
        except SampleRefused as refused:
            if waits:
                pupil.count_refused(refused)
            raise NotTaught(str(refused)) from refused
        pupil.own_unlabelled -= not waits
        journal.label(place, number_of(names, label))
        self._places.append(place)
        self._n += 1
        self.taught += 1

    def undo(self) -> Work:
        """Forget what the last request taught. NotTaught if there is nothing to undo."""
        yield from ()  # one portion
        before, pupil, journal, n = self.before, self._pupil, self._job.journal, self.n
        if n is None:
            raise NotTaught("there is nothing to undo")
        told = {"undone": n, "forgotten": pupil.learner.n_seen_ - before.n_seen - n}
        before.restore()
        for place in self._places:
            if journal is not None and journal.has(place):
                journal.label(place, None)
        pupil.learned -= n
        pupil.own_unlabelled += n
        pupil.score, pupil.forecasts = self._scores
        pupil.remarks.facts.score = pupil.score
        self.taught -= n
        return told

    def _begin(self) -> None:
        """Keep the state: what is taught from now on can be undone."""
        self.before.keep(self)
        self._scores = copy.deepcopy((self._pupil.score, self._pupil.forecasts))
        self._places, self._n = [], 0


def _predicted(entry: np.void, names: Any) -> Any:
    """The prediction in an entry of the journal."""
    if not entry["has_prediction"]:
        return None
    if "low" in (entry.dtype.names or ()):
        return entry[["predicted", "low", "high"]].item()
    return word_of(names, entry["predicted"].item())


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
