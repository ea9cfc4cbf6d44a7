"""`fit`: learn what lies in partitions, where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from edgesvm.contract.labels import as_object
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.fleet import workers
from edgesvm.fleet.cluster import Cluster
from edgesvm.fleet.enclosing import enclosed
from edgesvm.fleet.merging import check_kind
from edgesvm.fleet.partitions import PartitionError
from edgesvm.learner import Learner
from edgesvm.learners.enclosing.enclosing_machine import EnclosingMachine
from edgesvm.learners.randomized.rand_svm import RandSVM

__all__ = ["fit"]

Fitted = TypeVar("Fitted", bound=Learner)


def fit(
    learner: Fitted,
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    label_column: str | None = None,
    progress: Callable[..., Any] | None = None,
) -> Fitted:
    """Fit a learner to data in partitions, on the workers of a Dask cluster.

    Parameters
    ----------
    learner : RandSVM, BallVectorMachine, CoreVectorMachine, or a learner that `merged` takes
    X : Dask array or data frame, or list of paths that all workers can read
        Each partition of a collection, each file, is one task. Files end in .npz (with X and y),
        .csv, .parquet or .rec.
    y : Dask array or series in the partitions of X, or array; None for files
    client : distributed.Client, default the current one
    label_column : str, optional
        Of .csv files (by default as `edgesvm.data.CsvRows` chooses) and .parquet files (by default
        the last).
    progress : callable, optional
        For the first three as in their `fit`; otherwise called as
        ``progress(n_partitions, n_in_all)``.

    Returns
    -------
    learner

    Raises
    ------
    PartitionError
        A partition has a NaN, another width, a label too many, cannot be read, or its worker was
        lost again and again; the message names it.
    RuntimeError
        Dask is not installed.
    ValueError, TypeError
        The data are none of these, the partitions of X and y do not match, there is no client, or
        the learner cannot be fitted so.

    Notes
    -----
    In all of these cases, and after Ctrl-C, the tasks are cancelled and the learner is as it was.
    It is fitted in new memory: while it runs, there is room for two.

    `RandSVM`: the same bytes as ``learner.fit`` on all rows in one place in the order of the
    partitions, whatever the number of workers, partitions or repeated tasks. A worker says how many
    rows of its partition violate; the client draws from their numbers, as `fit` does, and asks for
    the rows that were drawn. Losses are added one by one in the order of the rows, by a chain of
    tasks, so that the sum rounds as in one place.

    `BallVectorMachine`, `CoreVectorMachine`: the search for rows outside the ball runs on the
    workers, the ball moves where the client is. The rows that `fit` of an array draws at random are
    drawn here too, and fetched by their numbers: up to there the bytes are the same as in one
    place. Then `fit` reads all rows in order and moves while it reads. Here a pass is an exact
    search of all rows: up to 1,024 of those outside, drawn by their numbers, move the ball until
    all of them are inside, and the next pass begins. It ends with a pass that finds none outside
    (``enclosed_``). So the ball is another than that of `fit`, within the same tolerance, and the
    same bytes whatever the number of workers, partitions or repeated tasks; accuracy was within 0.4
    points of that of `fit` (benchmarks/fleet/ball.py). If ``max_core`` or
    ``max_iter`` is reached, it ends as `fit` does: ``enclosed_`` and ``converged_`` are False, and
    only ``max_iter`` warns (`ConvergenceWarning`). What is sent in a pass is the ball to each
    worker and 1,024 rows a partition, whatever the number of rows. Behind `Standardized` they are
    fitted like the others.

    Others: a learner for each partition, merged as a tree in the order of the partitions. The same
    bytes for any number of workers, but not for other partitions. After a `fit` in one place the
    model would be another.
    """
    if not isinstance(learner, RandSVM):
        check_kind(learner, type(learner).__name__)
    learner._check_params()
    cluster = Cluster(X, y, client, label_column)
    try:
        new: Any
        if isinstance(learner, RandSVM):
            new = learner._like_new()
            new._fit(_Data(cluster, new), progress)
        elif isinstance(learner, EnclosingMachine):
            surveyed = _survey(cluster, learner._survey_options, learner._n_classes)
            new = enclosed(learner, cluster, surveyed, progress)
        else:
            new = _tree(cluster, learner, progress)
    finally:
        cluster.release()
    with learner._guard:
        learner._state, learner._own_guard, learner._columns = new._state, new._guard, None
    return learner


def _tree(cluster: Cluster, learner: Learner, progress: Callable[..., Any] | None) -> Any:
    """A learner a partition, merged in pairs in their order."""
    like = learner._like_new()
    options = {"owner": type(like).__name__, "dtype": like.dtype}
    n = len(cluster.names)
    _survey(cluster, options, like._n_classes)
    level = cluster.each(workers.learned, [like] * n)
    cluster.check(level)
    names = list(cluster.names)
    while len(level) > 1:
        pairs = [
            cluster.submit(workers.merged_pair, level[k], level[k + 1])
            for k in range(0, len(level) - 1, 2)
        ]
        level = pairs + level[len(level) - len(level) % 2 :]
        names = [f"{names[k]} and those merged with it" for k in range(0, len(names), 2)]
    if progress is not None:
        progress(n, n)
    return cluster.results(level, names)[0]


def _survey(cluster: Cluster, options: dict[str, Any], room: int) -> list[workers.Surveyed]:
    """Check all partitions, then that they go together."""
    n = len(cluster.names)
    tasks = cluster.each(workers.surveyed, [options] * n, [room] * n)
    found = cluster.results(tasks)
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


class _Data:
    """The rows of a cluster's partitions, as `RandSVM` samples them; numbered in their order."""

    def __init__(self, cluster: Cluster, learner: Any) -> None:
        self._cluster, self._learner = cluster, learner
        solver = learner._inner
        options = {
            "owner": type(learner).__name__,
            "dtype": learner.dtype,
            "rows": learner._chunk_rows,
            "C": solver.C,
            "kernel_of": solver,
        }
        self._surveyed = _survey(cluster, options, learner._n_classes)
        self.n_features = self._surveyed[0].n_features
        ends = np.cumsum([one.n_rows for one in self._surveyed])
        self._first = np.concatenate([[0], ends])  # number of each partition's first row

    def survey(self, labels: Any) -> tuple[int, int]:
        for one in self._surveyed:
            for label in one.labels:
                labels.take(labels.slot_of(label), label)
        return int(self._first[-1]), sum(one.n_learned for one in self._surveyed)

    def offer(self, working: Any, solver: Any = None) -> None:
        cluster, n = self._cluster, len(self._cluster.names)
        core = self._learner._allocated
        margin = np.inf if solver is None else 1.0 - float(solver.tol)
        held = self._by_partition(core.views["before"][: working.n_before])
        options = type(self._learner).__name__, self._learner.dtype, margin, CHUNK_ROWS
        sent = cluster.submit(workers.same, workers.Sent.of(self._learner._inner, core))
        decides = solver is not None
        found = cluster.each(workers.found, [sent] * n, [decides] * n, held, [options] * n)
        cluster.check(found)
        counts = cluster.results([cluster.submit(workers.counted, one) for one in found])
        loss = self._sum_of_losses(found) if decides else 0.0
        drawn = working.draw(int(sum(counts)))
        order = np.argsort(drawn)
        starts = np.concatenate([[0], np.cumsum(counts)])
        which = workers.cut(drawn[order], starts)
        taken, numbers = self._taken(found, which, sent)
        back = np.argsort(order)  # the places of the rows, which came in their order
        working.put(taken.X[back], taken.slots[back], taken.weights[back], numbers[back], loss)
        cluster.forget([sent, *found])

    def recall(self, working: Any, numbers: np.ndarray) -> None:
        core = self._learner._allocated
        sent = self._cluster.submit(workers.same, workers.Sent.of(self._learner._inner, core))
        taken, found = self._taken(
            [None] * len(self._cluster.names), self._by_partition(numbers), sent
        )
        working.put(taken.X, taken.slots, taken.weights, found)

    def _by_partition(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Ascending numbers of rows as places in their partitions."""
        return workers.cut(numbers, self._first)

    def _sum_of_losses(self, found: list[Any]) -> float:
        loss: Any = 0.0
        for one in found:
            loss = self._cluster.submit(workers.added, loss, one)
        return float(self._cluster.results([loss], ["the sum of losses"])[0])

    def _taken(
        self, found: list[Any], which: list[np.ndarray], sent: Any
    ) -> tuple[workers.Taken, np.ndarray]:
        """The rows chosen, in their order, and their numbers."""
        options = type(self._learner).__name__, self._learner.dtype
        chosen = [k for k, some in enumerate(which) if len(some)]
        tasks = self._cluster.some(
            workers.rows_at, {k: (found[k], which[k], sent, options) for k in chosen}
        )
        taken = self._cluster.results(tasks, [self._cluster.names[k] for k in chosen])
        self._cluster.forget(tasks)
        numbers = [self._first[k] + one.places for k, one in zip(chosen, taken, strict=True)]
        if not taken:
            d = self.n_features
            empty = workers.Taken(np.empty((0, d)), np.empty(0), np.empty(0), np.empty(0))
            return empty, np.empty(0, np.int64)
        rows = workers.Taken(*(np.concatenate(arrays) for arrays in zip(*taken, strict=True)))
        return rows, np.concatenate(numbers)
