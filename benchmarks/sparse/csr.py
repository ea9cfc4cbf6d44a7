"""Rows of a CSR matrix against the same rows made dense: time, and bytes beside the model.

Both give the same model and the same decisions to the last bit, which each run asserts.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.data import left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, BallVectorMachine, BatchSVM, KernelStreamSVM, Linear, RandSVM, StreamSVM
from edgesvm.data import SparseRows

FILES = ("reuters_csr", "w8a", "a9a")


@dataclass(frozen=True)
class Problem:
    """Training and test rows, as CSR."""

    name: str
    X: SparseRows
    y: np.ndarray
    X_test: SparseRows
    y_test: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """One learner on one problem; the pairs are (dense, CSR)."""

    fit_seconds: tuple[float, float]
    decide_seconds: tuple[float, float]
    extra_bytes: tuple[int, int]  # peak of a fit and a decision, beside matrix and model
    model_bytes: int


def csr(X: np.ndarray) -> SparseRows:
    rows, columns = np.nonzero(X)
    ends = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int32)
    data = X[rows, columns].astype(np.float32)
    return SparseRows(data, columns.astype(np.int32), ends, X.shape)


def of_file(name: str) -> Problem:
    file = read(name)
    parts = []
    for part in ("train", "test"):
        if f"X_{part}" in file:
            parts.append(csr(file[f"X_{part}"]))
            continue
        data, indices, ends = (file[f"X_{part}_{k}"] for k in ("data", "indices", "indptr"))
        shape = len(ends) - 1, int(file["n_features"])
        parts.append(SparseRows(data, indices.astype(np.int32), ends, shape))
    return Problem(name, parts[0], file["y_train"], parts[1], file["y_test"])


def generated() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.random((600, 300)) * (rng.random((600, 300)) < 0.05)
    y = X[:, :150].sum(axis=1) > X[:, 150:].sum(axis=1)
    return Problem("generated", csr(X[:400]), y[:400], csr(X[400:]), y[400:])


def problems(quick: bool) -> Iterator[Problem]:
    if quick:
        yield generated()
        return
    for name in FILES:
        if missing(name) is None:
            yield of_file(name)


def bytes_of(X: Any) -> int:
    return sum(a.nbytes for a in (X.data, X.indices, X.indptr)) if is_csr(X) else X.nbytes


def is_csr(X: Any) -> bool:
    return isinstance(X, SparseRows)


def learners(p: Problem) -> dict[str, Callable[[], Any]]:
    gamma = 1.0 / max(float(np.mean(p.X.squares())), 1e-9)
    linear = Linear()
    return {
        "StreamSVM": lambda: StreamSVM(bound="lower"),
        "KernelStreamSVM, RBF": lambda: KernelStreamSVM(max_vectors=50, kernel=RBF(gamma)),
        "RandSVM, linear": lambda: RandSVM(
            solver=BatchSVM(max_samples=1000, cache="16MiB", kernel=linear), max_passes=3
        ),
        "BallVectorMachine, linear": lambda: BallVectorMachine(
            kernel=linear, normalize=True, max_core=300, cache="16MiB"
        ),
        "BallVectorMachine, RBF": lambda: BallVectorMachine(
            kernel=RBF(gamma), max_core=300, cache="16MiB"
        ),
    }


def extra_bytes(make: Callable[[], Any], X: Any, y: np.ndarray, X_test: Any) -> tuple[int, Any]:
    model = make().allocate(X.shape[1])
    tracemalloc.start()
    model.fit(X, y)
    model.decision_function(X_test)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, model


def measure(p: Problem, make: Callable[[], Any], rounds: int) -> Outcome:
    forms = {"csr": (p.X, p.X_test)}
    forms = {"dense": tuple(X.astype(np.float32).toarray() for X in forms["csr"]), **forms}
    extra, fitted = {}, {}
    for form, (X, X_test) in forms.items():
        extra[form], fitted[form] = extra_bytes(make, X, p.y, X_test)
    assert bytes(fitted["dense"].arena) == bytes(fitted["csr"].arena)
    sample = [fitted[form].decision_function(X_test[:200]) for form, (_, X_test) in forms.items()]
    assert sample[0].tobytes() == sample[1].tobytes()
    fits: dict[str, list[float]] = {form: [] for form in forms}
    decided: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form, (X, X_test) in forms.items():
            fits[form].append(timed(partial(make().fit, X, p.y), process_time))
            decide = partial(fitted[form].decision_function, X_test)
            decided[form].append(timed(decide, process_time))
    return Outcome(
        fit_seconds=(median(fits["dense"]), median(fits["csr"])),
        decide_seconds=(median(decided["dense"]), median(decided["csr"])),
        extra_bytes=(extra["dense"], extra["csr"]),
        model_bytes=fitted["csr"].nbytes,
    )


def megabytes(n: int) -> str:
    return f"{n / 1e6:.2f}"


def row(name: str, o: Outcome) -> list[str]:
    cells = [f"{seconds:.4f}" for seconds in (*o.fit_seconds, *o.decide_seconds)]
    return [name, *cells, *map(megabytes, (*o.extra_bytes, o.model_bytes))]


COLUMNS = ["learner", "fit s, dense", "CSR", "decide s, dense", "CSR"]
COLUMNS += ["extra MB, dense", "CSR", "model MB"]


def main() -> None:
    args = parsed(arguments(__doc__, rounds=3))
    tables: list[Table] = []
    figures: dict[str, Any] = {}
    for p in problems(args.quick):
        found = {}
        for name, make in learners(p).items():
            progress(f"{p.name}: {name}")
            found[name] = measure(p, make, 1 if args.quick else args.rounds)
        n, width = p.X.shape
        share = 100 * len(p.X.data) / (n * width)
        in_csr, in_full = bytes_of(p.X), 4 * n * width
        tables.append(
            Table(
                f"{p.name}: {n:,} x {width:,}, {share:.2g} % not zero, {len(p.X_test):,} decided",
                COLUMNS,
                [row(name, o) for name, o in found.items()],
                f"The training rows take {megabytes(in_full)} MB as dense float32,"
                f" {megabytes(in_csr)} MB as CSR.",
            )
        )
        figures[p.name] = {name: asdict(o) for name, o in found.items()}
    about = [
        "Seconds of the processor, medians; both forms run in turn. Models and decisions are the"
        " same to the last bit (decisions of 200 rows are compared). Extra: the peak of what a fit"
        " and a decision allocate beside the matrix and the planned bytes of the model.",
    ]
    publish(
        Report("sparse/csr", "Sparse rows", tables, about, figures, left_out(FILES, args.quick)),
        args.out,
    )


if __name__ == "__main__":
    main()
