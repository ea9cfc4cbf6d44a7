"""IncrementalDecrementalSVR against scikit-learn's SVR, after thousands of samples learned,
exchanged and unlearned one by one: the predictions are those of the machine solved at once.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVR

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import yes
from edgesvm import RBF, IncrementalDecrementalSVR

SETS = ("airfoil", "ccpp", "bike_hourly", "air_quality_co", "gas_turbine_nox")
QUICK = "generated"
EPSILON = 0.1  # of the deviation of the targets
PENALTIES = (1.0, 10.0)
MOST = 2000  # rows of a set, at random
LEARNED = 0.6  # share of the events; the others unlearn a random sample
KKT_LIMIT, LIMIT = 1e-12, 1e-6  # of the deviation of the targets


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows without NaN in a random order, float64; features and targets standardized."""
    rng = np.random.default_rng(28)
    if name == QUICK:
        X = rng.standard_normal((MOST, 3))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(MOST)
    else:
        file = read(f"regression/{name}")
        whole = ~np.isnan(file["X"]).any(axis=1)
        X, y = file["X"][whole].astype(np.float64), file["y"][whole].astype(np.float64)
    chosen = rng.permutation(len(X))[:MOST]
    X, y = X[chosen], y[chosen]
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return (X - X.mean(axis=0)) / deviation, (y - y.mean()) / y.std()


def mixed_events(
    model: IncrementalDecrementalSVR, X: np.ndarray, y: np.ndarray, n_events: int
) -> dict[str, Any]:
    """Learn or unlearn one sample, again and again; the rows that are left, and what it took."""
    rng = np.random.default_rng(1)
    left: list[int] = []
    worst, seconds = 0.0, 0.0
    for k in range(n_events):
        learns = not left or rng.random() < LEARNED
        row, place = int(rng.integers(len(X))), int(rng.integers(max(len(left), 1)))
        begin = process_time()
        if learns:
            model.learn_one(X[row], y[row])
        else:
            model.unlearn(place)
        seconds += process_time() - begin
        if not learns:
            del left[place]
        else:
            left = [*left, row][-model.max_vectors :]
        if k % 250 == 249 or k == n_events - 1:
            worst = max(worst, EPSILON * model.kt_residual())
    return {"left": left, "residual": worst, "us_per_event": 1e6 * seconds / n_events}


def solved_again(batch: SVR, K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients and intercept of an SVR, its free coefficients solved again in float64."""
    beta = np.zeros(len(y))
    beta[batch.support_] = batch.dual_coef_[0]
    free = (beta != 0) & (np.abs(beta) < batch.C)
    m = int(free.sum())
    bordered = np.ones((m + 1, m + 1))
    bordered[0, 0] = 0.0
    bordered[1:, 1:] = K[np.ix_(free, free)]
    bounded = np.where(free, 0.0, beta)
    aim = y[free] - EPSILON * np.sign(beta[free]) - K[free] @ bounded
    # rows that are alike share a coefficient as they like
    intercept, *of_free = np.linalg.lstsq(bordered, np.array([-bounded.sum(), *aim]))[0]
    bounded[free] = of_free
    return bounded, float(intercept)


def broken(beta: np.ndarray, error: np.ndarray, C: float) -> float:
    """How far the errors y - f are from where their coefficients require them."""
    along = np.where(beta != 0, np.sign(beta) * error, np.abs(error)) - EPSILON
    beyond = np.where(np.abs(beta) < C, np.maximum(along, 0), 0.0)
    short = np.where(beta != 0, np.maximum(-along, 0), 0.0)
    return float(np.maximum(beyond, short).max())


def compare(
    name: str, C: float, dtype: str, n_held: int, n_events: int
) -> tuple[list[str], dict[str, Any]]:
    X, y = rows_of(name)
    X = X.astype(dtype)
    kernel = RBF(1.0 / X.shape[1])
    model = IncrementalDecrementalSVR(
        max_vectors=n_held, kernel=kernel, C=C, epsilon=EPSILON, dtype=dtype
    ).allocate(X.shape[1])
    found = mixed_events(model, X, y, n_events)
    left = found.pop("left")
    wide = X.astype(np.float64)
    begin = process_time()
    batch = SVR(C=C, epsilon=EPSILON, gamma=kernel.gamma, tol=1e-10, cache_size=200)
    batch.fit(wide[left], y[left])
    svr_s = since(begin)
    K = kernel(wide, wide[left])
    beta, intercept = solved_again(batch, K[left], y[left])
    ours, theirs = model.predict(X), batch.predict(wide)
    theirs_again = K @ beta + intercept
    found |= {
        "apart": float(np.abs(ours - theirs).max()),
        "apart_again": float(np.abs(ours - theirs_again).max()),
        "svr_residual": broken(beta, (y - theirs)[left], C),
        "svr_residual_again": broken(beta, (y - theirs_again)[left], C),
        "n_left": len(left),
        "n_margin": int(model.margin_.sum()),
        "n_exchanged": model.n_forgotten_,
        "n_unlearned": model.n_unlearned_,
        "n_from_scratch": model.n_from_scratch_,
        "n_path_events": model.n_path_events_,
        "svr_s": svr_s,
        "bytes": model.nbytes,
    }
    row = [
        name,
        f"{C:g}",
        dtype,
        f"{found['n_margin']} of {len(left)}",
        f"{found['residual']:.1e}",
        f"{found['svr_residual']:.1e}",
        f"{found['apart']:.1e}",
        f"{found['apart_again']:.1e}",
        f"{found['us_per_event']:.0f}",
        f"{1e6 * svr_s:,.0f}",
        f"{model.nbytes:,}",
    ]
    return row, found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--events", type=int, default=5000, help="default 5,000")
    parser.add_argument("--held", type=int, default=500, help="samples at most (default 500)")
    args = parsed(parser)
    n_held, n_events = (60, 300) if args.quick else (args.held, args.events)
    skipped = left_out([f"regression/{name}" for name in SETS], args.quick)
    names = [name for name in SETS if not missing(f"regression/{name}")]
    rows, figures = [], {}
    for name in [QUICK] if args.quick else names:
        for C in PENALTIES:
            for dtype in ("float64", "float32"):
                progress(f"{name}, C = {C:g}, {dtype}")
                row, found = compare(name, C, dtype, n_held, n_events)
                rows.append(row)
                figures[f"{name}, C={C:g}, {dtype}"] = found
    columns = ["data", "C", "dtype", "on the margin", "residual", "SVR's residual"]
    columns += ["from SVR", "from SVR in float64", "µs an event", "µs SVR", "bytes"]
    counts = next(iter(figures.values()), {"n_exchanged": 0, "n_unlearned": 0})
    about = (
        f"{n_events:,} events: a random row is learned, or (in {1 - LEARNED:.0%}) a random stored "
        f"one unlearned; {counts['n_unlearned']:,} are unlearned, and {counts['n_exchanged']:,} "
        f"learned where {n_held} are stored, for the oldest. RBF of gamma = 1 / D, epsilon = "
        f"{EPSILON}; {MOST:,} rows of a set at random, features and targets standardized; so all "
        "figures are shares of the targets' deviation. Residual: the largest violation of the "
        "Kuhn-Tucker conditions, from their definition, at every 250th event; SVR's: that of "
        "scikit-learn's SVR (tolerance 1e-10) on the samples that are left. From SVR: the largest "
        "difference of predictions, on all rows; LIBSVM keeps kernel values in float32, which a "
        "large C shows. In float64: from the same SVR with its free coefficients solved again."
    )
    found = list(figures.values())
    first = [f for key, f in figures.items() if f"C={PENALTIES[0]:g}," in key]
    residual, again, raw, raw_first = (
        max((f[what] for f in some), default=0.0)
        for what, some in (
            *(("residual", found), ("apart_again", found)),
            *(("apart", found), ("apart", first)),
        )
    )
    verdict = (
        f"Residual at most {residual:.1e}; within 1e-12: {yes(residual <= KKT_LIMIT)}. From SVR "
        f"{raw_first:.1e} with C = {PENALTIES[0]:g}, {raw:.1e} in all; from SVR in float64 "
        f"{again:.1e}, within 1e-6: {yes(again <= LIMIT)}. Solved from scratch: "
        f"{sum(f['n_from_scratch'] for f in found)} times."
    )
    table = Table("", columns, rows, verdict)
    title = "Regression that learns and unlearns exactly"
    publish(Report("regression/exact", title, [table], [about], figures, skipped), args.out)


if __name__ == "__main__":
    main()
