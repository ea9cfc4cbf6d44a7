"""A start for a fleet: a model that has learned nothing, with the statistics of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from edgesvm.fleet.merging import check_same
from edgesvm.fleet.pairs import MergeError, holding
from edgesvm.fleet.scales import Statistics, inner_of
from edgesvm.learner import Learner
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.preprocessing.standardized import Standardized

__all__ = ["start"]


def start(learners: Sequence[Learner], names: Sequence[str] | None = None) -> Standardized:
    """A model for all gateways to start from: it has learned nothing, and scales the features by
    the statistics of all, which stay as they are. So what the gateways learn from it can be merged,
    whatever the learner.

    Parameters
    ----------
    learners : sequence of Standardized or ByteSVM, fitted, of equal parameters and features
        Only their statistics and labels are used; they do not change.
    names : sequence of str, optional
        What the messages call them; by default "learner 0" and so on.

    Returns
    -------
    Standardized
        With their learner's parameters and their labels; `until` is the number of samples of the
        statistics. Go on with ``partial_fit`` or ``learn_one``, since ``fit`` and ``reset`` forget
        the statistics too.

    Raises
    ------
    MergeError
        One is neither, has learned nothing, or differs from the first in parameters,
        features or labels; the message names it.

    Notes
    -----
    The mean and the deviation are those of all samples, up to rounding (Chan, Golub & LeVeque
    1983), merged in the order given.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Standardized, fleet
    >>> X = np.random.default_rng(0).standard_normal((600, 2)).astype(np.float32)
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> gateways = [Standardized().partial_fit(X[k:300:3], y[k:300:3]) for k in range(3)]
    >>> common = fleet.start(gateways)
    >>> common.mean_.shape, common.n_seen_, common.until
    ((2,), 0, 300)
    >>> gateways = [fleet.start(gateways).partial_fit(X[k::3], y[k::3]) for k in range(3)]
    >>> fleet.merged(gateways).n_seen_
    600
    """
    called = list(names or (f"learner {k}" for k in range(len(learners))))
    if not learners:
        raise MergeError("there is nothing to make a start of")
    for learner, name in zip(learners, called, strict=True):
        if not isinstance(learner, Standardized | ByteSVM):
            raise MergeError(
                f"{name}: {type(learner).__name__} has no statistics of its features; a start is"
                " made of ByteSVM, or of models behind Standardized"
            )
    labels = check_same(learners, called)
    first: Any = learners[0]
    known = first.core.labels
    statistics = reduce(Statistics.and_of, map(Statistics.of, learners))  # type: ignore[arg-type]
    like = mergeable(first) if isinstance(inner_of(first), ByteSVM) else first
    return started(like, statistics, tuple(labels), bool(known.closed), first.n_features_in_)


def mergeable(learner: Any) -> Standardized:
    """A learner of as many bytes whose models can be merged: the directions of `ByteSVM` go their
    own ways."""
    inner = FourierSVM(n_classes=max(len(learner.classes_), 2), class_weight=learner.class_weight)
    return Standardized(learner=inner).fitted_into(learner.nbytes, learner.n_features_in_)


def started(
    like: Standardized,
    statistics: Statistics,
    labels: tuple[Any, ...],
    closed: bool,
    n_features: int,
) -> Any:
    """A model that has learned nothing, with these statistics for good."""
    model = Standardized(learner=like.inner.like_new(), until=statistics.n, clip=like.clip)
    model.allocate(n_features)
    arrays = {
        "mean": statistics.mean,
        "spread": statistics.spread,
        "n_scaled": statistics.n,
    }
    return holding(model, labels, closed, arrays)
