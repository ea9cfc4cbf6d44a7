"""Pictures for notebooks: each function draws one thing on matplotlib's axes and returns them.

    from edgesvm import plot
    plot.decision_boundary(model, X, y)
    plot.accuracy(curve)

Needs matplotlib (the extra ``plot``), which is imported when something is drawn. A boundary is laid
out as in Figure 2 of Wang & Vucetic 2009.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgesvm.learner import Learner
from edgesvm.learners.calibrated import Calibrated
from edgesvm.learners.wrapper import innermost
from edgesvm.preprocessing.standardized import Standardized

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = [
    "accuracy",
    "decision_boundary",
    "errors",
    "features",
    "targets",
]

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
POINTS_PER_CHARACTER = 4.9  # of the title's font
STYLES = ("tab:blue", "-"), ("dimgray", "--"), ("darkgray", ":")  # of what learns, and baselines
SMOOTH = 60  # points of a line that is read at a glance
LABELS = "predicted before learned", "always the larger class", "always the label before"


# -- a model over two of its features --------------------------------------------------------------


@dataclass(frozen=True)
class Panel:
    """One fitted model and the view of it."""

    learner: Learner
    features: tuple[int, int]  # on the axes
    at: NDArray[np.float64]  # the values of all other features
    box: Box
    title: str
    rows: Rows | None = None  # to draw as dots; y is None if they have no labels


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
    X, y : arrays of shape (n_samples, n_features) and (n_samples,), optional
        Drawn as dots, in the colours of their labels.
    features : (int, int), optional
        The two on the axes; may be left out if there are only two.
    at : mapping of int to float, optional
        Values of features that are not drawn; default: the median.
    box : (float, float, float, float), optional
        Range of both: low, high, low, high; default: that of the points.

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
    """The view of a fitted learner, with defaults for what the caller left open. ValueError names
    the option to give."""
    if learner.regresses:
        raise ValueError("cannot draw a model that predicts numbers")
    found = stored_points(learner)
    kind = type(innermost(learner)).__name__
    holds = "" if found is None else f"{len(found.points):,} {found.name}, "
    drawn = _features(learner, features)
    known = _points(learner, found, rows)
    return Panel(
        learner,
        drawn,
        _fixed(learner, drawn, dict(at or {}), known),
        box or _box(known, drawn),
        title or f"{kind}: {holds}{learner.n_seen_:,} samples{_slice(learner, at or {})}",
        rows,
    )


def _slice(learner: Learner, at: Mapping[int, float]) -> str:
    """Where the features that are not drawn lie; empty if all are."""
    others = learner.n_features_in_ - 2 - len(at)
    where = [f"feature {j} = {value:g}" for j, value in at.items()]
    where += [f"the median of the other {others} features"] if others else []
    return f"; a slice at {', '.join(where)}" if where else ""


def _features(learner: Learner, chosen: tuple[int, int] | None) -> tuple[int, int]:
    n = learner.n_features_in_
    if n < 2:
        raise ValueError("the model has one feature; a picture needs two")
    if chosen is None:
        if n > 2:
            raise ValueError(f"the model has {n} features: choose two, features=I,J")
        return 0, 1
    if max(chosen) >= n:
        raise ValueError(f"features={chosen[0]},{chosen[1]}: the model has features 0 to {n - 1}")
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
    if isinstance(learner, Standardized):
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
            raise ValueError(f"at={feature}: the model has features 0 to {n - 1}")
        if feature in drawn:
            raise ValueError(f"at={feature}: this feature is one of the two drawn")
    others = [j for j in range(n) if j not in drawn and j not in given]
    if others and known is None:
        raise ValueError(f"the model has no points to set feature {others[0]} from: give rows=DATA")
    values = np.zeros(n)
    if known is not None:
        values[others] = np.median(known[:, others], axis=0)
    for feature, value in given.items():
        values[feature] = value
    return values


def _box(known: NDArray[np.float64] | None, drawn: tuple[int, int]) -> Box:
    if known is None:
        raise ValueError("the model has no points to choose a range from: give rows=DATA")
    low, high = known[:, drawn].min(axis=0), known[:, drawn].max(axis=0)
    width = np.where(high > low, high - low, 2.0 * np.maximum(np.abs(high), 0.5))
    low, high = low - MARGIN * width, high + MARGIN * width
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def draw_panel(axes: Any, panel: Panel) -> Any:
    """Draw a panel on axes, which are returned."""
    xs = np.linspace(*panel.box[:2], PIXELS)
    ys = np.linspace(*panel.box[2:], PIXELS)
    handles = [
        _dot(str(label), "s", markersize=9, color=color, alpha=0.45)
        for color, label in _colors(panel.learner)
    ]
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


def _asked(method: Any, X: NDArray[np.float64]) -> Any:
    """The picture's own points have no names of features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method(X)


def _colors(learner: Learner) -> list[tuple[str, Any]]:
    """Colour and label of each class."""
    labels = learner.classes_.tolist()
    return [(CLASS_COLORS[k % len(CLASS_COLORS)], label) for k, label in enumerate(labels)]


def _draw_areas(axes: Any, panel: Panel, xs: Any, ys: Any) -> None:
    """Fill where each of many classes is predicted with its colour."""
    from matplotlib.colors import ListedColormap

    known = {label: k for k, (_, label) in enumerate(_colors(panel.learner))}
    predicted = _asked(panel.learner.predict, _grid(panel, xs, ys)).tolist()
    image = np.array([known[label] for label in predicted]).reshape(len(ys), len(xs))
    colors = ListedColormap([color for color, _ in _colors(panel.learner)])
    limits = {"vmin": -0.5, "vmax": len(known) - 0.5}
    _tint(axes, panel, image, cmap=colors, interpolation="nearest", **limits)


def _tint(axes: Any, panel: Panel, image: Any, **style: Any) -> None:
    axes.imshow(image, extent=panel.box, origin="lower", aspect="auto", alpha=0.28, **style)


def _grid(panel: Panel, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of the picture's points."""
    X = np.tile(panel.at, (len(xs) * len(ys), 1))
    X[:, panel.features[0]] = np.tile(xs, len(ys))
    X[:, panel.features[1]] = np.repeat(ys, len(xs))
    return X


def _decisions(panel: Panel, xs: Any, ys: Any) -> NDArray[np.float64]:
    """Decision values, ndarray of shape (len(ys), len(xs))."""
    values = _asked(panel.learner.decision_function, _grid(panel, xs, ys))
    return values.reshape(len(ys), len(xs))


def _draw_decisions(axes: Any, panel: Panel, xs: Any, ys: Any, values: Any) -> list[Line2D]:
    """Draw the sides in the classes' colours, the boundary in black, and the margins if any."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D

    within = panel.learner.inner if isinstance(panel.learner, Standardized) else panel.learner
    margins = hasattr(within, "kt_residual")  # 1 and -1, as in the Kuhn-Tucker conditions
    full = 1.0 if margins else max(float(np.quantile(np.abs(values), 0.9)), 1e-300)
    tints = LinearSegmentedColormap.from_list("sides", [CLASS_COLORS[0], "white", CLASS_COLORS[1]])
    image, limits = np.clip(values / full, -1.0, 1.0), {"vmin": -1.0, "vmax": 1.0}
    _tint(axes, panel, image, cmap=tints, interpolation="bilinear", **limits)
    handles = []
    levels = [(0.0, "black", 1.8, "boundary")]
    if margins:
        labels = [str(label) for label in panel.learner.classes_.tolist()]
        levels += [
            (level, color, 1.5, f"margin of {label}")
            for level, color, label in zip((-1.0, 1.0), MARGIN_COLORS, labels, strict=False)
        ]
    for level, color, width, name in levels:
        if values.min() < level < values.max():  # solid: a negative level would be dashed
            line = {"colors": [color], "linewidths": [width], "linestyles": "solid"}
            axes.contour(xs, ys, values, levels=[level], **line)
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

    whose = "mostly" if found.weights.all(axis=1).any() else "of"
    rim: dict[str, Any] = {"markersize": 7, "markeredgecolor": "black"}
    handles = [
        _dot(f"{found.name} {whose} {label}", color=color, markeredgewidth=0.4, **rim)
        for color, label in _colors(panel.learner)
    ]
    if found.on_margin.any():
        handles.append(_dot("on a margin", color="white", markeredgewidth=1.7, **rim))
    return handles


def _dot(label: str, marker: str = "o", **style: Any) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker=marker, label=label, **style)


# -- the vectors that a learner stores -------------------------------------------------------------


class StoredPoints(NamedTuple):
    """Stored vectors, in the units of the learner's samples."""

    name: str  # what they are: "twins", "vectors", "support vectors"
    points: NDArray[np.float64]  # (n, n_features)
    weights: NDArray[np.float64]  # (n, 2): per class, in the order of ``classes_``
    on_margin: NDArray[np.bool_]  # (n,)


def stored_points(learner: Learner) -> StoredPoints | None:
    """The vectors that `learner` stores; None if it has only a weight vector."""
    if isinstance(learner, Calibrated):
        learner = learner.learner_
    if isinstance(learner, Standardized):
        found = stored_points(learner.learner_)
        if found is None:
            return None
        return found._replace(points=found.points * learner.scale_ + learner.center_)
    source: Any = learner
    if hasattr(learner, "twins_"):
        name, points, weights = "twins", source.twins_, source.weights_
        on_margin = getattr(source, "margin_", np.zeros(len(points), bool))
    elif hasattr(learner, "sample_weights_"):
        name, points, on_margin = "vectors", source.vectors_, source.margin_
        of_second = source.labels_ == source.classes_[-1]
        weights = source.sample_weights_[:, None] * np.stack([~of_second, of_second], axis=1)
    elif hasattr(learner, "support_vectors_"):
        name, points, share = "support vectors", source.support_vectors_, source.dual_coef_[0]
        weights = np.stack([np.maximum(-share, 0.0), np.maximum(share, 0.0)], axis=1)
        on_margin = np.zeros(len(share), bool)
    else:
        return None
    return StoredPoints(name, points.astype(np.float64), weights.astype(np.float64), on_margin)


# -- over samples ----------------------------------------------------------------------------------


def axes_or_new(ax: Any, size: tuple[float, float] = (8, 4)) -> Any:
    """`ax`, or axes of a new figure of so many inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size, constrained_layout=True)[1]


def titled(ax: Any, title: str | None) -> None:
    """Set a title above the legend, if any, in as many lines as it needs to be seen whole."""
    if title:
        width = ax.get_window_extent().width * 72 / ax.figure.dpi
        text = fill(title, max(int(width / POINTS_PER_CHARACTER), 20))
        ax.set_title(text, fontsize=9, pad=22 if ax.get_legend() else None)


def accuracy(
    curve: Sequence[tuple[float | None, ...]], *, title: str | None = None, ax: Any = None
) -> Any:
    """Accuracy over samples, beside what needs no learner: (n, accuracy) or (n, accuracy, larger
    class, label before) each, as `evaluation.Prequential` has them. Returns matplotlib axes."""
    ax = axes_or_new(ax)
    n, lines = _drawn(ax, curve, LABELS, 100.0)
    _within(ax, n, lines, most=100.0)
    return _finished(ax, title, "samples", "rolling accuracy, %")


def errors(
    curve: Sequence[tuple[float | None, ...]], *, title: str | None = None, ax: Any = None
) -> Any:
    """Mean absolute error over samples; (n, error) or (n, error, that of the mean so far, that of
    the target before) each, as `regression.RegressionScore` has them. Returns matplotlib axes."""
    ax = axes_or_new(ax)
    names = LABELS[0], "the mean so far", "the target before"
    n, lines = _drawn(ax, curve, names, 1.0)
    _within(ax, n, lines, least=0.0)
    return _finished(ax, title, "samples", "rolling mean error")


def targets(last: Iterable[tuple[float, ...]], *, title: str | None = None, ax: Any = None) -> Any:
    """The last targets, (target, value, low, high) each, with their intervals. Returns matplotlib
    axes."""
    ax, last = axes_or_new(ax), list(last)
    target, value, low, high = zip(*last, strict=True) if last else ((),) * 4
    at = np.arange(1 - len(target), 1)
    ax.fill_between(at, low, high, color="tab:blue", alpha=0.2, linewidth=0, label="interval")
    ax.plot(at, value, color="tab:blue", linewidth=1.5, label="predicted")
    ax.plot(at, target, ".", color="black", markersize=3, label="target")
    _within(ax, at, np.array([target, value]))
    return _finished(ax, title, "samples before the last")


def features(
    at: ArrayLike,
    lines: Sequence[tuple[str, ArrayLike]],
    *,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Features over the samples `at`, a line with its name each; of many, their running mean over
    faint ones. Returns matplotlib axes."""
    ax, at = axes_or_new(ax), np.asarray(at, float)
    n = max(len(at) // SMOOTH, 1)
    for name, values in lines:
        (faint,) = ax.plot(at, values, linewidth=0.6, alpha=0.35 if n > 1 else 1.0)
        mean = np.convolve(np.asarray(values, float), np.full(n, 1 / n), "valid")
        ax.plot(at[n // 2 :][: len(mean)], mean, linewidth=1.2, color=faint.get_color(), label=name)
    ax.locator_params(axis="x", nbins=5)
    _within(ax, at, np.array([values for _, values in lines], float))
    titled(ax, title)
    return ax


def _drawn(
    ax: Any, curve: Sequence[tuple[float | None, ...]], names: Sequence[str], unit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draw what follows the number of samples in each point, in this unit; the numbers and that."""
    n, *lines = np.array(curve, float).T if len(curve) else (np.empty(0), np.empty(0))
    drawn = unit * np.array(lines)
    for values, name, (color, style) in zip(drawn, names, STYLES, strict=False):
        ax.plot(n, values, style, color=color, linewidth=1.5, label=name)
    return n, drawn


def _finished(ax: Any, title: str | None, x: str, y: str = "") -> Any:
    """The axes with what they say."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend(fontsize=8, ncols=3, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 0.98))
    titled(ax, title)
    return ax


def _within(
    ax: Any, at: np.ndarray, values: np.ndarray, *, least: float = -np.inf, most: float = np.inf
) -> None:
    """Limit the axes to what was drawn, with a little room above and below; and a grid."""
    ax.grid(True, alpha=0.3)
    if len(at) > 1:
        ax.set_xlim(at[0], at[-1])
    known = values[np.isfinite(values)]
    if len(known) and known.min() < known.max():
        room = 0.04 * (known.max() - known.min())
        low = least if least > -np.inf else known.min() - room
        ax.set_ylim(low, min(known.max() + room, most + room))
