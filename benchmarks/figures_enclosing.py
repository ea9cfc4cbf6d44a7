"""Figures 2 to 4 of Tsang, Kocsor & Kwok 2007: of which fits they are, and how they are drawn.

Accuracy to the left, seconds to the right, a line a learner; a fit that was out of time is no
point. All with half of beta, as the second half of the tables. usps is a smaller one, digits moved
by two pixels (54,975 rows): a figure has dozens of fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from data_enclosing import WEB_SIZES
from report import HERE

WIDTH = 0.5
USPS = "usps, 2 pixels"
EPSILONS = tuple(10.0**-k for k in range(1, 9))  # the quickest first
PENALTIES = tuple(10.0**k for k in range(-1, 5))
TICKS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 40, 70)  # errors, %
ROW_TICKS = (2_500, 5_000, 10_000, 25_000, 50_000)
FEWER_TICKS = (0.2, 0.5, 1, 2, 5, 10, 20, 40, 70)
# how, epsilon, colour, line, marker
LINES = [
    ("BVM", 1e-3, "#86b6ef", "--", "o"),
    ("BVM", 1e-4, "#1f5fbf", "-", "o"),
    ("BVM", 1e-6, "#0b2f6b", ":", "o"),
    ("CVM", 1e-4, "#d9731a", "-", "s"),
    ("SVC", 0.0, "#555555", "-", "^"),
]


@dataclass(frozen=True)
class Figure:
    """`along` is the parameter that is changed, over `values`; SVC knows no epsilon."""

    file: str
    caption: str
    sets: tuple[str, ...]
    along: str
    axis: str
    values: tuple[float, ...]

    def lines(self) -> list[tuple[Any, ...]]:
        if self.along == "epsilon":
            return [(how, 0.0, *style) for how, epsilon, *style in LINES if epsilon == 1e-4]
        if self.along == "rows":
            return [line for line in LINES if line[1] != 1e-6]
        return LINES

    def cell(self, name: str, how: str, epsilon: float, value: float) -> dict[str, Any]:
        if value == WEB_SIZES[-1]:
            value = 0  # all of it, as in the tables
        return {
            "set": name,
            "how": how,
            "epsilon": epsilon,
            "width": WIDTH,
            self.along: value,
        }

    def cells(self) -> list[dict[str, Any]]:
        return [
            self.cell(name, how, epsilon, value)
            for name in self.sets
            for how, epsilon, *_ in self.lines()
            for value in self.values
        ]


FIGURES = {
    2: Figure(
        "enclosing_epsilon.png",
        "Accuracy and time against epsilon, C = 1",
        ("letter", USPS),
        "epsilon",
        "epsilon",
        EPSILONS,
    ),
    3: Figure(
        "enclosing_penalty.png",
        "Accuracy and time against C",
        ("w3a", USPS),
        "C",
        "C",
        PENALTIES,
    ),
    4: Figure(
        "enclosing_rows.png",
        "Accuracy and time against the number of training rows of web, C = 1",
        ("web",),
        "rows",
        "training rows",
        WEB_SIZES,
    ),
}


def figure_cells(number: int) -> list[dict[str, Any]]:
    return FIGURES[number].cells()


def draw(number: int, get: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Of what `get` has; benchmarks/figures/."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure = FIGURES[number]
    n = len(figure.sets)
    fig, grid = plt.subplots(n, 2, figsize=(7.2, 2.3 * n + 0.7), sharex=True, squeeze=False)
    for row, name in zip(grid, figure.sets, strict=True):
        for axis, what in zip(row, ("error", "seconds"), strict=True):
            for how, epsilon, colour, line, marker in figure.lines():
                found = [(v, get(figure.cell(name, how, epsilon, v))) for v in figure.values]
                points = [(v, shown(result, what)) for v, result in found if result is not None]
                label = f"{how} 1e{round(math.log10(epsilon))}" if epsilon else how
                style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.4}
                axis.plot(
                    [x for x, _ in points], [y for _, y in points], line, label=label, **style
                )
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.minorticks_off()
            axis.tick_params(labelsize=8)
            axis.grid(color="#e4e4e4", linewidth=0.6)
            axis.spines[["top", "right"]].set_visible(False)
        row[0].set_title(name.replace(", 2", ", moved by 2"), fontsize=9, loc="left")
        row[0].set_ylabel("accuracy, %", fontsize=9)
        row[1].set_ylabel("seconds of the processor", fontsize=9)
        accuracies(row[0])
    for axis in grid[-1]:
        axis.set_xlabel(figure.axis, fontsize=9)
        if figure.along == "rows":
            axis.set_xticks(ROW_TICKS, [f"{n:,}" for n in ROW_TICKS])
    handles, labels = grid[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="upper center", ncols=len(labels), fontsize=8.5, frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.25 / fig.get_figheight()))
    folder = HERE / "figures"
    folder.mkdir(exist_ok=True)
    fig.savefig(folder / figure.file, dpi=150)
    plt.close(fig)


def shown(result: dict[str, Any], what: str) -> float:
    return 100.0 - result["accuracy"] if what == "error" else result["seconds"]


def accuracies(axis: Any) -> None:
    """The error's logarithm, upside down, its ticks as accuracies: 99.4 and 99.6 are as far from
    one another as 94 and 96.
    """
    low, high = axis.get_ylim()
    middle = math.sqrt(low * high)
    low, high = min(low, middle / 1.6), max(high, middle * 1.6)  # what is nearly equal looks so
    some = TICKS if high / low < 20 else FEWER_TICKS
    ticks = [tick for tick in some if low <= tick <= high]
    axis.set_yticks(ticks, [f"{100 - tick:g}" for tick in ticks])
    axis.set_ylim(high, low)
