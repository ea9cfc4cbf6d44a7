"""Time of a twin vector machine: against scikit-learn's SVC, over the number of twins, and as the
stream goes on. N-Checkerboard, RBF, the paper's settings.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from math import log
from time import process_time
from typing import Any

import numpy as np
from data_twin import TWIN_TASKS
from report import markdown, progress, publish, race, use_one_thread
from sklearn.svm import SVC

from edgesvm import TwinVectorMachine
from edgesvm.data import Checkerboard

BOARD = next(task for task in TWIN_TASKS if task.name == "N-Checkerboard")
SIZES = (50, 100, 200, 400, 800)
MEAN, DEVIATION = 2.0, (16 / 12) ** 0.5  # of the board


def twins(max_twins: int) -> TwinVectorMachine:
    return TwinVectorMachine(max_twins=max_twins, kernel=BOARD.kernel("rbf"), C=BOARD.C)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = Checkerboard(seed=2009, flip=0.15).read(n)
    return ((X - MEAN) / DEVIATION).astype(np.float32), y


def against_svc(n: int, n_svc: int, rounds: int) -> tuple[str, dict[str, Any]]:
    X, y = rows(n)
    X_test, y_test = Checkerboard(seed=1).read(5000)
    X_test = ((X_test - MEAN) / DEVIATION).astype(np.float32)
    learner = twins(100).allocate(2, classes=[-1, 1])
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
    table = [
        [f"TwinVectorMachine, B = 100, {n:,} rows", scores["twins"], seconds["twins"], share],
        [f"SVC (scikit-learn), C = 1, {n_svc:,} rows", scores["svc"], seconds["svc"], 1.0],
    ]
    text = markdown(
        ["learner", "accuracy %", "CPU s", "times SVC"],
        [[name, f"{100 * a:.2f}", f"{s:.3f}", f"{r:.2f}"] for name, a, s, r in table],
    )
    verdict = "yes" if share < 0.5 else "NO"
    return f"{text}\n\nLess than half of SVC's time: {verdict}.", {
        "seconds": seconds,
        "accuracy": scores,
    }


def over_budgets(sizes: tuple[int, ...], n_accepted: int) -> tuple[str, list[dict[str, Any]]]:
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
            seconds += process_time() - begin
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
    header = ["B", "accepted", "µs an accepted one", "power of B", "margin twins", "bytes"]
    if len(found) < 2:
        return markdown(header, table), found
    first, last = found[0], found[-1]
    power = log(last["us"] / first["us"]) / log(last["B"] / first["B"])
    verdict = "yes" if power <= 2 else "NO"
    return (
        f"{markdown(header, table)}\n\nFrom B = {first['B']} to {last['B']} the time grows as "
        f"B^{power:.2f}; no faster than B²: {verdict}. (Rows that are not accepted cost O(B) and "
        "are in the time.)",
        found,
    )


def over_rows(n: int) -> tuple[str, list[dict[str, Any]]]:
    """Cost of a row in each tenfold stretch of the stream."""
    learner = twins(100).allocate(2, classes=[-1, 1])
    X, y = rows(n)
    found: list[dict[str, Any]] = []
    begin_row = 0
    for end_row in [10**k for k in range(2, 9) if 10**k <= n]:
        progress(f"cost of a row, to {end_row:,}")
        accepted, begin = learner.n_accepted_, process_time()
        learner.partial_fit(X[begin_row:end_row], y[begin_row:end_row])
        seconds = process_time() - begin
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
    return (
        f"{markdown(['rows', 'µs a row', 'accepted %'], table)}\n\n"
        f"Falls once the budget is full: {'yes' if falls else 'NO'}.",
        found,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of the race (default 5)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three sizes")
    args = parser.parse_args()
    use_one_thread()
    tenth = 10 if args.quick else 1
    race_text, raced = against_svc(100_000 // tenth, 10_000 // tenth, args.rounds)
    sizes_text, sizes = over_budgets(SIZES[: 3 if args.quick else None], 2000 // tenth)
    rows_text, stretches = over_rows(1_000_000 // tenth)
    text = [
        "N-Checkerboard, RBF with gamma = 1 / 0.74, C times the sum of weights held at 100 B. "
        "Processor time, as the machine is shared.",
        f"### Against SVC, medians of {args.rounds} interleaved rounds\n\n{race_text}",
        f"### An accepted example, by the number of twins\n\n{sizes_text}",
        f"### A row as the stream goes on, B = 100\n\n{rows_text}",
    ]
    publish(
        "bench_twin_speed",
        "Speed of the twin vector machine",
        "\n\n".join(text),
        {"race": raced, "budgets": sizes, "stretches": stretches},
    )


if __name__ == "__main__":
    main()
