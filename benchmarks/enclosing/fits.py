"""One fit: a learner with its parameters on a data set, measured in a process of its own:
`python -m benchmarks.enclosing.fits SETTING SECONDS` is that process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.data import Split
from benchmarks.common.process import in_a_process, limited, unlimited
from benchmarks.enclosing.data import SETS, mean_square_distance, nested
from edgesvm import RBF, BallVectorMachine, CoreVectorMachine, OneVsOne
from edgesvm.learners.enclosing.enclosing_machine import EnclosingMachine

CACHE_MIB = 200
MAX_CORE = 16_384
SEEDS, ENOUGH_S = 5, 5.0  # fits of a cell, fewer once they have taken so long


@dataclass(frozen=True)
class Setting:
    """One fit. `epsilon` = 0 is SVC's, `width` is of the kernel, in beta, `rows` = 0 are all."""

    set: str
    how: str
    epsilon: float = 0.0
    C: float = 1.0
    width: float = 1.0
    rows: int = 0

    @property
    def key(self) -> tuple:
        return (self.set, self.how, self.epsilon, self.C, self.width, self.rows)

    def split(self) -> Split:
        split = SETS[self.set].load()
        return nested(split, self.rows) if self.rows else split


def enclosing(kind: type[EnclosingMachine], setting: Setting, **params: Any) -> EnclosingMachine:
    """With the paper's tolerance."""
    return kind(epsilon=setting.epsilon, margin_tol=None, C=setting.C, **params)


# Column: what makes its two-class learner of a setting and kernel, max_core, cache and seed.
# Another system is one more entry.
LEARNERS: dict[str, Callable[..., Any]] = {
    "BVM": partial(enclosing, BallVectorMachine),
    "CVM": partial(enclosing, CoreVectorMachine),
}


def measure(setting: Setting, limit: int) -> dict[str, Any]:
    split = setting.split()
    gamma = 1.0 / (setting.width * mean_square_distance(split[0]))
    how = measure_svc if setting.how == "SVC" else measure_ours
    return {**how(setting, gamma, split, limit), "gamma": gamma}


def measure_ours(setting: Setting, gamma: float, split: Split, limit: int) -> dict[str, Any]:
    """Means over several seeds of the draws, where a fit is short; seconds are the median."""
    fits: list[dict[str, Any]] = []
    while len(fits) < SEEDS and sum(fit["seconds"] for fit in fits) < ENOUGH_S:
        fits.append(fitted(setting, gamma, split, len(fits), limit))
    scores = [fit["accuracy"] for fit in fits]
    return {
        "accuracy": float(np.mean(scores)),
        "deviation": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "seconds": median(fit["seconds"] for fit in fits),
        "converged": all(fit["converged"] for fit in fits),
        "bytes": fits[0]["bytes"],
        **{
            what: round(np.mean([fit[what] for fit in fits]))
            for what in ("support", "core", "iterations", "passes")
        },
    }


def fitted(setting: Setting, gamma: float, split: Split, seed: int, limit: int) -> dict[str, Any]:
    X, y, X_test, y_test = split
    model = learner(setting, gamma, y, seed)
    n_classes = int(y.max()) + 1
    model.allocate(X.shape[1], classes=list(range(n_classes)))
    passes = 0

    def note(n_passes: int, *_: Any) -> None:
        nonlocal passes
        passes = n_passes

    begin = limited(limit)
    model.fit(X, y, progress=note if n_classes == 2 else None)
    seconds = unlimited(begin)
    parts = [model] if n_classes == 2 else model.parts_
    return {
        "accuracy": 100 * float((model.predict(X_test) == y_test).mean()),
        "seconds": seconds,
        "support": len(model.support_) if n_classes == 2 else n_distinct(model, y),
        "core": sum(part.n_core_ for part in parts),
        "iterations": sum(part.n_iter_ for part in parts),
        "converged": all(part.enclosed_ for part in parts),
        "passes": passes,  # of two classes only
        "bytes": model.nbytes,
    }


def learner(setting: Setting, gamma: float, y: np.ndarray, seed: int) -> Any:
    """Of two classes, or of their pairs; the cache is so many bytes in all."""
    per_class = np.bincount(y)
    n_classes = len(per_class)
    n_pairs = n_classes * (n_classes - 1) // 2
    max_core = min(MAX_CORE, int(np.sort(per_class)[-2:].sum()))
    cache = max((CACHE_MIB << 20) // n_pairs, 128 * max_core)
    params = {"kernel": RBF(gamma), "max_core": max_core, "cache": cache, "seed": seed}
    part = LEARNERS[setting.how](setting, **params)
    return part if n_classes == 2 else OneVsOne(learner=part, n_classes=n_classes)


def n_distinct(model: OneVsOne, y: np.ndarray) -> int:
    """Rows that are a support vector of any pair, as LIBSVM counts them."""
    n_classes = model.n_classes
    pairs = [(i, j) for j in range(n_classes) for i in range(j)]
    is_support = np.zeros(len(y), bool)
    for (i, j), part in zip(pairs, model.parts_, strict=True):
        is_support[np.flatnonzero((y == i) | (y == j))[part.support_]] = True
    return int(is_support.sum())


def measure_svc(setting: Setting, gamma: float, split: Split, limit: int) -> dict[str, Any]:
    from scipy.sparse import csr_matrix
    from sklearn.svm import SVC

    X, y, X_test, y_test = split
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    if SETS[setting.set].is_sparse:
        X, X_test = csr_matrix(X), csr_matrix(X_test)
    model = SVC(C=setting.C, gamma=gamma, cache_size=CACHE_MIB)
    begin = limited(limit)
    model.fit(X, y)
    seconds = unlimited(begin)
    return {
        "accuracy": 100 * float(model.score(X_test, y_test)),
        "seconds": seconds,
        "support": int(model.n_support_.sum()),
        "converged": model.fit_status_ == 0,
    }


def apart(setting: Setting, limit: int) -> dict[str, Any] | None:
    """`measure` in a process of its own."""
    arguments = [json.dumps(asdict(setting)), str(limit)]
    return in_a_process("benchmarks.enclosing.fits", arguments, limit)


if __name__ == "__main__":
    print(json.dumps(measure(Setting(**json.loads(sys.argv[1])), int(sys.argv[2]))))
