"""What a run shows, and labels given by hand."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.errors import NotTaught
from edgesvm.journal import Journal
from edgesvm.link.frames import REJECTED
from edgesvm.page.desk import Work
from edgesvm.page.history import History
from edgesvm.page.lookout import Lookout
from edgesvm.page.numbers import plain
from edgesvm.runner import Runner

AT_ONCE = 16  # rows taught between two steps
ROWS = 1024
ACCURACIES = ("accuracy", "larger_class", "label_before")
ERRORS = ("mae", "mean_so_far", "value_before")  # of a regressor


class RunLookout(Lookout):
    """What a `Runner` shows.

    Parameters
    ----------
    runner : Runner
        Gets a journal of the last 1,024 rows if it has none.
    clock : callable
        Monotonic clock, in seconds.
    """

    kind = "run"

    def __init__(self, runner: Runner, clock: Callable[[], float] = time.monotonic) -> None:
        if runner.journal is None:
            learner = runner.learner
            runner.journal = Journal(
                learner.n_features_in_, ROWS, dtype=learner.dtype, targets=learner.regresses
            )
        names = ERRORS if runner.learner.regresses else ACCURACIES
        history = History(["rate", *names])
        super().__init__(
            runner.model, runner.link, runner.journal, history, runner.remarks, clock=clock
        )
        self._runner = runner
        self.taught = 0

    @property
    def taken(self) -> int:
        return self._runner.taken

    @property
    def takes_numbers(self) -> bool:
        """Whether labels are targets."""
        return bool(self._runner.learner.regresses)

    def counters(self) -> dict[str, Any]:
        return {**self._runner.counters(), "taught": self.taught}

    def figures(self) -> dict[str, float | None]:
        score = self._runner.score
        if self._runner.learner.regresses:
            return {
                "mae": score.rolling,
                "mean_so_far": score.mean_so_far.mae,
                "value_before": score.value_before.mae,
            }
        return {
            "accuracy": score.rolling,
            "larger_class": score.majority,
            "label_before": score.label_before,
        }

    def own(self) -> dict[str, Any]:
        runner, score = self._runner, self._runner.score.summary()
        learner = runner.learner
        has_classes = learner.is_fitted and not learner.regresses
        classes = learner.classes_.tolist() if has_classes else []
        return {
            "score": {
                name: plain(value) if isinstance(value, float) else value
                for name, value in score.items()
                if name != "recalls"
            },
            "confusion": None if learner.regresses else _confusion(runner.score.confusion),
            "drift": None if runner.drift is None else runner.drift.summary(),
            "classes": classes,
            "is_window": runner.model is not learner,
            "waits": runner.link.late is not None,
        }

    def label(self, label: float, sequence: int, place: int) -> Work:
        """Teach the row that was shown at this place; returns how many were learned.

        Raises
        ------
        NotTaught
            See `Runner.teach`; or the node has restarted, and the number is another row's now.
        """
        if self.journal.find(sequence) not in {place, None}:
            raise NotTaught(f"the node has restarted: number {sequence:,} is another row by now")
        self._runner.teach(sequence, label)
        self.taught += 1
        return {"taught": 1, "refused": {}}
        yield

    def label_last(self, label: float, seconds: float) -> Work:
        """Teach the rows without a label that came in the last so many seconds, a few between two
        steps; returns how many were learned, and why others were not.

        Raises
        ------
        NotTaught
            There are none, or none could be learned.
        """
        entries, _ = self.journal.since(0)
        open_rows = ~entries["has_label"] & ((entries["flags"] & REJECTED) == 0)
        recent = entries["time"] >= time.time() - seconds
        sequences = entries["sequence"][open_rows & recent]
        if not len(sequences):
            raise NotTaught(f"no row without a label came in the last {seconds:g} s")
        taught, refused = 0, Counter[str]()
        for n, sequence in enumerate(np.unique(sequences).tolist(), start=1):
            try:
                self._runner.teach(sequence, label)
                taught += 1
                self.taught += 1
            except NotTaught as why:
                refused[str(why)] += 1
            if n % AT_ONCE == 0:
                yield
        if not taught:
            raise NotTaught(next(iter(refused)))
        return {"taught": taught, "refused": dict(refused)}


def _confusion(counts: dict[Any, dict[Any, int]]) -> dict[str, Any]:
    """Labels, and how often each (a row) was predicted as each (a column)."""
    labels = sorted({*counts, *(predicted for row in counts.values() for predicted in row)})
    table = [[counts.get(label, {}).get(p, 0) for p in labels] for label in labels]
    return {"labels": labels, "counts": table}
