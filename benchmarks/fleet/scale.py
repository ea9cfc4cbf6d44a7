"""Ten million rows in files: RandSVM on one and two Dask workers against a fit in one place, and
what others reach in the same time.

The rows: 20 features, normal; the class is the sign of x0 x1 + x2 x3, wrong for one row in twenty;
the other 16 features, with a quarter of the deviation, say nothing. Each file is generated from its
own number. Seconds of the processor are given too, since they tell what a machine with other work
would do alone.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.progress import progress, say
from benchmarks.common.report import RESULTS, Report, Table, measured_here, publish
from benchmarks.fleet import horizon
from benchmarks.fleet.watched import (
    MEMORY,
    count_tasks,
    count_writes,
    memory_grown,
    messages,
    sent_by_all,
    watch_memory,
    written,
)
from edgesvm import RBF, BatchSVM, RandSVM, StreamSVM, TwinVectorMachine, fleet
from edgesvm.data import Rows
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.fleet.partitions import npz_array
from edgesvm.learners import FourierSVM

N_FEATURES, TOLD = 20, 4
GAMMA, C = 0.15, 1.0
MODEL_SEED = 0


# -- the rows --------------------------------------------------------------------------------------


def rows(number: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of file `number`."""
    rng = np.random.default_rng([18, number])
    X = rng.standard_normal((n, N_FEATURES), np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] > 0.0
    X[:, TOLD:] *= 0.25
    return X, y ^ (rng.random(n, np.float32) < 0.05)


def files(folder: Path, n: int, n_files: int) -> list[str]:
    paths = []
    for k in range(n_files):
        progress(f"file {k + 1}/{n_files}")
        X, y = rows(k, n // n_files)
        paths.append(str(folder / f"{k:03d}.npz"))
        np.savez(paths[-1], X=X, y=y)
    return paths


class Files:
    """The files as one source of rows, mapped one after the other."""

    n_features = N_FEATURES

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    def chunks(self, n_rows: int) -> Iterator[Rows]:
        for path in self._paths:
            X, y = npz_array(path, "X"), npz_array(path, "y")
            for at in range(0, len(X), n_rows):
                yield Rows(X[at : at + n_rows], y[at : at + n_rows])


# -- what a fit costs ------------------------------------------------------------------------------


class Log:
    """What each pass of a fit costs; `offer` of the data is wrapped while it is open."""

    def __init__(self, where: Any, now: Callable[[], dict[str, float]]) -> None:
        self.searches: list[dict[str, float]] = []
        self._data, self._now = where, now

    def __enter__(self) -> Log:
        self._offer = offer = self._data.offer

        def noted(data: Any, working: Any, solver: Any = None) -> None:
            before = self._now()
            offer(data, working, solver)
            if solver is not None:
                after = self._now()
                cost = {name: after[name] - before[name] for name in before}
                cost["violators"] = working.n_offered
                cost["support"] = len(solver.support_)
                self.searches.append(cost)

        self._data.offer = noted
        return self

    def __exit__(self, *_: object) -> None:
        self._data.offer = self._offer

    def mean(self, name: str) -> float:
        return float(np.mean([cost[name] for cost in self.searches]))


def here_now() -> dict[str, float]:
    return {"seconds": time.perf_counter(), "processor": time.process_time()}


def processor_seconds() -> float:
    """By a name of its own, as what is sent to workers needs."""
    return time.process_time()


def cluster_now(client: Any, tasks: list[int]) -> dict[str, float]:
    return {
        "seconds": time.perf_counter(),
        "processor": sum(client.run(processor_seconds).values()),
        "client_processor": time.process_time(),
        "bytes": sent_by_all(client, written),
        "messages": sent_by_all(client, messages),
        "tasks": tasks[0],
    }


def worker_plan(model: RandSVM, violators: int, n_files: int, n_workers: int) -> int:
    """Bytes that a worker has: the solver it decides with, as it was sent and as it is used; the
    numbers of its rows that violate, twice while those of a file are put together; a chunk of rows,
    as read, as converted, and some numbers of each; the rows drawn."""
    d = N_FEATURES
    solver = model.inner.plan(d).total
    own = 8 * violators // n_workers + 2 * 8 * violators // n_files
    chunk = CHUNK_ROWS * (2 * 4 * d + 64)
    drawn = model._room * (4 * d + 24)
    return 2 * solver + own + chunk + drawn


def client_plan(model: RandSVM, n_files: int) -> int:
    """Bytes that a client has: the model, the solver as it is sent, the rows drawn as they come and
    in their order, and numbers a partition."""
    d = N_FEATURES
    return (
        model.nbytes + model.inner.plan(d).total + 3 * model._room * (4 * d + 24) + 1000 * n_files
    )


# -- the contestants -------------------------------------------------------------------------------


def rand_svm(room: int, n_passes: int) -> RandSVM:
    solver = BatchSVM(max_samples=room, C=C, kernel=RBF(GAMMA))
    return RandSVM(solver=solver, max_passes=n_passes, seed=MODEL_SEED)


def fitted_here(paths: list[str], room: int, n_passes: int) -> tuple[RandSVM, dict[str, Any]]:
    from edgesvm.learners.papers.randomized import rand_svm as module

    model = rand_svm(room, n_passes)
    begin = time.process_time()
    with Log(module._Data, here_now) as log:
        seconds = timed(lambda: model.fit(Files(paths)))
    return model, facts(log, seconds, time.process_time() - begin)


def fitted_there(
    paths: list[str], room: int, n_passes: int, client: Any, tasks: list[int]
) -> tuple[RandSVM, dict[str, Any]]:
    from edgesvm.fleet import fitting

    n_workers = len(client.nthreads())
    model = rand_svm(room, n_passes)
    fleet.fit(rand_svm(room, 1), paths[:2], client=client)  # modules are imported, buffers there
    client.run(watch_memory)
    MEMORY.start()
    begin = cluster_now(client, tasks)
    with Log(fitting._Data, partial(cluster_now, client, tasks)) as log:
        seconds = timed(lambda: fleet.fit(model, paths, client=client))
    end = cluster_now(client, tasks)
    of_client, of_workers = MEMORY.grown(), client.run(memory_grown).values()
    found = facts(log, seconds, end["processor"] - begin["processor"])
    violators = int(max(cost["violators"] for cost in log.searches))
    found |= {
        "workers": n_workers,
        "sent": end["bytes"] - begin["bytes"],
        "worker_memory": max(of_workers),
        "worker_plan": worker_plan(model, violators, len(paths), n_workers),
        "client_memory": of_client,
        "client_plan": client_plan(model, len(paths)),
    }
    for name in ("bytes", "messages", "tasks", "client_processor"):
        found[f"search_{name}"] = log.mean(name)
    return model, found


def facts(log: Log, seconds: float, processor: float) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "processor": processor,
        "n_searches": len(log.searches),
        "search_seconds": log.mean("seconds"),
        "search_processor": log.mean("processor"),
        "support": log.mean("support"),
        "searches": log.searches,
    }


def merged_there(paths: list[str], client: Any) -> dict[str, Any]:
    """The learners that are merged as a tree."""
    found = {}
    for name, model in (("StreamSVM", StreamSVM()), ("FourierSVM", FourierSVM())):
        progress(f"{name} on the workers")
        begin = sum(client.run(processor_seconds).values())
        seconds = timed(lambda model=model: fleet.fit(model, paths, client=client))
        processor = sum(client.run(processor_seconds).values()) - begin
        found[name] = {"model": model, "seconds": seconds, "processor": processor}
    return found


def sgd_in(paths: list[str], seconds: float, features: Any, test: Any) -> dict[str, Any]:
    """dask-ml's Incremental(SGDClassifier), file after file, again and again until the time is up.
    The scale and the features are learned from the first file's first rows."""
    from dask import array, delayed
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    begin = time.perf_counter()
    stages = make_pipeline(StandardScaler(), *features)
    stages.fit(npz_array(paths[0], "X")[:20_000])
    model = Incremental(SGDClassifier(random_state=0), shuffle_blocks=False)
    n_learned, passes = 0, 0.0
    while time.perf_counter() - begin < seconds:
        for path in paths:
            X, y = npz_array(path, "X"), npz_array(path, "y")
            part = 10_000
            for at in range(0, len(X), part):
                n = min(part, len(X) - at)
                mapped = delayed(stages.transform)(X[at : at + n])
                width = stages.transform(X[:1]).shape[1]
                Z = array.from_delayed(mapped, (n, width), dtype=np.float32)
                labels = array.from_array(np.asarray(y[at : at + n]), chunks=n)
                model.partial_fit(Z, labels, classes=[False, True])
                n_learned += n
                if time.perf_counter() - begin > seconds:
                    break
            if time.perf_counter() - begin > seconds:
                break
        passes = n_learned
    X, y = test
    score = float((model.estimator_.predict(stages.transform(X)) == y).mean())
    return {"seconds": time.perf_counter() - begin, "rows": passes, "accuracy": score}


def libsvm_in(paths: list[str], seconds: float, test: Any) -> dict[str, Any]:
    """LIBSVM on the largest sample, of twice the rows each time, that was done in the time."""
    from sklearn.svm import SVC

    X, y = (np.concatenate([npz_array(path, name) for path in paths[:4]]) for name in ("X", "y"))
    n, best, spent = 1000, {}, 0.0
    while spent < seconds and n <= len(X):
        at = np.random.default_rng(n).choice(len(X), n, replace=False)
        model = SVC(C=C, gamma=GAMMA, cache_size=500)
        spent = timed(partial(model.fit, X[at], y[at]))
        if spent <= seconds or not best:
            score = float((model.predict(test[0]) == test[1]).mean())
            best = {"seconds": spent, "rows": n, "accuracy": score}
        if spent > seconds / 4:  # twice the rows take some four times as long
            n = int(n * min(2.0, (seconds / spent) ** 0.5)) if spent < 0.8 * seconds else len(X) + 1
        else:
            n *= 2
    return best


# -- single costs ----------------------------------------------------------------------------------


def single_costs(client: Any) -> dict[str, Any]:
    """What `benchmarks.fleet.horizon` computes with."""
    n = 2_000

    def trivial(k: int) -> int:
        return k

    def all_of_them() -> None:
        client.gather([client.submit(trivial, k, pure=False) for k in range(n)])

    all_of_them()
    costs: dict[str, Any] = {"tasks_a_second": n / timed(all_of_them)}
    X, y = rows(1000, 4000)
    with tempfile.TemporaryDirectory() as name:
        for model in (
            StreamSVM(),
            FourierSVM(),
            TwinVectorMachine(max_twins=100, kernel=RBF(GAMMA)),
        ):
            pair = [model.like_new().partial_fit(X[k::2], y[k::2]) for k in range(2)]
            path = Path(name) / "model"
            pair[0].save(path)
            fleet.merged(pair)
            seconds = timed(lambda pair=pair: fleet.merged(pair))
            costs[type(model).__name__] = {
                "snapshot_bytes": os.path.getsize(path),
                "merge_seconds": seconds,
            }
    return costs


# -- the report ------------------------------------------------------------------------------------


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--rows", type=int, default=10_000_000, help="rows in all (default %(default)s)"
    )
    args = parsed(parser)
    n, n_files, room, n_passes = (20_000, 8, 200, 2) if args.quick else (args.rows, 64, 2_000, 3)
    try:
        import dask_ml
        from distributed import Client, LocalCluster
    except ImportError as error:
        skipped = [f"{error.name} is not installed: nothing was measured"]
        publish(Report("fleet/scale", "Ten million rows in files", [], skipped=skipped), args.out)
        return
    del dask_ml
    test = rows(999, 1_000 if args.quick else 20_000)
    found: dict[str, Any] = {"rows": n, "files": n_files, "room": room, "features": N_FEATURES}
    with tempfile.TemporaryDirectory() as name:
        paths = files(Path(name), n, n_files)
        found["file_bytes"] = sum(os.path.getsize(path) for path in paths)
        say("in one place")
        here, found["here"] = fitted_here(paths, room, n_passes)
        found["accuracy"] = here.score(*test)
        count_writes()
        tasks = count_tasks()
        for n_workers in (1, 2):
            say(f"{n_workers} workers")
            with (
                LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    memory_limit=0,
                ) as cluster,
                Client(cluster) as client,
            ):
                client.run(count_writes)
                there, cost = fitted_there(paths, room, n_passes, client, tasks)
                cost["equal"] = bytes(there.arena) == bytes(here.arena)
                found[f"workers_{n_workers}"] = cost
                if n_workers == 2:
                    others = merged_there(paths, client)
                    found["single"] = single_costs(client)
        budget = found["workers_2"]["seconds"]
        say(f"others, {budget:.0f} s each")
        rivals = against(paths, budget, test)
    for key, one in others.items():
        rivals[f"{key}, a tree on two workers"] = {
            "seconds": one["seconds"],
            "rows": n,
            "accuracy": one["model"].score(*test),
        }
    found["rivals"] = rivals
    found["larger_class"] = float(max(test[1].mean(), 1 - test[1].mean()))
    publish(report(found, here), args.out)
    if args.out == RESULTS:
        horizon.keep(found, measured_here()["date"])


def against(paths: list[str], budget: float, test: Any) -> dict[str, Any]:
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    many = {"gamma": 0.05, "n_components": 300, "random_state": 0}
    contestants: dict[str, Callable[[], dict[str, Any]]] = {
        "dask-ml Incremental(SGDClassifier)": partial(sgd_in, paths, budget, [], test),
        "the same on 300 RBFSampler features": partial(
            sgd_in, paths, budget, [RBFSampler(**many)], test
        ),
        "the same on 300 Nystroem features": partial(
            sgd_in, paths, budget, [Nystroem(**many)], test
        ),
        "LIBSVM on a sample": partial(libsvm_in, paths, budget, test),
    }
    found = {}
    for name, run in contestants.items():
        say(name)
        found[name] = run()
    return found


def report(found: dict[str, Any], model: RandSVM) -> Report:
    here, one, two = found["here"], found["workers_1"], found["workers_2"]
    about = [
        f"{found['rows']:,} rows of {N_FEATURES} features in {found['files']} npz files,"
        f" {found['file_bytes'] / 1e6:,.0f} MB; {__doc__.split('The rows: ')[1].strip()}",
        f"RandSVM: at most {found['room']:,} rows a sample, RBF kernel, {model.max_passes} passes"
        f" that search, {here['support']:.0f} support vectors on average; all bytes equal:"
        f" {'yes' if one['equal'] and two['equal'] else 'NO'}. One thread a worker.",
    ]
    costs = Table(
        "Time of a fit, and of a search",
        ["", "fit", "its processor time", "searches", "a search", "its processor time"],
        [
            [
                name,
                f"{of['seconds']:.1f} s",
                f"{of['processor']:.1f} s",
                of["n_searches"],
                f"{of['search_seconds']:.2f} s",
                f"{of['search_processor']:.2f} s",
            ]
            for name, of in (("in one place", here), ("1 worker", one), ("2 workers", two))
        ],
        f"A search is {one['search_seconds'] / two['search_seconds']:.2f} times as fast with two"
        " workers as with one. Processor time is that of the workers, without the client, which"
        f" has {two['search_client_processor']:.2f} s a search beside them. Outside the searches:"
        " the survey, the first draw, and the samples, which are solved where the client is.",
    )
    sent = Table(
        "Sent and kept",
        [
            *("workers", "bytes a search", "messages a search", "tasks a search", "bytes in all"),
            *("a worker's memory", "its plan", "the client's", "its plan"),
        ],
        [
            [
                of["workers"],
                *(f"{of[f'search_{what}']:,.0f}" for what in ("bytes", "messages", "tasks")),
                f"{of['sent']:,}",
                *(
                    f"{of[what] / 1e6:.1f} MB"
                    for what in ("worker_memory", "worker_plan", "client_memory", "client_plan")
                ),
            ]
            for of in (one, two)
        ],
        "Memory: the most by which anonymous memory grew in the fit, looked at every 20 ms; that of"
        " the client has the scheduler's too, which is in the same process.",
    )
    rivals = Table(
        "In the time of the fit on two workers",
        ["", "time", "rows learned", "right, of held-out rows"],
        [
            ["larger class", None, None, f"{100 * found['larger_class']:.1f} %"],
            [
                "RandSVM on two workers",
                f"{two['seconds']:.1f} s",
                f"{found['rows']:,}",
                f"{100 * found['accuracy']:.1f} %",
            ],
            *(
                [
                    name,
                    f"{of['seconds']:.1f} s",
                    f"{of['rows']:,}",
                    f"{100 * of['accuracy']:.1f} %",
                ]
                for name, of in found["rivals"].items()
            ),
        ],
        "No model can be right for more than 95 %. Incremental learns file after file in one"
        " process, the scale and the features from 20,000 rows; more than all rows means again from"
        " the first. LIBSVM: the largest sample it finished.",
    )
    single = found["single"]
    costs_table = Table(
        "Single costs",
        ["", "bytes of a snapshot", "merging two"],
        [
            [name, f"{of['snapshot_bytes']:,}", f"{1e3 * of['merge_seconds']:.2f} ms"]
            for name, of in single.items()
            if isinstance(of, dict)
        ],
        f"Client and scheduler take {single['tasks_a_second']:,.0f} trivial tasks a second.",
    )
    title = f"{found['rows'] / 1e6:g} million rows in files"
    return Report("fleet/scale", title, [costs, sent, rivals, costs_table], about, found)


if __name__ == "__main__":
    main()
