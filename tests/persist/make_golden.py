"""Writes the golden snapshots and the checkpoint beside it; run it only when the format version
changes, never to make a test pass.

python tests/persist/make_golden.py
"""

from pathlib import Path

import numpy as np

from edgesvm import RBF, KernelStreamSVM, OneVsOne, OneVsRest, Standardized, StreamSVM
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint

HERE = Path(__file__).parent / "golden"


def stream(n: int, dtype: str, n_classes: int = 2) -> tuple[np.ndarray, list[str]]:
    """Rows of whole quarters from a linear congruence: the same on every machine and NumPy."""
    state, rows, labels = 1, [], []
    for _ in range(n):
        row = []
        for _ in range(3):
            state = (1103515245 * state + 12345) % 2**31
            row.append(((state >> 16) % 33 - 16) / 4)
        rows.append(row)
        labels.append("hot" if row[0] + 0.5 * row[1] > 0.25 else "cold")
        if n_classes == 3 and row[2] > abs(row[0]):
            labels[-1] = "mild"
    return np.array(rows, dtype=dtype), labels


GOLDEN: dict[str, Learner] = {
    "stream_upper_f32": StreamSVM(C=10.0),
    "stream_lower_f64": StreamSVM(C=10.0, bound="lower", dtype="float64", fit_intercept=False),
    "stream_lookahead_f32": StreamSVM(C=10.0, lookahead=6),
    "stream_balls_f64": StreamSVM(
        C=0.5, n_balls=4, bound="lower", slack="paper", dtype="float64", normalize=False
    ),
    "kernel_rbf_f32": KernelStreamSVM(max_vectors=5, kernel=RBF(0.25), C=10.0),
    "kernel_poly_f64": KernelStreamSVM(
        max_vectors=5, kernel="poly", degree=2, bound="lower", dtype="float64"
    ),
    "one_vs_one_f32": Standardized(
        learner=OneVsOne(learner=StreamSVM(bound="lower", lookahead=3), n_classes=3)
    ),
    "one_vs_rest_f64": OneVsRest(
        learner=KernelStreamSVM(max_vectors=5, kernel=RBF(0.25), dtype="float64"), n_classes=3
    ),
}


def learned(learner: Learner) -> Learner:
    return learner.fit(*stream(200, learner.dtype, learner._n_classes))


def checkpoint(path: Path) -> StreamSVM:
    """Saves after 100 and 200 samples: the second lies in slot 0, the first in slot 1. The learner
    saved last.
    """
    path.unlink(missing_ok=True)
    learner = StreamSVM(C=10.0)
    X, y = stream(200, "float32")
    saving = Checkpoint(path)
    for rows in (slice(0, 100), slice(100, 200)):
        saving.save(learner.partial_fit(X[rows], y[rows]))
    saving.close()
    return learner


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, learner in GOLDEN.items():
        learned(learner).save(HERE / f"{name}.esvm")
        print(HERE / f"{name}.esvm")
    checkpoint(HERE / "two_saves.ckpt")
    print(HERE / "two_saves.ckpt")


if __name__ == "__main__":
    main()
