"""Problems that solvers fit as a whole: BatchSVM, and LIBSVM as SVC, with the same C,
gamma, tolerance and bytes of cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.data import QUICK, missing, read, standardised
from edgesvm import RBF, BatchSVM

CACHE_MIB = 200  # SVC's default


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
