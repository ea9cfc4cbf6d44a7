"""A twin vector machine on ten million rows of N-Checkerboard, as in section 5.3 of Wang & Vucetic
2009: accuracy, time and KT residual on the way. The rows are generated in chunks, so that neither
learner nor benchmark grows. Where matplotlib is there, the model is drawn as in their Figure 2.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from bench_twin_speed import BOARD, DEVIATION, MEAN
from report import OUT, markdown, progress, publish, use_one_thread

from edgesvm import TwinVectorMachine, load
from edgesvm.cli.plot import panel_of
from edgesvm.data import Checkerboard

PAPER = 98.7  # per cent after ten million, B = 100
DRAWN = (100, 1_000, 10_000, 10_000_000)
CHUNK = 10_000
MAX_RESIDUAL = 1e-6


def scaled(X: np.ndarray) -> np.ndarray:
    return ((X - MEAN) / DEVIATION).astype(np.float32)


def follow(learner: TwinVectorMachine, n: int, seed: int) -> list[dict[str, Any]]:
    """Learn n rows; what there is to say at every power of ten, and at the end."""
    X_test, y_test = Checkerboard(seed + 1).read(100_000)
    X_test = scaled(X_test)
    source = Checkerboard(seed, flip=0.15)
    stops = sorted({10**k for k in range(2, 12) if 10**k <= n} | {n})
    found: list[dict[str, Any]] = []
    done, seconds, accepted = 0, 0.0, 0
    for stop in stops:
        begin_row, begin_seconds = done, seconds
        while done < stop:
            raw, y = source.read(min(CHUNK, stop - done))
            X = scaled(raw)
            begin = process_time()
            learner.partial_fit(X, y)
            seconds += process_time() - begin
            done += len(X)
            progress(f"{done:,} rows, {seconds:.1f} s")
        found.append(
            {
                "rows": done,
                "accuracy": 100 * float(learner.score(X_test, y_test)),
                "seconds": seconds,
                "us_in_stretch": 1e6 * (seconds - begin_seconds) / (done - begin_row),
                "accepted_in_stretch": (learner.n_accepted_ - accepted) / (done - begin_row),
                "kt_residual": float(learner.kt_residual()),
                "bytes": learner.nbytes,
                "refactored": learner.n_refactored_,
                "refreshed": learner.n_refreshed_,
                "from_scratch": learner.n_from_scratch_,
            }
        )
        accepted = learner.n_accepted_
        if done in DRAWN:
            OUT.mkdir(exist_ok=True)
            learner.save(saved(learner.C, done))
    return found


def saved(C: float, rows: int) -> Path:
    return OUT / f"twins_C{C:g}_{rows}.esvm"


def draw(found: dict[str, list[dict[str, Any]]]) -> str:
    try:
        from edgesvm.cli import model_picture
    except RuntimeError as why:
        return f"No picture: {why}."
    edge = 2 / DEVIATION
    panels = [
        panel_of(
            load(saved(float(C), cell["rows"])),
            title=f"C = {C}, {cell['rows']:,} rows: {cell['accuracy']:.1f} %",
            box=(-edge, edge, -edge, edge),
        )
        for C, cells in found.items()
        for cell in cells
        if cell["rows"] in DRAWN
    ]
    path = OUT / "bench_twin_stream.png"
    model_picture.draw(panels, str(path))
    return f"Drawn as in the paper's Figure 2: out/{path.name}."


def section(learner: TwinVectorMachine, found: list[dict[str, Any]]) -> str:
    table = [
        [
            f"{cell['rows']:,}",
            f"{cell['accuracy']:.2f}",
            f"{cell['seconds']:.2f}",
            f"{cell['us_in_stretch']:.2f}",
            f"{100 * cell['accepted_in_stretch']:.1f}",
            f"{cell['kt_residual']:.1e}",
            f"{cell['bytes']:,}",
            f"{cell['refactored']:,} / {cell['refreshed']:,} / {cell['from_scratch']:,}",
        ]
        for cell in found
    ]
    header = [
        "rows",
        "accuracy %",
        "CPU s so far",
        "µs a row since",
        "accepted % since",
        "KT residual",
        "bytes",
        "refactored / refreshed / from scratch",
    ]
    exact = all(cell["kt_residual"] <= MAX_RESIDUAL for cell in found)
    same = len({cell["bytes"] for cell in found}) == 1
    return (
        f"### C = {learner.C:g}\n\n{markdown(header, table)}\n\nAccuracy less the paper's "
        f"{PAPER} after ten million: {found[-1]['accuracy'] - PAPER:+.2f}. KT residual at most "
        f"1e-6 everywhere: {'yes' if exact else 'NO'}. Bytes unchanged: {'yes' if same else 'NO'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="default ten million")
    parser.add_argument("--twins", type=int, default=100, help="B, default 100")
    parser.add_argument(
        "--C",
        type=float,
        nargs="+",
        default=[BOARD.C, 10 * BOARD.C],
        help="per twin, default the paper's 100, and 1000",
    )
    parser.add_argument("--seed", type=int, default=2009)
    parser.add_argument("--quick", action="store_true", help="a hundred thousand rows")
    args = parser.parse_args()
    use_one_thread()
    n = 100_000 if args.quick else args.rows
    sections, found = [], {}
    for C in args.C:
        learner = TwinVectorMachine(max_twins=args.twins, kernel=BOARD.kernel("rbf"), C=C)
        learner.allocate(2, classes=[-1, 1])
        found[f"{C:g}"] = follow(learner, n, args.seed)
        sections.append(section(learner, found[f"{C:g}"]))
    text = [
        f"{args.twins} twins, RBF with gamma = 1 / 0.74, C times the sum of weights held at "
        f"C B; 100,000 clean rows to test on. Processor seconds of learning alone.",
        *sections,
        draw(found),
    ]
    publish("bench_twin_stream", "Ten million rows through 100 twins", "\n\n".join(text), found)


if __name__ == "__main__":
    main()
