"""Pictures; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

try:
    import matplotlib
except ImportError as error:
    raise RuntimeError("drawing needs matplotlib: pip install 'edgesvm[plot]'") from error

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D

__all__ = ["Line2D", "LinearSegmentedColormap", "accuracy", "plt", "reliability", "rounds"]


def accuracy(curve: Sequence[tuple[int, float]], path: str, *, title: str) -> None:
    """Rolling accuracy over samples."""
    figure, axes = plt.subplots(figsize=(8, 4), constrained_layout=True)
    _draw_accuracy(axes, curve)
    axes.set_title(title, fontsize=9, wrap=True)
    axes.set_xlabel("samples")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def targets(
    last: Iterable[tuple[float, ...]],
    curve: Sequence[tuple[int, float]],
    path: str,
    *,
    title: str,
) -> None:
    """The last targets, (target, value, low, high) each, and the rolling error over samples."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 5.5), constrained_layout=True, height_ratios=(2, 1)
    )
    target, value, low, high = zip(*last, strict=True) if last else ((),) * 4
    at = range(1 - len(target), 1)
    above.fill_between(at, low, high, color="tab:blue", alpha=0.2, linewidth=0, label="interval")
    above.plot(at, value, color="tab:blue", linewidth=1.5, label="predicted")
    above.plot(at, target, ".", color="black", markersize=3, label="target")
    above.set_title(title, fontsize=9, wrap=True)
    above.set_xlabel("samples before the last")
    above.legend(fontsize=8)
    below.plot([n for n, _ in curve], [e for _, e in curve], color="tab:blue", linewidth=1.5)
    below.set_ylabel("rolling mean error")
    below.set_ylim(bottom=0)
    below.set_xlabel("samples")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def accuracy_and_memory(
    curve: Sequence[tuple[int, float]],
    memory: Sequence[tuple[int, float]],
    path: str,
    *,
    title: str,
) -> None:
    """Rolling accuracy, and the process's peak resident memory in MiB, over samples."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 5.5), sharex=True, constrained_layout=True, height_ratios=(2, 1)
    )
    _draw_accuracy(above, curve)
    above.set_title(title, fontsize=9, wrap=True)
    below.plot(
        [n for n, _ in memory], [mib for _, mib in memory], color="tab:orange", linewidth=1.5
    )
    below.set_ylabel("peak process memory, MiB")
    below.set_ylim(0, 1.25 * max((mib for _, mib in memory), default=1.0))
    below.grid(alpha=0.3)
    below.set_xlabel("samples")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def rounds(rows: Sequence[int], tried: Sequence[tuple[str, Sequence[float]]], path: str) -> None:
    """Accuracy of candidates, the best first, over the rows of each round; the best ten are
    named."""
    figure, axes = plt.subplots(figsize=(8, 4.5), constrained_layout=True)
    for k, (name, scores) in enumerate(tried):
        axes.plot(
            rows[: len(scores)],
            [100 * score for score in scores],
            "o-",
            color=f"C{k}" if k < 10 else "lightgray",
            label=name if k < 10 else None,
            zorder=-k,
        )
    axes.set_xscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def reliability(before: Any, after: Any, path: str, *, title: str) -> None:
    """Probabilities against the shares that came true; each is the `bins` of `Forecasts`."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(5, 6.5), sharex=True, constrained_layout=True, height_ratios=(3, 1)
    )
    above.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
    named = (("scores as they are", before, "tab:orange"), ("fitted", after, "tab:blue"))
    for name, bins, color in named:
        n, total, true = bins[bins[:, 0] > 0].T
        above.plot(total / n, true / n, "o-", color=color, label=name, markersize=4, linewidth=1.5)
        edges = [k / len(bins) for k in range(len(bins) + 1)]
        below.stairs(bins[:, 0], edges, color=color, linewidth=1.5)
    above.set_title(title, fontsize=9, wrap=True)
    above.set_ylabel("share that came true")
    above.legend(fontsize=9)
    below.set_yscale("log")
    below.set_ylabel("samples")
    below.set_xlabel("probability")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_accuracy(axes, curve: Sequence[tuple[int, float]]) -> None:
    axes.plot(
        [n for n, _ in curve], [100 * share for _, share in curve], color="tab:blue", linewidth=1.5
    )
    axes.set_ylabel("rolling accuracy, %")
    axes.set_ylim(top=101)
    axes.grid(alpha=0.3)
