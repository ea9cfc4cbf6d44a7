"""What a run shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from edgesvm.journal import Journal
from edgesvm.page.history import History
from edgesvm.page.lookout import Lookout
from edgesvm.page.numbers import plain
from edgesvm.runner import Runner
from edgesvm.teaching import RunTeaching

ROWS = 1024
SPANS = (1, 5, 15, 60)  # seconds that the page can label at once
ACCURACIES = ("accuracy", "larger_class", "label_before")
ERRORS = ("mae", "mean_so_far", "value_before")  # of a regressor


class RunLookout(Lookout):
    """What a `Runner` shows.

    Parameters
    ----------
    runner : Runner
        Gets a journal of the last 1,024 rows if it has none.
    teaching : RunTeaching, optional
        Of labels given by hand.
    clock : callable
        Monotonic clock, in seconds.
    """

    kind = "run"

    def __init__(
        self,
        runner: Runner,
        teaching: RunTeaching | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if runner.journal is None:
            learner = runner.learner
            runner.journal = Journal(
                learner.n_features_in_, ROWS, dtype=learner.dtype, targets=learner.regresses
            )
            runner.journal.names = runner.link.class_names
        names = ERRORS if runner.learner.regresses else ACCURACIES
        history = History(["rate", *names])
        teaching = RunTeaching(runner) if teaching is None else teaching
        super().__init__(
            runner.model,
            runner.link,
            runner.journal,
            history,
            runner.remarks,
            teaching=teaching,
            clock=clock,
        )
        self._runner = runner
        self._teaching = teaching

    @property
    def taken(self) -> int:
        return self._runner.taken

    def counters(self) -> dict[str, Any]:
        return {**self._runner.counters(), "taught": self.teaching.taught}

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
            "open_rows": {str(s): len(self._teaching.open_rows(s)) for s in SPANS},
        }


def _confusion(counts: dict[Any, dict[Any, int]]) -> dict[str, Any]:
    """Labels, and how often each (a row) was predicted as each (a column)."""
    labels = sorted({*counts, *(predicted for row in counts.values() for predicted in row)})
    table = [[counts.get(label, {}).get(p, 0) for p in labels] for label in labels]
    return {"labels": labels, "counts": table}
