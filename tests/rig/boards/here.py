"""What the learner itself decides and learns of the samples that a board is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgesvm.core.status import Status
from edgesvm.errors import NotFittedError
from edgesvm.learner import Learner
from rig.boards.program import Run, n_values
from rig.boards.samples import Samples

NOT_FITTED = 7


def run_here(
    learner: Learner, X: NDArray, slots: NDArray, weights: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """Decide about each sample, then learn it: the decisions, and the statuses of both. A regressor
    decides a value, a forecast with its interval, and the interval of the value."""
    core = learner.core
    n = len(X)
    values = np.zeros((n, n_values(learner)))
    decided, learned = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for i in range(n):
        try:
            out, _, decided[i] = core.decide_many(X[i : i + 1])
            values[i, : out.size] = out.ravel()
            if learner.regresses and decided[i] <= Status.CHANGED:
                values[i, 1:] = *core.forecast_one(X[i]), *core.interval_one(X[i])
        except NotFittedError:
            decided[i] = NOT_FITTED
        before = int(core.views["n_updates"])
        _, status = core.learn_many(X[i : i + 1], slots[i : i + 1], weights[i : i + 1])
        changed = int(core.views["n_updates"]) != before  # fewer, if it started over
        learned[i] = Status.CHANGED if changed else status
    return values, decided, learned


def compare(learner: Learner, there: Run, samples: Samples) -> tuple[int, list[str]]:
    """Learn the same samples here: of how many the decisions have the same bits, and what differs.

    `learner` is as it was exported.
    """
    values, decided, learned = run_here(learner, *samples)
    same_bits = np.all(there.values.view(np.uint64) == values.view(np.uint64), axis=1)
    refused = decided > Status.CHANGED  # there is no decision then
    equal = int(np.sum((same_bits | refused) & (there.decided == decided)))
    differs = {
        "decisions": equal < len(decided),
        "what was learned": not np.array_equal(there.learned, learned),
        "arena": there.arena != bytes(learner.arena),
        "self-test": not there.self_test,
    }
    return equal, [name for name, is_so in differs.items() if is_so]
