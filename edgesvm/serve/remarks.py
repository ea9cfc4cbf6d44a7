"""What is wrong with a model, as far as its figures tell: one table of remarks, looked through now
and then, in fixed bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from edgesvm.contract.registry import is_a
from edgesvm.learners.wrapper import found_within
from edgesvm.serve.score import Prequential, RegressionScore, percent

EVERY = 32  # rows, of which one is looked at
BLOCK = 32  # of these, of which the variance is taken
USUAL = 4  # blocks that say what is usual
STEADY, JUMP = 8.0, 32.0  # times the variance: between steady blocks at most; and a jump
ENOUGH = 100  # predictions, before anything is said about them
RUNS = 0.9  # share of labels equal to the one before, from which on they come in runs
BY_CHANCE, ERRORS = 0.2, 3.0  # how far above a random order, of what is left; and standard errors
AWAITED = 25.0  # samples of a class that should have come
FEW = 10  # windows' worth of samples
DRIFTED = 0.05  # by how much fewer targets than asked lie within intervals that are not kept
LEAST_OFTEN = 0.25  # share of the samples in an alarm
LEAST_APART = 80  # samples held apart
NAMED = 3  # features in a remark
FIRST_BIT = 8  # of an answer's flags, which tells of the first remark; those below are the wire's


class Rows:
    """Of each feature of the rows: whether it stays as it is, and whether its variance jumps.

    Only features that say so are judged: those that changed from one row looked at to the next in
    at least half of each block so far, and those of about the same variance in each.

    Parameters
    ----------
    n_features : int
    dtype : dtype
        Of the rows.
    """

    def __init__(self, n_features: int, dtype: Any = np.float32) -> None:
        self.n = self.n_blocks = 0
        self.block = np.zeros((BLOCK, n_features), dtype)
        self.usual, self.high = np.zeros((2, n_features))
        self.low = np.full(n_features, np.inf)
        self.lively = np.ones(n_features, np.bool_)
        self.still, self.jumped, self.jumps = np.zeros((3, n_features), np.bool_)

    @property
    def nbytes(self) -> int:
        return sum(held.nbytes for held in vars(self).values() if isinstance(held, np.ndarray))

    def add(self, x: np.ndarray) -> None:
        self.block[self.n] = x
        self.n += 1
        if self.n == BLOCK:
            self.n = 0
            self._end_block()

    def _end_block(self) -> None:
        changes = (self.block[1:] != self.block[:-1]).sum(axis=0)
        with np.errstate(all="ignore"):  # of values near the largest: their squares say nothing
            variance = self.block.var(axis=0, dtype=np.float64)
        judged = self.n_blocks >= USUAL
        steady = (self.high > 0) & (self.high <= STEADY * self.low)
        before, self.jumped = self.jumped, judged & steady & (variance > JUMP * self.usual)
        self.jumps = before & self.jumped  # in one block, it may be a value that is rare
        self.still = judged & self.lively & (changes == 0)
        fine = ~(self.still | self.jumped) & np.isfinite(variance)
        self.n_blocks += 1
        self.lively &= (changes >= BLOCK // 2) | ~fine
        np.minimum(self.low, variance, out=self.low, where=fine)
        np.maximum(self.high, variance, out=self.high, where=fine)
        self.usual[fine] += (variance - self.usual)[fine] / self.n_blocks


@dataclass
class Facts:
    """What is known of a model; a remark needs a part of it."""

    learner: Any = None
    link: Any = None
    score: Prequential | RegressionScore | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    rows: Rows | None = None
    seen: dict[Any, tuple[int, int]] = field(default_factory=dict)  # label: how often, and when
    far_before: int = 0  # samples with a value far out, of an earlier run
    names: list[str] | None = None
    labels_stop: bool = False  # no labels come with these samples
    samples_a_window: int = 0
    sensor: Any = None  # the virtual one, if the learner is behind one

    def found(self, name: str) -> Any:
        return found_within(self.learner, name)

    @property
    def far_out(self) -> int:
        return int(self.found("far_out_") or 0)

    def features(self, numbers: Any) -> str:
        """Features by name, a few."""
        numbers = [int(j) for j in numbers]
        names = self.names or getattr(self.learner, "_columns", None)
        told = [names[j] if names else f"x{j}" for j in numbers[:NAMED]]
        return ", ".join(told) + (f" and {len(numbers) - NAMED} more" if numbers[NAMED:] else "")

    @property
    def classes(self) -> Prequential | None:
        """The score of classes."""
        return self.score if isinstance(self.score, Prequential) else None

    @property
    def enough(self) -> Prequential | None:
        return self.classes if self.classes is not None and self.classes.n >= ENOUGH else None

    @property
    def errors(self) -> RegressionScore | None:
        """The score of targets, if there is enough of it."""
        s = self.score
        return s if isinstance(s, RegressionScore) and s.n >= ENOUGH else None

    @property
    def by_chance(self) -> float:
        """Share of labels equal to the one before, in a random order."""
        assert self.classes is not None
        counts = [sum(row.values()) for row in self.classes.confusion.values()]
        return sum(count * count for count in counts) / max(sum(counts), 1) ** 2

    @property
    def in_runs(self) -> bool:
        """Whether labels are like the one before far more often than in a random order."""
        assert self.classes is not None
        share, chance = self.classes.label_before or 0.0, self.by_chance
        noise = math.sqrt(chance * (1 - chance) / self.classes.n)
        return share - chance > max(BY_CHANCE * (1 - chance), ERRORS * noise)


# -- remarks: what is found and what to do about it, or None ---------------------------------------


def stuck(f: Facts) -> str | None:
    numbers = f.found("stuck_features_") or []
    if not numbers and f.rows is not None:
        numbers = np.flatnonzero(f.rows.still)
    if not len(numbers):
        return None
    return f"{f.features(numbers)}: no longer changes; look at the sensor and its wires"


def jumped(f: Facts) -> str | None:
    if f.rows is None or not f.rows.jumps.any():
        return None
    features = f.features(np.flatnonzero(f.rows.jumps))
    return f"{features}: varies far more than before; look at the sensor"


def far_out(f: Facts) -> str | None:
    if (n := f.far_out - f.far_before) <= 0:
        return None
    return (
        f"{n:,} rows with values far outside what was seen before, which count for less;"
        " look at the sensor; --range refuses them"
    )


def refused(f: Facts) -> str | None:
    n = f.counters.get("refused_value", 0)
    what = "a value or weight is not finite or too large"
    return f"{n:,} rows refused: {what}; look at the sensor" if n else None


def lost(f: Facts) -> str | None:
    if not f.found("is_lost_"):
        return None
    return (
        "250 rows on end were strange: they are held apart, and only what is strange beside them"
        " raises an alarm; mend the fault, or let it learn anew if this is normal"
    )


def too_many_alarms(f: Facts) -> str | None:
    n, asked = f.found("n_apart_"), f.found("alarm_rate")
    if n is None or f.found("is_lost_") or n <= LEAST_APART:
        return None
    return (
        f"the last {n} rows are strange, at an alarm rate of {asked:.2g};"
        " look at the machine, or let it learn for longer"
    )


def worse_than_larger_class(f: Facts) -> str | None:
    if (s := f.enough) is None or len(s.confusion) < 2:
        return None
    ahead, larger = (s.accuracy or 0.0) - (s.majority or 0.0), percent(s.majority)
    if -ahead > 2 / math.sqrt(s.n):
        return (
            f"worse than always answering the larger class ({larger}): this model has learned"
            " nothing of use yet; wait for more samples, or try another --learner"
        )
    if s.n > s.window and ahead > 2 / math.sqrt(s.n) and (s.rolling or 0.0) <= (s.majority or 0.0):
        return (
            f"no better, lately, than always answering the larger class ({larger}), but"
            f" {percent(s.accuracy)} in all; look at the sensors, and where the labels come from"
        )
    return None


def worse_than_label_before(f: Facts) -> str | None:
    s = f.enough
    if s is None or f.labels_stop or not f.in_runs:
        return None
    if not (s.label_before or 0.0) > (s.accuracy or 0.0):
        return None
    return (
        f"worse than repeating the label before ({percent(s.label_before)}): labels come in runs,"
        " so this accuracy says little about samples without labels;"
        " judge it by samples of another day"
    )


def labels_in_runs(f: Facts) -> str | None:
    s = f.enough
    if s is None or f.labels_stop or worse_than_label_before(f):
        return None
    if not ((s.label_before or 0.0) > RUNS and f.in_runs):
        return None
    return (
        f"labels come in runs (the label before is right for {percent(s.label_before)}): accuracy"
        " without labels may be far lower; judge it by samples of another day"
    )


def one_label(f: Facts) -> str | None:
    s = f.enough
    if s is None or len(s.confusion) != 1:
        return None
    return (
        f"only one label seen, {next(iter(s.confusion))!r}: there is nothing to tell apart;"
        " let samples of another come, or use `edgesvm watch`"
    )


def one_answer(f: Facts) -> str | None:
    s = f.enough
    if s is None or len(s.confusion) < 2 or s._same_answer < min(s.n, s.window):
        return None
    return (
        f"the last {s._same_answer:,} predictions were all {s._answer!r};"
        " look at the sensor, and whether labels still come"
    )


def vanished(f: Facts) -> str | None:
    """A class of which samples should have come by now, in a random order; in runs, later."""
    if f.enough is None or len(f.seen) < 2:
        return None
    n, before = f.enough.n, f.enough.label_before or 0.0
    apart = min((1 - before) / max(1 - f.by_chance, 1e-9), 1.0)
    for label, (count, at) in f.seen.items():
        if count / at * (n - at) * apart > AWAITED:
            return (
                f"no sample of class {label!r} among the last {n - at:,};"
                " look at where the labels come from"
            )
    return None


def recall_below(f: Facts) -> str | None:
    for label, asked in (f.found("min_recall") or {}).items():
        row = {} if f.classes is None else f.classes.confusion.get(label, {})
        n, error = sum(row.values()), math.sqrt(asked * (1 - asked) / max(sum(row.values()), 1))
        if n >= ENOUGH and row.get(label, 0) / n < asked - 4 * error - 0.02:
            return (
                f"{percent(row.get(label, 0) / n)} of class {label!r} recognised, {asked:g} was"
                " promised; wait for more samples of it, or give more memory"
            )
    return None


def unseen(f: Facts) -> str | None:
    if not is_a(f.learner, "Calibrated") or not f.learner.is_fitted or not f.learner.unseen_labels_:
        return None
    option = "--cost" if f.learner.cost else "--min-recall"
    label = f.learner.unseen_labels_[0]
    return f"{option}: no sample has the label {label!r}; look at the label's spelling"


def worse_than_mean(f: Facts) -> str | None:
    s = f.errors
    if s is None or not (s.rmse or 0.0) > (s.mean_so_far.rmse or 0.0):
        return None
    return (
        f"worse than always answering the mean of the targets so far (RMSE {s.rmse:.3g}, of the"
        f" mean {s.mean_so_far.rmse:.3g}): this model has learned nothing of use yet;"
        " wait for more samples, or give more memory"
    )


def worse_than_value_before(f: Facts) -> str | None:
    s = f.errors
    if s is None or f.labels_stop or not (s.mae or 0.0) > (s.value_before.mae or 0.0):
        return None
    return (
        f"worse than repeating the target before (MAE {s.mae:.3g}, of the target before"
        f" {s.value_before.mae:.3g}); judge it by samples without targets"
    )


def intervals(f: Facts) -> str | None:
    if f.sensor is not None and f.sensor.ahead_ > f.sensor.drift_.measured > 0:
        return (
            f"the channel was last learned {f.sensor.ahead_:,} samples ago, and its errors were"
            f" measured up to {f.sensor.drift_.measured:,} ahead: alarms may be its drift;"
            " let it learn for longer, or go on with --then normal"
        )
    if (s := f.errors) is None or not f.labels_stop or (asked := s.coverage_asked) is None:
        return None
    none = s.n - s._intervals
    if not none and (s.coverage or 0.0) >= asked - DRIFTED:
        return None
    return (
        f"intervals are not kept once targets stop: {percent(s.coverage)} of the targets lay within"
        f" ({percent(asked)} asked), {none:,} rows too long after had none; let targets come often"
    )


def full(f: Facts) -> str | None:
    n = f.found("n_given_up_")
    return f"no room for more: {n:,} support vectors were given up; give more memory" if n else None


def rare_label(f: Facts) -> str | None:
    if not (n := f.counters.get("rare_label", 0)):
        return None
    return (
        f"{n:,} rows not learned: their labels, such as {f.learner.core.labels.rare!r}, came fewer"
        " than 3 times in 1,000 rows; look at where the labels come from"
    )


def no_window(f: Facts) -> str | None:
    taken, c = f.counters.get("taken", 0), f.counters
    windows = c.get("windows", c.get("rows", 0))
    if not f.samples_a_window or windows or taken < FEW * f.samples_a_window:
        return None
    return (
        f"no window is complete after {taken:,} samples: {c.get('gaps', 0):,} gaps;"
        " give shorter windows with --window, or mend the line"
    )


TABLE: dict[str, Callable[[Facts], str | None]] = {
    "stuck": stuck,
    "jumped": jumped,
    "far_out": far_out,
    "refused": refused,
    "lost": lost,
    "alarm_rate": too_many_alarms,
    "worse_than_larger_class": worse_than_larger_class,
    "worse_than_label_before": worse_than_label_before,
    "labels_in_runs": labels_in_runs,
    "one_answer": one_answer,
    "vanished": vanished,
    "recall": recall_below,
    "unseen_label": unseen,
    "full": full,
    "no_window": no_window,
    "worse_than_mean": worse_than_mean,
    "worse_than_value_before": worse_than_value_before,
    "one_label": one_label,
    "rare_label": rare_label,
    "intervals": intervals,
    "refused_lines": lambda f: getattr(f.link, "refused_lines", lambda: None)(),
}
KEYS = tuple(TABLE)


def made(facts: Facts) -> Iterator[tuple[str, str]]:
    """Key and line of each remark that these facts call for."""
    for key, remark in TABLE.items():
        if (line := remark(facts)) is not None:
            yield key, line


def flagged(flags: int) -> list[str]:
    """The keys of the remarks in an answer's flags."""
    return [key for i, key in enumerate(KEYS) if flags >> FIRST_BIT + i & 1]


def lines(**facts: Any) -> list[str]:
    return [line for _, line in made(Facts(**facts))]


class Remarks:
    """The remarks on a model at work; `held` has the key and line of each that held when it was
    looked last, and `flags` a bit for each, from `FIRST_BIT` on.

    Parameters
    ----------
    facts : Facts
        Its learner, allocated, and what stays the same.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.counters: Callable[[], Mapping[str, int]] = dict
        self.held: dict[str, str] = {}
        self.flags = 0
        self._left = EVERY
        self._told: set[str] = set()
        facts.far_before = facts.far_out
        self._look_at = EVERY * BLOCK

    def add(self, x: np.ndarray) -> None:
        """Take note of one more row; of most, only that it came."""
        self._left -= 1
        if not self._left:
            self._note(x)

    def add_many(self, X: np.ndarray) -> None:
        """`add` each of these rows."""
        self._left -= len(X)
        while self._left <= 0:
            self._note(X[self._left - 1])

    def _note(self, x: np.ndarray) -> None:
        self._left += EVERY
        if not isinstance(x, np.ndarray):  # of sparse rows
            return
        if self.facts.rows is None:
            self.facts.rows = Rows(len(x), x.dtype)
        self.facts.rows.add(x)

    def turn(self, taken: int) -> None:
        """Look through the table if it is time; call it now and then."""
        if taken >= self._look_at:
            self._look_at = taken + EVERY * BLOCK
            self.look()

    def look(self) -> list[str]:
        """Look through the table. Returns the lines that hold."""
        f = self.facts
        f.counters = self.counters()
        if f.classes is not None:
            for label, row in f.classes.confusion.items():
                count = sum(row.values())
                if count != f.seen.get(label, (0, 0))[0]:
                    f.seen[label] = count, f.classes.n
        self.held = dict(made(f))
        self.flags = sum(1 << FIRST_BIT + KEYS.index(key) for key in self.held)
        return list(self.held.values())

    def news(self) -> list[str]:
        """The lines that hold and were not told before."""
        new = [key for key in self.held if key not in self._told]
        self._told.update(new)
        return [self.held[key] for key in new]
