"""What all partitions have, before any of them is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgesvm.contract.labels import Labels, as_object
from edgesvm.data.survey import Surveyed as AllRows
from edgesvm.fleet import workers
from edgesvm.fleet.cluster import Cluster
from edgesvm.fleet.partitions import PartitionError
from edgesvm.fleet.workers import Surveyed


def survey(cluster: Cluster, options: dict[str, Any], room: int) -> list[Surveyed]:
    """Check all partitions, then that they go together."""
    found = cluster.of_partitions(cluster.over(workers.surveyed, (options, room)))
    known: list[Any] = []
    for name, one in zip(cluster.names, found, strict=True):
        if one.n_features != found[0].n_features:
            raise PartitionError(
                f"{name}: it has {one.n_features} features,"
                f" {cluster.names[0]} has {found[0].n_features}"
            )
        known += [label for label in map(as_object, one.labels) if label not in known]
        if len(known) > room:
            raise PartitionError(
                f"{name}: it has the labels {list(one.labels)}; with those before there are"
                f" {len(known)}, and room for {room}"
            )
    return found


def labels_of(surveyed: list[Surveyed]) -> tuple[Any, ...]:
    """All labels, in the order of the rows."""
    known: list[Any] = []
    for one in surveyed:
        known += [label for label in map(as_object, one.labels) if label not in known]
    return tuple(known)


def together(names: Sequence[str], surveyed: Sequence[Surveyed], labels: Labels) -> AllRows:
    """What all have; their labels are taken in the order of the rows. Raises PartitionError for one
    that is none of those fixed in advance."""
    per_class = np.zeros(labels.room, np.int64)
    for name, one in zip(names, surveyed, strict=True):
        for label, n in zip(one.labels, one.per_class, strict=False):
            slot = labels.slot_of(label)
            if labels.closed and slot < 0:
                raise PartitionError(
                    f"{name}: it has the label {as_object(label)!r}, the learner those of"
                    f" {list(labels.in_slots)}"
                )
            labels.take(slot, label)
            per_class[labels.slot_of(label)] += n
    n_learned = sum(one.n_learned for one in surveyed)
    total = sum(one.n_learned * one.mean_weight for one in surveyed)
    n_rows = sum(one.n_rows for one in surveyed)
    return AllRows(n_rows, n_learned, tuple(per_class.tolist()), total / n_learned)
