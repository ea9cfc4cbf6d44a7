"""One class by balls against scikit-learn's `OneClassSVM`: the same boundary, its time, and how
well it tells other rows from those of the class.

The rows of one class, at most 30,000 in a random order, 70 % to learn, standardised; RBF(1 /
n_features). Rows of other classes, as many as are left of the first, are only told apart. Seconds
are of the processor, of a fit without reading, the least of three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import all_rows, left_out, missing
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, OneClassBallVectorMachine, OneClassCoreVectorMachine

MOST_ROWS, REPEATS, CACHE_MIB = 30_000, 3, 200
SHARES = (0.01, 0.1)
LEARNERS = {"CVM": OneClassCoreVectorMachine, "BVM": OneClassBallVectorMachine}
# file: the labels of the class
SETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "optdigits": lambda y: y % 2 == 0,
    "occupancy": lambda y: y == y.min(),
    "letter": lambda y: y <= 20,
    "elec2": lambda y: y == y.min(),
    "shuttle": lambda y: y == 1,
    "ijcnn1": lambda y: y <= 0,
    "kdd99_10pct": lambda y: y == 0,
    "w8a": lambda y: y <= 0,
}
QUICK = "cloud, generated"


@dataclass(frozen=True)
class OneClass:
    """Rows of the class to learn, others of it, and of other classes."""

    learned: np.ndarray
    alike: np.ndarray
    others: np.ndarray


def split_of(name: str) -> OneClass:
    rng = np.random.default_rng(0)
    if name == QUICK:
        X = rng.standard_normal((400, 3))
        return scaled(X[:300], X[300:], 2.0 * rng.standard_normal((100, 3)))
    X, y = all_rows(name)
    is_own = SETS[name](y)
    own, others = (rng.permutation(np.flatnonzero(of))[:MOST_ROWS] for of in (is_own, ~is_own))
    n = int(0.7 * len(own))
    return scaled(X[own[:n]], X[own[n:]], X[others[: len(own) - n]])


def scaled(learned: np.ndarray, *others: np.ndarray) -> OneClass:
    """To mean 0 and deviation 1 of those to learn."""
    mean, deviation = learned.mean(axis=0, dtype=float), learned.std(axis=0, dtype=float)
    scale = np.where(deviation > 0, deviation, 1.0)
    return OneClass(*(((X - mean) / scale).astype(np.float32) for X in (learned, *others)))


def least(fit: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and its seconds."""
    seconds = []
    for _ in range(REPEATS):
        begin = process_time()
        model = fit()
        seconds.append(since(begin))
        if seconds[0] > 10.0:
            break
    return model, min(seconds)


def measure(split: OneClass, nu: float) -> dict[str, dict[str, float]]:
    from sklearn.svm import OneClassSVM

    X, gamma = split.learned, 1.0 / split.learned.shape[1]
    wide = X.astype(np.float64)
    theirs, seconds = least(lambda: OneClassSVM(gamma=gamma, nu=nu, cache_size=CACHE_MIB).fit(wide))
    exact = OneClassSVM(gamma=gamma, nu=nu, cache_size=CACHE_MIB, tol=1e-6).fit(wide)
    tested = np.vstack([split.alike, split.others])
    expected = exact.score_samples(tested.astype(np.float64)) / exact.offset_[0]
    told = np.repeat([True, False], [len(split.alike), len(split.others)])
    found = {"SVM": told_of(expected, told) | {"s": seconds, "held": len(theirs.support_)}}
    room = max(1000, int(1.3 * nu * len(X)) + 500)
    for how, kind in LEARNERS.items():
        make = {"kernel": RBF(gamma), "nu": nu, "cache": f"{CACHE_MIB}MiB", "max_core": room}
        while True:
            model, seconds = least(lambda kind=kind, make=make: kind(**make).fit(X))
            if model.enclosed_ or make["max_core"] >= len(X):
                break
            make["max_core"] = min(2 * make["max_core"], len(X))
        scores = model.score_samples(tested) / model.offset_
        found[how] = told_of(scores, told) | {
            "s": seconds,
            "held": model.n_core_,
            "apart": float(np.abs(scores - expected).max()),
            "same": 100 * float(((scores < 1) == (expected < 1)).mean()),
            "converged": model.converged_,
        }
    return found


def told_of(scores: np.ndarray, told: np.ndarray) -> dict[str, float]:
    """AUC, and how many rows of the class are outside."""
    from sklearn.metrics import roc_auc_score

    return {
        "auc": float(roc_auc_score(told, scores)),
        "outside": 100 * float((scores[told] < 1).mean()),
    }


def table(nu: float, found: dict[str, Any]) -> Table:
    header = ["data", "rows", "SVM s", "SVs", "AUC", "out %"]
    header += ["CVM s", "held", "AUC", "out %", "f apart", "same %"]
    header += ["BVM s", "held", "AUC", "out %", "same %"]
    rows = []
    for name, (shape, of) in found.items():
        row = [name, f"{shape[0]:,} x {shape[1]}"]
        for how, cells in of.items():
            star = "" if cells.get("converged", True) else " *"
            row += [f"{cells['s']:.2f}{star}", f"{cells['held']:,}", f"{cells['auc']:.3f}"]
            row.append(f"{cells['outside']:.1f}")
            if how == "CVM":
                row.append(f"{cells['apart']:.1e}")
            if how != "SVM":
                row.append(f"{cells['same']:.2f}")
        rows.append(row)
    return Table(f"nu = {nu:g}", header, rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=list(SETS), default=list(SETS))
    args = parsed(parser)
    names = [QUICK] if args.quick else [n for n in args.sets if missing(n) is None]
    found: dict[float, dict[str, Any]] = {nu: {} for nu in SHARES}
    for name in names:
        split = split_of(name)
        for nu in SHARES:
            cells = measure(split, nu)
            found[nu][name] = split.learned.shape, cells
            say(f"{name} {nu:g}: " + ", ".join(f"{k} {c['s']:.2f} s" for k, c in cells.items()))
    about = [
        "SVM: scikit-learn's `OneClassSVM` (LIBSVM) with 200 MB of cache; its time is that of its "
        "default tolerance, its boundary that of 1e-6. "
        "CVM: `OneClassCoreVectorMachine`, the same optimum by core sets, also with 200 MiB; room "
        "for 1.3 nu n + 500 vectors, at least 1,000, twice as much where that was full. BVM: "
        "`OneClassBallVectorMachine`, another ball, its boundary at the share nu of the rows. f "
        "apart: the largest difference of f / rho over the rows tested, where f = rho is the "
        "boundary. same: rows that are inside, or outside, of both. AUC: rows of the class against "
        "others. out: rows of the class, not learned, that are outside. \\*: not converged.",
    ]
    figures = {
        f"{nu:g} / {name}": of for nu, each in found.items() for name, (_, of) in each.items()
    }
    title = "One class by enclosing balls, and scikit-learn's OneClassSVM"
    tables = [table(nu, each) for nu, each in found.items()]
    skipped = left_out(SETS, args.quick)
    publish(Report("enclosing/one_class", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
