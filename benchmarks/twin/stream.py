"""A twin vector machine on ten million rows of N-Checkerboard, as in section 5.3 of Wang & Vucetic
2009: accuracy, time and KT residual on the way. The rows are generated in chunks, so that neither
learner nor benchmark grows. Where matplotlib is there, the model is drawn as in their Figure 2.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import yes
from benchmarks.twin.board import BOARD, DEVIATION, SEED, scaled, twins
from edgesvm import TwinVectorMachine, load
from edgesvm.data import Checkerboard

PAPER = 98.7  # per cent after ten million, B = 100
DRAWN = (100, 1_000, 10_000, 10_000_000)
CHUNK = 10_000
MAX_RESIDUAL = 1e-6


def follow(learner: TwinVectorMachine, n: int, seed: int, saved: Path) -> list[dict[str, Any]]:
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
            seconds += since(begin)
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
            learner.save(model_file(saved, learner.C, done))
    return found


def model_file(folder: Path, C: float, rows: int) -> Path:
    return folder / f"twins_C{C:g}_{rows}.esvm"


def draw(found: dict[str, list[dict[str, Any]]], saved: Path) -> str:
    """The models as in the paper's Figure 2; where they are, or why not."""
    try:
        from edgesvm.cli import figures  # noqa: F401
        from edgesvm.cli.plot import draw as draw_panels
        from edgesvm.plot.boundary import panel_of
    except RuntimeError as why:
        return f"No picture: {why}."
    edge = 2 / DEVIATION
    panels = [
        panel_of(
            load(model_file(saved, float(C), cell["rows"])),
            title=f"C = {C}, {cell['rows']:,} rows: {cell['accuracy']:.1f} %",
            box=(-edge, edge, -edge, edge),
        )
        for C, cells in found.items()
        for cell in cells
        if cell["rows"] in DRAWN
    ]
    path = saved / "twin_stream.png"
    draw_panels(panels, str(path))
    return f"Drawn as in the paper's Figure 2: {path.name}."


COLUMNS = ["rows", "accuracy %", "CPU s so far", "µs a row since", "accepted % since"]
COLUMNS += ["KT residual", "bytes", "refactored / refreshed / from scratch"]


def table(C: float, found: list[dict[str, Any]]) -> Table:
    rows = [
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
    exact = all(cell["kt_residual"] <= MAX_RESIDUAL for cell in found)
    same = len({cell["bytes"] for cell in found}) == 1
    note = (
        f"Accuracy less the paper's {PAPER} after ten million: "
        f"{found[-1]['accuracy'] - PAPER:+.2f}. KT residual at most {MAX_RESIDUAL:g} everywhere: "
        f"{yes(exact)}. Bytes unchanged: {yes(same)}."
    )
    return Table(f"C = {C:g}", COLUMNS, rows, note)


def main() -> None:
    parser = arguments(__doc__, seed=SEED)
    parser.add_argument("--rows", type=int, default=10_000_000, help="default ten million")
    parser.add_argument("--twins", type=int, default=100, help="B (default 100)")
    penalties = [BOARD.C, 10 * BOARD.C]
    parser.add_argument("--C", type=float, nargs="+", default=penalties, help="per twin")
    args = parsed(parser)
    n = 10_000 if args.quick else args.rows
    found = {f"{C:g}": follow(twins(args.twins, C), n, args.seed, args.cells) for C in args.C}
    about = [
        f"{args.twins} twins, RBF with gamma = 1 / 0.74, C times the sum of weights held at C B; "
        "100,000 clean rows to test on. Seconds of the processor, of learning alone.",
        draw(found, args.cells),
    ]
    tables = [table(float(C), cells) for C, cells in found.items()]
    title = "Ten million rows through 100 twins"
    publish(Report("twin/stream", title, tables, about, found), args.out)


if __name__ == "__main__":
    main()
