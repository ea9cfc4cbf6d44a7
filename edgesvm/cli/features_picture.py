"""The features of windows over time: a panel for each, a line for each channel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edgesvm import plot
from edgesvm.cli.figures import saved
from edgesvm.preprocessing.window_features import WindowFeatures

MOST_COLUMNS = 3
MOST_NAMED = 8  # lines with a name


def draw(
    windows: WindowFeatures, rows: Sequence[tuple[int, np.ndarray]], path: str, *, title: str
) -> None:
    """`rows` are the last sample's number and the features of each window."""
    at = np.array([number for number, _ in rows])
    values = np.array([row for _, row in rows])
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
            axes.flat[0].legend(fontsize=8)
        for axis in list(axes.flat[: len(panels)])[-n_columns:]:  # the lowest of each column
            axis.tick_params(labelbottom=True)
            axis.set_xlabel("last sample of the window")
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
