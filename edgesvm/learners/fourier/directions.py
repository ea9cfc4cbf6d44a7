"""Random directions in plain NumPy: a matrix."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.fourier._fourier import BLOCK

LOW = np.uint64(0xFFFFFFFF)


class Directions:
    """n directions for the samples of a core, drawn by `key`; direction p is in turns once
    multiplied by number p % 4 of `scales`."""

    def __init__(self, core, key, scales, n):
        self.dtype, self.key, self.n = core.dtype, key, n
        self.n_mixed = len(core.views["mixed"]) if "mixed" in core.views else 0
        if not self.n_mixed:
            self.numbers = drawn(key, n, core.n_features)
        self.in_turns = np.asarray(scales, self.dtype)[np.arange(n) % 4]
        self.order = np.concatenate(
            [
                np.r_[first : min(first + BLOCK, n), n + first : n + min(first + BLOCK, n)]
                for first in range(0, n, BLOCK)
            ]
        )

    def along(self, x):
        """x times each direction, ndarray of shape (n,)."""
        if self.n_mixed:
            blocks = range(0, self.n, self.n_mixed)
            mixed = [mix(x, self.key, self.n_mixed, p // self.n_mixed) for p in blocks]
            return np.concatenate(mixed)[: self.n]
        sums = np.zeros(self.n, self.dtype)
        for d in range(len(x)):
            sums += self.numbers[:, d].astype(self.dtype) * x[d]
        return sums

    def waves(self, x):
        """Cosines and sines of x along the directions, block by block; ndarray of shape (2 n,)."""
        turns = self.along(x) * self.in_turns
        angle = np.rint((turns - np.rint(turns)) * 65536)
        angle = (angle + 32768) % 65536 - 32768
        waves = np.concatenate([np.cos(angle * (np.pi / 32768)), np.sin(angle * (np.pi / 32768))])
        return waves[self.order].astype(self.dtype)


def hashes(key, p, d):
    """h(p, d), 32 bits of each pair."""
    p, d = np.asarray(p, np.uint64), np.asarray(d, np.uint64)
    h = (p * 0x9E3779B1 + key + d * 0x85EBCA6B) & LOW
    h = (h ^ (h >> 16)) * 0x7FEB352D & LOW
    h = (h ^ (h >> 15)) * 0x846CA68B & LOW
    return h ^ (h >> 16)


def drawn(key, n, n_features):
    """Numbers of n directions, ndarray of shape (n, n_features), from -510 to 510."""
    h = hashes(key, *np.ogrid[:n, :n_features])
    return sum((h >> shift & 255) for shift in (0, 8, 16, 24)).astype(np.int64) - 510


def mix(x, key, n, block):
    """H D3 H D2 H D1 x of a block, ndarray of shape (n,): each D of random signs, H Hadamard."""
    v = np.zeros(n, x.dtype)
    v[: len(x)] = x
    i = np.arange(n)
    for r in range(3 * block, 3 * block + 3):
        v[hashes(key, r, i // 32) >> (i % 32).astype(np.uint64) & 1 > 0] *= -1
        h = 1
        while h < n:
            a, b = v.reshape(-1, 2, h).transpose(1, 0, 2)
            v = np.stack([a + b, a - b], axis=1).reshape(n)
            h *= 2
    return v
