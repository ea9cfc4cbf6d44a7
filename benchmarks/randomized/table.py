"""Table 1 of Krishnan, Bhattacharyya & Hariharan 2007: their figures and ours side by side.

twonorm, ringnorm and the checkerboard at 10^5 and 10^6 rows (RBF), and a9a (linear); 10,000 test
rows, a9a's own. epsilon = 0.2 and delta = 0.9, a sample of c = 2 times k rows. gamma and C are
chosen on 4,000 rows: of what is within half a point of the best on 4,000 others, the fewest support
vectors. The rows lie in a file and are read a chunk at a time. LIBSVM (scikit-learn's SVC, the same
gamma, C, tolerance and cache) gets ten minutes of the processor.

Each cell is a process of its own, whose peak memory is measured (VmHWM, less that of the imports),
and is kept in benchmarks/out/randomized/ as it ends; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out, missing, published, read
from benchmarks.common.process import in_a_process, limited, unlimited
from benchmarks.common.progress import progress, say
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, BatchSVM, Linear, RandSVM
from edgesvm.data.datasets import SETS
from edgesvm.learners.randomized.rand_svm import estimated_support

TIMEOUT_S = 600
TEST_ROWS = 10_000
CACHE_MIB = 200  # SVC's default
TOL = 1e-3
GAMMAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
SIZES = {"1": 10**5, "2": 10**6, "quick": 8_000}
PAPER = published(__file__)["sets"]
NAMES = [*PAPER, "a9a"]
QUICK = "checkerboard_quick"
COLUMNS = [
    "data",
    "rows",
    "paper's RandSVM %",
    "RandSVM %",
    "first sample %",
    "last sample %",
    "s",
    "peak MiB",
    "plan MiB",
    "k",
    "SVs",
    "passes",
    "violators",
    "stop",
    "LIBSVM %",
    "s",
    "peak MiB",
    "SVs",
]


@dataclass(frozen=True)
class RowFile:
    """Rows and labels in two .npy files, read a chunk at a time: nothing is mapped."""

    stem: Path

    @property
    def n_features(self) -> int:
        return int(np.load(self.stem.with_suffix(".X.npy"), mmap_mode="r").shape[1])

    def labelled_chunks(self, rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        X = np.load(self.stem.with_suffix(".X.npy"), mmap_mode="r")
        y = np.load(self.stem.with_suffix(".y.npy"))
        n_features, offset, n_rows = X.shape[1], X.offset, len(X)
        del X
        with self.stem.with_suffix(".X.npy").open("rb") as file:
            file.seek(offset)
            for at in range(0, n_rows, rows):
                n = min(rows, n_rows - at)
                part = np.fromfile(file, np.float32, n * n_features)
                yield part.reshape(n, n_features), y[at : at + n]


def rows_of(folder: Path, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """A source of the training rows; test rows and their labels. Written where it is not there."""
    stem = folder / "data" / name
    test = stem.with_suffix(".test.npz")
    if not test.is_file():
        stem.parent.mkdir(parents=True, exist_ok=True)
        if name == "a9a":
            file = read("a9a")
            X, y = file["X_train"].astype(np.float32), file["y_train"] > 0
            X_test, y_test = file["X_test"].astype(np.float32), file["y_test"] > 0
        else:
            kind, size = name.split("_")
            stream = SETS[kind](seed=1)
            X, y = stream.next_block(SIZES[size])
            X_test, y_test = SETS[kind](seed=2).next_block(TEST_ROWS)
        np.save(stem.with_suffix(".X.npy"), X)
        np.save(stem.with_suffix(".y.npy"), y.astype(np.int8))
        np.savez(test, X=X_test, y=y_test.astype(np.int8))
    with np.load(test) as file:
        return RowFile(stem), file["X"], file["y"]


def n_rows(folder: Path, name: str) -> int:
    return len(np.load((folder / "data" / name).with_suffix(".y.npy"), mmap_mode="r"))


def parameters(folder: Path, name: str) -> dict[str, float]:
    """gamma and C of the solution of 4,000 rows with the fewest support vectors, of those within
    half a point of the best on the next 4,000: a sample must hold the support vectors."""
    kind = name.split("_", maxsplit=1)[0]
    kept = folder / f"parameters_{name if name == QUICK else kind}.json"
    if kept.is_file():
        return json.loads(kept.read_text())
    X, y = next(rows_of(folder, name)[0].labelled_chunks(8000))
    tried: list[tuple[float, int, dict[str, float]]] = []
    gammas = (3.0,) if name == QUICK else (0.0,) if name == "a9a" else GAMMAS
    for gamma in gammas:
        for C in PENALTIES:
            model = BatchSVM(max_samples=4000, C=C, kernel=kernel(gamma), cache="64MiB")
            model.set_params(max_iter=1_000_000)
            score = model.fit(X[:4000], y[:4000]).score(X[4000:], y[4000:])
            progress(f"{kind}: gamma {gamma:g}, C {C:g}: {100 * score:.2f}")
            tried.append((score, len(model.support_), {"gamma": gamma, "C": C}))
    best = max(score for score, _, _ in tried)
    chosen = min((t for t in tried if t[0] >= best - 0.005), key=lambda t: t[1])[2]
    kept.write_text(json.dumps(chosen))
    return chosen


def kernel(gamma: float) -> Any:
    return RBF(gamma) if gamma else Linear()


def peak_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def run_rand(folder: Path, name: str) -> dict[str, Any]:
    source, X_test, y_test = rows_of(folder, name)
    chosen = parameters(folder, name)
    k = estimated_support(n_rows(folder, name))
    solver = BatchSVM(
        max_samples=2 * k,
        C=chosen["C"],
        kernel=kernel(chosen["gamma"]),
        tol=TOL,
        cache=f"{CACHE_MIB}MiB",
    )
    model = RandSVM(solver=solver)
    rounds: list[dict[str, float]] = []
    looking = 0.0

    def note(n_passes: int, n_support: int, n_violators: int) -> None:
        nonlocal looking
        seconds = time.process_time() - begin - looking
        accuracy = 100 * model.score(X_test, y_test)
        looking += time.process_time() - begin - looking - seconds
        rounds.append(
            {"support": n_support, "violators": n_violators, "s": seconds, "accuracy": accuracy}
        )
        say(f"{name}: pass {n_passes}: {rounds[-1]}")

    before = peak_mib()
    begin = time.process_time()
    model.fit(source, progress=note)
    seconds = time.process_time() - begin - looking
    return {
        **chosen,
        "accuracy": 100 * model.score(X_test, y_test),
        "s": seconds,
        "peak_mib": peak_mib() - before,
        "plan_mib": model.nbytes / 2**20,
        "k": model.k_,
        "sample": model.sample_size_,
        "support": model.dual_coef_.shape[1],
        "primal": model.primal_objective_,
        "passes": model.n_passes_,
        "violators": model.n_violators_,
        "stop": model.stop_,
        "converged": model.converged_,
        "objective": model.objective_,
        "rounds": rounds,
    }


def run_svc(folder: Path, name: str) -> dict[str, Any]:
    from sklearn.svm import SVC

    source, X_test, y_test = rows_of(folder, name)
    chosen = parameters(folder, name)
    before = peak_mib()
    X, y = next(source.labelled_chunks(n_rows(folder, name)))
    how = {"kernel": "rbf", "gamma": chosen["gamma"]} if chosen["gamma"] else {"kernel": "linear"}
    begin = limited(TIMEOUT_S)
    model = SVC(C=chosen["C"], tol=TOL, cache_size=CACHE_MIB, **how).fit(X, y)
    seconds = unlimited(begin)
    return {
        **chosen,
        "s": seconds,
        "accuracy": 100 * model.score(X_test, y_test),
        "peak_mib": peak_mib() - before,
        "support": int(model.n_support_.sum()),
    }


RUN = {"rand": run_rand, "svc": run_svc}


def cell(folder: Path, how: str, name: str) -> dict[str, Any] | None:
    """The kept result, or that of a process of its own; None where it failed."""
    kept = folder / f"{how}_{name}.json"
    if kept.is_file():
        return json.loads(kept.read_text())
    command = ["--out", str(folder.parent), "--cell", how, name]
    result = in_a_process("benchmarks.randomized.table", command, TIMEOUT_S)
    if result is not None:
        kept.write_text(json.dumps(result))
    return result


def in_paper(name: str) -> str:
    """Accuracy and seconds of the paper's RandSVM."""
    if name not in PAPER:
        return ""
    theirs = PAPER[name]["RandSVM"]
    return f"{theirs['accuracy']:.2f} ({theirs['seconds']:,} s)"


def row(name: str, n_rows: int, results: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    ours, svc = results.get(("rand", name)), results.get(("svc", name))
    cells = [name, f"{n_rows:,}", in_paper(name)]
    if ours is None:
        cells += [""] * 11
    else:
        cells += [
            f"{ours['accuracy']:.2f}",
            f"{ours['rounds'][0]['accuracy']:.2f}",
            f"{ours['rounds'][-1]['accuracy']:.2f}",
            f"{ours['s']:.0f}",
            f"{ours['peak_mib']:.0f}",
            f"{ours['plan_mib']:.0f}",
            f"{ours['k']:,}",
            f"{ours['support']:,}",
            str(ours["passes"]),
            f"{ours['violators']:,}",
            ours["stop"],
        ]
    if svc is None:
        cells += [""] * 4
    elif "limit" in svc:
        cells += ["", f"> {svc['limit']}", "", ""]
    else:
        cells += [
            f"{svc['accuracy']:.2f}",
            f"{svc['s']:.0f}",
            f"{svc['peak_mib']:.0f}",
            f"{svc['support']:,}",
        ]
    return cells


def against_paper(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    """Which rows are more than a point below the paper's."""
    below = [
        name
        for (how, name), r in results.items()
        if how == "rand"
        and name in PAPER
        and r["accuracy"] < PAPER[name]["RandSVM"]["accuracy"] - 1
    ]
    return f"More than a point below the paper's RandSVM: {', '.join(below) or 'none'}."


def peaks(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    """That memory is the plan's, whatever the number of rows."""
    ours = [r for (how, _), r in results.items() if how == "rand"]
    beside = max((r["peak_mib"] - r["plan_mib"] for r in ours), default=0.0)
    return f"No peak is more than {beside:.1f} MiB above its plan."


def report(
    folder: Path, results: dict[tuple[str, str], dict[str, Any]], skipped: list[str]
) -> Report:
    names = [name for name in [*NAMES, QUICK] if any(name == n for _, n in results)]
    chosen = "; ".join(
        f"{name} gamma {r['gamma']:g}, C {r['C']:g}"
        for (how, name), r in results.items()
        if how == "rand"
    )
    about = [
        f"Parameters: {chosen}.",
        "First sample: what reservoir sampling alone gives. Last sample: what the paper's "
        "algorithm, which returns its last solution, gives; RandSVM returns the solution of the "
        "least primal objective. Seconds are of the processor and include reading the file; peaks "
        "are of the process, less its imports.",
        "Does not show: other c, other epsilon, several seeds.",
    ]
    note = " ".join([against_paper(results), peaks(results)]) if names else ""
    rows = [row(name, n_rows(folder, name), results) for name in names]
    figures = {f"{how} {name}": r for (how, name), r in results.items()}
    table = Table("", COLUMNS, rows, note)
    return Report("randomized/table", "Table 1: RandSVM", [table], about, figures, skipped)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=NAMES, default=NAMES)
    parser.add_argument("--how", nargs="+", choices=list(RUN), default=list(RUN))
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    args = parsed(parser)
    if args.cell:
        how, name = args.cell
        print(json.dumps(RUN[how](args.out / "randomized", name)))
        return
    folder = args.cells / "randomized"
    folder.mkdir(exist_ok=True)
    skipped = left_out(["a9a"] if "a9a" in args.sets else [], args.quick)
    if args.quick:
        args.sets = [QUICK]
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for name in args.sets:
        if name == "a9a" and missing(name):
            continue
        rows_of(folder, name)
        parameters(folder, name)
        for how in args.how:
            if how == "svc" and n_rows(folder, name) > SIZES["1"]:
                continue
            result = cell(folder, how, name)
            if result is not None:
                results[how, name] = result
    publish(report(folder, results, skipped), args.out)


if __name__ == "__main__":
    main()
