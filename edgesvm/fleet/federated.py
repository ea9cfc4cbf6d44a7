"""Federated averaging of data in partitions (McMahan et al. 2017, Algorithm 1): the statistics of
all rows first, then rounds in which each partition goes on from the merged model."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from edgesvm.contract.params import whole
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.fleet import workers
from edgesvm.fleet.cluster import Cluster
from edgesvm.fleet.merging import merged
from edgesvm.fleet.pairs import holding
from edgesvm.fleet.partitions import PartitionError, source_of
from edgesvm.fleet.rounds import joined, n_since, own_part
from edgesvm.fleet.scales import Statistics, inner_of
from edgesvm.fleet.starting import started
from edgesvm.learner import Learner
from edgesvm.learners.gradient.gradient_learner import GradientLearner
from edgesvm.learners.stream.stream import StreamSVM
from edgesvm.preprocessing.standardized import Standardized

MOST_ROUNDS = 10_000


def is_federated(learner: Learner, rounds: int) -> bool:
    """Whether it is fitted so: in several rounds, or behind a standardizer, of which a part alone
    would have its own.

    Raises
    ------
    ValueError
        There are rounds, and this learner has none; or the learner's statistics are to end early.
    """
    inner = inner_of(learner)
    several = whole("rounds", rounds, 1, MOST_ROUNDS) > 1
    if several and not isinstance(inner, GradientLearner):
        raise ValueError(
            f"rounds={rounds}: {type(inner).__name__} is fitted in one; FourierSVM and AdaGradSVM"
            " go on from a merged model"
        )
    is_scaled = isinstance(learner, Standardized)
    found = several or (is_scaled and isinstance(inner, GradientLearner | StreamSVM))
    if found and isinstance(learner, Standardized) and learner.until is not None:
        raise ValueError(f"until={learner.until}: leave it out, the statistics are of all rows")
    return found


def federated(
    cluster: Cluster,
    learner: Learner,
    labels: tuple[Any, ...],
    n_features: int,
    *,
    rounds: int,
    progress: Callable[..., Any] | None,
) -> Learner:
    """The model after these rounds; each begins with the merged model of the one before."""
    n = len(cluster.names)
    empty = learner.like_new().allocate(n_features)
    model = holding(empty, labels, False, {})
    if isinstance(learner, Standardized):
        tasks = cluster.each(statistics_of, [type(learner).__name__] * n, [learner.dtype] * n)
        statistics = reduce(Statistics.and_of, cluster.results(tasks))
        model = started(learner, statistics, labels, False, n_features)
    for k in range(rounds):
        sent = cluster.submit(workers.same, model)
        level = cluster.each(own_of, [sent] * n)
        found = cluster.tree(merged_parts, level)
        if found is None:
            raise PartitionError("there is nothing to learn in any partition")
        model = joined(model, found)
        cluster.forget([sent, *level])
        if progress is not None:
            progress(k + 1, rounds)
    return _running(model, empty) if isinstance(model, Standardized) else model


def _running(model: Any, like: Learner) -> Learner:
    """The same with running statistics, as if each row had been counted in each round."""
    core = model.core
    arrays = {name: values for name, values in core.views.items() if name != "n_scaled"}
    arrays["spread"] = core.views["spread"] * (model._n_learned / model.n_scaled_)
    return holding(like, core.labels.in_slots, core.labels.closed, arrays)


# -- on the workers --------------------------------------------------------------------------------


def statistics_of(part: Any, owner: str, dtype: str) -> Statistics:
    """Statistics of a partition's rows, but those of weight zero; chunk by chunk."""
    source = source_of(part, owner)
    found = Statistics(0, np.zeros(source.n_features), np.zeros(source.n_features))
    for chunk in source.chunks(CHUNK_ROWS, np.dtype(dtype)):
        X = np.asarray(chunk.X, np.float64)
        if chunk.weight is not None:
            X = X[chunk.weight > 0]
        if len(X):
            mean = X.mean(axis=0)
            here = Statistics(len(X), mean, np.square(X - mean).sum(axis=0))
            found = found.and_of(here)
    return found


def own_of(part: Any, model: Learner) -> Learner | None:
    """What a learner that starts as the model learns in a partition; None if there is nothing."""
    core = model.core
    labels = core.labels
    one = holding(model, labels.in_slots, labels.closed, {}, model)
    for chunk in source_of(part, type(model).__name__).chunks(CHUNK_ROWS, one._dtype):
        one.partial_fit(chunk.X, chunk.y, sample_weight=chunk.weight)
    return own_part(model, one) if n_since(model, one) else None


def merged_parts(first: Learner | None, second: Learner | None) -> Learner | None:
    there = [one for one in (first, second) if one is not None]
    return merged(there) if there else None
