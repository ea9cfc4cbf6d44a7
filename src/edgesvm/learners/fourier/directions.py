"""The parameters of random directions: how many, how wide the kernel, which seed."""

from __future__ import annotations

import math
from typing import Any

from edgesvm.contract.params import positive, whole
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.fourier._directions import key_of
from edgesvm.learners.fourier.constants import ENTRY_DEVIATION

EVEN = (0.3, 1.0, 3.0, 10.0)  # widths times 1 / n_features, direction by direction in turn
WEIGHED = (0.1, 0.5, 2.2, 10.0)  # the same where their amplitudes are learned


def check_directions(
    n_directions: int, gamma: float | None, seed: int, most: int = MAX_CAPACITY
) -> None:
    """Raise ValueError for a parameter out of range."""
    whole("n_directions", n_directions, 1, most)
    if gamma is not None:
        positive("gamma", gamma)
    whole("seed", seed, 0, (1 << 32) - 1)


def drawn_by(
    n_features: int, gamma: float | None, seed: int, widths: tuple[float, ...] = EVEN
) -> dict[str, Any]:
    """What a core draws its directions by: the key, and the factors that make them turns."""
    if gamma is None:
        gammas = [width / n_features for width in widths]
    else:
        gammas = [float(gamma)] * len(widths)
    in_turns = 2 * math.pi * ENTRY_DEVIATION
    return {
        "key": key_of(int(seed)),
        "scales": [math.sqrt(2 * gamma) / in_turns for gamma in gammas],
    }
