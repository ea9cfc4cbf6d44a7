"""Successive halving: many candidates on few rows, the best of them on more (Jamieson & Talwalkar,
"Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016); at the end the
smallest model of those that are as good as the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import found_within
from edgesvm.serve.score import Prequential

KEEP = 3  # one in three goes on, on three times the rows
LEAST_ROWS = 100


@dataclass
class Candidate:
    """A learner to try.

    Attributes
    ----------
    chosen : dict, the parameters that make it this candidate
    learner : Learner
    scores : list of float, its accuracy in each round it was in
    vectors : int, that its model of the last of them sums over; 0 of a model without
    """

    chosen: dict[str, Any]
    learner: Learner
    scores: list[float] = field(default_factory=list)
    vectors: int = 0


def tried(
    learner: Learner, X: np.ndarray, y: np.ndarray, holdout: float | None
) -> tuple[float, int]:
    """Of a new learner of these parameters: its accuracy, of predicting each row before it is
    learned, or, with `holdout`, of the last share of the rows once the others were learned; and the
    vectors of its model. A row that is refused counts as wrong."""
    one = learner.like_new()
    if holdout is not None:
        n = round(len(X) * (1 - holdout))
        one.partial_fit(X[:n], y[:n])
        return float(one.score(X[n:], y[n:])), n_vectors(one)
    one.allocate(X.shape[1])
    score = Prequential()
    for x, label in zip(X, y, strict=True):
        asked = one.is_fitted
        predicted = one.predict_one(x) if asked else None
        try:
            one.learn_one(x, label)
        except SampleRefused:
            asked, predicted = True, None
        if asked:
            score.add(label, predicted)
    return score.accuracy or 0.0, n_vectors(one)


def n_vectors(learner: Any) -> int:
    """Vectors that a model's decisions sum over; 0 of a model without."""
    parts = found_within(learner, "parts_")
    if parts is not None:
        return sum(map(n_vectors, parts))
    coefficients = found_within(learner, "dual_coef_")
    return 0 if coefficients is None else int(np.count_nonzero(coefficients))


def smallest_of_best(scores: Sequence[float], sizes: Sequence[int], n_rows: int) -> int:
    """Which is the smallest of those whose accuracy is within one standard error of the best
    (Breiman et al. 1984), the accuracies being of `n_rows` rows; of equals the better, the earlier.
    """
    best = max(scores)
    least = best - sqrt(best * (1 - best) / n_rows)
    among = [k for k, score in enumerate(scores) if score >= least]
    return min(among, key=lambda k: (sizes[k], -scores[k]))


def rungs(n_rows: int, n_candidates: int) -> list[tuple[int, int]]:
    """Rows and candidates of each round, the last with all rows."""
    n_rounds = 1
    while KEEP**n_rounds <= n_candidates and n_rows // KEEP**n_rounds >= LEAST_ROWS:
        n_rounds += 1
    return [
        (n_rows // KEEP ** (n_rounds - 1 - k), max(1, -(-n_candidates // KEEP**k)))
        for k in range(n_rounds)
    ]


def halve(
    candidates: Sequence[Candidate],
    X: np.ndarray,
    y: np.ndarray,
    *,
    holdout: float | None = None,
    client: Any = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[Candidate]:
    """Try all, then the best third on three times the rows, and so on.

    Parameters
    ----------
    candidates : sequence of Candidate; their scores are filled in
    X : ndarray of shape (n_samples, n_features), in the order in which rows are learned
    y : ndarray of shape (n_samples,), labels
    holdout : float, optional
        Share of the rows of each round that are predicted only; None: prequential.
    client : distributed.Client, optional
        Candidates are tried on its workers, otherwise here.
    progress : callable, optional
        Called as ``progress(n_tried, n_in_all)``.

    Returns
    -------
    list of Candidate
        The best first: those of later rounds before the others; of equals the earlier. Before them
        all `smallest_of_best` of the last round.
    """
    rounds = rungs(len(X), len(candidates))
    n_done, n_all = 0, sum(n for _, n in rounds)
    order = list(candidates)
    for n_rows, n_alive in rounds:
        alive = order[:n_alive]
        outcomes = _tried(alive, X[:n_rows], y[:n_rows], holdout, client)
        for candidate, (score, vectors) in zip(alive, outcomes, strict=True):
            candidate.scores.append(score)
            candidate.vectors = vectors
            n_done += 1
            if progress is not None:
                progress(n_done, n_all)
        alive.sort(key=lambda candidate: -candidate.scores[-1])
        order[:n_alive] = alive
    scores, sizes = [c.scores[-1] for c in alive], [c.vectors for c in alive]
    n_scored = round((holdout or 1.0) * len(X))
    order.insert(0, order.pop(smallest_of_best(scores, sizes, n_scored)))
    return order


def _tried(
    alive: Sequence[Candidate], X: np.ndarray, y: np.ndarray, holdout: float | None, client: Any
) -> Any:
    """What `tried` tells of each, in their order."""
    if client is None:
        return (tried(candidate.learner, X, y, holdout) for candidate in alive)
    data = client.scatter([X, y], broadcast=True)
    tasks = [
        client.submit(tried, candidate.learner, *data, holdout, pure=False, retries=3)
        for candidate in alive
    ]
    try:
        return client.gather(tasks)
    except BaseException:
        client.cancel(tasks)
        raise
