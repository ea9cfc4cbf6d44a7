"""Pictures in files; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

try:
    import matplotlib
except ImportError as error:
    raise RuntimeError("drawing needs matplotlib: pip install 'edgesvm[plot]'") from error

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from edgesvm import plot
from edgesvm.preprocessing.in_order import InOrder
from edgesvm.preprocessing.window_features import WindowFeatures

MOST_COLUMNS = 3
MOST_NAMED = 8  # lines with a name


@contextmanager
def saved(
    path: str,
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] = (8, 4),
    *,
    dpi: int = 120,
    **options: Any,
) -> Iterator[Any]:
    """Axes, ndarray of shape (rows, columns), of a picture that is written at the end."""
    figure, axes = plt.subplots(
        rows, columns, figsize=size, squeeze=False, constrained_layout=True, **options
    )
    try:
        yield axes
        figure.savefig(path, dpi=dpi)
    finally:
        plt.close(figure)


def accuracy(curve: Sequence[tuple[float | None, ...]], path: str, *, title: str) -> None:
    """Rolling accuracy over samples, as `plot.accuracy` has it."""
    with saved(path) as [[ax]]:
        plot.accuracy(curve, title=title, ax=ax)


def targets(
    last: Iterable[tuple[float, ...]],
    curve: Sequence[tuple[float | None, ...]],
    path: str,
    *,
    title: str,
) -> None:
    """The last targets, (target, value, low, high) each, and the rolling error over samples."""
    with saved(path, 2, 1, (8, 5.5), height_ratios=(2, 1)) as [[above], [below]]:
        plot.targets(last, title=title, ax=above)
        plot.errors(curve, ax=below)


def features(
    windows: WindowFeatures, samples: Iterable[tuple[int, np.ndarray]], path: str, title: str
) -> None:
    """The features of windows of numbered samples over time: a panel for each, a line for each
    channel; ValueError if no window is complete."""
    in_order = InOrder(lambda x, label: windows.push(x), windows.gap)
    rows = [(n, row.copy()) for n, x in samples if (row := in_order.push(n, x)) is not None]
    if not rows:
        raise ValueError(f"{title}: no window is complete, there is nothing to draw")
    at, values = (np.array(column) for column in zip(*rows, strict=True))
    plain = [f"x{c}" for c in range(windows.n_features_in_)]
    panels = _panels(windows.names(channels=plain))
    names = dict(zip(plain, windows._columns or plain, strict=True))
    n_columns = min(MOST_COLUMNS, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    size = 4.0 * n_columns, 1.8 * n_rows + 0.6
    with saved(path, n_rows, n_columns, size, sharex=True) as axes:
        for axis, (name, lines) in zip(axes.flat, panels.items(), strict=False):
            named = [(names.get(channel, channel), values[:, j]) for channel, j in lines]
            plot.features(at, named, title=name, ax=axis)
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        if 1 < len(next(iter(panels.values()))) <= MOST_NAMED:
            handles = axes.flat[0].get_legend_handles_labels()
            axes.flat[0].figure.legend(*handles, loc="outside upper right", ncols=4, fontsize=8)
        for axis in list(axes.flat[: len(panels)])[-n_columns:]:  # the lowest of each column
            axis.tick_params(labelbottom=True)
        axes.flat[0].figure.supxlabel("last sample of the window", fontsize=9)
        axes.flat[0].figure.suptitle(title, fontsize=9, wrap=True)


def _panels(names: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """Feature -> (channel, place in a row) of each of its lines."""
    panels: dict[str, list[tuple[str, int]]] = {}
    for j, name in enumerate(names):
        channel, _, feature = name.partition("_")
        if feature.endswith("correlation"):
            channel, feature = name.removesuffix("_correlation"), "correlation"
        elif feature.startswith("pattern"):
            feature = feature.rpartition("_")[0]  # a panel for each level
        panels.setdefault(feature, []).append((channel, j))
    return panels
