"""A ring buffer of samples: fixed arrays, filled in C, read by the learner as views.

Bytes: capacity * (4 d + 13), 4 more a row with targets, allocated by the constructor. Every sample
pushed is accounted for:

    pushed = released + waiting + dropped
"""

cimport cython
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcpy

from typing import NamedTuple

import numpy as np

POLICIES = ("drop_oldest", "drop_newest")


class Batch(NamedTuple):
    """Rows of a ring, as views that are valid until the rows are released.

    X : (n, d) float32; y : (n,) int32 class index, or float64 target, undefined where has_label is
    False; has_label : (n,) bool; weight : (n,) float32; sequence : (n,) uint32.
    """

    X: np.ndarray
    y: np.ndarray
    has_label: np.ndarray
    weight: np.ndarray
    sequence: np.ndarray


@cython.final
cdef class SampleRing:
    """Fixed-capacity queue of samples.

    Parameters
    ----------
    capacity : int
        Rows, at least 1.
    n_features : int
        d, at least 1.
    policy : {"drop_oldest", "drop_newest"}
        Which sample is dropped when the ring is full. Rows taken but not released are in use and
        stay; while there are any, the newest sample is dropped.
    targets : bool
        Whether labels are numbers, float64, and not class indices.

    Attributes
    ----------
    pushed, released, dropped : int
        Samples pushed, released by the reader, and lost to a full ring.
    entered, first : int
        Rows stored so far; index, from 0, of the oldest row waiting (of the next row stored, if
        none waits).
    high_water : int
        The largest number of rows that ever waited.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_features, policy="drop_oldest",
                  targets=False):
        if capacity < 1 or n_features < 1:
            raise ValueError(f"capacity={capacity} and n_features={n_features} must be at least 1")
        if policy not in POLICIES:
            raise ValueError(f"policy={policy!r} must be one of {POLICIES}")
        self.capacity = capacity
        self.n_features = n_features
        self.policy = policy
        self._drop_oldest = policy == "drop_oldest"
        X = np.zeros((capacity, n_features), np.float32)
        self._targets = targets
        y = np.zeros(capacity, np.float64 if targets else np.int32)
        has_label = np.zeros(capacity, np.bool_)
        weight = np.zeros(capacity, np.float32)
        sequence = np.zeros(capacity, np.uint32)
        self._arrays = Batch(X, y, has_label, weight, sequence)
        self._X, self._has_label = X, has_label.view(np.uint8)
        if targets:
            self._target = y
        else:
            self._y = y
        self._weight, self._sequence = weight, sequence

    def __len__(self):
        return self._count

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self._arrays)

    @property
    def first(self):
        return self.entered - self._count

    def take(self, max_rows=None):
        """The next rows that are contiguous in memory.

        Parameters
        ----------
        max_rows : int, optional
            The most rows to take; by default all. Fewer are returned where the ring wraps around:
            call again after `release`.

        Returns
        -------
        Batch
            Views into the ring, valid until released. Until then, a second call returns the same
            rows.
        """
        cdef Py_ssize_t n = min(self._count, self.capacity - self._head)
        if max_rows is not None:
            if max_rows < 0:
                raise ValueError(f"max_rows={max_rows} is negative")
            n = min(n, max_rows)
        self._taken = max(self._taken, n)
        rows = slice(self._head, self._head + n)
        return Batch(*[array[rows] for array in self._arrays])

    def release(self, Py_ssize_t n):
        """Release the `n` oldest rows taken; ValueError if fewer than `n` are taken."""
        if not 0 <= n <= self._taken:
            raise ValueError(f"release({n}): n must be 0 to {self._taken}, the rows taken")
        self._head = (self._head + n) % self.capacity
        self._count -= n
        self._taken -= n
        self.released += n

    def push_row(self, const float[::1] x, uint32_t sequence=0, label=None, float weight=1.0):
        """Push one sample from Python; False if it was dropped."""
        if x.shape[0] != self.n_features:
            raise ValueError(f"x has {x.shape[0]} features, but the ring has {self.n_features}")
        return self.push(&x[0], sequence, 0 if label is None else label, label is not None, weight)

    def counters(self):
        """All counts, by name."""
        return {
            "ring_in": self.pushed,
            "ring_out": self.released,
            "ring_waiting": self._count,
            "ring_dropped": self.dropped,
            "ring_high_water": self.high_water,
            "ring_capacity": self.capacity,
        }

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        if self.pushed != self.released + self._count + self.dropped:
            return [f"ring_in = ring_out + ring_waiting + ring_dropped: {self.counters()}"]
        return []

    cdef bint push(self, const float *x, uint32_t sequence, double label, bint has_label,
                   float weight) noexcept nogil:
        """Copy a sample into the ring, or drop one by the policy; False if it was this one."""
        cdef Py_ssize_t at
        self.pushed += 1
        if self._count == self.capacity:
            self.dropped += 1
            if self._taken or not self._drop_oldest:
                return False
            self._head = 0 if self._head + 1 == self.capacity else self._head + 1
            self._count -= 1
        at = self._head + self._count
        if at >= self.capacity:
            at -= self.capacity
        memcpy(&self._X[at, 0], x, self.n_features * sizeof(float))
        self._sequence[at] = sequence
        if self._targets:
            self._target[at] = label
        else:
            self._y[at] = <int32_t> label
        self._has_label[at] = has_label
        self._weight[at] = weight
        self._count += 1
        self.entered += 1
        if self._count > self.high_water:
            self.high_water = self._count
        return True
