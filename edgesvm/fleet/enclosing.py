"""A ball around rows that lie on workers: what is outside is searched where the rows lie, and the
ball moves where the client is.

The learner's own search, with other hands: rows drawn at random are the same as in one place,
fetched by their numbers; a pass over all rows answers with `CANDIDATES` of those that are outside.
A pass in whose answer none is outside has verified that none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from edgesvm.contract.labels import Labels
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.data.survey import Surveyed
from edgesvm.fleet import workers
from edgesvm.fleet.cluster import Cluster
from edgesvm.fleet.outside import Search, candidates, first_of
from edgesvm.fleet.surveys import together
from edgesvm.learners.papers.enclosing.enclosing import EnclosingMachine

CANDIDATES = 1024  # rows that a pass gives; chosen by benchmarks/fleet/ball.py
DRAWN = 8  # chunks fetched together
FAN = 8  # parts whose answers are merged in a task


def enclosed(
    learner: EnclosingMachine,
    cluster: Cluster,
    surveyed: list[workers.Surveyed],
    progress: Callable[..., Any] | None,
) -> EnclosingMachine:
    """A machine with the parameters of `learner`, fitted to the rows of a cluster."""
    new = learner.like_new()
    new._fit(_Data(cluster, new, surveyed), learner._fresh_labels(), progress)
    if limit := new._limit_reached:
        new._warn_of_an_early_end(limit)
    return new


class _Data:
    """The rows of a cluster's partitions, as `EnclosingMachine` reads them; numbered in their
    order."""

    reads_all = False

    def __init__(
        self, cluster: Cluster, machine: EnclosingMachine, surveyed: list[workers.Surveyed]
    ) -> None:
        self._cluster, self._machine, self._surveyed = cluster, machine, surveyed
        self.n_features, self.n_passes = surveyed[0].n_features, 0
        ends = np.cumsum([one.n_rows for one in surveyed])
        self._first = np.concatenate([[0], ends])  # number of each partition's first row
        self._last: tuple[np.ndarray, ...] = ()  # what the last pass found
        self._endless = self._draws()

    def survey(self, labels: Labels) -> Surveyed:
        return together(self._cluster.names, self._surveyed, labels)

    def drawn(self) -> Iterator[Any]:
        return self._endless

    def _draws(self) -> Iterator[Any]:
        core, n_rows = self._machine.core, int(self._first[-1])
        numbers = np.empty((DRAWN, min(CHUNK_ROWS, n_rows)), np.int64)
        while True:
            for chunk in numbers:
                core.draw(n_rows, chunk)
            rows = self._fetched(np.unique(numbers))
            for chunk in numbers:
                at = np.searchsorted(rows[-1], chunk)
                yield tuple(values[at] for values in rows)

    def _fetched(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """The rows of these numbers, ascending."""
        cluster, machine = self._cluster, self._machine
        labels = machine.core.labels
        sent = workers.Sent(machine.like_new(), self.n_features, labels.in_slots, labels.closed, {})
        options = type(machine).__name__, machine.dtype
        places = workers.cut(numbers, self._first)
        chosen = [k for k, some in enumerate(places) if len(some)]
        calls: dict[int, Any] = {k: (None, places[k], sent, options) for k in chosen}
        tasks = cluster.some(workers.rows_at, calls)
        taken = cluster.results(tasks, [cluster.names[k] for k in chosen])
        cluster.forget(tasks)
        X, slots, weights, _ = (np.concatenate(arrays) for arrays in zip(*taken, strict=True))
        return X, slots, weights, numbers

    def all(self) -> Iterator[Any]:
        if self._machine.core.is_spent:
            return
        found = self._search()
        self._last = found.X, found.slots, found.weights, found.numbers
        yield self._last

    def _search(self) -> Any:
        """The candidates of all partitions."""
        cluster = self._cluster
        n = len(cluster.names)
        search = Search.of(self._machine, self.n_passes, CANDIDATES)
        sent = cluster.submit(workers.same, search)
        rows = list(zip(self._first[:-1].tolist(), self._first[1:].tolist(), strict=True))
        tasks = level = cluster.each(candidates, [sent] * n, rows)
        cluster.check(tasks)
        while len(level) > 1:
            groups = [level[k : k + FAN] for k in range(0, len(level), FAN)]
            level = [cluster.submit(first_of, CANDIDATES, *group) for group in groups]
            tasks = tasks + level
        found = cluster.results(level, ["the candidates of all partitions"])[0]
        cluster.forget([sent, *tasks])
        return found

    def numbered(self, numbers: np.ndarray) -> Iterator[Any]:
        """All that the last pass found; `numbers` are among them."""
        yield self._last
