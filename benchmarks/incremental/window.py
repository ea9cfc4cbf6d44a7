"""Figure 1 of Domeniconi & Gunopulos 2001: a window of three batches of 1,000 rows against batch
training on the same rows, with ten test sets of 1,000 at each of twelve steps. gamma and C are
chosen as in `incremental.table`, on as many rows as the window has.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from benchmarks.incremental.table import FLIP, batch, chosen, crossed_norm
from edgesvm import RBF, WindowedSVM
from edgesvm.data import NoisyCrossedNorm

STEPS, WINDOW, STEP_ROWS = 12, 3, 1000


def steps_of(gamma: float, C: float, n_steps: int) -> dict[str, Any]:
    """Errors and sizes of the windowed and the batch model at each step."""
    stream = NoisyCrossedNorm(7, flip=FLIP)
    tests = [NoisyCrossedNorm(100 + k, flip=FLIP).read(STEP_ROWS) for k in range(10)]
    windowed = WindowedSVM(
        window=WINDOW,
        batch_size=STEP_ROWS,
        max_vectors=WINDOW * STEP_ROWS,
        kernel=RBF(gamma),
        C=C,
    )
    recent: list[tuple[np.ndarray, np.ndarray]] = []
    steps = []
    for _ in range(n_steps + WINDOW - 1):
        X, y = stream.read(STEP_ROWS)
        recent = [*recent[-(WINDOW - 1) :], (X, y)]
        begin = process_time()
        windowed.partial_fit(X, y)
        middle = process_time()
        if len(recent) < WINDOW:
            continue
        whole = batch(*(np.concatenate(part) for part in zip(*recent, strict=True)), gamma, C)
        end = process_time()
        steps.append(
            {
                name: {
                    "errors": [100 * (1 - model.score(X, y)) for X, y in tests],
                    "support": len(model.support_vectors_),
                    "seconds": seconds,
                }
                for name, model, seconds in (
                    ("windowed", windowed, middle - begin),
                    ("batch", whole, end - middle),
                )
            }
        )
    return {"steps": steps, "given_up": windowed.n_given_up_}


def table(found: dict[str, Any]) -> Table:
    steps = found["steps"]
    rows = []
    for k, step in enumerate(steps):
        errors = {name: np.mean(step[name]["errors"]) for name in ("windowed", "batch")}
        rows.append(
            [
                k + 1,
                *(f"{errors[name]:.2f}" for name in errors),
                f"{errors['windowed'] - errors['batch']:+.2f}",
                *(step[name]["support"] for name in errors),
                *(f"{step[name]['seconds']:.2g}" for name in errors),
            ]
        )
    apart = max(
        (np.mean(s["windowed"]["errors"]) - np.mean(s["batch"]["errors"]) for s in steps), key=abs
    )
    mean = {
        (name, what): np.mean([s[name][what] for s in steps])
        for name in ("windowed", "batch")
        for what in ("errors", "support")
    }
    errors = [f"{mean[name, 'errors']:.2f}" for name in ("windowed", "batch")]
    sizes = [f"{mean[name, 'support']:.0f}" for name in ("windowed", "batch")]
    rows.append(["mean", *errors, "", *sizes, "", ""])
    header = ["step", "windowed, error %", "batch, error %", "difference"]
    header += ["windowed, SVs", "batch, SVs", "windowed, CPU s", "batch, CPU s"]
    note = (
        f"The paper's mean size: 418 and 430 support vectors. {found['given_up']} were given up "
        f"here. The largest difference of a step is {apart:+.2f} points; 0.5 is allowed."
    )
    return Table("", header, rows, note)


def draw(found: dict[str, Any], out: Path) -> None:
    """`incremental_window.png`, where matplotlib is there."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    steps = found["steps"]
    at = range(1, len(steps) + 1)
    canvas, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for name, marker in (("windowed", "o-"), ("batch", "s--")):
        axes.plot(at, [np.mean(step[name]["errors"]) for step in steps], marker, label=name)
    axes.set_xlabel("step, of 1,000 samples")
    axes.set_ylabel("error, %")
    axes.set_ylim(0, 10)
    axes.set_title("Noisy crossed norm, the last 3 batches: fixed partition against batch training")
    axes.legend()
    axes.grid(alpha=0.3)
    canvas.savefig(out / "incremental_window.png", dpi=120)
    plt.close(canvas)


def main() -> None:
    args = parsed(arguments(__doc__))
    n_steps, gamma, C = 2, 0.1, 0.1
    if not args.quick:
        rows = crossed_norm(0, WINDOW * STEP_ROWS, FLIP)
        n_steps, (gamma, C) = STEPS, chosen(rows, "B", 1, None)
    found = steps_of(gamma, C, n_steps)
    draw(found, args.out)
    about = (
        f"Noisy crossed norm, {100 * FLIP:g} % of the labels switched; gamma {gamma:g}, C {C:g}."
    )
    title = "Figure 1: a window of three batches"
    publish(Report("incremental/window", title, [table(found)], [about], found), args.out)


if __name__ == "__main__":
    main()
