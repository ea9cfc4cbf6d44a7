"""How the cost of a sample grows, in instructions: with the features D, the rows seen N, the budget
B of twins or samples, and the vectors or directions M.

Counted under valgrind: `partial_fit` of a row after 1,024 others (with D) or 8,192 (with B and M),
or a row of `fit`, where a line says so. Each line is fitted by a + b x^p, a and b not
negative, p from 0 to 4, so that the largest relative error is least; where a is much larger than
b x^p throughout, p says little. Instructions of vectors: eight float32 numbers each, as valgrind
knows no AVX-512. Counted lines are kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.report import Report, Table, figures_of, publish
from benchmarks.ledger.counter import missing
from benchmarks.ledger.counts import counted, measured_with
from benchmarks.ledger.entry_points import Counted, EntryPoint
from edgesvm import (
    LASVM,
    AdaGradSVM,
    BallVectorMachine,
    BatchSVM,
    FourierSVM,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    KernelPerceptron,
    KernelStreamSVM,
    ReservoirSVM,
    StreamSVM,
    TwinVectorMachine,
)

D = 8  # where it stands still
FULL = 8192  # rows after which every store is full
COLOURS = ("#1f5fbf", "#d9731a", "#2e8b57", "#8e44ad", "#555555")


@dataclass(frozen=True)
class Line:
    """A learner along an axis: one `Counted` for each value."""

    name: str
    points: dict[int, Counted]


@dataclass(frozen=True)
class Axis:
    letter: str
    title: str
    lines: list[Line]


@dataclass(frozen=True)
class Fit:
    """cost = a + b x^p."""

    a: float
    b: float
    p: float
    error: float  # largest, relative

    def at(self, x: np.ndarray) -> np.ndarray:
        return self.a + self.b * x**self.p


def fitted(x: np.ndarray, cost: np.ndarray) -> Fit:
    """The best over a grid of p; for each, a and b of least squares of relative errors."""
    fits = []
    for p in np.arange(0.02, 4.001, 0.02):
        for columns in (np.stack([x**0.0, x**p], axis=1), (x**p)[:, None]):
            found = np.linalg.lstsq(columns / cost[:, None], np.ones(len(x)), rcond=None)[0]
            if (found >= 0).all():
                a, b = found if len(found) == 2 else (0.0, found[0])
                error = np.abs((a + b * x**p) / cost - 1).max()
                fits.append(Fit(float(a), float(b), round(float(p), 2), float(error)))
    return min(fits, key=lambda fit: fit.error)


def axes() -> list[Axis]:
    widths, seen = (8, 32, 64, 128, 512, 1024), (64, 256, 1024, 4096, 16384)
    sizes, rows = (16, 32, 64, 128, 256), (64, 128, 256, 512)
    learners = {
        "StreamSVM": (StreamSVM(), 128),
        "AdaGradSVM": (AdaGradSVM(), 128),
        "FourierSVM, 128 directions": (FourierSVM(), 64),
        "KernelStreamSVM, 32 vectors": (KernelStreamSVM(max_vectors=32), 64),
        "GaussianNovelty": (GaussianNovelty(), 16),
    }
    over_d = [
        Line(
            name,
            {
                d: Counted(one, (d,), n=n, labelled=name != "GaussianNovelty")
                for d in (widths[:4] if name == "GaussianNovelty" else widths)
            },
        )
        for name, (one, n) in learners.items()
    ]
    streams = {
        "StreamSVM": StreamSVM(),
        "KernelStreamSVM, 32 vectors": KernelStreamSVM(max_vectors=32),
        "TwinVectorMachine, 32 twins": TwinVectorMachine(max_twins=32),
        "LASVM, 128 vectors": LASVM(max_vectors=128),
    }
    over_n = [
        Line(name, {n: Counted(one, (D,), n=128, taught=n) for n in seen})
        for name, one in streams.items()
    ]
    wholes = {
        "BatchSVM, fit": lambda n: BatchSVM(max_samples=n, cache="4MiB"),
        "BallVectorMachine, fit": lambda n: BallVectorMachine(max_core=n),
    }
    over_n += [
        Line(name, {n: Counted(make(n), (D,), whole=True, taught=n) for n in rows})
        for name, make in wholes.items()
    ]
    budgets = {
        "TwinVectorMachine": lambda b: TwinVectorMachine(max_twins=b),
        "ReservoirSVM": lambda b: ReservoirSVM(max_samples=b, cache="1MiB"),
    }
    over_b = [
        Line(name, {b: Counted(make(b), (D,), n=64, taught=FULL) for b in sizes})
        for name, make in budgets.items()
    ]
    stores = {
        "KernelStreamSVM": lambda m: KernelStreamSVM(max_vectors=m),
        "KernelPerceptron": lambda m: KernelPerceptron(max_vectors=m, when_full="oldest"),
        "LASVM": lambda m: LASVM(max_vectors=m),
        "IncrementalDecrementalSVM": lambda m: IncrementalDecrementalSVM(max_vectors=m),
        "FourierSVM, M directions": lambda m: FourierSVM(n_directions=m),
    }
    over_m = [
        Line(name, {m: Counted(make(m), (D,), n=64, taught=FULL) for m in sizes})
        for name, make in stores.items()
    ]
    return [
        Axis("D", "features D", over_d),
        Axis("N", "rows N", over_n),
        Axis("B", "twins or samples B", over_b),
        Axis("M", "vectors or directions M", over_m),
    ]


def subject(axis: Axis, line: Line, value: int) -> str:
    return f"[{axis.letter}] {line.name}, {axis.letter} = {value}"


def entry_points() -> Iterator[EntryPoint]:
    """What is counted: one entry point for each point."""
    for axis in axes():
        for line in axis.lines:
            for value, one in line.points.items():
                found = one.entry_points(subject(axis, line, value))
                yield next(d for d in found if d.method.startswith(("fit", "partial_fit")))


def fill(cells: Cells, lines: list[tuple[Axis, Line]]) -> None:
    """Count the lines that are not there yet."""
    for axis, line in lines:
        if any((axis.letter, line.name, value) not in cells for value in line.points):
            _, entries = counted("benchmarks.ledger.exponents", [f"[{axis.letter}] {line.name},"])
            costs = {entry["subject"]: entry["instructions"] for entry in entries.values()}
            for value in line.points:
                found = {"instructions": costs[subject(axis, line, value)]}
                cells[axis.letter, line.name, value] = found


def curve(axis: Axis, line: Line, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """The values that were counted, and their costs."""
    keys = [key for value in line.points if (key := (axis.letter, line.name, value)) in cells]
    costs = [cells[key]["instructions"] for key in keys]
    return np.array([key[-1] for key in keys], float), np.array(costs)


def draw(axis: Axis, cells: Cells, path: Path) -> None:
    """Points as counted, lines as fitted."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, canvas = plt.subplots(figsize=(6.4, 4.2))
    marks = ("o", "s", "^", "D", "v", "P")
    for line, colour, mark in zip(axis.lines, (*COLOURS, "#c0392b"), marks, strict=False):
        x, cost = curve(axis, line, cells)
        if len(x) < 3:
            continue
        fit, fine = fitted(x, cost), np.geomspace(x[0], x[-1], 200)
        canvas.plot(fine, fit.at(fine), color=colour, linewidth=1.2)
        label = f"{line.name}: {formula(fit, axis.letter)}"
        canvas.plot(x, cost, mark, color=colour, markersize=4.5, label=label)
    canvas.set_xscale("log", base=2)
    canvas.set_yscale("log")
    canvas.set_xlabel(axis.title, fontsize=9)
    canvas.set_ylabel("instructions", fontsize=9)
    canvas.tick_params(labelsize=8)
    canvas.grid(color="#e4e4e4", linewidth=0.6)
    canvas.spines[["top", "right"]].set_visible(False)
    ticks = sorted({v for line in axis.lines for v in line.points})
    canvas.set_xticks(ticks, [f"{v:,}" for v in ticks])
    canvas.minorticks_off()
    fig.legend(*canvas.get_legend_handles_labels(), loc="upper center", fontsize=8, frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.045 * len(axis.lines)))
    fig.savefig(path, dpi=150)
    plt.close(fig)


def formula(fit: Fit, letter: str) -> str:
    power = f"{fit.b:,.3g} {letter}^{fit.p:.2f}"
    return f"{fit.a:,.0f} + {power}" if fit.a else power


def table(axis: Axis, cells: Cells) -> Table:
    rows = []
    for line in axis.lines:
        x, cost = curve(axis, line, cells)
        if len(x) >= 3:
            fit = fitted(x, cost)
            span = f"{x[0]:,.0f} to {x[-1]:,.0f}"
            ends = f"{cost[0]:,.0f} to {cost[-1]:,.0f}"
            error = f"{100 * fit.error:.0f}"
            rows.append([line.name, span, ends, formula(fit, axis.letter), f"{fit.p:.2f}", error])
    columns = ["learner", axis.letter, "instructions", "fitted", "power", "largest error, %"]
    return Table(f"With {axis.title}", columns, rows)


def drawn(axis: Axis, cells: Cells, out: Path) -> list[tuple[str, str]]:
    """Caption and path, or nothing where matplotlib is not there."""
    if find_spec("matplotlib") is None:
        return []
    path = figures_of(out) / f"ledger_exponents_{axis.letter}.png"
    draw(axis, cells, path)
    caption = f"Instructions against {axis.title}; points counted, lines fitted"
    return [(caption, os.path.relpath(path, out))]


def main() -> None:
    args = parsed(arguments(__doc__))
    title, about = "Growth of the cost", [(__doc__ or "").strip()]
    if why := missing():
        publish(Report("ledger/exponents", title, [], about, skipped=[why]), args.out)
        return
    shown = [axis for axis in axes() if not args.quick or axis.letter == "M"]
    lines = [(axis, line) for axis in shown for line in axis.lines]
    cells = Cells(args.cells / "ledger_exponents.jsonl", build_id())
    fill(cells, [(a, b) for a, b in lines if not args.quick or b.name == "KernelPerceptron"])
    tables = [table(axis, cells) for axis in shown]
    pictures = [picture for axis in shown for picture in drawn(axis, cells, args.out)]
    figures = {
        "measured": measured_with(),
        "cells": [{"cell": key, "result": cells[key]} for key in cells],
    }
    publish(Report("ledger/exponents", title, tables, about, figures, [], pictures), args.out)


if __name__ == "__main__":
    main()
