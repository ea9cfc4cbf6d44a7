"""One fit: a learner with its parameters on a data set, measured in a process of its own:
`python -m benchmarks.enclosing.fits SETTING SECONDS` is that process.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.data import Split
from benchmarks.common.process import in_a_process, limited, unlimited
from benchmarks.enclosing.data import SETS, mean_square_distance, nested
from benchmarks.enclosing.systems import SYSTEMS
from edgesvm import RBF, OneVsOne

CACHE_MIB = 200
MOST_HELD = 16_384  # rows
SEEDS, ENOUGH_S = 5, 5.0  # fits of a cell, fewer once they have taken so long


@dataclass(frozen=True)
class Setting:
    """One fit. `epsilon` is 0 where a system has none, `width` is of the kernel, in beta, and
    `rows` = 0 are all.
    """

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
    X, y, X_test, y_test = sparse(split) if SETS[setting.set].is_sparse else split
    if SYSTEMS[setting.how].shuffled:
        order = np.random.default_rng(seed).permutation(len(y))
        X, y = X[order], y[order]
    model = learner(setting, gamma, y, seed)
    n_classes = int(y.max()) + 1
    model.allocate(X.shape[1], classes=list(range(n_classes)))
    passes = 0

    def note(n_passes: int, *_: Any) -> None:
        nonlocal passes
        passes = n_passes

    tells = SYSTEMS[setting.how].tells_passes and n_classes == 2
    begin = limited(limit)
    model.fit(X, y, **({"progress": note} if tells else {}))
    parts = [model] if n_classes == 2 else model.parts_
    as_promised = [ended(part) for part in parts]
    seconds = unlimited(begin)
    return {
        "accuracy": 100 * float((model.predict(X_test) == y_test).mean()),
        "seconds": seconds,
        "support": n_support(model, y),
        "core": sum(held(part) for part in parts),
        "iterations": sum(steps(part) for part in parts),
        "converged": all(as_promised),
        "passes": passes,  # 0 where they are not told
        "bytes": model.nbytes,
    }


def sparse(split: Split) -> Any:
    from scipy.sparse import csr_matrix

    X, y, X_test, y_test = split
    return csr_matrix(X), y, csr_matrix(X_test), y_test


def learner(setting: Setting, gamma: float, y: np.ndarray, seed: int) -> Any:
    """Of two classes, or of their pairs; the cache is so many bytes in all."""
    per_class = np.bincount(y)
    n_classes = len(per_class)
    n_pairs = n_classes * (n_classes - 1) // 2
    room = min(MOST_HELD, int(np.sort(per_class)[-2:].sum()))
    part = SYSTEMS[setting.how].make(
        epsilon=setting.epsilon,
        C=setting.C,
        kernel=RBF(gamma),
        room=room,
        cache=max((CACHE_MIB << 20) // n_pairs, 128 * room),
        seed=seed,
    )
    return part if n_classes == 2 else OneVsOne(learner=part, n_classes=n_classes)


def ended(part: Any) -> bool:
    """Take the steps that an online learner has left; whether the learner is what it promises to
    be, and had room for all that it wanted to hold."""
    told = getattr(part, "enclosed_", getattr(part, "converged_", True))
    whole = part.finish() if hasattr(part, "finish") else told
    return whole and not getattr(part, "n_given_up_", 0)


def held(part: Any) -> int:
    return part.n_core_ if hasattr(part, "n_core_") else part.dual_coef_.size


def steps(part: Any) -> int:
    return part.n_iter_ if hasattr(part, "n_iter_") else part.n_updates_


def n_support(model: Any, y: np.ndarray) -> int:
    """Rows that are a support vector of any part, as LIBSVM counts them: by their numbers, or
    where a learner does not keep those, by their values."""
    is_pairs = isinstance(model, OneVsOne)
    parts = model.parts_ if is_pairs else [model]
    if not hasattr(parts[0], "support_"):
        vectors = [part.support_vectors_[part.dual_coef_[0] != 0] for part in parts]
        return len(np.unique(np.vstack(vectors), axis=0)) if is_pairs else len(vectors[0])
    if not is_pairs:
        return len(model.support_)
    pairs = [(i, j) for j in range(model.n_classes) for i in range(j)]
    is_support = np.zeros(len(y), bool)
    for (i, j), part in zip(pairs, parts, strict=True):
        is_support[np.flatnonzero((y == i) | (y == j))[part.support_]] = True
    return int(is_support.sum())


def measure_svc(setting: Setting, gamma: float, split: Split, limit: int) -> dict[str, Any]:
    X, y, X_test, y_test = sparse(split) if SETS[setting.set].is_sparse else split
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    model = SYSTEMS["SVC"].make(C=setting.C, kernel=RBF(gamma), cache=CACHE_MIB << 20)
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
