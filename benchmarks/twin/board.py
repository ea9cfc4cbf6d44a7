"""The noisy checkerboard, scaled, and the machine that learns it with the paper's settings."""

from __future__ import annotations

import numpy as np

from benchmarks.twin.data import TWIN_TASKS
from edgesvm import TwinVectorMachine

BOARD = next(task for task in TWIN_TASKS if task.name == "N-Checkerboard")
MEAN, DEVIATION = 2.0, (16 / 12) ** 0.5  # of the board
SEED = 2009


def scaled(X: np.ndarray) -> np.ndarray:
    return ((X - MEAN) / DEVIATION).astype(np.float32)


def twins(max_twins: int, C: float = BOARD.C) -> TwinVectorMachine:
    kernel = BOARD.kernel("rbf")
    learner = TwinVectorMachine(max_twins=max_twins, kernel=kernel, C=C, forgetting=None)
    return learner.allocate(2, classes=[-1, 1])
