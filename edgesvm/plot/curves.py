"""Scores over samples, probabilities, targets, and the features of windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

POINTS_PER_CHARACTER = 4.9  # of the title's font
STYLES = ("tab:blue", "-"), ("dimgray", "--"), ("darkgray", ":")  # of what learns, and baselines
LABELS = "predicted before learned", "always the larger class", "always the label before"


def axes_or_new(ax: Any, size: tuple[float, float] = (8, 4)) -> Any:
    """`ax`, or axes of a new figure of so many inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size, constrained_layout=True)[1]


def titled(ax: Any, title: str | None) -> None:
    """Set a title, in as many lines as it needs to be seen whole."""
    if title:
        width = ax.get_window_extent().width * 72 / ax.figure.dpi
        ax.set_title(fill(title, max(int(width / POINTS_PER_CHARACTER), 20)), fontsize=9)


def accuracy(
    curve: Sequence[tuple[float | None, ...]], *, title: str | None = None, ax: Any = None
) -> Any:
    """Accuracy over samples, beside what needs no learner.

    Parameters
    ----------
    curve : sequence of (n, accuracy) or (n, accuracy, larger class, label before)
        Of `evaluation.Prequential`: ``n``, ``rolling``, ``majority``, ``label_before``; shares.
    title : str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    n, lines = _drawn(ax, curve, LABELS, 100.0)
    _within(ax, n, lines, most=100.0)
    return _finished(ax, title, "samples", "accuracy, %")


def errors(
    curve: Sequence[tuple[float | None, ...]], *, title: str | None = None, ax: Any = None
) -> Any:
    """Mean absolute error over samples; (n, error) or (n, error, that of the mean so far, that of
    the target before) each, as `regression.RegressionScore` has them. Returns matplotlib axes."""
    ax = axes_or_new(ax)
    names = "rolling mean error", "the mean so far", "the target before"
    n, lines = _drawn(ax, curve, names, 1.0)
    _within(ax, n, lines, least=0.0)
    return _finished(ax, title, "samples", "mean error")


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


def reliability(
    bins: np.ndarray,
    *,
    label: str | None = None,
    color: str = "tab:blue",
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Probabilities against the shares that came true; `bins` of `evaluation.Forecasts`. Returns
    matplotlib axes."""
    ax = axes_or_new(ax, (5, 5))
    n, total, true = bins[bins[:, 0] > 0].T
    ax.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
    ax.plot(total / n, true / n, "o-", color=color, label=label, markersize=4, linewidth=1.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("probability")
    ax.set_ylabel("share that came true")
    ax.grid(True, alpha=0.3)
    if label:
        ax.legend(fontsize=9)
    titled(ax, title)
    return ax


def scores(values: ArrayLike, threshold: float, *, title: str | None = None, ax: Any = None) -> Any:
    """How strange each row was, and the threshold above which it is: of a novelty learner,
    ``-learner.score_samples(X)`` and ``-learner.offset_``. Above four thresholds the scale is
    logarithmic, so that nothing is cut off. Returns matplotlib axes."""
    ax, y = axes_or_new(ax), np.asarray(values, float)
    at, strange = np.arange(len(y)), y > threshold
    ax.plot(at, y, color="tab:blue", linewidth=1.0, label="score")
    ax.plot(at[strange], y[strange], ".", color="tab:red", markersize=4, label="strange")
    ax.axhline(threshold, color="dimgray", linestyle="--", linewidth=1.2, label="threshold")
    _within(ax, at, np.append(y, threshold)[None])
    if 0 < 4 * threshold < np.max(y, initial=0.0):
        ax.set_yscale("asinh", linear_width=threshold)
    return _finished(ax, title, "rows", "score")


def features(
    at: ArrayLike,
    lines: Sequence[tuple[str, ArrayLike]],
    *,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Features over the samples `at`, a line with its name each. Returns matplotlib axes."""
    ax = axes_or_new(ax)
    for name, values in lines:
        ax.plot(at, values, linewidth=1, label=name)
    _within(ax, np.asarray(at, float), np.array([values for _, values in lines], float))
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
    ax.legend(fontsize=8)
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
