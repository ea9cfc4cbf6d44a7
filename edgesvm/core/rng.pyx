"""Access to rng.pxd from Python, for tests."""

cimport numpy as cnp

import numpy as np

cnp.import_array()


def seed_view(uint64_t seed):
    """The four words of state after seeding, ndarray of shape (4,), uint64."""
    cdef cnp.uint64_t[::1] state = np.zeros(4, np.uint64)
    rng_seed(<uint64_t *> &state[0], seed)
    return np.asarray(state)


def next_view(cnp.uint64_t[::1] state):
    """Advance `state` in place. Returns the next 64 bits."""
    if state.shape[0] != 4:
        raise ValueError("state must have 4 words")
    return rng_next(<uint64_t *> &state[0])


def below_view(cnp.uint64_t[::1] state, int64_t n):
    if state.shape[0] != 4 or n < 1:
        raise ValueError("state must have 4 words, n must be at least 1")
    return rng_below(<uint64_t *> &state[0], n)
