"""A machine that slowly changes: what `learn` = "normal", "all" and "until N" make of it, and of a
fault that then lasts.

A third of the normal rows as they are; over the others every feature moves on evenly, up or down by
chance, by so many standard deviations in all. Then the fault: strange rows, moved as far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, figures_of, publish
from benchmarks.novelty.rows import QUICK, rows_of
from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

SETS = ("shuttle", "pendigits", "robot_wall24", "wisdm_windows", "satimage", "letter")
DRIFTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # deviations, over two thirds of the stream
MODES = ("normal", "all", "until N")
RATE, BUDGET, LAST, FAULT = 0.01, 16 << 10, 0.2, 300
KINDS: dict[str, Callable[[int, str], NoveltyLearner]] = {
    "KernelNovelty, 16 KiB": lambda d, learn: KernelNovelty(
        alarm_rate=RATE, learn=learn
    ).fitted_into(BUDGET, d),
    "GaussianNovelty": lambda d, learn: GaussianNovelty(alarm_rate=RATE, learn=learn),
}


class Seen(NamedTuple):
    false_alarms: float  # share of the last normal rows
    found: float  # share of the strange rows, as the fault begins
    found_late: float  # and of others, after `FAULT` strange rows were learned or not


def moved(rows: np.ndarray, way: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Rows that have gone so large a share of the way."""
    return (rows + share[:, None] * way).astype(np.float32)


def watched(
    make: Callable[[int, str], NoveltyLearner], learn: str, name: str, drift: float, seed: int
) -> Seen:
    rows = rows_of(name, seed)
    normal = np.concatenate([rows.learned, rows.normal])
    n, D = len(normal), normal.shape[1]
    way = drift * normal.std(axis=0) * np.random.default_rng(seed).choice([-1, 1], D)
    stream = moved(normal, way, np.clip(1.5 * np.arange(n) / n - 0.5, 0, 1))
    strange = moved(rows.strange, way, np.ones(len(rows.strange)))
    last = n - int(LAST * n)
    learner = make(D, f"until {n // 3}" if learn == "until N" else learn)
    learner.partial_fit(stream[:last])
    before = learner.n_strange_
    learner.partial_fit(stream[last:])
    false_alarms = (learner.n_strange_ - before) / (n - last)
    begins, lasts, later = strange[: 2 * FAULT], strange[:FAULT], strange[FAULT : 2 * FAULT]
    found = (learner.predict(begins) < 0).mean()
    learner.partial_fit(lasts)
    return Seen(false_alarms, float(found), float((learner.predict(later) < 0).mean()))


def measured(sets: Sequence[str], orders: int) -> dict[str, dict[str, list[list[Seen]]]]:
    """By learner and mode: for each drift, one result of each set and order."""
    found: dict[str, dict[str, list[list[Seen]]]] = {}
    for (kind, make), learn in product(KINDS.items(), MODES):
        for drift in DRIFTS:
            progress(f"{kind}, {learn}, drift {drift:g}")
            seen = [watched(make, learn, name, drift, s) for name in sets for s in range(orders)]
            found.setdefault(kind, {}).setdefault(learn, []).append(seen)
    return found


def table(title: str, found: dict[str, dict[str, list[list[Seen]]]], what: str, note: str) -> Table:
    rows = [
        [
            f"{kind}, {learn}",
            *(f"{100 * np.mean([getattr(s, what) for s in seen]):.1f}" for seen in by_drift),
        ]
        for kind, modes in found.items()
        for learn, by_drift in modes.items()
    ]
    return Table(title, ["", *(f"{drift:g}" for drift in DRIFTS)], rows, note)


def drawn(found: dict[str, dict[str, list[list[Seen]]]], out: Path) -> list[tuple[str, str]]:
    """Caption and path from the report; nothing where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return []
    folder = figures_of(out)
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    canvas, axes = plt.subplots(1, 2, figsize=(8, 3.4), constrained_layout=True)
    modes = found["KernelNovelty, 16 KiB"]
    for axis, what, title in (
        (axes[0], "false_alarms", f"false alarms at the end, % ({100 * RATE:g} asked)"),
        (axes[1], "found_late", f"found after {FAULT} rows of the fault, %"),
    ):
        for learn, by_drift in modes.items():
            means = [100 * np.mean([getattr(s, what) for s in seen]) for seen in by_drift]
            axis.plot(DRIFTS, means, "o-", markersize=4, label=f'learn="{learn}"')
        axis.set_xlabel("drift, standard deviations")
        axis.set_title(title, fontsize=10)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=9, frameon=False)
    canvas.savefig(folder / "novelty_drift.png", dpi=120)
    plt.close(canvas)
    caption = "False alarms and fault rows found against drift, KernelNovelty in 16 KiB"
    return [(caption, os.path.relpath(folder / "novelty_drift.png", out))]


def main() -> None:
    args = parsed(arguments(__doc__, orders=3))
    skipped = left_out(SETS, args.quick)
    sets = QUICK[1:] if args.quick else [s for s in SETS if not any(s in line for line in skipped)]
    found = measured(sets, 1 if args.quick else args.orders)
    about = [
        f"Mean over {', '.join(sets)}, normal rows in a random order, at most 12,000. Columns: how"
        " far every feature moves, in its standard deviations, up or down by chance, over the last"
        f" two thirds of the stream. alarm_rate {RATE:g}; N is the first third.",
    ]
    tables = [
        table(
            "False alarms in the last fifth of the stream, per cent",
            found,
            "false_alarms",
            f"{100 * RATE:g} were asked for. The rows drift on while they are watched.",
        ),
        table(
            "Strange rows found after it, per cent",
            found,
            "found",
            "They are moved as far as the normal ones.",
        ),
        table(
            f"Strange rows found after {FAULT} strange rows, per cent",
            found,
            "found_late",
            "Other rows than those that were shown.",
        ),
    ]
    publish(
        Report(
            "novelty/drift",
            "Novelty on a machine that slowly changes",
            tables,
            about,
            found,
            skipped,
            drawn(found, args.out),
        ),
        args.out,
    )


if __name__ == "__main__":
    main()
