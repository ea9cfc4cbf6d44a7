"""Tasks on a Dask cluster, one a partition: their errors name the partition, Ctrl-C cancels them,
and what a lost worker had is computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from edgesvm.fleet import workers
from edgesvm.fleet.partitions import NamedError, PartitionError, blocks_of, files_of

RETRIES = 3  # of a task whose worker was lost, or whose file could not be read for a moment
RUNS_A_THREAD = 16  # of files: so many that none waits long for the last, no more than that


class Cluster:
    """The partitions of a data set, on the workers of a client.

    Parameters
    ----------
    X : Dask array or data frame, or sequence of paths
    y : Dask array or series, array, or None for files
    client : distributed.Client or None, the current one
    label_column : str, of CSV and parquet files

    Attributes
    ----------
    names : list of str
    runs : list of slices
        Files side by side that one task takes, as many tasks as keep the workers busy. A block of a
        collection is a run of its own, since it lies on a worker.
    """

    def __init__(self, X: Any, y: Any, client: Any, label_column: str | None) -> None:
        self._client = _client() if client is None else client
        if isinstance(X, (list, tuple)):
            if y is not None:
                raise ValueError("y: leave it out; files have their own labels")
            named: list[Any] = files_of(X, label_column)
        elif hasattr(X, "to_delayed"):
            named = blocks_of(X, y)
        else:
            raise TypeError(
                f"X is a {type(X).__name__}: give a Dask array or data frame, or a list of files"
            )
        if not named:
            raise ValueError("X: there are no partitions")
        self.names = [name for name, _ in named]
        self._parts = [part for _, part in named]
        if isinstance(self._parts[0], tuple):  # stay on the workers that hold or compute them
            futures = self._client.compute([d for pair in self._parts for d in pair])
            self._parts = list(zip(futures[::2], futures[1::2], strict=True))
            self.runs = [slice(k, k + 1) for k in range(len(named))]
        else:
            n_threads = sum(self._client.nthreads().values())
            files = -(-len(named) // (RUNS_A_THREAD * max(n_threads, 1)))
            self.runs = [slice(k, k + files) for k in range(0, len(named), files)]
        self._live: set[Any] = set()

    def submit(self, function: Callable[..., Any], *arguments: Any, near: Any = None) -> Any:
        """A task; its result stays where it is computed. It runs on one of the workers `near`, if
        there is still one."""
        where = {"workers": near, "allow_other_workers": True} if near else {}
        task = self._client.submit(function, *arguments, pure=False, retries=RETRIES, **where)
        self._live.add(task)
        return task

    def each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """A task for each partition, with the k-th of the arguments for the k-th."""
        return self.some(function, dict(enumerate(zip(*arguments, strict=True))))

    def some(self, function: Callable[..., Any], calls: dict[int, tuple[Any, ...]]) -> list[Any]:
        """As `each`, for the partitions with these numbers."""
        tasks = []
        for k, rest in calls.items():
            part = self._parts[k]
            first = part if isinstance(part, tuple) else (part,)
            tasks.append(self.submit(_of_part, function, len(first), *first, *rest))
        return tasks

    def over(
        self,
        function: Callable[..., Any],
        common: tuple[Any, ...],
        *each: Sequence[Any],
        of_runs: dict[int, tuple[Any, ...]] | None = None,
        near: Sequence[Any] | None = None,
    ) -> list[Any]:
        """A task for each run, or for those with these numbers, which gives a list: the function's
        results of its partitions.

        Parameters
        ----------
        function : called as ``function(partition, *of_run, *each, *common)``
        common : the same for all
        each : sequences with an item a partition
        of_runs : by run, what has an item a partition of it, such as the result of another task
        near : by run, the workers to prefer
        """
        tasks = []
        for k, rest in (of_runs or dict.fromkeys(range(len(self.runs)), ())).items():
            run = self.runs[k]
            cut = [values[run] for values in each]
            names, parts = self.names[run], self._parts[run]
            where = near[k] if near is not None else None
            tasks.append(
                self.submit(workers.over, function, names, parts, common, *rest, *cut, near=where)
            )
        return tasks

    def of_partitions(self, tasks: Sequence[Any], numbers: Sequence[int] | None = None) -> list:
        """What the tasks of `over` give, partition after partition. Raises as `check` does."""
        runs = self.runs if numbers is None else [self.runs[k] for k in numbers]
        names = [
            " to ".join(dict.fromkeys([self.names[run][0], self.names[run][-1]])) for run in runs
        ]
        return [one for results in self.results(tasks, names) for one in results]

    def holders(self, tasks: Sequence[Any]) -> list[tuple[str, ...]]:
        """The workers that have each result."""
        who = self._client.who_has(tasks)
        return [tuple(who.get(task.key, ())) for task in tasks]

    def results(self, tasks: Sequence[Any], names: Sequence[str] | None = None) -> list[Any]:
        """What the tasks give. Raises as `check` does."""
        self.check(tasks, names)
        return list(self._client.gather(list(tasks)))

    def check(self, tasks: Sequence[Any], names: Sequence[str] | None = None) -> None:
        """Wait until all are done; what they give stays where it is.

        Raises
        ------
        PartitionError
            A task failed; the message names the first partition, in their order, whose did.
        """
        from distributed import wait

        wait(tasks)
        for task, name in zip(tasks, names or self.names, strict=True):
            while task.status in ("pending", "lost"):  # with its worker: it is computed again
                wait([task])
            if task.status != "finished":
                error = task.exception()
                if isinstance(error, NamedError):
                    raise PartitionError(str(error)) from error
                raise PartitionError(f"{name}: {error}") from error

    def tree(self, function: Callable[..., Any], level: list[Any]) -> Any:
        """What a function of two makes of the results of tasks, one a partition: in pairs, the
        pairs in pairs and so on, in their order. Raises as `check` does."""
        self.check(level)
        names = list(self.names)
        while len(level) > 1:
            pairs = [
                self.submit(function, level[k], level[k + 1]) for k in range(0, len(level) - 1, 2)
            ]
            level = pairs + level[len(level) - len(level) % 2 :]
            names = [f"{names[k]} and those merged with it" for k in range(0, len(names), 2)]
        return self.results(level, names)[0]

    def release(self) -> None:
        """Cancel what still runs, and let the workers forget the rest."""
        self._client.cancel([task for task in self._live if not task.done()])
        self._live.clear()

    def forget(self, tasks: Sequence[Any]) -> None:
        self._live.difference_update(tasks)


def _client() -> Any:
    try:
        from distributed import default_client
    except ImportError as error:
        raise RuntimeError("edgesvm.fleet.fit needs Dask: pip install 'edgesvm[fleet]'") from error
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "client: there is no Dask client; make one first, such as"
            " distributed.Client('tcp://...'), or Client() for workers on this machine"
        ) from None


def _of_part(function: Callable[..., Any], width: int, *arguments: Any) -> Any:
    first = arguments[0] if width == 1 else tuple(arguments[:width])
    return function(first, *arguments[width:])
