"""IncrementalDecrementalSVM against LIBSVM: after learning 2,000 rows one by one, and after
unlearning 500 of them, the decision values are those of the machine solved at once.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import BANANA, Split, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import yes
from benchmarks.twin.data import TWIN_TASKS
from edgesvm import RBF, IncrementalDecrementalSVM

GAMMA = {"Banana": 0.5, "Waveform": 1 / 21, "N-Checkerboard": 1 / 0.74}
PENALTIES = (1.0, 100.0)
LIMIT = 1e-4  # of the range of the decision values


def split_of(name: str) -> Split:
    task = next(task for task in TWIN_TASKS if task.name == name)
    return (BANANA if name == "Banana" else task).split(2000)


def libsvm(X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> SVC:
    return SVC(C=C, gamma=gamma, tol=1e-8, cache_size=200).fit(X, y)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference, in parts of the range of theirs."""
    return float(np.abs(ours - theirs).max() / (theirs.max() - theirs.min()))


def compare(
    name: str, C: float, n: int, n_unlearned: int, dtype: str
) -> tuple[list[str], dict[str, Any]]:
    X, y, X_test, _ = split_of(name)
    X, y = X[:n].astype(dtype), y[:n]
    Z = np.concatenate([X, X_test[:1000].astype(dtype)])
    gamma = GAMMA[name]
    learner = IncrementalDecrementalSVM(max_vectors=n, kernel=RBF(gamma), C=C, dtype=dtype)
    begin = process_time()
    learner.partial_fit(X, y, classes=[False, True])
    learned_s = since(begin)
    begin = process_time()
    batch = libsvm(X.astype(float), y, C, gamma)
    libsvm_s = since(begin)
    learned = apart(learner.decision_function(Z), batch.decision_function(Z.astype(float)))
    residual = float(learner.kt_residual())

    gone = np.random.default_rng(1).permutation(n)[:n_unlearned]
    begin = process_time()
    for index in sorted(gone.tolist(), reverse=True):  # later ones move down
        learner.unlearn(index)
    unlearned_s = since(begin)
    kept = np.setdiff1d(np.arange(n), gone)
    fewer = libsvm(X[kept].astype(float), y[kept], C, gamma)
    left = learner.decision_function(Z)
    unlearned = apart(left, fewer.decision_function(Z.astype(float)))
    again = IncrementalDecrementalSVM(max_vectors=n, kernel=RBF(gamma), C=C, dtype=dtype)
    again.partial_fit(X[kept], y[kept], classes=[False, True])
    fresh = apart(left, again.decision_function(Z))
    result = {
        "learned": learned,
        "unlearned": unlearned,
        "against_retrained": fresh,
        "kt_residual": [residual, float(learner.kt_residual())],
        "seconds": {"learned": learned_s, "unlearned": unlearned_s, "libsvm": libsvm_s},
        "n_from_scratch": learner.n_from_scratch_,
        "n_path_events": learner.n_path_events_,
    }
    row = [
        name,
        f"{C:g}",
        dtype,
        f"{learned:.1e}",
        f"{unlearned:.1e}",
        f"{fresh:.1e}",
        f"{max(result['kt_residual']):.1e}",
        f"{learned_s:.2f}",
        f"{unlearned_s:.2f}",
        f"{libsvm_s:.2f}",
        f"{learner.nbytes:,}",
    ]
    return row, result


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=2000, help="learned (default 2,000)")
    parser.add_argument("--unlearned", type=int, default=500, help="of them (default 500)")
    args = parsed(parser)
    n, n_unlearned = (200, 50) if args.quick else (args.rows, args.unlearned)
    why = missing("banana")
    names = [name for name in GAMMA if name != "Banana" or why is None]
    rows, figures = [], {}
    for name in names:
        for C in PENALTIES:
            for dtype in ("float64", "float32"):
                progress(f"{name}, C = {C:g}, {dtype}")
                row, figures[f"{name}, C={C:g}, {dtype}"] = compare(name, C, n, n_unlearned, dtype)
                rows.append(row)
    columns = ["data", "C", "dtype", "learned", f"{n_unlearned} unlearned", "against retrained"]
    columns += ["KT residual", "s learning", "s unlearning", "s LIBSVM", "bytes"]
    worst = max(max(f["learned"], f["unlearned"], f["against_retrained"]) for f in figures.values())
    about = (
        f"{n:,} rows learned one by one, RBF; then {n_unlearned} random ones unlearned. Columns 4 "
        "to 6: the largest difference of decision values, on these rows and 1,000 others, as a "
        "share of their range: from LIBSVM (tolerance 1e-8) on all rows, from LIBSVM on the rows "
        "that are left, and from the same learner trained on those alone."
    )
    table = Table("", columns, rows, f"Worst: {worst:.1e}; within 1e-4: {yes(worst <= LIMIT)}.")
    title, skipped = "Exactness of learning and unlearning one by one", []
    if why is not None:
        skipped = [f"Banana: {why}"]
    publish(Report("incremental/exact", title, [table], [about], figures, skipped), args.out)


if __name__ == "__main__":
    main()
