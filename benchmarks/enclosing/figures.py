"""Figures 2 to 4 of Tsang, Kocsor & Kwok 2007: their fits, and the figures.

Accuracy to the left, seconds to the right, a line a learner; a fit that was out of time is no
point. Crosses are the paper's numbers, those of its tables, which are the points of its figures
that it prints; its times are of its machine. All with half of beta, as the second half of the
tables. usps is a smaller one, digits moved by two pixels (54,975 rows; the paper's has 266,079): a
figure has dozens of fits.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, figures_of, publish
from benchmarks.enclosing.data import QUICK, WEB_SIZES
from benchmarks.enclosing.fits import Setting
from benchmarks.enclosing.results import Results, run
from benchmarks.enclosing.table import column_of, theirs

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
    ("BVM margin", 1e-4, "#2a9d55", "-", "o"),
    ("CVM", 1e-4, "#d9731a", "-", "s"),
    ("SVC", 0.0, "#555555", "-", "^"),
    ("LASVM", 0.0, "#8a4fbf", "-", "v"),
    ("SimpleSVM", 0.0, "#b8a100", "-", "D"),
]


@dataclass(frozen=True)
class Figure:
    """`along` is the parameter that is changed, over `values`, from the fits of the tables."""

    file: str
    caption: str
    sets: tuple[str, ...]
    along: str
    axis: str
    values: tuple[float, ...]

    def lines(self) -> list[tuple[Any, ...]]:
        if self.along == "C":
            return LINES
        lines = [line for line in LINES if line[0] != "BVM margin"]
        if self.along == "epsilon":
            return [(how, 0.0, *style) for how, epsilon, *style in lines if epsilon == 1e-4]
        return [line for line in lines if line[1] != 1e-6]

    def setting(self, name: str, how: str, epsilon: float, value: float) -> Setting:
        if value == WEB_SIZES[-1]:
            value = 0  # all of it, as in the tables
        return Setting(
            **{"set": name, "how": how, "epsilon": epsilon, "width": WIDTH, self.along: value}
        )

    def paper(self, setting: Setting, what: str) -> float | None:
        """The paper's number, of its tables: C = 1, all rows."""
        epsilon, name = setting.epsilon, setting.set.split(",")[0]
        if setting.C != 1.0 or setting.rows or setting.how == "BVM margin":
            return None
        found = theirs(name, what, (setting.how, epsilon)) if column_of(setting) else None
        return found if isinstance(found, float) else None

    def settings(self) -> list[Setting]:
        return [
            self.setting(name, how, epsilon, value)
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
        ("w3a", "reuters", USPS),
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


QUICK_FIGURE = Figure(
    "quick.png", "Accuracy and time against epsilon", (QUICK,), "epsilon", "epsilon", (1e-2, 1e-3)
)


def draw(figure: Figure, results: Results, path: Path) -> None:
    """Of the fits that are finished."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    n = len(figure.sets)
    fig, grid = plt.subplots(n, 2, figsize=(7.2, 2.3 * n + 0.7), sharex=True, squeeze=False)
    for row, name in zip(grid, figure.sets, strict=True):
        for axis, what in zip(row, ("error", "seconds"), strict=True):
            for how, epsilon, colour, line, marker in figure.lines():
                found = [
                    (v, results.get(figure.setting(name, how, epsilon, v))) for v in figure.values
                ]
                points = [(v, shown(result, what)) for v, result in found if result is not None]
                label = f"{how} 1e{round(math.log10(epsilon))}" if epsilon else how
                style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.4}
                axis.plot(
                    [x for x, _ in points], [y for _, y in points], line, label=label, **style
                )
                cross = [
                    (v, printed(figure, figure.setting(name, how, epsilon, v), what))
                    for v in figure.values
                ]
                axis.plot([v for v, y in cross if y], [y for _, y in cross if y], "x", color=colour)
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
    fig.legend(handles, labels, loc="upper center", ncols=4, fontsize=8.5, frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.4 / fig.get_figheight()))
    fig.savefig(path, dpi=150)
    plt.close(fig)


def shown(result: dict[str, Any], what: str) -> float:
    return 100.0 - result["accuracy"] if what == "error" else result["seconds"]


def printed(figure: Figure, setting: Setting, what: str) -> float | None:
    """The paper's number as `shown` has ours."""
    found = figure.paper(setting, "accuracy" if what == "error" else what)
    return 100.0 - found if found is not None and what == "error" else found


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


def table(figure: Figure, results: Results) -> Table:
    """The points of a figure."""
    rows = []
    for setting in figure.settings():
        result = results.get(setting)
        if result is not None:
            line = f"{setting.how} {setting.epsilon:g}" if setting.epsilon else setting.how
            value = f"{getattr(setting, figure.along) or WEB_SIZES[-1]:g}"
            row = [setting.set, line, value]
            for what in ("accuracy", "seconds"):
                paper = figure.paper(setting, what)
                row += [f"{result[what]:.2f}", "" if paper is None else f"{paper:.2f}"]
            rows.append(row)
    header = ["data", "line", figure.axis, "accuracy %", "paper", "CPU s", "paper"]
    return Table(figure.caption, header, rows)


def drawn(figures: list[Figure], results: Results, out: Path) -> list[tuple[str, str]]:
    """Captions and paths, or nothing where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        return []
    folder = figures_of(out)
    for figure in figures:
        draw(figure, results, folder / figure.file)
    return [(f.caption, os.path.relpath(folder / f.file, out)) for f in figures]


def main() -> None:
    parser = arguments(__doc__)
    numbers = list(FIGURES)
    parser.add_argument("--figures", nargs="+", type=int, choices=numbers, default=numbers)
    parser.add_argument("--limit", type=int, default=600, help="seconds of a fit (default 600)")
    parser.add_argument("--done", action="store_true", help="run nothing: draw finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    figures = [FIGURES[n] for n in args.figures]
    skipped = []
    if args.quick:
        figures = [QUICK_FIGURE]
        skipped = ["the paper's sets: a quick run uses generated data"]
    results = Results(args.cells, args.any_build)
    if not args.done:
        settings = [setting for figure in figures for setting in figure.settings()]
        skipped += run(settings, results, args.limit)
    title = "Figures 2 to 4: accuracy and time of core and ball vector machines"
    tables = [table(figure, results) for figure in figures]
    with_points = [f for f, points in zip(figures, tables, strict=True) if points.rows]
    pictures = drawn(with_points, results, args.out)
    found = Report("enclosing/figures", title, tables, skipped=skipped, pictures=pictures)
    publish(found, args.out)


if __name__ == "__main__":
    main()
