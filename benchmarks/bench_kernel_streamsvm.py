"""KernelStreamSVM on the banana data: accuracy against vectors held, beside what a user would take
instead.

RBF kernel, one pass over 4,000 rows in a random order, 1,300 for the test, C and gamma chosen on
held-out training rows. Peers: Nystroem features with averaged SGD at the same number of vectors
(its vectors drawn beforehand, which a stream does not allow), and a support vector machine solved
on all rows at once, the ceiling.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
from data import BANANA, folder
from protocol import measure
from report import markdown, progress, publish, use_one_thread
from rivals import NystroemSGD
from sklearn.svm import SVC

from edgesvm import RBF, KernelStreamSVM

GRID = list(product([0.3, 1.0, 3.0, 10.0, 30.0, 100.0], [0.5, 1.0, 2.0, 4.0]))  # C, gamma
GRID_SGD = list(product([1e-6, 1e-5, 1e-4, 1e-3], [0.5, 1.0, 2.0, 4.0]))  # alpha, gamma
GRID_SVC = [(1.0, 1.0), (10.0, 1.0), (1.0, 2.0)]
SIZES = (10, 25, 50, 100, 200)


class Batch:
    """A model that is fitted once on all rows, behind the door that the protocol calls."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[bool]) -> Batch:
        self.model.fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)


def kernel_stream_svm(bound: str, size: int) -> Any:
    return lambda chosen: KernelStreamSVM(
        max_vectors=size, kernel=RBF(chosen[1]), C=chosen[0], bound=bound
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--orders", type=int, default=10, help="random splits and orders (default 10)"
    )
    parser.add_argument(
        "--splits", type=int, default=2, help="held-out splits for C and gamma (default 2)"
    )
    parser.add_argument("--quick", action="store_true", help="two orders, one split, two sizes")
    args = parser.parse_args()
    use_one_thread()
    sizes = SIZES
    if args.quick:
        args.orders, args.splits, sizes = 2, 1, SIZES[1:3]
    if not (folder() / "banana.npz").is_file():
        print(f"bench_kernel_streamsvm: skipped, no banana.npz in {folder()} (set EDGESVM_DATA)")
        return
    splits = [BANANA.split(seed) for seed in range(args.orders)]
    y_test = np.concatenate([split[3] for split in splits])
    outcomes = {}
    for size in sizes:
        for bound in ("upper", "lower"):
            progress(f"banana: {bound}, {size} vectors")
            outcomes[f"KernelStreamSVM {bound}, {size} vectors"] = measure(
                kernel_stream_svm(bound, size),
                GRID,
                BANANA,
                splits,
                n_splits=args.splits,
                describe=lambda m: (m.n_updates_, m.nbytes),
            )
        progress(f"banana: Nystroem, {size} vectors")
        outcomes[f"Nystroem + averaged SGD, {size} vectors"] = measure(
            lambda chosen, size=size: NystroemSGD(size, alpha=chosen[0], gamma=chosen[1]),
            GRID_SGD,
            BANANA,
            splits,
            n_splits=args.splits,
            describe=lambda m: (0, m.nbytes),
        )
    progress("banana: SVC")
    outcomes["SVC on all rows (LIBSVM)"] = measure(
        lambda chosen: Batch(SVC(C=chosen[0], gamma=chosen[1])),
        GRID_SVC,
        BANANA,
        splits,
        n_splits=args.splits,
        describe=lambda m: (0, m.model.support_vectors_.nbytes + m.model.dual_coef_.nbytes),
    )
    rows = [
        [
            name,
            f"{o.accuracy:.2f} ± {o.accuracy_deviation:.2f}",
            f"{o.balanced:.2f} ± {o.balanced_deviation:.2f}",
            f"{o.updates:.0f}" if o.updates else "",
            f"{o.n_bytes:,}",
            f"{o.ms:.2f}",
            f"{o.us:.2f}",
        ]
        for name, o in outcomes.items()
    ]
    header = ["learner", "accuracy %", "balanced %", "updates", "bytes", "ms a pass", "µs a sample"]
    text = (
        f"Mean and deviation over {args.orders} random splits and orders. "
        f"Always saying the larger class gives "
        f"{100 * max(y_test.mean(), 1 - y_test.mean()):.1f} %.\n\n{markdown(header, rows)}\n\n"
        "SVC's bytes are of its support vectors and coefficients after solving, not of the solver. "
        "Nystroem's vectors are drawn from all training rows before the pass."
    )
    figures = {name: asdict(o) for name, o in outcomes.items()}
    publish("bench_kernel_streamsvm", "KernelStreamSVM on banana", text, figures)


if __name__ == "__main__":
    main()
