"""Pictures; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence

try:
    import matplotlib
except ImportError as error:
    raise RuntimeError("drawing needs matplotlib: pip install 'edgesvm[plot]'") from error

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D

__all__ = ["Line2D", "LinearSegmentedColormap", "accuracy", "plt"]


def accuracy(curve: Sequence[tuple[int, float]], path: str, *, title: str) -> None:
    """Rolling accuracy over samples."""
    figure, axes = plt.subplots(figsize=(8, 4), constrained_layout=True)
    _draw_accuracy(axes, curve)
    axes.set_title(title, fontsize=9, wrap=True)
    axes.set_xlabel("samples")
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


def _draw_accuracy(axes, curve: Sequence[tuple[int, float]]) -> None:
    axes.plot(
        [n for n, _ in curve], [100 * share for _, share in curve], color="tab:blue", linewidth=1.5
    )
    axes.set_ylabel("rolling accuracy, %")
    axes.set_ylim(top=101)
    axes.grid(alpha=0.3)
