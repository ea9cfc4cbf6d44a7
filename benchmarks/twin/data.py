"""The twelve sets of Wang & Vucetic 2009, Table 1, made two-class, scaled and split as in their
section 5.1; each with its kernels and its penalty.

What differs: Adult is a8a (22,696 and 9,865 rows for 21,048 and 9,114), Shuttle has UCI's rows
(43,500 and 14,500 for 42,603 and 14,167), Covertype is a sample of 10,000 rows, 9,000 of them to
learn (100,000 in the paper), and Gauss, which the paper does not describe, is
`edgesvm.data.Gauss`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.common.data import (
    Split,
    Task,
    above_zero,
    generated,
    read,
    split_at_random,
    standardised,
)
from edgesvm import RBF, Linear, Polynomial
from edgesvm.data import Checkerboard, Gauss, Waveform
from edgesvm.kernels import Kernel

N_TRAIN = 100_000  # of what is generated
TEST, TRAIN = slice(None, 1000), slice(1000, None)
BOARD_WIDTH = 0.37  # the paper's delta of both boards; elsewhere half the number of features


@dataclass(frozen=True)
class TwinTask(Task):
    """`C` is the penalty per twin: the paper holds C times the sum of all weights at C B."""

    n_features: int = 0
    file: str = ""  # none: generated
    C: float = 100.0

    def kernel(self, name: str) -> Kernel:
        """ "rbf", "poly" or "linear" as the paper has it for this set."""
        board = "Checkerboard" in self.name
        if name == "rbf":
            return RBF(1 / (2 * BOARD_WIDTH) if board else 1 / self.n_features)
        return Linear() if name == "linear" else Polynomial(7 if board else 3)


def of_file(
    name: str, positive: Callable[[np.ndarray], np.ndarray]
) -> Callable[[np.random.Generator], Split]:
    """A file with a training and a test part."""

    def load(rng: np.random.Generator) -> Split:
        file = read(name)
        X, X_test = standardised(
            file["X_train"].astype(np.float64), file["X_test"].astype(np.float64)
        )
        return X, positive(file["y_train"]), X_test, positive(file["y_test"])

    return load


def round_digits(y: np.ndarray) -> np.ndarray:
    """3, 6, 8, 9 and 0 against 1, 2, 4, 5 and 7."""
    return np.isin(y, [3, 6, 8, 9, 0])


TWIN_TASKS = [
    TwinTask("Adult", of_file("a8a", above_zero), file="a8a", n_features=123, C=1.0),
    TwinTask(
        "Banana",
        split_at_random("banana", TRAIN, TEST, above_zero),
        file="banana",
        redraws=True,
        n_features=2,
    ),
    TwinTask("Checkerboard", generated(Checkerboard, N_TRAIN), redraws=True, n_features=2),
    TwinTask(
        "N-Checkerboard", generated(Checkerboard, N_TRAIN, flip=0.15), redraws=True, n_features=2
    ),
    TwinTask(
        "Covertype",
        split_at_random("covertype_10k", TRAIN, TEST, lambda y: y == 2),
        file="covertype_10k",
        redraws=True,
        n_features=54,
    ),
    TwinTask("Gauss", generated(Gauss, N_TRAIN), redraws=True, n_features=2),
    TwinTask("IJCNN", of_file("ijcnn1", above_zero), file="ijcnn1", n_features=22),
    TwinTask("Letter", of_file("letter", lambda y: y > 13), file="letter", n_features=16),
    TwinTask("Pendigits", of_file("pendigits", round_digits), file="pendigits", n_features=16),
    TwinTask("Shuttle", of_file("shuttle", lambda y: y != 1), file="shuttle", n_features=9),
    TwinTask("USPS", of_file("usps", round_digits), file="usps", n_features=256),
    TwinTask("Waveform", generated(Waveform, N_TRAIN), redraws=True, n_features=21),
]
# The paper's penalty for Adult lets no model move (see the table): the same rows with larger ones.
ADULT_OTHERWISE = [
    TwinTask(f"Adult, C Σ s = {C:g} B", of_file("a8a", above_zero), file="a8a", n_features=123, C=C)
    for C in (10.0, 100.0)
]


def adult_as_it_is(rng: np.random.Generator) -> Split:
    """Its 123 features are 0 or 1; scaled, a rare one weighs many times a frequent one."""
    file = read("a8a")
    X, X_test = (file[name].astype(np.float32) for name in ("X_train", "X_test"))
    return X, above_zero(file["y_train"]), X_test, above_zero(file["y_test"])


ADULT_OTHERWISE += [
    TwinTask(f"Adult, rows as they are{more}", adult_as_it_is, file="a8a", n_features=123, C=C)
    for more, C in (("", 1.0), (", C Σ s = 100 B", 100.0))
]
QUICK = TwinTask("Checkerboard", generated(Checkerboard, 2000, 1000), redraws=True, n_features=2)
