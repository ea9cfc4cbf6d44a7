"""Learners that learned apart become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from edgesvm.fleet.averaging import averaged
from edgesvm.fleet.pairs import MergeError, Pair
from edgesvm.fleet.scales import Scale, merged_statistics
from edgesvm.fleet.union import has_vectors, union
from edgesvm.learner import Learner
from edgesvm.learners.batch.batch_svm import BatchSVM
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.gradient.adagrad_svm import AdaGradSVM
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.preprocessing.standardized import Standardized

__all__ = ["MergeError", "merged"]

MERGED = (
    "StreamSVM, FourierSVM, AdaGradSVM, TwinVectorMachine, BatchSVM, BallVectorMachine,"
    " CoreVectorMachine"
)


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
        One has learned nothing, differs from the first in class, parameters, features or labels, or
        its kind cannot be merged; the message names it.

    Notes
    -----
    * `StreamSVM`: its own `merge`, the ball around both balls in closed form. With
      ``bound="upper"`` it encloses both balls, so all samples of both.
    * `FourierSVM`, `AdaGradSVM`: decision values are the mean of theirs, by samples learned
      (McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from Decentralized
      Data").
    * `TwinVectorMachine`, `BatchSVM`, `BallVectorMachine`, `CoreVectorMachine`: the SVM of the
      union of their vectors; an approximation, see ``docs/fleet.md``. A merged `BatchSVM` counts
      the vectors it stores as its samples.
    * `Standardized`: its statistics are exactly those of all samples (Chan, Golub & LeVeque 1983),
      up to rounding. `AdaGradSVM` and the kernel learners behind it are re-expressed in the merged
      scale. A ball, and Fourier features, are others in another scale: these are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import AdaGradSVM, Standardized
    >>> from edgesvm.fleet import merged
    >>> X = np.random.default_rng(0).standard_normal((100, 2)).astype(np.float32)
    >>> parts = [Standardized(learner=AdaGradSVM()).fit(X[k::2], X[k::2, 0] > 0) for k in (0, 1)]
    >>> bool(np.allclose(merged(parts).mean_, X.mean(axis=0), atol=1e-6))
    True
    """
    level = list(learners)
    if not level:
        raise MergeError("there is nothing to merge")
    called = list(names or (f"learner {k}" for k in range(len(level))))
    check_alike(level, called)
    n_merges, n_done = len(level) - 1, 0
    while len(level) > 1:
        above = []
        for k in range(0, len(level) - 1, 2):
            above.append(merged_pair(level[k], level[k + 1]))
            n_done += 1
            if progress is not None:
                progress(n_done, n_merges)
        level = above + level[len(level) - len(level) % 2 :]
    return level[0] if len(learners) > 1 else _copy(level[0])


def check_alike(learners: Sequence[Learner], names: Sequence[str]) -> None:
    """Raise MergeError unless these can be merged."""
    first = learners[0]
    check_kind(first, names[0])
    labels: list[Any] = []
    for learner, name in zip(learners, names, strict=True):
        if not isinstance(learner, Learner) or not learner.is_fitted:
            raise MergeError(f"{name}: it has learned nothing")
        if repr(learner) != repr(first):
            raise MergeError(
                f"{name}: it has other parameters than {names[0]}: {_apart(learner, first)}"
            )
        if learner.n_features_in_ != first.n_features_in_:
            raise MergeError(
                f"{name}: it has {learner.n_features_in_} features,"
                f" {names[0]} has {first.n_features_in_}"
            )
        theirs, mine = learner._allocated.labels, first._allocated.labels
        new = [label for label in theirs.in_slots if label not in labels]
        if len(labels) + len(new) > mine.room or theirs.closed != mine.closed:
            raise MergeError(
                f"{name}: it has the labels {list(theirs.in_slots)}, those before it"
                f" {labels or list(mine.in_slots)}; there is room for {mine.room} in all"
            )
        labels += new


def _apart(learner: Learner, first: Learner) -> str:
    """What differs, in words."""
    if type(learner) is not type(first):
        return f"{type(learner).__name__} instead of {type(first).__name__}"
    mine, theirs = first.get_params(), learner.get_params()
    found = [
        f"{name}={theirs.get(name)!r} instead of {value!r}"
        for name, value in mine.items()
        if repr(theirs.get(name)) != repr(value) and not isinstance(value, Learner)
    ]
    return ", ".join(found) or f"{learner!r} instead of {first!r}"


def check_kind(learner: Any, name: str) -> None:
    inner = learner._inner if isinstance(learner, Standardized) else learner
    if isinstance(learner, Standardized) and isinstance(inner, FourierSVM | StreamSVM):
        what = "Fourier features" if isinstance(inner, FourierSVM) else "a ball"
        raise MergeError(
            f"{name}: {type(inner).__name__} behind a standardizer cannot be merged: {what} of one"
            " scale cannot be expressed in another; use AdaGradSVM or a kernel learner behind it,"
            " or scale all data alike beforehand"
        )
    if isinstance(learner, Standardized) and isinstance(inner, BatchSVM):
        raise MergeError(
            f"{name}: BatchSVM behind a standardizer cannot be merged: it counts what is stored,"
            " the standardizer what it has seen; use a TwinVectorMachine or a ball behind it"
        )
    if not (isinstance(inner, StreamSVM | FourierSVM | AdaGradSVM) or has_vectors(inner)):
        raise MergeError(
            f"{name}: {type(inner).__name__} cannot be merged; these can: {MERGED}; and behind"
            " Standardized AdaGradSVM and the kernel learners but BatchSVM"
        )


def merged_pair(first: Any, second: Any) -> Learner:
    """One learner of two that can be merged."""
    if isinstance(first, StreamSVM):
        return _copy(first).merge(second)  # type: ignore[attr-defined]
    pair = Pair(first, second)
    arrays: dict[str, Any] = pair.counts()
    scales, inner = None, first
    if isinstance(first, Standardized):
        inner = first._inner
        statistics = merged_statistics(pair)
        arrays |= statistics
        (mine, theirs), (n_1, n_2) = pair.views(), pair.learned
        scales = Scale.of(mine, n_1), Scale.of(theirs, n_2), Scale.of(statistics, n_1 + n_2)
    if not has_vectors(inner):
        like = None if isinstance(first, Standardized) else first
        return pair.holding(arrays | averaged(pair, scales), like)
    views = dict(union(pair, scales, inner)._allocated.views)
    if isinstance(inner, BatchSVM):  # its samples are those that are stored
        arrays = {}
    return pair.holding(views | arrays)


def _copy(learner: Learner) -> Learner:
    """The same learner in memory of its own."""
    core = learner._allocated
    copy = learner._like_new()
    copy._restore(core.n_features, core.labels.in_slots, core.labels.closed, bytes(core.arena))
    return copy
