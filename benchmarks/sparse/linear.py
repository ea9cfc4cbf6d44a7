"""SVMs on stores of non-zeros against LIBLINEAR and LIBSVM: time, accuracy, and planned bytes.

The linear kernel is solved by w, and compared by its primal objective too: LIBLINEAR penalises the
intercept, which is free here. Core and ball machines, whose loss is the squared one, have room for
a part of the rows, and are planned with the cache that they have by default. Beside the files there
are rows as RCV1 has them: 47,236 features, 76 words a row by Zipf's law, log tf-idf, unit norm,
labels of a random hyperplane with noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since, timed
from benchmarks.common.data import left_out, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.sparse.csr import FILES, Problem, of_file
from edgesvm import RBF, BallVectorMachine, BatchSVM, CoreVectorMachine, Linear, RandSVM
from edgesvm.data import SparseRows
from edgesvm.errors import ConvergenceWarning

C = 1.0
RBF_ROWS = 5000  # LIBSVM takes minutes for more
COLUMNS = ["system", "fit s", "decide s", "accuracy %", "primal objective", "SVs", "plan MiB"]


@dataclass(frozen=True)
class Outcome:
    fit_seconds: float
    decide_seconds: float
    accuracy: float
    primal: float | None = None
    support: int | None = None
    plan_mib: float | None = None
    full: bool = False


def words(n: int, n_test: int, width: int, length: int, seed: int = 0) -> Problem:
    """Rows of text, as the docstring of this file says."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1.0 / np.arange(10, width + 10))
    row = np.repeat(np.arange(n + n_test), rng.poisson(length, n + n_test))
    rank = np.searchsorted(share, rng.random(len(row)) * share[-1])
    places, count = np.unique(row * width + rng.permutation(width)[rank], return_counts=True)
    row, column = np.divmod(places, width)
    rarity = 1.0 + np.log(len(row) / np.maximum(np.bincount(column, minlength=width), 1))
    value = (1.0 + np.log(count)) * rarity[column]
    value /= np.sqrt(np.bincount(row, value * value))[row]
    f = np.bincount(row, value * rng.standard_normal(width)[column], n + n_test)
    y = f + 0.1 * f.std() * rng.standard_normal(len(f)) > 0.0
    ends = np.searchsorted(row, np.arange(n + n_test + 1))
    data, shape = value.astype(np.float32), (n + n_test, width)
    X = SparseRows(data, column.astype(np.int32), ends.astype(np.int32), shape)
    return Problem(f"RCV1-like, {n:,}", X[:n], y[:n], X[n:], y[n:])


def problems(quick: bool) -> Iterator[Problem]:
    if quick:
        yield words(400, 200, 1000, 20)
        return
    for name in FILES:
        if missing(name) is None:
            p = of_file(name)
            yield replace(p, y=p.y > 0, y_test=p.y_test > 0)
    yield words(16_000, 10_000, 47_236, 76)


def csr_matrix(X: SparseRows) -> Any:
    """What a user of scikit-learn has: float64."""
    from scipy.sparse import csr_matrix

    part = slice(X.indptr[0], X.indptr[-1])
    data = X.data[part].astype(np.float64)
    return csr_matrix((data, X.indices[part], X.indptr - X.indptr[0]), X.shape)


def measured(make: Callable[[], Any], rows: tuple[Any, Any], p: Problem, rounds: int) -> Outcome:
    """Rows to learn and to decide, of `p`, as the system takes them."""
    X, X_test = rows
    fits = []
    for _ in range(rounds):
        model = make()
        begin = process_time()
        model.fit(X, p.y)
        fits.append(since(begin))
    decide = [timed(partial(model.decision_function, X_test), process_time) for _ in range(rounds)]
    balls = isinstance(model, CoreVectorMachine | BallVectorMachine)
    ours = balls or isinstance(model, BatchSVM | RandSVM)
    return Outcome(
        fit_seconds=median(fits),
        decide_seconds=median(decide),
        accuracy=100.0 * float(np.mean(model.predict(X_test) == p.y_test)),
        primal=None if balls else primal_of(model, X, p.y),
        support=model.dual_coef_.shape[1] if hasattr(model, "dual_coef_") else None,
        plan_mib=model.nbytes / 2**20 if ours else None,
        full=balls and not model.enclosed_,
    )


def primal_of(model: Any, X: Any, y: np.ndarray) -> float:
    """1/2 |w|^2 + C sum max(0, 1 - y f), without a penalty of the intercept."""
    if isinstance(model, RandSVM):
        return model.primal_objective_
    if isinstance(model, BatchSVM):
        square = 2.0 * (model.objective_ + model.alpha_.sum())
    elif hasattr(model, "support_"):
        coef = model.dual_coef_.toarray()[0]
        square = float(coef @ (model.decision_function(X[model.support_]) - model.intercept_))
    else:
        square = float(model.coef_[0] @ model.coef_[0])
    losses = np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * model.decision_function(X))
    return 0.5 * square + C * float(losses.sum())


def nonzeros_of(p: Problem, n: int) -> int:
    """Room for n rows: for a part of them twice their share of the non-zeros, since rows that are
    drawn for violating may be longer than others."""
    total = int(p.X.indptr[-1] - p.X.indptr[0])
    return min(total, 2 * total * n // len(p.X))


def stored(p: Problem, n: int, kernel: Any, cache: str = "64MiB") -> BatchSVM:
    """With room for n rows."""
    room = nonzeros_of(p, n)
    return BatchSVM(max_samples=n, max_nonzeros=room, kernel=kernel, C=C, cache=cache)


def balls(p: Problem, rounds: int, rooms: tuple[int, ...], kernel: Any) -> dict[str, Outcome]:
    found = {}
    for kind in (CoreVectorMachine, BallVectorMachine):
        for room in (r for r in rooms if r < len(p.X)):
            name = f"{kind.__name__}, room for {room:,} vectors"
            progress(f"{p.name}: {name}")
            nonzeros = nonzeros_of(p, room + 59)  # and for the rows examined together
            options = {"kernel": kernel, "normalize": isinstance(kernel, Linear), "C": C}
            make = partial(kind, max_core=room, max_nonzeros=nonzeros, **options)
            found[name] = measured(make, (p.X, p.X_test), p, rounds)
    return found


def linear(p: Problem, rounds: int, rooms: tuple[int, ...]) -> dict[str, Outcome]:
    from sklearn.svm import LinearSVC

    X, X_test, n = csr_matrix(p.X), csr_matrix(p.X_test), len(p.X)
    found = {}
    for tol in (1e-2, 1e-4):
        progress(f"{p.name}: LIBLINEAR, {tol:g}")
        make = partial(LinearSVC, C=C, loss="hinge", dual=True, tol=tol, max_iter=100_000)
        found[f"LIBLINEAR, hinge, tol {tol:g}"] = measured(make, (X, X_test), p, rounds)
    progress(f"{p.name}: edgesvm")
    found["BatchSVM, tol 1e-3"] = measured(
        partial(stored, p, n, Linear()), (p.X, p.X_test), p, rounds
    )
    for room in (*(r for r in rooms if r < n), n):
        progress(f"{p.name}: RandSVM, {room:,}")
        found[f"RandSVM, room for {room:,} rows"] = measured(
            lambda room=room: RandSVM(solver=stored(p, room, Linear()), k=room, max_passes=20),
            *((p.X, p.X_test), p, rounds),
        )
    return found | balls(p, rounds, rooms, Linear())


def kernel(p: Problem, rooms: tuple[int, ...]) -> dict[str, Outcome]:
    from sklearn.svm import SVC

    part = Problem(p.name, p.X[:RBF_ROWS], p.y[:RBF_ROWS], p.X_test[:2000], p.y_test[:2000])
    gamma = 1.0 / max(float(np.mean(part.X.squares())), 1e-9)
    progress(f"{p.name}: LIBSVM")
    X, X_test = csr_matrix(part.X), csr_matrix(part.X_test)
    make: Callable[[], Any] = partial(SVC, C=C, gamma=gamma, cache_size=64)
    found = {"LIBSVM (SVC)": measured(make, (X, X_test), part, 1)}
    progress(f"{p.name}: BatchSVM, RBF")
    make = partial(stored, part, len(part.X), RBF(gamma))
    found["BatchSVM"] = measured(make, (part.X, part.X_test), part, 1)
    return found | balls(part, 1, rooms, RBF(gamma))


def row(name: str, o: Outcome) -> list[str]:
    return [
        name + o.full * ", full",
        *(f"{seconds:.4f}" for seconds in (o.fit_seconds, o.decide_seconds)),
        f"{o.accuracy:.2f}",
        "" if o.primal is None else f"{o.primal:.2f}",
        "" if o.support is None else f"{o.support:,}",
        "" if o.plan_mib is None else f"{o.plan_mib:.1f}",
    ]


def main() -> None:
    args = parsed(arguments(__doc__, rounds=3))
    tables: list[Table] = []
    figures: dict[str, Any] = {}
    rooms = (100,) if args.quick else (1000, 4000)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for p in problems(args.quick):
        n, width = p.X.shape
        both = {
            "linear": linear(p, 1 if args.quick else args.rounds, rooms),
            "RBF": kernel(p, rooms),
        }
        plan = BatchSVM(max_samples=n, kernel=Linear(), cache=16 * n + 1024).plan(width).total
        size = f"{n:,} x {width:,}, {p.X.indptr[-1] / n:.0f} non-zeros a row"
        notes = {
            "linear": f"Rows stored dense take {plan / 2**20:,.0f} MiB, without a cache.",
            "RBF": f"The first {min(n, RBF_ROWS):,} rows, 64 MiB of cache for LIBSVM and BatchSVM.",
        }
        for name, outcomes in both.items():
            cells = [row(system, o) for system, o in outcomes.items()]
            tables.append(Table(f"{p.name}, {name}: {size}", COLUMNS, cells, notes[name]))
        figures[p.name] = {
            name: {system: asdict(o) for system, o in outcomes.items()}
            for name, outcomes in both.items()
        }
    about = [
        f"C = {C:g}; of RBF gamma is 1 over the mean square of a row. Seconds of the processor,"
        " medians. scikit-learn reads float64, edgesvm float32. LIBLINEAR does not tell its SVs.",
        "Core and ball machines minimise |w|^2 / 2 + b^2 / 2 + C / 2 times the sum of the squared"
        " losses; with the linear kernel of rows scaled to unit norm. Full: they ended at"
        " max_core or max_nonzeros, with rows outside.",
        "Does not show: RCV1 itself, other C, several seeds.",
    ]
    title, skipped = "Stores of non-zeros", left_out(FILES, args.quick)
    publish(Report("sparse/linear", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
