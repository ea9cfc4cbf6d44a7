"""Deciding many rows with several threads (`n_jobs`): time beside one thread's, of as many threads
as asked for. Seconds of the wall clock, medians of interleaved rounds; every answer has the bits of
one thread's, and the study ends if one has not.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import BatchSVM, FourierSVM, KernelStreamSVM, OneVsOne, StreamSVM, TwinVectorMachine
from edgesvm.data import Gauss

JOBS = (1, 2, 4)


def learners(most: int) -> dict[str, Any]:
    return {
        "StreamSVM": StreamSVM(),
        "FourierSVM": FourierSVM(),
        "KernelStreamSVM": KernelStreamSVM(),
        "TwinVectorMachine": TwinVectorMachine(),
        "OneVsOne(KernelStreamSVM)": OneVsOne(learner=KernelStreamSVM(), n_classes=3),
        "BatchSVM": BatchSVM(max_samples=most),
    }


def main() -> None:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--rows", type=int, default=100_000, help="to decide (100,000)")
    args = parsed(parser)
    n_rows, most, rounds = (2_000, 200, 2) if args.quick else (args.rows, 2_000, args.rounds)
    X, y = Gauss(seed=0).read(most)
    asked, _ = Gauss(seed=1).read(n_rows)
    figures, rows = [], []
    for name, learner in learners(most).items():
        progress(name)
        labels = np.where(y > 0, X[:, 0] > 0, 2) if "OneVsOne" in name else y
        learner.partial_fit(X, labels)
        runs = {str(n): partial(learner.decision_function, asked, n_jobs=n) for n in JOBS}
        bits = {n: run().tobytes() for n, run in runs.items()}
        if any(other != bits["1"] for other in bits.values()):
            raise SystemExit(f"{name}: other bits with other threads")
        seconds = race(rounds, **runs)
        figures.append({"learner": name, "rows": n_rows, "seconds": seconds})
        times = [f"{1e6 * s / n_rows:.3f}" for s in seconds.values()]
        gains = [f"{seconds['1'] / s:.2f}" for n, s in seconds.items() if n != "1"]
        rows.append([name, *times, *gains])
    head = ["learner", *(f"us a row, {n}" for n in JOBS)]
    head += [f"times as fast, {n}" for n in JOBS[1:]]
    about = [(__doc__ or "").strip(), f"{os.cpu_count()} processors; {n_rows:,} rows."]
    publish(Report("ledger/threads", "Threads", [Table("", head, rows)], about, figures), args.out)


if __name__ == "__main__":
    main()
