"""Learners that learned apart become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from edgesvm.fleet.averaging import averaged
from edgesvm.fleet.pairs import MergeError, Pair
from edgesvm.fleet.rounds import check_descent, check_start, joined, n_since, own_part
from edgesvm.fleet.scales import STATISTICS, Scale, Statistics, inner_of, is_one_scale
from edgesvm.fleet.union import has_vectors, union
from edgesvm.learner import Learner
from edgesvm.learners.batch.batch import BatchSVM
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.gradient.adagrad_svm import AdaGradSVM
from edgesvm.learners.stream.stream import StreamSVM
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
    since: Learner | None = None,
    budget: int | str | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Learner:
    """One learner of all that these have learned. They are merged in pairs, the pairs in pairs and
    so on, in the order given: the same learners in the same order give the same bytes.

    Parameters
    ----------
    learners : sequence of Learner, fitted, of equal parameters and features; they do not change
    names : sequence of str, optional
        What the messages call them; by default "learner 0" and so on.
    since : Learner, optional
        The model that all of them started as, and have learned from apart: what it had learned
        counts once. Those that have learned nothing since are left out. Needed from the second
        round on; `FourierSVM`, `AdaGradSVM`, `StreamSVM`.
    budget : int or str, optional
        Bytes that the merged model may take, or "64KiB". A kernel learner gets the largest capacity
        that fits them, be it less than that of each or more; others keep their size.
    progress : callable, optional
        Called as ``progress(n_merges, n_merges_in_all)`` after each merge.

    Returns
    -------
    Learner
        With the parameters of all, in the same number of bytes unless there is a `budget`; it can
        go on learning.

    Raises
    ------
    MergeError
        One has learned nothing, differs from the first in class, parameters, features or labels, or
        its kind cannot be merged; it scales its features otherwise; it cannot have started as
        `since`. The message names it.
    MemoryBudgetError
        It does not fit the budget; ``.required`` is the number of bytes needed.

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
    * `Standardized`: its statistics are those of all samples, each as it counted for its learner
      (Chan, Golub & LeVeque 1983), up to rounding. `AdaGradSVM` and the kernel learners behind it
      are re-expressed in the merged scale. A ball, and Fourier features, are others in another
      scale: let all gateways learn from one `start`, whose statistics stay. Then all scale alike,
      and anything is merged as it is.
    * In rounds (`since`), the samples, the squared gradients and the mean of the weights are those
      of the start and, for each learner, of what it has learned since.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import AdaGradSVM, Standardized
    >>> from edgesvm.fleet import merged
    >>> X = np.random.default_rng(0).standard_normal((100, 2)).astype(np.float32)
    >>> linear = Standardized(learner=AdaGradSVM())
    >>> parts = [linear.like_new().partial_fit(X[k::2], X[k::2, 0] > 0) for k in (0, 1)]
    >>> bool(np.allclose(merged(parts).mean_, X.mean(axis=0), atol=1e-6))
    True
    """
    level = list(learners)
    if not level:
        raise MergeError("there is nothing to merge")
    called = list(names or (f"learner {k}" for k in range(len(level))))
    check_alike(level if since is None else [since, *level], called, since)
    if since is not None:
        check_start(since)
        for learner, name in zip(level, called, strict=True):
            check_descent(since, learner, name)
        level = [own_part(since, learner) for learner in level if n_since(since, learner)]
        if not level:
            raise MergeError("none of them has learned anything since the start")
        return joined(since, merged(level, budget=budget, progress=progress))
    like = None if budget is None else into(budget, level[0])
    n_merges, n_done = len(level) - 1, 0
    while len(level) > 1:
        above = []
        for k in range(0, len(level) - 1, 2):
            above.append(merged_pair(level[k], level[k + 1], like))
            n_done += 1
            if progress is not None:
                progress(n_done, n_merges)
        level = above + level[len(level) - len(level) % 2 :]
    return level[0] if len(learners) > 1 else _copy(level[0])


def check_alike(
    learners: Sequence[Learner], names: Sequence[str], since: Learner | None = None
) -> None:
    """Raise MergeError unless these can be merged; `since`, if given, is the first."""
    if since is not None:
        names = ["the start", *names]
    check_kind(learners[0], names[0])
    check_same(learners, names, since)
    check_scales(learners, names)


def check_scales(learners: Sequence[Any], names: Sequence[str]) -> None:
    """Raise MergeError unless a learner behind Standardized can be expressed in the merged scale,
    or all have the same."""
    first = learners[0]
    if not isinstance(first, Standardized):
        return
    if first.until is None and not isinstance(first.inner, FourierSVM | StreamSVM):
        return
    inner = type(first.inner).__name__
    for learner, name in zip(learners, names, strict=True):
        if not is_one_scale(first, learner):
            what = (
                "statistics of its own, which still change"
                if first.until is None or learner.n_scaled_ < first.until
                else f"other statistics than those of {names[0]}"
            )
            raise MergeError(
                f"{name}: {inner} behind a standardizer with {what} cannot be merged: make one"
                " start model of all (edgesvm merge --start, or edgesvm.fleet.start), let every"
                " gateway go on from it, and merge what they then save"
            )


def check_same(
    learners: Sequence[Learner], names: Sequence[str], since: Learner | None = None
) -> list[Any]:
    """The labels of all. Raise MergeError unless they have learned (with `since`, they need not),
    share parameters and features, and there is room for their labels."""
    first = learners[0]
    labels: list[Any] = []
    for learner, name in zip(learners, names, strict=True):
        if not isinstance(learner, Learner) or not (learner.is_fitted or since is not None):
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
        theirs, mine = learner.core.labels, first.core.labels
        new = [label for label in theirs.in_slots if label not in labels]
        if len(labels) + len(new) > mine.room or theirs.closed != mine.closed:
            raise MergeError(
                f"{name}: it has the labels {list(theirs.in_slots)}, those before it"
                f" {labels or list(mine.in_slots)}; there is room for {mine.room} in all"
            )
        labels += new
    return labels


def _apart(learner: Any, first: Any) -> str:
    """What differs, in words."""
    if type(learner) is not type(first):
        return f"{type(learner).__name__} instead of {type(first).__name__}"
    if isinstance(first, Standardized) and type(learner.inner) is not type(first.inner):
        return f"{_apart(learner.inner, first.inner)} behind it"
    mine, theirs = first.get_params(), learner.get_params()
    found = [
        f"{name}={theirs.get(name)!r} instead of {value!r}"
        for name, value in mine.items()
        if repr(theirs.get(name)) != repr(value) and not isinstance(value, Learner)
    ]
    return ", ".join(found) or f"{learner!r} instead of {first!r}"


def check_kind(learner: Any, name: str) -> None:
    """Raise MergeError unless learners of this kind can be merged."""
    inner = inner_of(learner)
    if isinstance(learner, Standardized) and isinstance(inner, BatchSVM):
        raise MergeError(
            f"{name}: BatchSVM behind a standardizer cannot be merged: it counts what is stored,"
            " the standardizer what it has seen; use a TwinVectorMachine or a ball behind it"
        )
    if isinstance(inner, ByteSVM):
        raise MergeError(
            f"{name}: ByteSVM cannot be merged, its directions are its own; make a start of these"
            " models (fleet.start, edgesvm merge --start), and let the gateways go on from it"
        )
    if not (isinstance(inner, StreamSVM | FourierSVM | AdaGradSVM) or has_vectors(inner)):
        raise MergeError(
            f"{name}: {type(inner).__name__} cannot be merged; these can: {MERGED}; and behind"
            " Standardized all of these but BatchSVM"
        )


def into(budget: int | str, learner: Any) -> Learner:
    """A learner of this kind for a budget, without memory. Raise MemoryBudgetError if it has no
    capacity to choose and does not fit."""
    fixed = not has_vectors(inner_of(learner))
    like: Learner = learner.like_new().fitted_into(budget, learner.n_features_in_, fixed=fixed)
    return like


def merged_pair(first: Any, second: Any, like: Any = None) -> Learner:
    """One learner of two that can be merged, with the capacity of `like`, if given."""
    pair = Pair(first, second)
    inner = inner_of(first)
    if isinstance(inner, StreamSVM):
        one = pair.holding(pair.far_out(), first)
        core, other = one.core, second.core
        getattr(core, "inner", core).absorb(getattr(other, "inner", other), pair.sign < 0)
        return one
    arrays: dict[str, Any] = pair.counts()
    scales = None
    if is_one_scale(first, second):
        arrays |= {name: first.core.views[name] for name in STATISTICS}
    elif isinstance(first, Standardized):
        mine, theirs = Statistics.of(first), Statistics.of(second)
        both = mine.and_of(theirs)
        arrays |= {"mean": both.mean, "spread": both.spread}
        scales = Scale.of(mine), Scale.of(theirs), Scale.of(both)
    if not has_vectors(inner):
        return pair.holding(arrays | averaged(pair, scales), None if scales else first)
    views = dict(union(pair, scales, inner_of(first if like is None else like)).core.views)
    if isinstance(inner, BatchSVM):  # its samples are those that are stored
        arrays = {"mean_weight": arrays["mean_weight"]}
    return pair.holding(views | arrays, of=like)


def _copy(learner: Learner) -> Learner:
    """The same learner in memory of its own."""
    core = learner.core
    copy = learner.like_new()
    copy._restore(core.n_features, core.labels.in_slots, core.labels.closed, bytes(core.arena))
    return copy
