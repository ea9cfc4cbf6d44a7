"""Accuracy over time on a stream that changes: with a window of the last batches, and without.

    python examples/drift.py elec2.npz --batch-size 2 --max-vectors 50 --plot elec2.png
    python examples/drift.py gas_drift_minmax10.npz --positive 1 --plot gas.png

FILE is an npz with X and y in the order of time. If it also has an array `batch`, the rows of each
batch are shuffled. Each row is predicted, then learned. The baseline predicts the previous label.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

from edgesvm import IncrementalSVM, Learner, Standardized, StreamSVM, WindowedSVM
from edgesvm.data import Source
from edgesvm.serve.score import Prequential
from edgesvm.serve.taught import predict_then_learn

Curve = list[tuple[int, float]]
CONTROL = "previous label"


def stream(path: Path, positive: int | None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels, False or True, in the order of time."""
    with np.load(path) as file:
        X, y = file["X"].astype(np.float32), file["y"]
        part = file["batch"] if "batch" in file.files else None
    if part is not None:
        order = np.lexsort((np.random.default_rng(seed).random(len(y)), part))
        X, y = X[order], y[order]
    return X, y == (y.max() if positive is None else positive)


def learners(batch_size: int, window: int, max_vectors: int, C: float) -> dict[str, Learner]:
    common = {"batch_size": batch_size, "max_vectors": max_vectors, "C": C}
    return {
        f"windowed, the last {window * batch_size:,}": WindowedSVM(window=window, **common),
        "incremental, all": IncrementalSVM(**common),
        "StreamSVM, all": StreamSVM(average=False, lookahead=32),
    }


def rolling(pairs: Iterable[tuple[int, int | None]], window: int) -> tuple[Curve, Prequential]:
    """Rolling accuracy over samples, of pairs of a label and what was predicted, if anything."""
    score, curve = Prequential(window), []
    for label, predicted in pairs:
        if predicted is not None:
            score.add(label, predicted)
            if score.n % 50 == 0:
                curve.append((score.n, 100 * score.rolling))
    return curve, score


def predict_the_previous_label(y: np.ndarray, window: int) -> tuple[Curve, Prequential]:
    return rolling(((label, before) for before, label in pairwise(y.tolist())), window)


def draw(curves: dict[str, Curve], path: str, title: str) -> None:
    try:
        import matplotlib
    except ImportError:
        sys.exit("drawing needs matplotlib: pip install 'edgesvm[plot]'")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4.5), constrained_layout=True)
    for name, curve in curves.items():
        plain = {"color": "0.6", "linewidth": 0.8} if name == CONTROL else {"linewidth": 1.2}
        axes.plot(*zip(*curve, strict=True), label=name, **plain)
    axes.set_xlabel("samples")
    axes.set_ylabel("rolling accuracy, %")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=len(curves), fontsize=9)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(name: str, score: Prequential, size: str = "") -> None:
    print(
        f"{name:32}  accuracy {100 * score.accuracy:.2f} %, balanced "
        f"{100 * score.balanced:.2f} %{size}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--positive", type=int, help="make two classes: this label and all others")
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--window", type=int, default=25, help="batches in the window (default 25)")
    parser.add_argument("--max-vectors", type=int, default=300)
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument(
        "--rolling", type=int, default=1000, help="rolling accuracy over the last N rows"
    )
    parser.add_argument("--plot", metavar="PNG")
    args = parser.parse_args(arguments)
    X, y = stream(args.file, args.positive)
    curves = {}
    models = learners(args.batch_size, args.window, args.max_vectors, args.C)
    for name, model in models.items():
        learner, pairs = Standardized(learner=model), []
        predict_then_learn(
            Source(X, y), learner, listeners=[lambda x, *pair, to=pairs: to.append(pair)]
        )
        curves[name], score = rolling(pairs, args.rolling)
        report(name, score, f", {learner.nbytes:,} bytes")
    curves[CONTROL], score = predict_the_previous_label(y, args.rolling)
    report(CONTROL, score)
    print(f"{'majority class':32}  accuracy {100 * max(y.mean(), 1 - y.mean()):.2f} %")
    if args.plot:
        draw(curves, args.plot, f"{args.file.stem}, {len(y):,} rows in the order of time")


if __name__ == "__main__":
    main()
