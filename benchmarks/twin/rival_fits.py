"""One fit of a system that stands beside the twins in the paper's tables, in a process of its own:
`python -m benchmarks.twin.rival_fits RIVAL SECONDS` is that process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.clock import since
from benchmarks.common.data import Split
from benchmarks.common.process import in_a_process, limited, unlimited
from benchmarks.common.protocol import choose
from benchmarks.twin.data import QUICK, TwinTask
from benchmarks.twin.fits import TASKS, Setting
from edgesvm import RBF, Forgetron, IncrementalDecrementalSVM

BUDGET = 100
MOST_HELD = 10_000  # rows of IDSVM
CHUNK = 20  # its rows between two looks at the clock
FACTORS = (1.0, 0.1, 0.3, 3.0, 10.0)  # of the paper's gamma: the Forgetron has its own
QUICK_NAME = "quick"
CACHE_MB = 200


@dataclass(frozen=True)
class Rival:
    """One fit; `seed` is of the order."""

    set: str
    kernel: str
    system: str
    seed: int

    @property
    def key(self) -> tuple:
        return astuple(self)

    @property
    def task(self) -> TwinTask:
        return QUICK if self.set == QUICK_NAME else TASKS[self.set]


@dataclass
class Fit:
    """A learner with what it took."""

    model: Any
    seconds: float
    vectors: int
    rows: int


def tvm(rival: Rival, X: np.ndarray, y: np.ndarray, limit: int) -> Fit:
    model = Setting(rival.task, rival.kernel, BUDGET).learner()
    seconds = learned(model, X, y)
    return Fit(model, seconds, len(model.twins_), len(X))


def forgetron(rival: Rival, X: np.ndarray, y: np.ndarray, limit: int) -> Fit:
    """Its gamma, of the RBF kernel, is chosen on a held-out fifth of the rows."""
    kernel = rival.task.kernel(rival.kernel)

    def make(factor: float) -> Forgetron:
        own = RBF(factor * kernel.gamma) if isinstance(kernel, RBF) else kernel
        return Forgetron(max_vectors=BUDGET, kernel=own)

    grid = FACTORS if isinstance(kernel, RBF) else FACTORS[:1]
    model = make(choose(make, grid, X, y, n_splits=1))
    seconds = learned(model, X, y)
    return Fit(model, seconds, model.dual_coef_.size, len(X))


def random(rival: Rival, X: np.ndarray, y: np.ndarray, limit: int) -> Fit:
    """IDSVM on the first `BUDGET` rows of the random order."""
    return idsvm(rival, X[:BUDGET], y[:BUDGET], limit)


def idsvm(rival: Rival, X: np.ndarray, y: np.ndarray, limit: int) -> Fit:
    """Until it is out of time or room."""
    n = min(len(X), MOST_HELD)
    kernel = rival.task.kernel(rival.kernel)
    model = IncrementalDecrementalSVM(max_vectors=n, kernel=kernel, C=rival.task.C)
    model.allocate(X.shape[1], classes=[False, True])
    rows, seconds = 0, 0.0
    while rows < n and seconds < limit:
        end = min(rows + CHUNK, n)
        seconds += learned(model, X[rows:end], y[rows:end])
        rows = end
    return Fit(model, seconds, np.count_nonzero(model.dual_coef_), rows)


def libsvm(rival: Rival, X: np.ndarray, y: np.ndarray, limit: int) -> Fit:
    """scikit-learn's SVC, of the RBF kernel."""
    from sklearn.svm import SVC

    gamma = rival.task.kernel("rbf").gamma
    model = SVC(C=rival.task.C, gamma=gamma, cache_size=CACHE_MB)
    X = X.astype(np.float64)
    begin = limited(limit)
    model.fit(X, y)
    return Fit(model, unlimited(begin), int(model.n_support_.sum()), len(X))


def learned(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of the processor of one call."""
    begin = process_time()
    model.partial_fit(X, y, classes=[False, True])
    return since(begin)


# In the order of the paper's columns.
SYSTEMS: dict[str, Callable[[Rival, np.ndarray, np.ndarray, int], Fit]] = {
    "Forgetron": forgetron,
    "Random": random,
    "LIBSVM": libsvm,
    "IDSVM": idsvm,
    "TVM": tvm,
}


def measure(rival: Rival, limit: int) -> dict[str, Any]:
    split: Split = rival.task.split(rival.seed)
    X, y, X_test, y_test = split
    fit = SYSTEMS[rival.system](rival, X, y, limit)
    return {
        "accuracy": 100 * float((fit.model.predict(X_test) == y_test).mean()),
        "seconds": fit.seconds,
        "vectors": int(fit.vectors),
        "rows": fit.rows,
        "all_rows": len(X),
    }


def apart(rival: Rival, limit: int) -> dict[str, Any] | None:
    """`measure` in a process of its own."""
    arguments = [json.dumps(asdict(rival)), str(limit)]
    return in_a_process("benchmarks.twin.rival_fits", arguments, limit)


if __name__ == "__main__":
    print(json.dumps(measure(Rival(**json.loads(sys.argv[1])), int(sys.argv[2]))))
