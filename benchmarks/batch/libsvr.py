"""BatchSVR against LIBSVM, as scikit-learn's SVR: same C, epsilon, gamma, tolerance and bytes of
cache.

Time: both solve in turn, each round, and the median of the rounds' ratios counts. Objectives are
computed in float64 from the coefficients.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
from sklearn.svm import SVR

from benchmarks.batch.libsvm import CACHE_MIB, TIGHT, seconds
from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out, missing, read, standardised
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import yes
from edgesvm import RBF, BatchSVR

SETS = ("airfoil", "ccpp", "bike_hourly", "gas_turbine_nox")
QUICK = "generated"
C, EPSILON = 10.0, 0.1  # of targets in standard deviations
N_TEST = 500
LOOSE = 1e-3
LIMIT = 0.5  # of SVR's time


@dataclass(frozen=True)
class Problem:
    """Standardized rows in float32, and targets."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """One set at one tolerance; "ours" and "theirs" in that order where there are two."""

    rows: int
    features: int
    seconds: tuple[float, float]
    ratio: float
    ratios: list[float]
    iterations: tuple[int, int]
    supports: tuple[int, int]
    objective_apart: float  # relative; negative: ours is lower
    predictions_apart: float
    r2: tuple[float, float]
    planned_bytes: int


def problem(name: str, most: int) -> Problem:
    """At most so many rows to train on, at random, without NaN."""
    rng = np.random.default_rng(2005)
    if name == QUICK:
        X = rng.standard_normal((most + N_TEST, 3))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(len(X))
    else:
        file = read(f"regression/{name}")
        whole = ~np.isnan(file["X"]).any(axis=1)
        X, y = file["X"][whole].astype(np.float64), file["y"][whole].astype(np.float64)
    chosen = rng.permutation(len(X))[: most + N_TEST]
    train, test = chosen[N_TEST:], chosen[:N_TEST]
    y = (y - y[train].mean()) / y[train].std()
    X_train, X_test = standardised(X[train], X[test])
    return Problem(X_train, y[train], X_test, y[test])


def objective(p: Problem, gamma: float, model: Any) -> float:
    """1/2 beta' K beta - y' beta + epsilon sum |beta|, in float64, a block of K at a time."""
    Z, beta = p.X[model.support_].astype(np.float64), model.dual_coef_[0]
    total = sum(
        beta[at : at + 1000] @ RBF(gamma)(Z[at : at + 1000], Z) @ beta
        for at in range(0, len(Z), 1000)
    )
    return float(0.5 * total - p.y[model.support_] @ beta + EPSILON * np.abs(beta).sum())


def measure(p: Problem, tol: float, rounds: int, about: str) -> Outcome:
    gamma = 1.0 / p.X.shape[1]
    X64, X_test64 = p.X.astype(np.float64), p.X_test.astype(np.float64)
    tight = tol < LOOSE
    X = X64 if tight else p.X

    def ours() -> BatchSVR:
        return BatchSVR(
            C=C,
            epsilon=EPSILON,
            kernel=RBF(gamma),
            tol=tol,
            max_samples=len(X),
            cache=f"{CACHE_MIB}MiB",
            dtype="float64" if tight else "float32",
        )

    def theirs() -> SVR:
        return SVR(C=C, epsilon=EPSILON, gamma=gamma, tol=tol, cache_size=CACHE_MIB)

    times: list[tuple[float, float]] = []
    for k in range(rounds):
        progress(f"{about} to {tol:g}: round {k + 1}/{rounds}")
        fast, model = seconds(ours, X, p.y)
        slow, peer = seconds(theirs, X64, p.y)
        times.append((fast, slow))
    ratios = [fast / slow for fast, slow in times]
    objectives = objective(p, gamma, model), objective(p, gamma, peer)
    predicted = model.predict(p.X_test), peer.predict(X_test64)
    return Outcome(
        rows=len(X),
        features=X.shape[1],
        seconds=(median(t[0] for t in times), median(t[1] for t in times)),
        ratio=median(ratios),
        ratios=ratios,
        iterations=(model.n_iter_, int(np.max(peer.n_iter_))),
        supports=(len(model.support_), len(peer.support_)),
        objective_apart=(objectives[0] - objectives[1]) / abs(objectives[1]),
        predictions_apart=float(np.abs(predicted[0] - predicted[1]).max()),
        r2=(model.score(p.X_test, p.y_test), float(peer.score(X_test64, p.y_test))),
        planned_bytes=model.nbytes,
    )


COLUMNS = ["data", "rows", "tolerance", "CPU s, ours", "CPU s, SVR", "ratio", "of rounds"]
COLUMNS += ["iterations", "SVs", "objective", "predictions", "R²"]


def row(name: str, tol: float, o: Outcome) -> list[str]:
    return [
        name,
        f"{o.rows:,} x {o.features}",
        f"{tol:g}",
        f"{o.seconds[0]:.3f}",
        f"{o.seconds[1]:.3f}",
        f"{o.ratio:.2f}",
        f"{min(o.ratios):.2f} to {max(o.ratios):.2f}",
        f"{o.iterations[0]:,} / {o.iterations[1]:,}",
        f"{o.supports[0]:,} / {o.supports[1]:,}",
        f"{o.objective_apart:+.1e}",
        f"{o.predictions_apart:.1e}",
        f"{o.r2[0]:.4f} / {o.r2[1]:.4f}",
    ]


def main() -> None:
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--most", type=int, default=8000, help="rows of a set (default 8,000)")
    args = parsed(parser)
    rounds, most = (1, 400) if args.quick else (args.rounds, args.most)
    names = [name for name in SETS if not missing(f"regression/{name}")]
    rows, outcomes = [], {}
    for name in [QUICK] if args.quick else names:
        p = problem(name, most)
        for tol in (LOOSE, TIGHT):
            outcome = measure(p, tol, rounds, name)
            rows.append(row(name, tol, outcome))
            outcomes[f"{name}, {tol:g}"] = outcome
    about = (
        f"Ours / SVR's where there are two. RBF kernel of gamma = 1 / D, C = {C:g}, epsilon = "
        f"{EPSILON:g}, cache {CACHE_MIB} MiB; at most {most:,} rows of a set, at random; features "
        f"and targets standardized. Ours in float32 at {LOOSE:g}, in float64 at {TIGHT:g}. The "
        f"ratio is the median over the rounds; the objective is relative to SVR's (negative: ours "
        f"is lower); predictions: the largest difference of {N_TEST:,}, of rows that were not "
        f"learned."
    )
    note = ""
    if outcomes:
        worst = max(o.ratio for o in outcomes.values())
        apart = max(abs(o.objective_apart) for o in outcomes.values())
        note = (
            f"Largest ratio: {worst:.2f}; below {LIMIT:g}: {yes(worst < LIMIT)}. Largest "
            f"difference of objectives: {apart:.1e}."
        )
    table = Table("", COLUMNS, rows, note)
    figures = {name: asdict(o) for name, o in outcomes.items()}
    skipped = left_out([f"regression/{name}" for name in SETS], args.quick)
    publish(
        Report("batch/libsvr", "BatchSVR against LIBSVM", [table], [about], figures, skipped),
        args.out,
    )


if __name__ == "__main__":
    main()
