"""BatchSVM against LIBSVM, as scikit-learn's SVC: same C, gamma, tolerance and bytes of cache.

Time: both solve in turn, each round, and the median of the rounds' ratios counts. Objective and
support vectors: at a tight tolerance, both objectives computed in float64 from the coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import QUICK, left_out, missing, read, standardised
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, BatchSVM

CACHE_MIB = 200  # SVC's default
TIGHT = 1e-6


@dataclass(frozen=True)
class Problem:
    """Rows in float32; y is bool."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    C: float
    gamma: float


@dataclass(frozen=True)
class Outcome:
    """One problem; "ours" and "theirs" in that order where there are two."""

    rows: int
    features: int
    seconds: tuple[float, float]
    ratio: float
    ratios: list[float]
    iterations: tuple[int, int]
    supports: tuple[int, int]
    supports_apart: int  # at the tight tolerance: in one set only
    distinct_supports_apart: int  # equal rows of one label taken for one
    objective_apart: float  # relative, at the tight tolerance; negative: ours is lower
    decisions_apart: float
    accuracy: tuple[float, float]
    planned_bytes: int


def held_out(X: np.ndarray, y: np.ndarray, n_test: int) -> tuple[np.ndarray, ...]:
    order = np.random.default_rng(2005).permutation(len(X))
    X, y = X[order].astype(np.float64), y[order]
    X_train, X_test = standardised(X[n_test:], X[:n_test])
    return X_train, y[n_test:], X_test, y[:n_test]


def small(name: str, n_test: int, C: float, gamma: float) -> Problem:
    file = read(name)
    return Problem(name, *held_out(file["X"], file["y"] > 0, n_test), C=C, gamma=gamma)


def digits() -> Problem:
    file = read("pendigits")
    X, X_test = (file[k].astype(np.float32) / np.float32(100) for k in ("X_train", "X_test"))
    odd, odd_test = file["y_train"] % 2 == 1, file["y_test"] % 2 == 1
    return Problem("pendigits, odd or even", X, odd, X_test, odd_test, C=10.0, gamma=1.0)


def first_rows(name: str, n: int, C: float, gamma: float) -> Problem:
    file = read(name)
    X, X_test = (file[k].astype(np.float32) for k in ("X_train", "X_test"))
    X_test, y_test = X_test[:10_000], file["y_test"][:10_000] > 0
    y = file["y_train"][:n] > 0
    return Problem(f"{name}, {n:,} rows", X[:n], y, X_test, y_test, C, gamma)


# file: its problem
PROBLEMS = {
    "banana": lambda: small("banana", 1300, C=10.0, gamma=1.0),
    "pima": lambda: small("pima", 200, C=1.0, gamma=0.125),
    "pendigits": digits,
    "a9a": lambda: first_rows("a9a", 10_000, C=1.0, gamma=0.05),
    "ijcnn1": lambda: first_rows("ijcnn1", 20_000, C=10.0, gamma=1.0),
}


def problems(quick: bool) -> Iterator[Problem]:
    """Those whose files are here; with `quick` one that is generated."""
    if quick:
        yield Problem(QUICK.name, *QUICK.split(0), C=1.0, gamma=1 / 21)
        return
    for file, load in PROBLEMS.items():
        if missing(file) is None:
            yield load()


def ours(p: Problem, tol: float, dtype: str = "float32") -> BatchSVM:
    return BatchSVM(
        C=p.C,
        kernel=RBF(p.gamma),
        tol=tol,
        max_samples=len(p.X),
        cache=f"{CACHE_MIB}MiB",
        dtype=dtype,
    )


def theirs(p: Problem, tol: float) -> SVC:
    return SVC(C=p.C, gamma=p.gamma, tol=tol, cache_size=CACHE_MIB)


def seconds(make: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, Any]:
    """Of the processor, memory included: a new solver each time."""
    begin = process_time()
    model = make().fit(X, y)
    return since(begin), model


def objective(p: Problem, model: Any) -> float:
    """1/2 beta' K beta - sum |beta|, in float64, a block of K at a time."""
    Z, beta = p.X[model.support_].astype(np.float64), model.dual_coef_[0]
    norms, total = (Z**2).sum(axis=1), 0.0
    for at in range(0, len(Z), 1000):
        part = slice(at, at + 1000)
        squares = norms[part, None] + norms - 2 * Z[part] @ Z.T
        total += beta[part] @ np.exp(-p.gamma * np.maximum(squares, 0)) @ beta
    return float(0.5 * total - np.abs(beta).sum())


def distinct_rows(model: Any, row_of: np.ndarray) -> set[int]:
    """Support vectors as rows that differ: equal rows of one label may share a coefficient
    anyhow."""
    return set(row_of[model.support_].tolist())


def measure(p: Problem, rounds: int) -> Outcome:
    X64 = p.X.astype(np.float64)  # what SVC takes as it is
    times: list[tuple[float, float]] = []
    for k in range(rounds):
        progress(f"{p.name}: round {k + 1}/{rounds}")
        fast, model = seconds(lambda: ours(p, 1e-3), p.X, p.y)
        slow, peer = seconds(lambda: theirs(p, 1e-3), X64, p.y)
        times.append((fast, slow))
    ratios = [fast / slow for fast, slow in times]
    progress(f"{p.name}: to {TIGHT:g}")
    tight, tight_peer = ours(p, TIGHT, "float64").fit(p.X, p.y), theirs(p, TIGHT).fit(X64, p.y)
    objectives = objective(p, tight), objective(p, tight_peer)
    sample = slice(0, 1000)
    labelled = np.column_stack([p.X, p.y])
    row_of = np.unique(labelled, axis=0, return_inverse=True)[1].reshape(-1)
    apart = set(tight.support_.tolist()) ^ set(tight_peer.support_.tolist())
    distinct = [distinct_rows(m, row_of) for m in (tight, tight_peer)]
    return Outcome(
        rows=len(p.X),
        features=p.X.shape[1],
        seconds=(median(t[0] for t in times), median(t[1] for t in times)),
        ratio=median(ratios),
        ratios=ratios,
        iterations=(model.n_iter_, int(peer.n_iter_[0])),
        supports=(len(model.support_), len(peer.support_)),
        supports_apart=len(apart),
        distinct_supports_apart=len(distinct[0] ^ distinct[1]),
        objective_apart=(objectives[0] - objectives[1]) / abs(objectives[1]),
        decisions_apart=float(
            np.abs(
                tight.decision_function(p.X_test[sample])
                - tight_peer.decision_function(p.X_test[sample].astype(np.float64))
            ).max()
        ),
        accuracy=(
            100 * model.score(p.X_test, p.y_test),
            100 * float(peer.score(p.X_test.astype(np.float64), p.y_test)),
        ),
        planned_bytes=model.nbytes,
    )


COLUMNS = ["data", "rows", "CPU s, ours", "CPU s, SVC", "ratio", "of rounds", "iterations", "SVs"]
COLUMNS += ["SVs apart", "objective", "decisions", "accuracy %"]


def row(name: str, o: Outcome) -> list[str]:
    return [
        name,
        f"{o.rows:,} x {o.features}",
        f"{o.seconds[0]:.3f}",
        f"{o.seconds[1]:.3f}",
        f"{o.ratio:.2f}",
        f"{min(o.ratios):.2f} to {max(o.ratios):.2f}",
        f"{o.iterations[0]:,} / {o.iterations[1]:,}",
        f"{o.supports[0]:,} / {o.supports[1]:,}",
        f"{o.supports_apart} ({o.distinct_supports_apart})",
        f"{o.objective_apart:+.1e}",
        f"{o.decisions_apart:.1e}",
        f"{o.accuracy[0]:.2f} / {o.accuracy[1]:.2f}",
    ]


def main() -> None:
    args = parsed(arguments(__doc__, rounds=7))
    rounds = 2 if args.quick else args.rounds
    outcomes = {p.name: measure(p, rounds) for p in problems(args.quick)}
    about = (
        f"Ours / SVC's where there are two. RBF kernel, cache {CACHE_MIB} MiB. Times, iterations, "
        f"support vectors and accuracy are at tolerance 1e-3; the ratio is the median over the "
        f"rounds. The three columns before the last are at tolerance {TIGHT:g}, ours in float64: "
        f"support vectors in only one of the solutions (in brackets: with equal rows of one label "
        f"counted as one), the objective relative to SVC's (negative: ours is lower), and the "
        f"largest difference of 1,000 decision values."
    )
    note = ""
    if outcomes:
        ratios = [ratio for o in outcomes.values() for ratio in o.ratios]
        note = f"Median of all ratios: {median(ratios):.2f}."
    table = Table("", COLUMNS, [row(name, o) for name, o in outcomes.items()], note)
    figures = {name: asdict(o) for name, o in outcomes.items()}
    title, skipped = "BatchSVM against LIBSVM", left_out(PROBLEMS, args.quick)
    publish(Report("batch/libsvm", title, [table], [about], figures, skipped), args.out)


if __name__ == "__main__":
    main()
