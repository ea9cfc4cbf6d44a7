"""Tables 1 and 2 and Figure 1 of Domeniconi & Gunopulos 2001: their figures and ours side by side.

Table 1: noisy crossed norm, 200,000 points, five random halves. Table 2: Pima, ten random splits of
568 and 200 rows. Batch training and the four schemes; gamma and C by cross-validation on training
rows of the first split. Figure 1: a window of three batches of 1,000
against batch training on the same rows, ten test sets of 1,000 at each of twelve steps.

Beside the paper's columns: the same with no more than 500 support vectors held.

Each cell is kept as it is done; the same command goes on after an interruption, and --done reports
what is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from cells import Cells, build_id
from data import folder, read, standardised
from report import OUT, markdown, publish, use_one_thread

from edgesvm import RBF, BatchSVM, IncrementalSVM, WindowedSVM
from edgesvm.data import NoisyCrossedNorm

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
SCHEMES = {
    "B": None,
    "ED": "error_driven",
    "FP": "fixed_partition",
    "EM": "exceeding_margin",
    "EM+E": "exceeding_margin_errors",
}
# error %, deviation, support vectors, condensed set %, cycles, hours; columns as SCHEMES
PAPER: dict[int, dict[str, tuple[Any, ...]]] = {
    1: {
        "error %": (3.2, 9.1, 3.2, 4.5, 6.7),
        "deviation": (0.18, 0.05, 0.001, 0.02, 0.02),
        "support vectors": (8321, 4172, 8452, 1455, 5308),
        "condensed set %": (8.3, 4.2, 8.5, 1.5, 5.3),
        "cycles": ("-", 19, 201, 37, 48),
        "time, h": (14, 17, 20, 0.5, 22),
    },
    2: {
        "error %": (31.9, 29.3, 26.2, 27.1, 26.4),
        "deviation": (0.47, 0.02, 0.02, 0.02, 0.02),
        "support vectors": (547, 291, 405, 394, 399),
        "condensed set %": (96, 51.2, 71.3, 69.4, 70.2),
        "cycles": ("-", 13, 38, 34, 36),
    },
}
WHY_ED = (
    "ED is trained on little but its errors, and comes and goes with its cycles: one cycle more or "
    "less is another figure, hence its deviation over the splits. With room for 500 vectors, where "
    "those farthest on the wrong side go, it keeps still."
)
BATCH = {1: 500, 2: 10}
SPLITS = {1: 5, 2: 10}
TITLES = {1: "noisy crossed norm", 2: "Pima"}
SMALL = 500  # vectors, where memory is the point
FLIPS = (0.01, 0.0)  # noise that makes the paper's batch error, and none
GAMMAS, CS = (0.003, 0.01, 0.03, 0.1), (0.1, 1.0, 10.0)
OPENING = (
    "The paper does not say what its noise is; its batch error of 3.2 % is what 1 % of switched "
    "labels adds to the best classifier's 2.3. Without, all errors are lower. Pima is scaled to "
    "deviation 1 by the training rows; the paper says nothing of scaling, and its batch error of "
    "31.9 % with 96 % of the rows support vectors speaks of a kernel too narrow. Their hours are "
    "of SVMlight on 1.3 GHz. What waits at the end of the stream is learned by `update`, which is "
    "a cycle more."
)
LARGEST = 20_000  # rows of a cross-validation; support vectors held where there is no limit
STEPS, WINDOW, STEP_ROWS = 12, 3, 1000


def crossed_norm(seed: int, n: int, flip: float) -> Split:
    """n rows to learn and n to test."""
    X, y = NoisyCrossedNorm(1000 + seed, flip=flip).read(2 * n)
    return X[:n], y[:n] > 0, X[n:], y[n:] > 0


def pima(seed: int) -> Split:
    file = read("pima")
    order = np.random.default_rng(seed).permutation(len(file["X"]))
    X, y = file["X"][order].astype(np.float64), file["y"][order] > 0
    X_train, X_test = standardised(X[:568], X[568:])
    return X_train, y[:568], X_test, y[568:]


def chosen(split: Split, name: str, n_batch: int, room: int | None) -> tuple[float, float]:
    """gamma and C of the least error in five folds of the training rows: of 20,000 of them for
    batch training, of all for the schemes that leave samples out, whose errors come and go with
    the cycles.
    """
    n = LARGEST if name == "B" else len(split[0])
    X, y = split[0][:n], split[1][:n]
    fold = np.arange(len(X)) % 5
    room = len(X) if room is None else room
    errors = {
        (gamma, C): sum(
            measure(
                (X[fold != k], y[fold != k], X[fold == k], y[fold == k]),
                name,
                n_batch,
                room,
                (gamma, C),
            )["error"]
            for k in range(5)
        )
        for gamma in GAMMAS
        for C in CS
    }
    return min(errors, key=lambda setting: (round(errors[setting], 9), setting))


def batch(X: np.ndarray, y: np.ndarray, gamma: float, C: float) -> BatchSVM:
    return BatchSVM(max_samples=len(X), kernel=RBF(gamma), C=C, cache="400MiB").fit(X, y)


def measure(split: Split, name: str, n_batch: int, room: int, params: Any) -> Any:
    """One cell: a scheme in batches of `n_batch` with `room` vectors, or batch training."""
    X, y, X_test, y_test = split
    (gamma, C), scheme, room = params, SCHEMES[name], min(room, LARGEST)
    begin = process_time()  # the machine has other work to do
    if scheme is None:
        learner: Any = batch(X, y, gamma, C)
        cycles, given_up = 0, 0
    else:
        learner = IncrementalSVM(
            scheme=scheme,
            batch_size=n_batch,
            max_vectors=room,
            kernel=RBF(gamma),
            C=C,
            cache="400MiB" if room > SMALL else None,
        )
        learner.partial_fit(X, y).update()
        cycles, given_up = learner.n_cycles_, learner.n_given_up_
    seconds = process_time() - begin
    return {
        "error": 100 * (1 - learner.score(X_test, y_test)),
        "support": len(learner.support_vectors_),
        "cycles": cycles,
        "given_up": given_up,
        "seconds": seconds,
        "bytes": learner.nbytes,
        "rows": len(X),
    }


def run_table(
    number: int, label: str, split_of: Callable[[int], Split], cells: Cells, n_splits: int
) -> None:
    """Fill in what is missing of one table on one data set."""
    for seed in range(n_splits):
        split = None
        for name, room in columns(number):
            key = ("table", number, label, name, room, seed)
            if key in cells:
                continue
            split = split or split_of(seed)
            params = parameters(chosen_key(label, name, room), BATCH[number], split_of, cells)
            n_room = len(split[0]) if room is None else room
            cells[key] = result = measure(split, name, BATCH[number], n_room, params)
            print(f"# {key}: {result['error']:.2f} %, {result['seconds']:.1f} s", flush=True)


def chosen_key(label: str, name: str, room: int | None) -> tuple:
    """What takes in every sample, and holds all that matters, has the parameters of B."""
    return ("chosen", label, "B" if name == "FP" and room is None else name, room)


def parameters(
    key: tuple, n_batch: int, split_of: Callable[[int], Split], cells: Cells
) -> tuple[float, float]:
    """gamma and C of a column, chosen once, on the first split."""
    if key not in cells:
        gamma, C = chosen(split_of(0), key[2], n_batch, key[3])
        cells[key] = {"gamma": gamma, "C": C}
        print(f"# {key}: gamma {gamma:g}, C {C:g}", flush=True)
    return cells[key]["gamma"], cells[key]["C"]


def columns(number: int) -> list[tuple[str, int | None]]:
    """(scheme, vectors held; None: as many as there are)"""
    few = [(name, SMALL) for name in SCHEMES if name != "B"] if number == 1 else []
    return [*((name, None) for name in SCHEMES), *few]


def table(number: int, label: str, cells: Cells, n_splits: int) -> str:
    rows = []
    for name, room in columns(number):
        keys = [("table", number, label, name, room, seed) for seed in range(n_splits)]
        done = [cells[key] for key in keys if key in cells]
        if not done:
            continue
        theirs = {k: v[list(SCHEMES).index(name)] for k, v in PAPER[number].items()}
        error = np.array([cell["error"] for cell in done])
        support = np.mean([cell["support"] for cell in done])
        allowed = "yes" if error.mean() <= theirs["error %"] + 0.5 else "NO"
        rows.append(
            [
                name if room is None else f"{name}, {room} vectors",
                "{gamma:g}, {C:g}".format(**cells[chosen_key(label, name, room)]),
                *(theirs[k] for k in ("error %", "deviation", "support vectors", "cycles")),
                theirs.get("time, h", "-"),
                f"{error.mean():.2f}",
                f"{error.std(ddof=1) if len(done) > 1 else 0.0:.2f}",
                f"{support:,.0f}",
                f"{100 * support / done[0]['rows']:.2f}",
                f"{np.mean([cell['cycles'] for cell in done]):.0f}",
                f"{np.mean([cell['given_up'] for cell in done]):,.0f}",
                f"{np.median([cell['seconds'] for cell in done]):.3g}",
                f"{done[0]['bytes']:,}",
                allowed,
                len(done),
            ]
        )
    header = [
        "",
        "gamma, C",
        "paper: error %",
        "dev.",
        "SVs",
        "cycles",
        "hours",
        "ours: error %",
        "dev.",
        "SVs",
    ]
    header += ["condensed %", "cycles", "given up", "CPU s", "bytes", "at most +0.5", "splits"]
    return markdown(header, rows) if rows else ""


# -- Figure 1 --------------------------------------------------------------------------------------


def run_figure(rows: int, cells: Cells, flip: float) -> None:
    """Errors and sizes of the windowed and the batch model at each step."""
    if ("figure", flip) in cells:
        return
    stream = NoisyCrossedNorm(7, flip=flip)
    tests = [NoisyCrossedNorm(100 + k, flip=flip).read(STEP_ROWS) for k in range(10)]
    label = f"flip {flip:g}"
    gamma, C = parameters(
        chosen_key(label, "B", None), BATCH[1], lambda s: crossed_norm(s, rows, flip), cells
    )
    windowed = WindowedSVM(
        window=WINDOW,
        batch_size=STEP_ROWS,
        max_vectors=WINDOW * STEP_ROWS,
        kernel=RBF(gamma),
        C=C,
    )
    recent: list[tuple[np.ndarray, np.ndarray]] = []
    steps = []
    for _ in range(STEPS + WINDOW - 1):
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
    cells[("figure", flip)] = {"steps": steps, "given_up": windowed.n_given_up_}


def figure(cells: Cells, flip: float) -> str:
    steps = cells[("figure", flip)]["steps"]
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
    size = {name: np.mean([s[name]["support"] for s in steps]) for name in ("windowed", "batch")}
    header = ["step", "windowed, error %", "batch, error %", "difference"]
    header += ["windowed, SVs", "batch, SVs", "windowed, CPU s", "batch, CPU s"]
    return (
        f"{markdown(header, rows)}\n\nMean size {size['windowed']:.0f} and {size['batch']:.0f} "
        f"support vectors (the paper: 418 and 430); {cells[('figure', flip)]['given_up']} were "
        f"given up. The largest difference of a step is {apart:+.2f} points; 0.5 is allowed."
    )


def draw(cells: Cells, flip: float) -> None:
    """benchmarks/out/figure1_incremental.png, where matplotlib is there."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    steps = cells[("figure", flip)]["steps"]
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
    OUT.mkdir(exist_ok=True)
    canvas.savefig(OUT / "figure1_incremental.png", dpi=120)
    plt.close(canvas)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000, help="to learn, and to test, in 1")
    parser.add_argument("--splits", type=int, help="at most (default 5 and 10)")
    parser.add_argument("--done", action="store_true", help="run nothing, report what is there")
    parser.add_argument("--any-build", action="store_true", help="take cells of other builds too")
    parser.add_argument("--quick", action="store_true", help="2,000 rows, one split")
    args = parser.parse_args()
    use_one_thread()
    if args.quick:
        args.rows, args.splits = 2000, 1
    build = f"{build_id('learners/batch', 'learners/incremental')} {args.rows}"
    cells = Cells(OUT / "table_incremental.cells", build, any_build=args.any_build)
    count = {k: min(n, args.splits or n) for k, n in SPLITS.items()}
    for fill in parts(args.rows, cells, count):
        if not args.done:
            fill()
    report(args.rows, cells, count)


def parts(rows: int, cells: Cells, count: dict[int, int]) -> list[Callable[[], None]]:
    """What there is to run, the shortest first but for the parameters that the figure needs."""

    def first_table(flip: float) -> None:
        run_table(1, f"flip {flip:g}", lambda s: crossed_norm(s, rows, flip), cells, count[1])

    tables = [lambda f=flip: first_table(f) for flip in FLIPS]
    last = [lambda: run_figure(rows, cells, FLIPS[0]), *tables]
    if (folder() / "pima.npz").exists():
        return [lambda: run_table(2, "pima", pima, cells, count[2]), *last]
    print(f"Table 2: skipped, no pima.npz in {folder()} (set EDGESVM_DATA)")
    return last


def report(rows: int, cells: Cells, count: dict[int, int]) -> None:
    """What is done so far."""
    text = [OPENING]
    for flip in FLIPS:
        noise = f"{100 * flip:g} % of the labels switched" if flip else "no label switched"
        text += section(1, f"flip {flip:g}", f"{TITLES[1]}, {noise}", cells, count[1])
    text += section(2, "pima", TITLES[2], cells, count[2])
    if ("figure", FLIPS[0]) in cells:
        text += [f"### Figure 1: a window of {WINDOW} batches", figure(cells, FLIPS[0])]
        draw(cells, FLIPS[0])
    publish(
        "table_incremental",
        "Incremental SVMs: Tables 1 and 2 and Figure 1",
        "\n\n".join(text),
        {"paper": PAPER, "rows": rows},
    )


def section(number: int, label: str, title: str, cells: Cells, n_splits: int) -> list[str]:
    """A table under its heading, where any of it is done."""
    rows = table(number, label, cells, n_splits)
    why = [WHY_ED] if "NO |" in rows else []
    return [f"### Table {number}: {title}", rows, *why] if rows else []


if __name__ == "__main__":
    main()
