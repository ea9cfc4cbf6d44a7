"""Hashes of every learner after a fixed stream: of its arena and of what it answers then.

They are the same on every machine. `python tests/conformance/arena_hashes.py` compares those of
this one with arena_hashes.txt and prints the lines that differ (exit code 1). `--write` replaces
the file, after a learner was added or changed on purpose.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))

from registry import DTYPES, REGISTERED, answers

from edgesvm import (
    GaussianNovelty,
    KernelNovelty,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
)
from edgesvm.learner import Learner

FILE = Path(__file__).with_suffix(".txt")
WIDTHS = (3, 16, 37)  # features: less than a vector of lanes.h, whole ones, a tail
N = 600

# The learners without labels, which the registry does not take.
WARM = {"warm_up": 50}
NOVELTY: dict[str, tuple[type[Learner], dict[str, Any]]] = {
    "GaussianNovelty": (GaussianNovelty, WARM),
    "GaussianNovelty-diagonal": (GaussianNovelty, WARM | {"covariance": "diagonal"}),
    "KernelNovelty": (KernelNovelty, WARM | {"max_vectors": 9}),
    "OneClassCoreVectorMachine": (OneClassCoreVectorMachine, {"max_core": 30}),
    "OneClassBallVectorMachine": (OneClassBallVectorMachine, {"max_core": 30}),
}
ENTRIES = {entry.name: entry for entry in REGISTERED}
NAMES = [*ENTRIES, *NOVELTY]
PLAIN = "IncrementalDecrementalSVR"  # its hashes are of other targets


def bits(n: int, n_features: int) -> np.ndarray:
    """uint64 of shape (n, n_features): splitmix64, in integers only."""
    z = np.arange(1, n * n_features + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).reshape(n, n_features)


def stream(n_features: int, dtype: str, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """N samples and class indices, from steps that no machine rounds: multiples of 2^-12 below 2 in
    size, columns of unequal scale, and some rows of subnormal numbers."""
    drawn = bits(N, n_features)
    X = (drawn >> np.uint64(51)).astype(np.int64) / 2.0**12 - 1.0
    y = (X[:, 0] + X[:, 1] * X[:, 1] > 0.25).astype(np.int64)
    if n_classes > 2:
        y += X[:, 2] > 0
    if n_classes > 3:
        y += X[:, 1] > 0.5
    X *= 2.0 ** (np.arange(n_features) % 4 - 2)
    X[drawn[:, 0] % np.uint64(50) == 0] *= np.finfo(dtype).tiny
    return X.astype(dtype), y


def targets(X: np.ndarray, name: str) -> np.ndarray:
    """Numbers for a stream of `stream`, from steps that no machine rounds."""
    of = X.astype(np.float64)
    if name == PLAIN:
        return of[:, 0] + of[:, 1] * of[:, 1]
    return 20.0 + 4.0 * of[:, 0] + of[:, 1] * of[:, 1]


def learned(name: str, dtype: str, n_features: int) -> tuple[Learner, np.ndarray]:
    """The learner of this name after its stream, and the rows of that."""
    if name in NOVELTY:
        kind, params = NOVELTY[name]
        X, _ = stream(n_features, dtype, 2)
        return kind(dtype=dtype, **params).partial_fit(X), X
    entry = ENTRIES[name]
    X, y = stream(n_features, dtype, entry.n_classes)
    labels = targets(X, name) if entry.labels is None else np.array(entry.labels)[y]
    return entry.make(dtype).partial_fit(X, labels), X


def digest(name: str, dtype: str, n_features: int) -> str:
    """12 hexadecimal digits: of the arena, of the answers to a part of the stream."""
    learner, X = learned(name, dtype, n_features)
    found = hashlib.sha256(bytes(learner.arena))
    found.update(np.ascontiguousarray(answers(learner, X[::5])).tobytes())
    if hasattr(learner, "predict_proba"):
        found.update(np.ascontiguousarray(learner.predict_proba(X[::5])).tobytes())
    return found.hexdigest()[:12]


def lines() -> list[str]:
    """One line a learner and dtype: the hash at each width."""
    return [
        " ".join([name, dtype, *(digest(name, dtype, width) for width in WIDTHS)])
        for name in NAMES
        for dtype in (ENTRIES[name].dtypes if name in ENTRIES else DTYPES)
    ]


def main() -> int:
    here = lines()
    if "--write" in sys.argv:
        FILE.write_text("\n".join(here) + "\n")
    n = equal = 0
    for found, listed in zip_longest(here, FILE.read_text().splitlines(), fillvalue=""):
        same = [a == b for a, b in zip(found.split()[2:], listed.split()[2:], strict=False)]
        n, equal = n + len(WIDTHS), equal + sum(same)
        if found != listed:
            print(f"listed {listed or 'nothing'}\n  here {found or 'nothing'}")
    print(f"{platform.machine()}, NumPy {np.__version__}: {equal} of {n} hashes equal")
    return int(equal != n)


if __name__ == "__main__":
    sys.exit(main())
