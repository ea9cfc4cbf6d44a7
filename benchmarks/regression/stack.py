"""The same stack for everybody: what a learner says for this row, beside the target before and what
the learner said for that.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

FORGETTING, PRIOR, NOISE = 0.999, 1.0, 0.1
MOST_STEP = 1.0  # of an error, in deviations of the targets
MOST_VARIANCE = 10.0  # of a coefficient: forgetting would raise it without end
FIRST_STACKED = 20
R = range(3)


def stacked(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    """w . (f_t, y_(t-1), f_(t-1)) by recursive least squares with forgetting, each row predicted
    before its target is learned. The three are shifted by the running mean of the targets and
    divided by their deviation. w starts at (1, 0, 0), which is the learner alone.
    """
    Q = [[PRIOR * (i == j) for j in R] for i in R]  # covariance of the coefficients
    w = [1.0, 0.0, 0.0]
    mean, squares = 0.0, 0.0
    answers: np.ndarray = f.copy()
    told, targets = f.tolist(), y.tolist()
    for t in range(1, len(targets)):
        deviation = sqrt(squares / t) if t > 1 and squares > 0 else 1.0
        z = [(v - mean) / deviation for v in (told[t], targets[t - 1], told[t - 1])]
        said = sum(w[i] * z[i] for i in R)
        if t > FIRST_STACKED:
            answers[t] = mean + deviation * said
        if t > 1:
            K = [sum(Q[i][j] * z[j] for j in R) for i in R]
            alpha = NOISE * FORGETTING + sum(K[i] * z[i] for i in R)
            error = max(-MOST_STEP, min(MOST_STEP, (targets[t] - mean) / deviation - said))
            w = [w[i] + K[i] / alpha * error for i in R]
            Q = [[(Q[i][j] - K[i] * K[j] / alpha) / FORGETTING for j in R] for i in R]
            hold(Q)
        apart = targets[t] - mean
        mean += apart / (t + 1)
        squares += apart * (targets[t] - mean)
    return answers


def hold(Q: list[list[float]]) -> None:
    """Bound the variances; the correlations stay."""
    for i in R:
        if Q[i][i] > MOST_VARIANCE:
            g = sqrt(MOST_VARIANCE / Q[i][i])
            for j in R:
                Q[i][j] *= g
                Q[j][i] *= g
