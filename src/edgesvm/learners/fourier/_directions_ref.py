"""Random directions in plain NumPy: a matrix."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.fourier._directions import BLOCK

LOW = np.uint64(0xFFFFFFFF)


class Directions:
    """n directions for samples of n_features numbers, drawn by `key`; direction p is in turns once
    multiplied by number p % 4 of `scales`."""

    def __init__(self, key, scales, n, n_features, dtype):
        self.dtype, self.n = np.dtype(dtype), n
        self.numbers = drawn(key, n, n_features)
        self.in_turns = np.asarray(scales, self.dtype)[np.arange(n) % 4]
        self.order = np.concatenate(
            [
                np.r_[first : min(first + BLOCK, n), n + first : n + min(first + BLOCK, n)]
                for first in range(0, n, BLOCK)
            ]
        )

    def waves(self, x):
        """Cosines and sines of x along the directions, block by block; ndarray of shape (2 n,)."""
        turns = np.zeros(len(self.numbers), self.dtype)
        for d in range(len(x)):
            turns += self.numbers[:, d].astype(self.dtype) * x[d]
        turns *= self.in_turns
        angle = np.rint((turns - np.rint(turns)) * 65536)
        angle = (angle + 32768) % 65536 - 32768
        waves = np.concatenate([np.cos(angle * (np.pi / 32768)), np.sin(angle * (np.pi / 32768))])
        return waves[self.order].astype(self.dtype)


def drawn(key, n, n_features):
    """Numbers of n directions, ndarray of shape (n, n_features), from -510 to 510."""
    p, d = np.ogrid[:n, :n_features]
    h = (p.astype(np.uint64) * 0x9E3779B1 + key + d.astype(np.uint64) * 0x85EBCA6B) & LOW
    h = (h ^ (h >> 16)) * 0x7FEB352D & LOW
    h = (h ^ (h >> 15)) * 0x846CA68B & LOW
    h ^= h >> 16
    return sum((h >> shift & 255) for shift in (0, 8, 16, 24)).astype(np.int64) - 510
