"""`fit`: learn what lies in partitions, where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from edgesvm.contract.labels import Labels
from edgesvm.core.exact_sum import rounded
from edgesvm.data.survey import Surveyed
from edgesvm.fleet import workers
from edgesvm.fleet.cluster import Cluster
from edgesvm.fleet.enclosing import enclosed
from edgesvm.fleet.federated import federated, is_federated
from edgesvm.fleet.merging import check_kind
from edgesvm.fleet.surveys import labels_of, survey, together
from edgesvm.learner import Learner
from edgesvm.learners.papers.enclosing.enclosing import EnclosingMachine
from edgesvm.learners.papers.randomized.rand_svm import RandSVM

__all__ = ["fit"]

Fitted = TypeVar("Fitted", bound=Learner)


def fit(
    learner: Fitted,
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    label_column: str | None = None,
    rounds: int = 1,
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
    rounds : int, default 1
        With `FourierSVM` and `AdaGradSVM`, passes over the data: in each, every partition's learner
        starts as the merged model of the round before.
    progress : callable, optional
        For RandSVM and the ball and core vector machines as in their `fit`; in rounds as
        ``progress(n_rounds, n_in_all)``, otherwise as ``progress(n_partitions, n_in_all)``.

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
    the rows that were drawn. Losses are added exactly, and the sum is rounded once, in `fit` too.

    `FourierSVM`, `AdaGradSVM` (in rounds, or behind `Standardized`) and `StreamSVM` behind
    `Standardized`: first a pass for the statistics of all rows, so that all scale alike; then in
    each round a learner for each partition, merged by what they have learned in it (federated
    averaging, McMahan et al. 2017). The same bytes for any number of workers. A row counts once in
    each round.

    `BallVectorMachine`, `CoreVectorMachine`: the search for rows outside the ball runs on the
    workers, the ball moves where the client is. The rows that `fit` of an array draws at random are
    drawn here too, and fetched by their numbers: up to there the bytes are the same as in one
    place, unless a `CoreVectorMachine` begins with all rows there. Then `fit` reads all rows in
    order and moves while it reads. Here a pass is an exact search of all rows: up to 1,024 of those
    outside, drawn by their numbers, move the ball until all of them are inside, and the next pass
    begins. It ends with a pass that finds none outside (``enclosed_``). So the ball is another than
    that of `fit`, within the same tolerance, and the same bytes whatever the number of workers,
    partitions or repeated tasks; accuracy was within 0.4 points of that of `fit`
    (benchmarks/fleet/ball.py). If ``max_core`` or ``max_iter`` is reached, it ends as `fit` does:
    ``enclosed_`` and ``converged_`` are False, and `ConvergenceWarning` names the one reached.
    What is sent in a pass is the ball to each worker and 1,024 rows a partition, whatever the
    number of rows. Behind `Standardized` they are fitted like the others.

    Others: a learner for each partition, merged as a tree in the order of the partitions. The same
    bytes for any number of workers, but not for other partitions. After a `fit` in one place the
    model would be another.
    """
    if not isinstance(learner, RandSVM):
        check_kind(learner, type(learner).__name__)
    learner._check_params()
    in_rounds = is_federated(learner, rounds)
    cluster = Cluster(X, y, client, label_column)
    try:
        new: Any
        if isinstance(learner, RandSVM):
            new = learner.like_new()
            new._fit(_Data(cluster, new), learner._fresh_labels(), progress)
        elif isinstance(learner, EnclosingMachine):
            surveyed = survey(cluster, learner._survey_options, learner.n_classes_planned)
            new = enclosed(learner, cluster, surveyed, progress)
        elif in_rounds:
            options = {"owner": type(learner).__name__, "dtype": learner.dtype}
            surveyed = survey(cluster, options, learner.n_classes_planned)
            known = labels_of(surveyed), surveyed[0].n_features
            new = federated(cluster, learner, *known, rounds=rounds, progress=progress)
        else:
            new = _tree(cluster, learner, progress)
    finally:
        cluster.release()
    with learner._guard:
        learner._state, learner._own_guard, learner._columns = new._state, new._guard, None
    return learner


def _tree(cluster: Cluster, learner: Learner, progress: Callable[..., Any] | None) -> Any:
    """A learner a partition, merged in pairs in their order."""
    like = learner.like_new()
    options = {"owner": type(like).__name__, "dtype": like.dtype}
    n = len(cluster.names)
    survey(cluster, options, like.n_classes_planned)
    found = cluster.tree(workers.merged_pair, cluster.each(workers.learned, [like] * n))
    if progress is not None:
        progress(n, n)
    return found


class _Data:
    """The rows of a cluster's partitions, as `RandSVM` samples them; numbered in their order."""

    def __init__(self, cluster: Cluster, learner: Any) -> None:
        self._cluster, self._learner = cluster, learner
        solver = learner.inner
        options = {
            "owner": type(learner).__name__,
            "dtype": learner.dtype,
            "rows": learner._chunk_rows,
            "C": solver.C,
            "kernel_of": solver,
        }
        self._surveyed = survey(cluster, options, learner.n_classes_planned)
        self.n_features = self._surveyed[0].n_features
        ends = np.cumsum([one.n_rows for one in self._surveyed])
        self._first = np.concatenate([[0], ends])  # number of each partition's first row
        self._n_learned = sum(one.n_learned for one in self._surveyed)

    def survey(self, labels: Labels) -> Surveyed:
        return together(self._cluster.names, self._surveyed, labels)

    def offer(self, working: Any, solver: Any = None) -> None:
        if solver is None and self._n_learned == self._first[-1]:  # all rows: they need no search
            working.put(*self._ordered(working.draw(self._n_learned), self._first, None))
            return
        cluster, core = self._cluster, self._learner.core
        margin = np.inf if solver is None else 1.0 - float(solver.tol)
        held = self._by_partition(core.views["before"][: working.n_before])
        common = (self._sent(), solver is not None, self._options(margin))
        searches = cluster.over(workers.found, common, held)
        told = cluster.of_partitions(searches)
        counts = [one.n for one in told]
        drawn = working.draw(sum(counts))
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows = self._ordered(drawn, starts, (searches, held, common))
        working.put(*rows, rounded(sum(one.loss for one in told)))
        cluster.forget([common[0], *searches])

    def recall(self, working: Any, numbers: np.ndarray) -> None:
        working.put(*self._ordered(numbers, self._first, None))

    def _sent(self) -> Any:
        core = self._learner.core
        return self._cluster.submit(workers.same, workers.Sent.of(self._learner.inner, core))

    def _options(self, margin: float) -> tuple[str, str, float]:
        return type(self._learner).__name__, self._learner.dtype, margin

    def _by_partition(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Ascending numbers of rows as places in their partitions."""
        return workers.cut(numbers, self._first)

    def _ordered(
        self, numbers: np.ndarray, starts: np.ndarray, found: Any
    ) -> tuple[np.ndarray, ...]:
        """X, slots, weights and numbers of some rows, in their order. They have their numbers among
        all, or among those `found`, of which each partition has those from its start on."""
        order = np.argsort(numbers)
        rows = self._taken(workers.cut(numbers[order], starts), found)
        back = np.argsort(order)  # the places of the rows, which came in their order
        return tuple(array[back] for array in rows)

    def _taken(self, which: list[np.ndarray], found: Any) -> tuple[np.ndarray, ...]:
        cluster = self._cluster
        asked = [k for k, run in enumerate(cluster.runs) if any(map(len, which[run]))]
        if not asked:
            return np.empty((0, self.n_features)), np.empty(0), np.empty(0), np.empty(0, np.int64)
        if found is None:
            none = {k: ([None] * len(which[cluster.runs[k]]),) for k in asked}
            common = self._sent(), self._options(np.inf)[:2]
            tasks = cluster.over(workers.rows_at, common, which, of_runs=none)
        else:
            searches, held, common = found
            of_runs = {k: (searches[k],) for k in asked}
            near = cluster.holders(searches)
            tasks = cluster.over(workers.drawn, common, which, held, of_runs=of_runs, near=near)
        taken = cluster.of_partitions(tasks, asked)
        cluster.forget(tasks)
        parts = [p for k in asked for p in range(len(which))[cluster.runs[k]]]
        with_rows = [
            (one.X, one.slots, one.weights, self._first[p] + one.places)
            for p, one in zip(parts, taken, strict=True)
            if len(one.places)
        ]
        return tuple(np.concatenate(arrays) for arrays in zip(*with_rows, strict=True))
