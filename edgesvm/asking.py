"""Which rows to ask a person about, and the ring that keeps them until there is an answer."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.errors import NotTaught
from edgesvm.evaluation import Prequential
from edgesvm.journal import Journal
from edgesvm.learner import Learner

__all__ = ["ASKED", "AT_RANDOM", "Asker", "Questions"]

# Of an entry's flags, above those of the remarks: the row was asked about, and was drawn for it.
ASKED, AT_RANDOM = 1 << 62, 1 << 61

BURST = 12.0  # questions that may come at once after a time without any
RANDOM_SHARE = 0.2
FIRST = 10  # questions after which half are drawn: the margins of a model of few labels say little
STEP = 1.0  # of the logarithm of the bound, at a question
LEAST = 1e-9  # margin
ROWS = 128
NOBODY = -1


class Asker:
    """Spends so many questions a time on the rows about which a model is least sure.

    A row is asked about if its margin is below a bound, which falls at each such question and rises
    with time, so that they come as often as ordered; up to 12 that found no row are kept for later.
    Others are drawn at random, whatever the margin: at first most, then a fifth. Only those are a
    fair sample of the rows, by which to judge a model.
    `benchmarks/results/asking_labels.md` compares it with other rules.

    Parameters
    ----------
    per_second : float
        Questions a second, > 0.
    seed : int, default 0
    clock : callable
        Monotonic clock, in seconds.

    Attributes
    ----------
    n_asked : int

    Examples
    --------
    >>> import random
    >>> draw, rows = random.Random(0), iter(range(100_000))  # a row a second
    >>> asker = Asker(1 / 60, clock=lambda: next(rows))
    >>> margins = [draw.random() for _ in range(99_999)]
    >>> asked = [m for m in margins if asker.asks(lambda: m) == ASKED]
    >>> 0.95 < asker.n_asked / (99_999 / 60) < 1.05, sum(asked) / len(asked) < 0.05
    (True, True)
    """

    def __init__(
        self,
        per_second: float,
        *,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not per_second > 0:
            raise ValueError(f"per_second={per_second}: give a number > 0")
        self._per_second, self._clock = per_second, clock
        self._draw = random.Random(seed)
        self._credit, self._at = 1.0, clock()
        self._bound: float | None = None  # of the logarithm of the margin
        self.n_asked = 0

    @property
    def random_share(self) -> float:
        """Share of the next questions that are drawn."""
        return max(RANDOM_SHARE, FIRST / (FIRST + self.n_asked))

    def asks(self, margin: Callable[[], float]) -> int:
        """Whether to ask about a row: 0, ASKED, or ASKED | AT_RANDOM.

        Parameters
        ----------
        margin : callable
            How sure the model is, >= 0; 0 without a model. Called only where there is a question
            left.
        """
        now = self._clock()
        due = min((now - self._at) * self._per_second, 1.0)  # a night without rows is no credit
        self._at = now
        self._credit = min(self._credit + due, BURST)
        drawn = self._draw.random() < self.random_share * due
        if not drawn and self._credit < 1.0:
            return 0
        sure = margin()
        if sure > 0.0:
            near = math.log(max(sure, LEAST))
            self._bound = near if self._bound is None else self._bound
            self._bound += STEP * (1.0 - self.random_share) * due
            if not drawn and near > self._bound:
                return 0
            self._bound -= 0.0 if drawn else STEP
        self._credit -= 1.0
        self.n_asked += 1
        return ASKED | AT_RANDOM if drawn else ASKED


class Questions:
    """A ring of the rows that a person is asked about, each a question with a number: its place.

    Parameters
    ----------
    learner : Learner
        Allocated; the rows are its.
    asker : Asker, optional
        Chooses rows; without one only alarms are asked about.
    rows : int, default 128
        Rows kept.

    Attributes
    ----------
    ring : Journal
        Entries with the flag ASKED are questions; others may be further rows of one.
    asked, answered : int
    drawn : Prequential
        Score of the predictions at those answered questions that were drawn at random: of all
        rows, then, and not of the doubtful ones.
    """

    def __init__(self, learner: Learner, asker: Asker | None = None, rows: int = ROWS) -> None:
        self.ring = Journal(learner.n_features_in_, rows, dtype=learner.dtype)
        self.asker = asker
        self.drawn = Prequential(ROWS)
        self.asked = self.answered = 0
        self._epochs = np.zeros(rows + 1, np.int64)
        self._of = np.zeros(rows + 1, np.int64)  # number of the question that a row belongs to

    @property
    def nbytes(self) -> int:
        """Bytes of the ring."""
        return self.ring.nbytes + self._epochs.nbytes + self._of.nbytes

    def add(
        self,
        x: np.ndarray,
        sequence: int,
        predicted: Any,
        score: float,
        flags: int,
        *,
        epoch: int = 0,
        of: int = NOBODY,
    ) -> int:
        """Keep a row: a question if `flags` has ASKED, else one more of the question `of`. Returns
        its place."""
        place = self.ring.written
        at = place % len(self._of)
        self._epochs[at], self._of[at] = epoch, place if flags & ASKED else of
        self.ring.add(sequence, predicted=predicted, score=score, flags=flags, label=None, x=x)
        self.asked += bool(flags & ASKED)
        return place

    def add_before(self, number: int, n: int) -> None:
        """Make the last n rows before a question that are nobody's its own."""
        for place in reversed(range(max(number - self.ring.capacity + 1, 0), number)):
            if n and self._of[place % len(self._of)] == NOBODY:
                self._of[place % len(self._of)] = number
                n -= 1

    def rows(self, number: int) -> list[np.ndarray]:
        """The rows of a question that are still kept, in order."""
        places = range(max(self.ring.written - self.ring.capacity, 0), self.ring.written)
        mine = [place for place in places if self._of[place % len(self._of)] == number]
        return [self.ring.entry(place)["x"] for place in mine]

    def epoch(self, place: int) -> int:
        """Epoch of the link at the row: a node that has restarted numbers its rows anew."""
        return int(self._epochs[place % len(self._epochs)])

    def is_open(self, number: int) -> bool:
        """Whether a question is kept and has no answer."""
        if not self.ring.has(number):
            return False
        entry = self.ring.entry(number)
        return bool(int(entry["flags"]) & ASKED) and not entry["has_label"]

    def question(self, number: int) -> np.void:
        """The entry of a question without an answer.

        Raises
        ------
        NotTaught
            There is none.
        """
        if not self.is_open(number):
            raise NotTaught(f"question {number:,} has an answer, or is no longer kept")
        return self.ring.entry(number)

    def answer(self, number: int, label: int) -> None:
        """Note the answer to a question."""
        entry = self.ring.entry(number)
        if int(entry["flags"]) & AT_RANDOM and entry["has_prediction"]:
            self.drawn.add(label, entry["predicted"].item())
        self.ring.label(number, label)
        self.answered += 1

    def newest(self) -> int:
        """Number of the newest question without an answer.

        Raises
        ------
        NotTaught
            There is none.
        """
        for number in reversed(range(self.ring.written)):
            if self.is_open(number):
                return number
            if not self.ring.has(number):
                break
        raise NotTaught("there is no question")

    def counters(self) -> dict[str, int]:
        """Questions asked and answered."""
        return {"asked": self.asked, "answered": self.answered}
