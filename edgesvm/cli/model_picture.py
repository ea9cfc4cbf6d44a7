"""Draw a model over two of its features: boundary, margins and stored vectors.

The layout follows Figure 2 of Wang & Vucetic 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.cli.figures import Line2D, LinearSegmentedColormap, plt
from edgesvm.cli.stored_points import StoredPoints, has_margins, stored_points
from edgesvm.learner import Learner

CLASS_COLORS = ("#2b6cb0", "#c2410c")  # classes_[0], classes_[1]; differ in grey too
MARGIN_COLORS = ("#0e9bb5", "#d9a400")  # cyan and yellow as in the paper, but darker
PIXELS = 320  # of the decision function, per side
ROWS_DRAWN = 2000
SMALLEST, LARGEST = 14.0, 220.0  # area of a point, in square points


@dataclass(frozen=True)
class Panel:
    """One model and the view of it.

    Attributes
    ----------
    learner : Learner
        Fitted.
    features : (int, int)
        The two features on the axes.
    at : ndarray of shape (n_features,), float64
        The values of all other features.
    box : (float, float, float, float)
        Range of the first feature, then of the second: low, high, low, high.
    title : str
    rows : (X, y), optional
        Samples to draw as dots; y is None if they have no labels.
    """

    learner: Learner
    features: tuple[int, int]
    at: NDArray[np.float64]
    box: tuple[float, float, float, float]
    title: str
    rows: tuple[NDArray[Any], NDArray[Any] | None] | None = None


def draw(panels: Sequence[Panel], path: str) -> None:
    """Draw panels side by side, at most four per row. The path's suffix sets the file format."""
    columns = min(len(panels), 4)
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        lines,
        columns,
        figsize=(4.6 * columns + 0.4, 5.1 * lines),
        squeeze=False,
        constrained_layout=True,
    )
    try:
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        figure.savefig(path, dpi=130)
    finally:
        plt.close(figure)


def _draw_panel(axes: Any, panel: Panel) -> None:
    xs = np.linspace(*panel.box[:2], PIXELS)
    ys = np.linspace(*panel.box[2:], PIXELS)
    values = _decisions(panel, xs, ys)
    handles = _draw_decisions(axes, panel, xs, ys, values)
    if panel.rows is not None:
        _draw_rows(axes, panel, *panel.rows)
    found = stored_points(panel.learner)
    if found is not None:
        handles += _draw_stored(axes, panel, found)
    axes.set_xlim(*panel.box[:2])
    axes.set_ylim(*panel.box[2:])
    axes.set_xlabel(f"feature {panel.features[0]}", fontsize=9)
    axes.set_ylabel(f"feature {panel.features[1]}", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.set_title(panel.title, fontsize=9.5)
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.13),
        ncols=2,
        fontsize=8,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def _decisions(
    panel: Panel, xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Decision values, ndarray of shape (len(ys), len(xs))."""
    X = np.tile(panel.at, (len(xs) * len(ys), 1))
    X[:, panel.features[0]] = np.tile(xs, len(ys))
    X[:, panel.features[1]] = np.repeat(ys, len(xs))
    return panel.learner.decision_function(X).reshape(len(ys), len(xs))


def _draw_decisions(axes: Any, panel: Panel, xs: Any, ys: Any, values: Any) -> list[Line2D]:
    """Draw the sides in the classes' colours, the boundary in black, and the margins if any."""
    margins = has_margins(panel.learner)
    full = 1.0 if margins else max(float(np.quantile(np.abs(values), 0.9)), 1e-300)
    tints = LinearSegmentedColormap.from_list("sides", [CLASS_COLORS[0], "white", CLASS_COLORS[1]])
    axes.imshow(
        np.clip(values / full, -1.0, 1.0),
        extent=panel.box,
        origin="lower",
        aspect="auto",
        cmap=tints,
        vmin=-1.0,
        vmax=1.0,
        alpha=0.28,
        interpolation="bilinear",
    )
    handles = []
    levels = [(0.0, "black", 1.8, "boundary")]
    if margins:
        labels = [str(label) for label in panel.learner.classes_.tolist()]
        sides = [(level, color) for level, color in zip((-1.0, 1.0), MARGIN_COLORS, strict=True)]
        levels += [
            (level, color, 1.5, f"margin of {label}")
            for (level, color), label in zip(sides, labels, strict=False)
        ]
    for level, color, width, name in levels:
        if values.min() < level < values.max():
            axes.contour(
                xs,
                ys,
                values,
                levels=[level],
                colors=[color],
                linewidths=[width],
                linestyles="solid",  # a negative level would be dashed
            )
        handles.append(Line2D([], [], color=color, linewidth=width, label=name))
    return handles


def _draw_rows(axes: Any, panel: Panel, X: NDArray[Any], y: NDArray[Any] | None) -> None:
    """Draw samples as dots in their class's colour; grey if the label is unknown or missing."""
    step = max(len(X) // ROWS_DRAWN, 1)
    points = X[::step][:, panel.features]
    labels = np.zeros(len(points)) if y is None else y[::step]
    colors = np.full(len(points), "#8a8a8a", dtype=object)
    if y is not None:
        for label, color in zip(panel.learner.classes_.tolist(), CLASS_COLORS, strict=False):
            colors[labels == label] = color
    axes.scatter(*points.T, s=5, c=list(colors), linewidths=0, alpha=0.45, zorder=2)


def _draw_stored(axes: Any, panel: Panel, found: StoredPoints) -> list[Line2D]:
    """Draw stored vectors: majority class as colour, weight as area, bold rim on the margin."""
    total = found.weights.sum(axis=1)
    area = SMALLEST + (LARGEST - SMALLEST) * total / max(float(total.max()), 1e-300)
    majority = (found.weights[:, 1] > found.weights[:, 0]).astype(int)
    order = np.argsort(-area)  # small ones on top
    points = found.points[order][:, panel.features]
    axes.scatter(
        *points.T,
        s=area[order],
        c=[CLASS_COLORS[k] for k in majority[order]],
        edgecolors="black",
        linewidths=np.where(found.on_margin[order], 1.7, 0.4),
        alpha=0.85,
        zorder=3,
    )

    def dot(color: str, width: float, label: str) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markersize=7,
            markerfacecolor=color,
            markeredgecolor="black",
            markeredgewidth=width,
            label=label,
        )

    whose = "mostly" if found.weights.all(axis=1).any() else "of"
    handles = [
        dot(CLASS_COLORS[k], 0.4, f"{found.name} {whose} {label}")
        for k, label in enumerate(panel.learner.classes_.tolist())
    ]
    if found.on_margin.any():
        handles.append(dot("white", 1.7, "on a margin"))
    return handles
