"""One fit of a twin vector machine, and the loop over the fits that a table needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter, process_time
from typing import Any

from benchmarks.common.cells import Cells
from benchmarks.common.clock import since
from benchmarks.common.data import Split, missing
from benchmarks.common.progress import say
from benchmarks.twin.data import ADULT_OTHERWISE, TWIN_TASKS, TwinTask
from edgesvm import TwinVectorMachine

TASKS = {task.name: task for task in [*TWIN_TASKS, *ADULT_OTHERWISE]}
HEURISTICS: dict[str, dict[str, Any]] = {
    "default": {},
    "[-1 1]": {"m2": 1.0},
    "[-2 2]": {"m1": 2.0},
    "no rejection": {"rejection": False},
    "as printed": {"rejection": "paper"},
    "global": {"merge_side": "global"},
    "feature space": {"merge": "feature"},
}


class Setting:
    """One row and column of a table: a set, a kernel, a budget, and what differs from the
    defaults.
    """

    def __init__(
        self,
        task: TwinTask,
        kernel: str,
        budget: int,
        heuristic: str = "default",
        factor: float = 1.0,
    ) -> None:
        self.task, self.kernel, self.budget, self.heuristic = task, kernel, budget, heuristic
        self.factor = factor  # of the paper's penalty
        self.C = factor * task.C

    def key(self, seed: int) -> tuple:
        return (self.task.name, self.kernel, self.budget, self.heuristic, self.C, seed)

    def learner(self) -> TwinVectorMachine:
        return TwinVectorMachine(
            max_twins=self.budget,
            kernel=self.task.kernel(self.kernel),
            C=self.C,
            max_margin=self.budget + 2,  # as by default, in more bytes and less time
            forgetting=None,
            **HEURISTICS[self.heuristic],
        )


Measure = Callable[[Any, Split], dict[str, Any]]  # of a setting; accuracy and seconds among them


def measure(setting: Setting, split: Split) -> dict[str, Any]:
    X, y, X_test, y_test = split
    learner = setting.learner()
    begin = process_time()  # the machine has other work to do
    learner.partial_fit(X, y, classes=[False, True])
    seconds = since(begin)
    hits = learner.predict(X_test) == y_test
    residual = float(learner.kt_residual())
    return {
        "accuracy": 100 * float(hits.mean()),
        "balanced": 50 * float(hits[y_test].mean() + hits[~y_test].mean()),
        "seconds": seconds,
        "bytes": learner.nbytes,
        "updates": learner.n_updates_,
        "kt_residual": residual,
        # Last, as it forgets what was learned.
        "bytes_default": learner.set_params(max_margin=None).plan(X.shape[1]).total,
    }


def run(
    settings: Sequence[Setting],
    cells: Cells,
    orders: int,
    jobs: int,
    measure: Measure = measure,
) -> list[str]:
    """Fill in what is missing, set by set and order by order; what was left out, and why. Another
    `measure` needs `jobs` = 1.
    """
    absent = without_data(settings)
    settings = [s for s in settings if s.task.name not in absent]
    n_left = sum(s.key(seed) not in cells for s in settings for seed in range(orders))
    begin = perf_counter()
    for n_done, (key, result) in enumerate(measured(settings, cells, orders, jobs, measure), 1):
        cells[key] = result
        minutes = (perf_counter() - begin) / 60
        say(
            f"{n_done}/{n_left}, {minutes:.1f} min: {' '.join(map(str, key))}: "
            f"{result['accuracy']:.2f} %, {result['seconds']:.2f} s"
        )
    return [f"{name}: {why}" for name, why in absent.items()]


def without_data(settings: Sequence[Setting]) -> dict[str, str]:
    """Why a set cannot be had, by its name."""
    absent = {}
    for task in {s.task.name: s.task for s in settings}.values():
        why = missing(task.file) if task.file else None
        if why is not None:
            absent[task.name] = why
    return absent


def measured(
    settings: list[Setting], cells: Cells, orders: int, jobs: int, measure: Measure
) -> Iterator[tuple[tuple, dict[str, Any]]]:
    batches = [
        ([s for s in settings if s.task is task and s.key(seed) not in cells], seed)
        for seed in range(orders)
        for task in {s.task.name: s.task for s in settings}.values()
    ]
    batches = [batch for batch in batches if batch[0]]
    if jobs == 1:
        for batch in batches:
            yield from measure_batch(*batch, measure)
        return
    work = [([(*s.key(seed)[:4], s.factor) for s in group], seed) for group, seed in batches]
    with ProcessPoolExecutor(jobs) as pool:
        for results in pool.map(in_a_worker, *zip(*work, strict=True)):
            yield from results


def measure_batch(
    group: list[Setting], seed: int, measure: Measure
) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """All that is wanted of one order of one set, which is loaded once."""
    split = group[0].task.split(seed)
    for setting in group:
        yield setting.key(seed), measure(setting, split)


def in_a_worker(keys: list[tuple], seed: int) -> list[tuple[tuple, dict[str, Any]]]:
    return list(measure_batch([Setting(TASKS[key[0]], *key[1:]) for key in keys], seed, measure))
