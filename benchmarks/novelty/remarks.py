"""Remarks where nothing is wrong: every data set through the default learner, at random and in the
order of the files, looked at as `edgesvm run` does; and novelty learners on series in time order,
with and without a look back at stuck sensors and alarms that do not end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import missing, read
from benchmarks.common.every import EVERY, FILES, absent, rows_of
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import GaussianNovelty, KernelNovelty, Standardized
from edgesvm.evaluation import Prequential
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner
from edgesvm.remarks import Facts, Remarks

BUDGET, RATE, SLOW = "64KiB", 0.001, 200
SERIES = ("elec2", "gas_drift_8batches", "kdd99_10pct", "occupancy", "robot_wall24", "shuttle")
KINDS = {
    "GaussianNovelty": GaussianNovelty,
    "GaussianNovelty, diagonal": partial(GaussianNovelty, covariance="diagonal"),
    "KernelNovelty": KernelNovelty,
}


# -- remarks on a learner with labels --------------------------------------------------------------


def run(X: np.ndarray, y: np.ndarray) -> tuple[dict[str, int], float]:
    """Keys of the remarks, with the sample at which each came first; and the accuracy."""
    learner = Standardized.within(BUDGET, n_features=X.shape[1])
    score, found = Prequential(), {}
    remarks = Remarks(Facts(learner=learner, score=score), dict)
    for n, (x, label) in enumerate(zip(X, y.tolist(), strict=True), start=1):
        if learner.is_fitted:
            score.add(label, learner.predict_one(x))
        learner.learn_one(x, label)
        remarks.add(x)
        remarks.turn(n)
        for key in remarks.held:
            found.setdefault(key, n)
    for line in remarks.look():
        progress(line)
    for key in remarks.held:
        found.setdefault(key, n)
    return found, 100 * (score.accuracy or 0.0)


def told(found: dict[str, int]) -> str:
    return ", ".join(f"{key} from {n:,}" for key, n in found.items()) or "none"


def labelled(quick: bool) -> tuple[Table, dict[str, Any]]:
    rows, figures = [], {}
    sets = [task for task in EVERY if task.name not in FILES or not missing(task.name)]
    for task in sets[-3:] if quick else sets:
        rng = np.random.default_rng(0)
        progress(task.name)
        X, y, *_ = task.load(rng)
        shuffled, accuracy = run(X.astype(np.float32), y)
        in_time = None
        if task.name in FILES:
            X, y, *_ = rows_of(task.name, rng, in_time=True)
            in_time, _ = run(X, y)
        figures[task.name] = {"random": shuffled, "in time": in_time, "accuracy": accuracy}
        ordered = "-" if in_time is None else told(in_time)
        rows.append([task.name, f"{len(X):,}", f"{accuracy:.1f}", told(shuffled), ordered])
    columns = ["set", "rows", "accuracy", "remarks, at random", "remarks, in the file's order"]
    note = (
        "In the file's order labels may come in runs, classes end and sensors drift: what is said\n"
    )
    note += "there is no false remark."
    return Table("Remarks on the default learner", columns, rows, note), figures


# -- novelty learners in time order ----------------------------------------------------------------


def series() -> Iterator[tuple[str, np.ndarray]]:
    """NAB's value, difference and distance to a slow mean; and other sets in their order."""
    if not missing("nab"):
        file = read("nab")
        for name in file["names"].tolist():
            value = file[f"{name}__v"].astype(np.float64)
            slow = np.empty(len(value))
            mean = value[0]
            for i, v in enumerate(value):
                mean += (v - mean) / SLOW
                slow[i] = mean
            yield "NAB", np.column_stack([value, np.diff(value, prepend=value[0]), value - slow])
    for name in SERIES:
        if not missing(name):
            file = read(name)
            yield name, (file["X"] if "X" in file else file["X_train"])[:50_000]


def watched(learner: NoveltyLearner, X: np.ndarray) -> dict[str, int]:
    """What a learner says of rows in their order, and whether it is locked at the end."""
    spells, last = 0, 0
    tail = X[-len(X) // 5 :]
    for i, x in enumerate(X):
        if i == len(X) - len(tail):
            last = learner.n_strange_
        before = learner.n_stuck_ if i else 0
        was = bool(learner.stuck_features_) if i else False
        learner.learn_one(x)
        spells += learner.n_stuck_ > before and not was
    return {
        "files": 1,
        "rows": len(X),
        "alarms": learner.n_alarms_,
        "stuck": learner.n_stuck_,
        "spells": spells,
        "lost": learner.n_lost_,
        "locked": int(learner.n_strange_ - last > len(tail) / 2),
    }


def unlabelled(quick: bool) -> tuple[Table, dict[str, Any]]:
    sums: dict[tuple[str, str, str], dict[str, int]] = {}
    for i, (name, X) in enumerate(series()):
        progress(f"{name} {i}")
        for kind, make in KINDS.items():
            for stuck in ("learn", "skip"):
                learner = make(alarm_rate=RATE, stuck=stuck).allocate(X.shape[1])
                figures = watched(learner, np.ascontiguousarray(X, np.float32))
                total = sums.setdefault((name, kind, stuck), dict.fromkeys(figures, 0))
                for key, value in figures.items():
                    total[key] += value
        if quick and i == 2:
            break
    rows = []
    for name, kind, stuck in sums:
        if stuck == "skip":
            old, new = sums[name, kind, "learn"], sums[name, kind, "skip"]
            rows.append(
                [
                    *(name, kind, new["files"], f"{new['rows']:,}"),
                    *(f"{one['alarms']:,} ({one['locked']})" for one in (old, new)),
                    *(new["spells"], f"{new['stuck']:,}", new["lost"]),
                ]
            )
    columns = ["series", "learner", "files", "rows", "alarms before (locked)", "now (locked)"]
    columns += ["stuck, spells", "rows", "lost"]
    note = f'learn="normal", alarm_rate {RATE:g}. Locked: half of the last fifth of a file alarms.'
    return Table("Series in time order, without labels", columns, rows, note), {
        ", ".join(key): value for key, value in sums.items()
    }


def main() -> None:
    args = parsed(arguments(__doc__))
    first, of_first = labelled(args.quick)
    second, of_second = unlabelled(args.quick)
    about = [f"The default learner in {BUDGET}; a look at every 1,024 samples and at the end."]
    figures = {"labelled": of_first, "unlabelled": of_second}
    tables = [table for table in (first, second) if table.rows]
    report = Report("novelty/remarks", "Remarks", tables, about, figures, absent())
    publish(report, args.out)


if __name__ == "__main__":
    main()
