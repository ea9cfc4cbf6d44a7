"""Pictures in files; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

try:
    import matplotlib
except ImportError as error:
    raise RuntimeError("drawing needs matplotlib: pip install 'edgesvm[plot]'") from error

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from edgesvm import plot


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


def accuracy_and_memory(
    curve: Sequence[tuple[float | None, ...]],
    memory: Sequence[tuple[int, float]],
    path: str,
    *,
    title: str,
) -> None:
    """Rolling accuracy, and the process's peak resident memory in MiB, over samples."""
    with saved(path, 2, 1, (8, 5.5), sharex=True, height_ratios=(2, 1)) as [[above], [below]]:
        plot.accuracy(curve, title=title, ax=above)
        above.set_xlabel("")
        n, mib = zip(*memory, strict=True) if memory else ((), ())
        below.plot(n, mib, color="tab:orange", linewidth=1.5)
        below.set_ylabel("peak memory, MiB")
        below.set_ylim(0, 1.25 * max(mib, default=1.0))
        below.grid(alpha=0.3)
        below.set_xlabel("samples")


def rounds(
    rows: Sequence[int],
    tried: Sequence[tuple[str, Sequence[float]]],
    path: str,
    *,
    larger_class: float,
) -> None:
    """Accuracy of candidates, the best first, over the rows of each round, beside that of the
    larger class; the best ten are named."""
    with saved(path, size=(8, 4.5)) as [[axes]]:
        for k, (name, scores) in enumerate(tried):
            axes.plot(
                rows[: len(scores)],
                [100 * score for score in scores],
                "o-",
                color=f"C{k}" if k < 10 else "lightgray",
                label=name if k < 10 else None,
                zorder=-k,
            )
        name, (color, style) = plot.curves.LABELS[1], plot.curves.STYLES[1]
        axes.axhline(100 * larger_class, color=color, linestyle=style, label=name)
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_ylabel("accuracy, %")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)


def reliability(before: Any, after: Any, path: str, *, title: str, labels: Sequence[Any]) -> None:
    """Probabilities of the second of two labels, or of all of more, against the shares that came
    true; each is the `bins` of `Forecasts`."""
    with saved(path, 2, 1, (5, 6.5), sharex=True, height_ratios=(3, 1)) as [[above], [below]]:
        named = (("scores as they are", before, "tab:orange"), ("fitted", after, "tab:blue"))
        for name, bins, color in named:
            plot.reliability(bins, label=name, color=color, ax=above)
            edges = [k / len(bins) for k in range(len(bins) + 1)]
            below.stairs(bins[:, 0], edges, color=color, linewidth=1.5)
        plot.curves.titled(above, title)
        above.set_xlabel("")
        below.set_yscale("log")
        below.set_ylabel("samples")
        of = f" of {labels[1]}" if len(labels) == 2 else ""
        below.set_xlabel(f"probability{of}")
        below.grid(alpha=0.3)
