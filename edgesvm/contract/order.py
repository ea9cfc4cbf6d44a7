"""The rows of a `fit` in an order drawn by a seed, which is computed and not stored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

AT_A_TIME = 1024  # numbers
ROUNDS = 4


def shuffled(n: int, *seed: int) -> Iterator[np.ndarray]:
    """The numbers 0 to n - 1, each once, in parts of at most 1,024; (m,) int64.

    A Feistel network of four rounds permutes the numbers below the power of four that is not less
    than n (Luby & Rackoff 1988); what it makes of a number too large is permuted again (Black &
    Rogaway 2002). The same seed gives the same order everywhere.
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)  # bits
    keys = np.random.SeedSequence(seed).generate_state(ROUNDS, np.uint64)
    for at in range(0, n, AT_A_TIME):
        numbers = permuted(np.arange(at, min(n, at + AT_A_TIME), dtype=np.uint64), half, keys)
        while (beyond := numbers >= n).any():
            numbers[beyond] = permuted(numbers[beyond], half, keys)
        yield numbers.astype(np.int64)


def permuted(numbers: np.ndarray, half: int, keys: np.ndarray) -> np.ndarray:
    """Numbers of 2 half bits; (m,) uint64."""
    low = np.uint64((1 << half) - 1)
    left, right = numbers >> np.uint64(half), numbers & low
    for key in keys:
        left, right = right, left ^ (mixed(right + key) & low)
    return left << np.uint64(half) | right


def mixed(z: np.ndarray) -> np.ndarray:
    """The last steps of splitmix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def is_sorted_by_class(y: np.ndarray) -> bool:
    """Whether of each of several classes one row follows the other, ten and more of each in the
    mean."""
    changes = int((y[1:] != y[:-1]).sum())
    return 0 < changes <= len(y) // 10 and changes == len(set(y.tolist())) - 1
