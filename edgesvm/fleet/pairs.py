"""Two learners that are to become one: what they share, and the learner that holds the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from edgesvm.learner import Learner


class MergeError(ValueError):
    """Learners cannot be merged; the message says which differs in what, or what cannot be
    merged."""


class Pair:
    """Two learners of equal parameters and features, and the labels of both.

    Attributes
    ----------
    first, second : Learner
    labels : tuple, the first's in its slots, then those that only the second has
    slots : ndarray of ints, for each of the second's slots that of the same label in `labels`
    """

    def __init__(self, first: Learner, second: Learner) -> None:
        self.first, self.second = first, second
        known = first.core.labels
        theirs = second.core.labels.in_slots
        labels = list(known.in_slots)
        for label in theirs:
            if label not in labels:
                labels.append(label)
        self.labels, self.closed = tuple(labels), bool(known.closed)
        self.slots = np.array([labels.index(label) for label in theirs], np.intp)

    @property
    def learned(self) -> tuple[int, int]:
        """Samples that each has learned."""
        first, second = (int(m.core.views["n_per_class"].sum()) for m in self._both)
        return first, second

    @property
    def _both(self) -> tuple[Learner, Learner]:
        return self.first, self.second

    @property
    def sign(self) -> float:
        """What the second's decision values are multiplied by to be those of the first's two
        classes."""
        return -1.0 if len(self.slots) and self.slots[0] == 1 else 1.0

    def views(self) -> tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]:
        """The arrays of both, by name."""
        return self.first.core.views, self.second.core.views

    def counts(self) -> dict[str, np.ndarray]:
        """The counters of both streams, one after the other."""
        mine, theirs = self.views()
        per_class = mine["n_per_class"].copy()
        per_class[self.slots] += theirs["n_per_class"][: len(self.slots)]
        return {
            "n_seen": mine["n_seen"] + theirs["n_seen"],
            "n_updates": mine["n_updates"] + theirs["n_updates"],
            "n_per_class": per_class,
            **self.far_out(),
            "mean_weight": self._mean_weight(),
        }

    def far_out(self) -> dict[str, np.ndarray]:
        """Samples with a value far out, of both, if they are counted."""
        mine, theirs = self.views()
        return {k: mine[k] + theirs[k] for k in ("far_out",) if k in mine}

    def _mean_weight(self) -> float:
        """Of both streams; of one, where that of the other is not known."""
        means = [float(views["mean_weight"]) for views in self.views()]
        both = [(mean, n) for mean, n in zip(means, self.learned, strict=True) if mean and n]
        return sum(mean * n for mean, n in both) / max(sum(n for _, n in both), 1)

    def holding(
        self, arrays: Mapping[str, Any], like: Learner | None = None, of: Learner | None = None
    ) -> Learner:
        """A learner with the parameters of `of`, by default those of both, the labels of both and
        these arrays; see `holding`."""
        n_features = self.first.n_features_in_
        of = (self.first if of is None else of).like_new().allocate(n_features)
        return holding(of, self.labels, self.closed, arrays, like)


def holding(
    of: Learner,
    labels: tuple[Any, ...],
    closed: bool,
    arrays: Mapping[str, Any],
    like: Learner | None = None,
) -> Learner:
    """A learner with the parameters and features of `of`, these labels and arrays, checked as a
    snapshot is; the other arrays are those of `like`, zero if it is None."""
    learner = of.like_new()
    n_features = of.n_features_in_
    learner.allocate(n_features)
    if like is not None:
        learner.arena.memory[:] = like.arena.memory
    views = learner.core.views
    for name, values in arrays.items():
        views[name][...] = values
    learner._restore(n_features, labels, closed, bytes(learner.arena))
    return learner
