"""core/rng.pxd in Python's integers. `state` is (4,), uint64, and advances in place."""

import numpy as np

MASK = (1 << 64) - 1


def rotated(x, k):
    return (x << k | x >> (64 - k)) & MASK


def splitmix64(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def seeded(seed):
    """The state after seeding."""
    words = splitmix64(seed)
    return np.array([next(words) for _ in range(4)], np.uint64)


def next_of(state):
    """The next 64 bits."""
    s = state.tolist()
    found, t = rotated(s[1] * 5 & MASK, 7) * 9 & MASK, s[1] << 17 & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    state[:] = np.array([*s[:3], rotated(s[3], 45)], np.uint64)
    return found


def below(state, n):
    """A number below n, n >= 1."""
    while (draw := next_of(state)) < (1 << 64) % n:
        pass
    return draw % n
