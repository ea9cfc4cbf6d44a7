"""One model of many: learners that learned apart are merged.

>>> import numpy as np
>>> from edgesvm import StreamSVM
>>> from edgesvm.fleet import merged
>>> X = np.random.default_rng(0).standard_normal((200, 2)).astype(np.float32)
>>> parts = [StreamSVM().partial_fit(X[i::4], X[i::4, 0] > 0) for i in range(4)]
>>> merged(parts).n_seen_
200
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from edgesvm.learner import Learner
from edgesvm.learners.fourier._fourier import BLOCK, WIDTHS
from edgesvm.learners.fourier.constants import FADED, FIRST_TILT
from edgesvm.learners.fourier.fourier import AdaGradSVM, FourierSVM
from edgesvm.learners.stream.stream import StreamSVM
from edgesvm.preprocessing.standardized import FAR_OUT, Standardized

__all__ = ["MergeError", "merged"]

MERGED = "StreamSVM, FourierSVM, AdaGradSVM"


class MergeError(ValueError):
    """Learners cannot be merged; the message says which differs in what, or what cannot be
    merged."""


# -- merging ---------------------------------------------------------------------------------------


def merged(
    learners: Sequence[Learner],
    names: Sequence[str] | None = None,
    *,
    progress: Callable[[int, int], Any] | None = None,
) -> Learner:
    """One learner of all that these have learned. They are merged in pairs, the pairs in pairs and
    so on, in the order given: the same learners in the same order give the same bytes.

    Parameters
    ----------
    learners : sequence of Learner, fitted, of equal parameters and features; they do not change
    names : sequence of str, optional
        What the messages call them; by default "learner 0" and so on.
    progress : callable, optional
        Called as ``progress(n_merges, n_merges_in_all)`` after each merge.

    Returns
    -------
    Learner
        With the parameters of all, in the same number of bytes; it can go on learning.

    Raises
    ------
    MergeError
        One has learned nothing, differs from the first in class, parameters, features or labels,
        scales its features otherwise, or is of a kind that cannot be merged. The message names it.

    Notes
    -----
    * `StreamSVM`: its own `merge`, the ball around both balls in closed form. With
      ``bound="upper"`` it encloses both balls, so all samples of both.
    * `FourierSVM`, `AdaGradSVM`: decision values are the mean of theirs, by samples learned
      (McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks ...").
    * `Standardized` before them: let all gateways go on from one model whose statistics stay
      (``until``), so that all scale alike.
    """
    level = list(learners)
    if not level:
        raise MergeError("there is nothing to merge")
    called = list(names or (f"learner {k}" for k in range(len(level))))
    check_kind(level[0], called[0])
    _check_same(level, called)
    _check_scales(level, called)
    n_merges, n_done = len(level) - 1, 0
    while len(level) > 1:
        above = []
        for k in range(0, len(level) - 1, 2):
            above.append(_merged_pair(level[k], level[k + 1]))
            n_done += 1
            if progress is not None:
                progress(n_done, n_merges)
        level = above + level[len(level) - len(level) % 2 :]
    return level[0] if n_merges else deepcopy(level[0])


def _inner_of(learner: Any) -> Any:
    """The learner behind the standardizer; else the learner itself."""
    return learner.inner if isinstance(learner, Standardized) else learner


def check_kind(learner: Any, name: str) -> None:
    """Raise MergeError unless learners of this kind can be merged."""
    inner = _inner_of(learner)
    if not isinstance(inner, StreamSVM | FourierSVM | AdaGradSVM):
        raise MergeError(
            f"{name}: {type(inner).__name__} cannot be merged; these can: {MERGED},"
            " and Standardized before them"
        )


def _check_same(learners: Sequence[Learner], names: Sequence[str]) -> None:
    """Raise MergeError unless all have learned, share parameters and features, and there is room
    for their labels."""
    first = learners[0]
    labels: list[Any] = []
    for learner, name in zip(learners, names, strict=True):
        if not isinstance(learner, Learner) or not learner.is_fitted:
            raise MergeError(f"{name}: it has learned nothing")
        if repr(learner) != repr(first):
            raise MergeError(
                f"{name}: it has other parameters than {names[0]}: {learner!r} instead of {first!r}"
            )
        if learner.n_features_in_ != first.n_features_in_:
            raise MergeError(
                f"{name}: it has {learner.n_features_in_} features,"
                f" {names[0]} has {first.n_features_in_}"
            )
        theirs, mine = learner.core.labels, first.core.labels
        new = [label for label in theirs.in_slots if label not in labels]
        if len(labels) + len(new) > mine.room or theirs.closed != mine.closed:
            raise MergeError(
                f"{name}: it has the labels {list(theirs.in_slots)}, those before it"
                f" {labels or list(mine.in_slots)}; there is room for {mine.room} in all"
            )
        labels += new


def _check_scales(learners: Sequence[Any], names: Sequence[str]) -> None:
    """Raise MergeError unless all that are behind Standardized have the same scale, which stays."""
    first = learners[0]
    if not isinstance(first, Standardized):
        return
    inner = type(first.inner).__name__
    for learner, name in zip(learners, names, strict=True):
        if not _is_one_scale(first, learner):
            what = (
                "statistics of its own, which still change"
                if first.until is None or learner.n_scaled_ < first.until
                else f"other statistics than those of {names[0]}"
            )
            raise MergeError(
                f"{name}: {inner} behind a standardizer with {what} cannot be merged: give every"
                " gateway one model to go on from, Standardized(..., until=N) that has learned N"
                " samples, and merge what they then save"
            )


def _merged_pair(first: Any, second: Any) -> Learner:
    """One learner of two that can be merged."""
    pair = Pair(first, second)
    if isinstance(_inner_of(first), StreamSVM):
        one = pair.holding(pair.far_out())
        core, other = one.core, second.core
        getattr(core, "inner", core).absorb(getattr(other, "inner", other), pair.sign < 0)
        return one
    return pair.holding(pair.counts() | _averaged(pair))


class Pair:
    """Two learners of equal parameters and features, and the labels of both."""

    def __init__(self, first: Learner, second: Learner) -> None:
        self.first, self.second = first, second
        self.views = first.core.views, second.core.views
        self.learned = [int(views["n_per_class"].sum()) for views in self.views]
        known = first.core.labels
        theirs = second.core.labels.in_slots
        labels = list(dict.fromkeys((*known.in_slots, *theirs)))
        self.labels, self.closed = tuple(labels), bool(known.closed)
        # For each of the second's slots that of the same label in `labels`; and what turns the
        # second's decision values into those of the first's two classes.
        self.slots = np.array([labels.index(label) for label in theirs], np.intp)
        self.sign = -1.0 if len(self.slots) and self.slots[0] == 1 else 1.0

    def counts(self) -> dict[str, np.ndarray]:
        """The counters of both streams, one after the other."""
        mine, theirs = self.views
        per_class = mine["n_per_class"].copy()
        per_class[self.slots] += theirs["n_per_class"][: len(self.slots)]
        means = [float(views["mean_weight"]) for views in self.views]
        both = [(mean, n) for mean, n in zip(means, self.learned, strict=True) if mean and n]
        return {
            "n_seen": mine["n_seen"] + theirs["n_seen"],
            "n_updates": mine["n_updates"] + theirs["n_updates"],
            "n_per_class": per_class,
            **self.far_out(),
            "mean_weight": sum(mean * n for mean, n in both) / max(sum(n for _, n in both), 1),
        }

    def far_out(self) -> dict[str, np.ndarray]:
        """Samples with a value far out, of both, if they are counted."""
        mine, theirs = self.views
        return {k: (mine[k] & FAR_OUT) + (theirs[k] & FAR_OUT) for k in ("far_out",) if k in mine}

    def holding(self, arrays: Mapping[str, Any]) -> Learner:
        """A learner with the parameters and the labels of both and these arrays, checked as a
        snapshot is; the other arrays are those of the first."""
        n_features = self.first.n_features_in_
        learner = self.first.like_new().allocate(n_features)
        learner.arena.memory[:] = self.first.arena.memory
        views = learner.core.views
        for name, values in arrays.items():
            views[name][...] = values
        learner._restore(n_features, self.labels, self.closed, bytes(learner.arena))
        return learner


def _is_one_scale(learner: Learner, other: Learner) -> bool:
    """Whether both scale by the same statistics, which stay as they are."""
    if not isinstance(learner, Standardized) or learner.until is None:
        return False
    mine, theirs = learner.core.views, other.core.views
    return learner.n_scaled_ >= learner.until and all(
        np.array_equal(mine[name], theirs[name]) for name in ("mean", "spread", "n_scaled")
    )


# -- learners by gradient steps --------------------------------------------------------------------
#
# A decision value is linear in the weights, so that of the merged learner is the mean of theirs:
# for the last weights and for their mean alike, up to the rounding of a weight. `FourierSVM` of one
# seed has the same directions everywhere, but learns amplitudes of their widths, so it is the
# product of weight and amplitude that is averaged.


def _averaged(pair: Pair) -> dict[str, Any]:
    """The arrays of the merged learner, by name."""
    (mine, theirs), (n_1, n_2) = pair.views, pair.learned
    share = n_2 / (n_1 + n_2)

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + share * (b - a)

    arrays = {
        "G": mine["G"] + _in_slots(pair, theirs["G"]),
        "error_rates": between(mine["error_rates"], theirs["error_rates"]),
    }
    if "tilt" in mine:
        tilt = between(mine["tilt"], theirs["tilt"])
        tilt -= (FIRST_TILT + tilt).max()
        arrays["tilt"] = np.maximum(tilt, -FADED - np.array(FIRST_TILT))
        arrays["tilt_squares"] = mine["tilt_squares"] + theirs["tilt_squares"]
    for name in ("w", "w_mean"):
        a, b = (views[name].astype(np.float64) * _factors(views) for views in (mine, theirs))
        if len(b) == 1:
            b *= pair.sign
        arrays[name] = between(a, _in_slots(pair, b)) / _factors({**mine, **arrays})
    return arrays


def _factors(views: Mapping[str, np.ndarray]) -> Any:
    """The amplitude of each weight's feature. Those of n directions lie in blocks, the cosines of a
    block first; x and the constant have the last."""
    if "tilt" not in views:
        return 1.0
    a = np.exp(FIRST_TILT + views["tilt"])
    amplitudes = a / np.sqrt((a * a).mean())
    n = len(views["angle"])
    group = np.full(views["w"].shape[1], WIDTHS)
    blocks = [np.arange(at, min(at + BLOCK, n)) % WIDTHS for at in range(0, n, BLOCK)]
    group[: 2 * n] = np.concatenate([np.tile(block, 2) for block in blocks])
    return amplitudes[group]


def _in_slots(pair: Pair, rows: np.ndarray) -> np.ndarray:
    """A row for each of the merged learner's classes; with two classes there is one row in all."""
    if len(rows) == 1:
        return rows
    placed = np.zeros(rows.shape)
    placed[pair.slots] = rows[: len(pair.slots)]
    return placed
