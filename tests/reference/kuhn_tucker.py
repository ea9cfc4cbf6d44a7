"""The Kuhn-Tucker conditions of twins as a distance: how far a solution is from satisfying them."""

from __future__ import annotations

import numpy as np


def residual(f: np.ndarray, coef: np.ndarray, s_minus: np.ndarray, s_plus: np.ndarray) -> float:
    """How far the pairs (f_i, coef_i) are from the staircase and sum(coef) from 0.

    A pair's distance is the smallest, over the five pieces of the staircase, of how far f has to
    move plus how far coef has to move as a share of the twin's weight.
    """
    middle, weight = s_plus - s_minus, s_plus + s_minus
    pieces = [
        (-np.inf, -1.0, s_plus, s_plus),
        (-1.0, -1.0, middle, s_plus),
        (-1.0, 1.0, middle, middle),
        (1.0, 1.0, -s_minus, middle),
        (1.0, np.inf, -s_minus, -s_minus),
    ]
    distance = np.full(len(f), np.inf)
    for f_low, f_high, low, high in pieces:
        away = np.maximum(np.maximum(f_low - f, f - f_high), 0.0)
        outside = np.maximum(np.maximum(low - coef, coef - high), 0.0)
        distance = np.minimum(distance, away + outside / np.maximum(weight, 1e-300))
    return float(max(distance.max(), abs(coef.sum()) / max(weight.sum(), 1e-300)))
