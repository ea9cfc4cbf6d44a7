"""A model over two of its features: boundary, margins and stored vectors.

The layout follows Figure 2 of Wang & Vucetic 2009.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.learner import Learner
from edgesvm.learners.calibrated import Calibrated
from edgesvm.learners.wrapper import innermost
from edgesvm.plot.curves import axes_or_new, titled
from edgesvm.plot.stored_points import StoredPoints, has_margins, stored_points
from edgesvm.preprocessing.scaler import Scaler

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

Rows = tuple[NDArray[Any], "NDArray[Any] | None"]
Box = tuple[float, float, float, float]

MARGIN = 0.02  # around the points, relative to their range
DEVIATIONS = 3.0  # shown of a standardized model without points

# classes_[0], classes_[1], ...; the first two differ in grey too
CLASS_COLORS = (
    *("#2b6cb0", "#c2410c", "#15803d", "#7e22ce"),
    *("#a16207", "#be185d", "#0e7490", "#57534e"),
)
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


def decision_boundary(
    learner: Learner,
    X: Any = None,
    y: Any = None,
    *,
    features: tuple[int, int] | None = None,
    at: Mapping[int, float] | None = None,
    box: Box | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a fitted classifier over two of its features.

    Parameters
    ----------
    learner : Learner
    X : array of shape (n_samples, n_features), optional
        Drawn as dots.
    y : array of shape (n_samples,), optional
        Their labels.
    features : (int, int), optional
        The two on the axes; may be left out if there are only two.
    at : mapping of int to float, optional
        Values of features that are not drawn; default: the median.
    box : (float, float, float, float), optional
        Range of both: low, high, low, high; default: that of the points.
    title : str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        There are more than two features and none were chosen, or no points to tell the range.
    """
    rows = None if X is None else (np.asarray(X), None if y is None else np.asarray(y))
    panel = panel_of(learner, title=title, features=features, at=at, box=box, rows=rows)
    return draw_panel(axes_or_new(ax, (5.2, 5.6)), panel)


def panel_of(
    learner: Learner,
    *,
    title: str | None = None,
    features: tuple[int, int] | None = None,
    at: Mapping[int, float] | None = None,
    box: Box | None = None,
    rows: Rows | None = None,
) -> Panel:
    """The view of a fitted learner, with defaults for what the caller left open.

    Raises
    ------
    ValueError
        It cannot be drawn; the message names the option to give.
    """
    if learner.regresses:
        raise ValueError("cannot draw a model that predicts numbers")
    found = stored_points(learner)
    drawn = _features(learner, features)
    known = _points(learner, found, rows)
    return Panel(
        learner,
        drawn,
        _fixed(learner, drawn, dict(at or {}), known),
        box or _box(known, drawn),
        title or _title(learner, found),
        rows,
    )


def _features(learner: Learner, chosen: tuple[int, int] | None) -> tuple[int, int]:
    n = learner.n_features_in_
    if n < 2:
        raise ValueError("the model has one feature; a picture needs two")
    if chosen is None:
        if n > 2:
            raise ValueError(f"the model has {n} features: choose two with --features I,J")
        return 0, 1
    if max(chosen) >= n:
        raise ValueError(f"--features {chosen[0]},{chosen[1]}: the model has features 0 to {n - 1}")
    return chosen


def _points(
    learner: Learner, found: StoredPoints | None, rows: Rows | None
) -> NDArray[np.float64] | None:
    """Points that show the range: the data, else the model's own, else those of its scale."""
    if rows is not None and len(rows[0]):
        return rows[0].astype(np.float64)
    if found is not None and len(found.points):
        return found.points
    learner = learner.learner_ if isinstance(learner, Calibrated) else learner
    if isinstance(learner, Scaler):
        reach = DEVIATIONS * np.where(learner.scale_ > 0, learner.scale_, 1.0)
        return np.stack([learner.center_ - reach, learner.center_ + reach])
    return None


def _fixed(
    learner: Learner,
    drawn: tuple[int, int],
    given: dict[int, float],
    known: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    n = learner.n_features_in_
    for feature in given:
        if feature >= n:
            raise ValueError(f"--at {feature}=...: the model has features 0 to {n - 1}")
        if feature in drawn:
            raise ValueError(f"--at {feature}=...: this feature is one of the two drawn")
    others = [j for j in range(n) if j not in drawn and j not in given]
    if others and known is None:
        raise ValueError(
            f"the model has no points to set feature {others[0]} from: give --at "
            f"{others[0]}=VALUE for each feature that is not drawn, or --data FILE"
        )
    values = np.zeros(n)
    if known is not None:
        values[others] = np.median(known[:, others], axis=0)
    for feature, value in given.items():
        values[feature] = value
    return values


def _box(known: NDArray[np.float64] | None, drawn: tuple[int, int]) -> Box:
    if known is None:
        raise ValueError(
            "the model has no points to choose a range from: give --range or --data FILE"
        )
    low, high = known[:, drawn].min(axis=0), known[:, drawn].max(axis=0)
    width = np.where(high > low, high - low, 2.0 * np.maximum(np.abs(high), 0.5))
    low, high = low - MARGIN * width, high + MARGIN * width
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _title(learner: Learner, found: StoredPoints | None) -> str:
    inner = innermost(learner)
    holds = "" if found is None else f"{len(found.points):,} {found.name}, "
    return f"{type(inner).__name__}: {holds}{learner.n_seen_:,} samples"


def draw_panel(axes: Any, panel: Panel) -> Any:
    """Draw a panel on axes, which are returned."""
    xs = np.linspace(*panel.box[:2], PIXELS)
    ys = np.linspace(*panel.box[2:], PIXELS)
    handles = [_side(color, str(label)) for color, label in _colors(panel.learner)]
    if len(handles) > 2:
        _draw_areas(axes, panel, xs, ys)
    else:
        handles += _draw_decisions(axes, panel, xs, ys, _decisions(panel, xs, ys))
    if panel.rows is not None:
        _draw_rows(axes, panel, *panel.rows)
    found = stored_points(panel.learner)
    if found is not None:
        handles += _draw_stored(axes, panel, found)
    axes.set_xlim(*panel.box[:2])
    axes.set_ylim(*panel.box[2:])
    names = getattr(panel.learner, "feature_names_in_", None)
    first, second = (f"feature {j}" if names is None else names[j] for j in panel.features)
    axes.set_xlabel(first, fontsize=9)
    axes.set_ylabel(second, fontsize=9)
    axes.tick_params(labelsize=8)
    titled(axes, panel.title)
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
    return axes


@contextmanager
def without_warnings() -> Iterator[None]:
    """The picture's own points have no names of features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _colors(learner: Learner) -> list[tuple[str, Any]]:
    """Colour and label of each class."""
    labels = learner.classes_.tolist()
    return [(CLASS_COLORS[k % len(CLASS_COLORS)], label) for k, label in enumerate(labels)]


def _side(color: str, label: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="", marker="s", markersize=9, color=color, alpha=0.45, label=label
    )


def _draw_areas(axes: Any, panel: Panel, xs: Any, ys: Any) -> None:
    """Fill where each of many classes is predicted with its colour."""
    from matplotlib.colors import ListedColormap

    known = {label: k for k, (_, label) in enumerate(_colors(panel.learner))}
    with without_warnings():
        predicted = panel.learner.predict(_grid(panel, xs, ys)).tolist()
    axes.imshow(
        np.array([known[label] for label in predicted]).reshape(len(ys), len(xs)),
        extent=panel.box,
        origin="lower",
        aspect="auto",
        cmap=ListedColormap([color for color, _ in _colors(panel.learner)]),
        vmin=-0.5,
        vmax=len(known) - 0.5,
        alpha=0.28,
        interpolation="nearest",
    )


def _grid(panel: Panel, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of the picture's points, ndarray of shape (len(ys) len(xs), n_features)."""
    X = np.tile(panel.at, (len(xs) * len(ys), 1))
    X[:, panel.features[0]] = np.tile(xs, len(ys))
    X[:, panel.features[1]] = np.repeat(ys, len(xs))
    return X


def _decisions(
    panel: Panel, xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Decision values, ndarray of shape (len(ys), len(xs))."""
    with without_warnings():
        values = panel.learner.decision_function(_grid(panel, xs, ys))
    return values.reshape(len(ys), len(xs))


def _draw_decisions(axes: Any, panel: Panel, xs: Any, ys: Any, values: Any) -> list[Line2D]:
    """Draw the sides in the classes' colours, the boundary in black, and the margins if any."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D

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
        for color, label in _colors(panel.learner):
            colors[labels == label] = color
    axes.scatter(*points.T, s=5, c=list(colors), linewidths=0, alpha=0.45, zorder=2)


def _draw_stored(axes: Any, panel: Panel, found: StoredPoints) -> list[Line2D]:
    """Draw stored vectors: majority class as colour, weight as area, bold rim on the margin."""
    from matplotlib.lines import Line2D

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
