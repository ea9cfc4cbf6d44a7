"""Time of a twin vector machine: against scikit-learn's SVC, over the number of twins, and as the
stream goes on. N-Checkerboard, RBF, the paper's settings.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import race, since
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import yes
from benchmarks.twin.board import BOARD, SEED, scaled, twins
from edgesvm.data import Checkerboard

SIZES = (50, 100, 200, 400, 800)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = Checkerboard(SEED, flip=0.15).read(n)
    return scaled(X), y


def against_svc(n: int, n_svc: int, rounds: int) -> tuple[Table, dict[str, Any]]:
    X, y = rows(n)
    X_test, y_test = Checkerboard(seed=1).read(5000)
    X_test = scaled(X_test)
    learner = twins(100)
    svc = SVC(kernel="rbf", gamma=BOARD.kernel("rbf").gamma, C=1.0)
    X_double, X_test_double = X[:n_svc].astype(float), X_test.astype(float)
    seconds = race(
        rounds,
        clock=process_time,
        twins=lambda: learner.reset().partial_fit(X, y),
        svc=lambda: svc.fit(X_double, y[:n_svc]),
    )
    share = seconds["twins"] / seconds["svc"]
    scores = {
        "twins": float(learner.score(X_test, y_test)),
        "svc": float(svc.score(X_test_double, y_test)),
    }
    found = [
        [f"TwinVectorMachine, B = 100, {n:,} rows", scores["twins"], seconds["twins"], share],
        [f"SVC (scikit-learn), C = 1, {n_svc:,} rows", scores["svc"], seconds["svc"], 1.0],
    ]
    table = Table(
        f"Against SVC, medians of {rounds} interleaved rounds",
        ["learner", "accuracy %", "CPU s", "times SVC"],
        [[name, f"{100 * a:.2f}", f"{s:.3f}", f"{r:.2f}"] for name, a, s, r in found],
        f"Less than half of SVC's time: {yes(share < 0.5)}.",
    )
    return table, {"seconds": seconds, "accuracy": scores}


def over_budgets(sizes: tuple[int, ...], n_accepted: int) -> tuple[Table, list[dict[str, Any]]]:
    """Time of an example that was accepted, once the budget is full."""
    found: list[dict[str, Any]] = []
    for size in sizes:
        progress(f"time per accepted example, B = {size}")
        learner = twins(size)
        X, y = rows(20 * size + 40 * n_accepted)
        warm = 20 * size
        learner.partial_fit(X[:warm], y[:warm])
        accepted, seconds, at = 0, 0.0, warm
        while accepted < n_accepted and at < len(X):
            before, begin = learner.n_accepted_, process_time()
            learner.partial_fit(X[at : at + 500], y[at : at + 500])
            seconds += since(begin)
            accepted += learner.n_accepted_ - before
            at += 500
        found.append(
            {
                "B": size,
                "us": 1e6 * seconds / max(accepted, 1),
                "accepted": accepted,
                "rows": at - warm,
                "margin": int(learner.margin_.sum()),
                "bytes": learner.nbytes,
            }
        )
    table = []
    for k, cell in enumerate(found):
        growth = (
            f"{log(cell['us'] / found[k - 1]['us']) / log(cell['B'] / found[k - 1]['B']):.2f}"
            if k
            else ""
        )
        table.append(
            [
                cell["B"],
                f"{cell['accepted']:,} of {cell['rows']:,}",
                f"{cell['us']:.1f}",
                growth,
                cell["margin"],
                f"{cell['bytes']:,}",
            ]
        )
    first, last = found[0], found[-1]
    power = log(last["us"] / first["us"]) / log(last["B"] / first["B"])
    note = (
        f"From B = {first['B']} to {last['B']} the time grows as B^{power:.2f}; no faster than "
        f"B²: {yes(power <= 2)}. (Rows that are not accepted cost O(B) and are in the time.)"
    )
    columns = ["B", "accepted", "µs an accepted one", "power of B", "margin twins", "bytes"]
    return Table("An accepted example, by the number of twins", columns, table, note), found


def over_rows(n: int) -> tuple[Table, list[dict[str, Any]]]:
    """Cost of a row in each tenfold stretch of the stream."""
    learner = twins(100)
    X, y = rows(n)
    found: list[dict[str, Any]] = []
    begin_row = 0
    for end_row in [10**k for k in range(2, 9) if 10**k <= n]:
        progress(f"cost of a row, to {end_row:,}")
        accepted, begin = learner.n_accepted_, process_time()
        learner.partial_fit(X[begin_row:end_row], y[begin_row:end_row])
        seconds = since(begin)
        done = end_row - begin_row
        found.append(
            {
                "to": end_row,
                "us": 1e6 * seconds / done,
                "accepted": (learner.n_accepted_ - accepted) / done,
            }
        )
        begin_row = end_row
    table = [
        [f"to {cell['to']:,}", f"{cell['us']:.2f}", f"{100 * cell['accepted']:.1f}"]
        for cell in found
    ]
    full = [cell["us"] for cell in found[1:]]  # the first stretch only fills the budget
    falls = all(after < before for before, after in pairwise(full))
    note = f"Falls once the budget is full: {yes(falls)}."
    title, columns = "A row as the stream goes on, B = 100", ["rows", "µs a row", "accepted %"]
    return Table(title, columns, table, note), found


def main() -> None:
    args = parsed(arguments(__doc__, rounds=5))
    share, sizes, args.rounds = (20, SIZES[:2], 2) if args.quick else (1, SIZES, args.rounds)
    against, raced = against_svc(100_000 // share, 10_000 // share, args.rounds)
    budgets, by_size = over_budgets(sizes, 2000 // share)
    stream, stretches = over_rows(1_000_000 // share)
    about = (
        "N-Checkerboard, RBF with gamma = 1 / 0.74, C times the sum of weights held at 100 B. "
        "Seconds of the processor, as the machine is shared."
    )
    figures = {"race": raced, "budgets": by_size, "stretches": stretches}
    title = "Speed of the twin vector machine"
    tables = [against, budgets, stream]
    publish(Report("twin/speed", title, tables, [about], figures), args.out)


if __name__ == "__main__":
    main()
