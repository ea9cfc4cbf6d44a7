"""Several passes over rows at hand, ended where rows held out say so."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.learner import Learner

CHUNK = 1024  # rows that are copied at a time
HELD_OUT = 10  # one row in so many
FEWEST = 200  # rows of which some are held out
PATIENCE = 4  # passes without a better one


def learn_in_passes(
    learner: Learner, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, max_iter: int
) -> int:
    """Learn the rows up to `max_iter` times, each time in another order, with the orders drawn by
    ``learner.seed``. Of 200 rows and more one in ten is held out: the passes end where the errors
    on these have not become fewer four times, the best model is kept, and learns them.

    Returns
    -------
    int
        Passes of the model kept.
    """
    rng = np.random.default_rng(learner.seed)  # type: ignore[attr-defined]
    order = rng.permutation(len(X))
    n_held = len(X) // HELD_OUT if len(X) >= FEWEST else 0
    held, rest = order[:n_held], order[n_held:]
    fewest, best, kept = len(X) + 1, 0, b""
    for n in range(1, max_iter + 1):
        learn(learner, X, y, weights, rng.permutation(rest))
        if not n_held:
            best = n
            continue
        wrong = sum(int((learner.predict(X[part]) != y[part]).sum()) for part in parts(held))
        if wrong < fewest:
            fewest, best, kept = wrong, n, bytes(learner.arena)
        elif n - best >= PATIENCE:
            break
    if n_held:
        learner.arena.memory[:] = np.frombuffer(kept, np.uint8)
        learn(learner, X, y, weights, held)
    return best


def parts(order: np.ndarray) -> list[np.ndarray]:
    return [order[at : at + CHUNK] for at in range(0, len(order), CHUNK)]


def learn(
    learner: Any, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, order: np.ndarray
) -> None:
    """Learn the rows of these numbers, in this order."""
    for part in parts(order):
        learner.partial_fit(X[part], y[part], None if weights is None else weights[part])
