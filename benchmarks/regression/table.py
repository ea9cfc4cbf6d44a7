"""Regression of sensors with a target, on the device: RMSE from row 300 on, while the target is
known right after the prediction, 100 rows later, and after it stopped at half of the rows. Ours
within 2, 8 and 64 KiB beside simple guesses, learners of streams, and what holds thousands of rows.

`--sets` and `--only` (words of names) take a part of it; finished cells are kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.regression.contestants import (
    ALONE,
    BASELINES,
    EVERY,
    MOST_HELD,
    OURS,
    SEEDED,
    Found,
    ours,
    quiet,
    rivals,
)
from benchmarks.regression.data import (
    FIRST_SCORED,
    LATE,
    NOW,
    SETTINGS,
    SHUFFLED,
    STOP,
    Setting,
    Stream,
    bounded,
    errors,
    load,
    wanted_sets,
)
from benchmarks.regression.stack import stacked
from edgesvm.errors import MemoryBudgetError

ALL_ROWS = 1_000_000
STACKED, REFITTED = "stacked", ", refitted"
Key = tuple[str, int, str, int, str]  # set, most rows, setting, seed, contestant


def scored(found: Found, stream: Stream, setting: Setting, *, stack: bool) -> dict[str, Any]:
    """Errors alone, and with the same stack where it applies."""
    alone = bounded(found.predicted, stream.y, setting)
    cell: dict[str, Any] = {
        **errors(alone, stream.y, setting),
        "bytes": int(found.n_bytes),
        "us": 1e6 * found.seconds / len(stream.y),
    }
    if stack and setting == NOW:
        both = bounded(stacked(alone, stream.y), stream.y, setting)
        cell[STACKED] = errors(both, stream.y, setting)
    return cell


def of_ours(name: str, seed: int, stream: Stream, setting: Setting) -> dict[str, Any]:
    run = partial(ours, name, seed, stream, setting)
    try:
        cell = scored(run(), stream, setting, stack=False)
    except MemoryBudgetError:
        return {"why": "does not fit"}
    if setting == NOW:
        cell[ALONE] = scored(run(alone=True), stream, setting, stack=False)
    return cell


def of_others(
    run: Callable[[Stream, Setting], Found], stack: bool, stream: Stream, setting: Setting
) -> dict[str, Any]:
    try:
        found = quiet(partial(run, stream, setting))
    except ValueError as error:  # scikit-learn's SGD raises on overflow
        return {"why": "diverged", "error": str(error)}
    return scored(found, stream, setting, stack=stack)


class Both:
    """Cells of our learners, which count for one build, and of the others, by the same keys."""

    def __init__(self, ours: Cells, others: Cells) -> None:
        self.ours, self.others = ours, others

    def of(self, key: Key) -> Cells:
        return self.ours if key[-1] in OURS else self.others

    def __contains__(self, key: Key) -> bool:
        return key in self.of(key)

    def __getitem__(self, key: Key) -> dict[str, Any]:
        return self.of(key)[key]

    def __setitem__(self, key: Key, result: dict[str, Any]) -> None:
        self.of(key)[key] = result


def measure(cells: Both, sets: list[str], names: list[str], rows: int, seeds: int) -> None:
    """Fill in what is missing."""
    of_rivals = rivals()
    wanted = [
        (name, rows, setting.name, seed, who)
        for name in sets
        for setting in SETTINGS
        for who in names
        for seed in range(seeds if who.startswith(SEEDED) else 1)
    ]
    missing = [key for key in wanted if key not in cells]
    settings = {setting.name: setting for setting in SETTINGS}
    stream = None
    for k, key in enumerate(missing, start=1):
        name, _, when, seed, who = key
        say(f"[{k}/{len(missing)}] {name}, {when}: {who}" + f", seed {seed}" * (seed > 0))
        if stream is None or stream.name != name:
            stream = load(name, rows)
        if who == "same hour" and not stream.is_hourly:
            cells[key] = {"why": ""}
        elif who in OURS:
            cells[key] = of_ours(who, seed, stream, settings[when])
        else:
            run = BASELINES.get(who) or of_rivals[who]
            cells[key] = of_others(run, who in of_rivals, stream, settings[when])


# -- tables ----------------------------------------------------------------------------------------


class Figures:
    """Medians over the seeds."""

    def __init__(self, cells: Both, sets: list[str], rows: int, seeds: int) -> None:
        self.cells, self.sets, self.rows, self.seeds = cells, sets, rows, seeds
        self.streams = {name: load(name, rows) for name in sets}

    def cells_of(self, name: str, setting: Setting, who: str) -> list[dict[str, Any]]:
        n = self.seeds if who.startswith(SEEDED) else 1
        return [self.cells[name, self.rows, setting.name, seed, who] for seed in range(n)]

    def of(self, name: str, setting: Setting, who: str, what: str = "", part: str = "") -> float:
        """NaN where there is none."""
        found = []
        for cell in self.cells_of(name, setting, who):
            whole = cell.get(part, {}) if part else cell
            found.append(whole.get(what or "rmse", np.nan))
        return float(median(found))

    def row(self, setting: Setting, who: str, part: str = "") -> list[str]:
        """RMSE of each set, and the mean over the sets in the deviation of their targets."""
        found = [self.of(name, setting, who, part=part) for name in self.sets]
        spread = [float(np.std(s.y[setting.scored(len(s.y))])) for s in self.streams.values()]
        mean = np.exp(np.mean(np.log(np.array(found) / spread)))
        return [*map(three, found), f"{mean:.3f}" if np.isfinite(mean) else ""]

    def errors(self, setting: Setting, names: list[str]) -> Table:
        body: list[list[str]] = []
        for who in names:
            if setting == NOW and who in OURS:
                body.append([who, *self.row(setting, who)])
                body.append([f"{who}, {ALONE}", *self.row(setting, who, ALONE)])
            else:
                body.append([who, *self.row(setting, who)])
        if setting == NOW:
            others = [who for who in names if who not in OURS and who not in BASELINES]
            body += [[f"{who}, {STACKED}", *self.row(setting, who, STACKED)] for who in others]
        what = f"second half, learned from the first: {STOP.name}"
        title = what if setting == STOP else f"from row {FIRST_SCORED} on: {setting.name}"
        return Table(f"RMSE, {title}", ["", *self.sets, "mean"], body, NOTES[setting.name])

    def sizes(self, names: list[str]) -> Table:
        body = []
        for who in names:
            row = [who]
            for what in ("bytes", "us"):
                found = [self.of(name, NOW, who, what) for name in self.sets]
                there = [value for value in found if np.isfinite(value)]
                row.append(amount(what, there))
            body.append(row)
        note = (
            "Ours planned; of the others, pickled, with the rows that those hold that are refitted."
            " Time is of the processor, a call a row to predict and one to learn; those that are"
            " refitted predict all rows between two fits at once. Without the stack of the others."
        )
        title = f"Bytes at the end, and µs to predict and learn a row ({NOW.name}): medians of sets"
        return Table(title, ["", "bytes", "µs"], body, note)


def amount(what: str, values: list[float]) -> str:
    if not values or (what == "us" and median(values) < 1e-3):
        return ""
    return f"{median(values):,.0f}" if what == "bytes" else three(median(values))


def three(value: float) -> str:
    """Three digits, never as a power of ten."""
    if not np.isfinite(value):
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}"


NOTES = {
    NOW.name: (
        "Ours: `forecast_one`, stacked on what came before; alone: `predict_one`. The"
        " others alone, and with the same stack."
    ),
    LATE.name: "Value before: that of 101 rows back. Same hour: that of five days back.",
    STOP.name: "Mean so far, value before, same hour: of the first half, all of it, its end.",
}


def asked(about: str | None) -> argparse.Namespace:
    """The options of a study of contestants."""
    parser = arguments(about)
    parser.add_argument("--sets", nargs="+", help="only these")
    parser.add_argument("--only", nargs="+", help="contestants whose name contains one of these")
    parser.add_argument("--seeds", type=int, default=3, help="of ours (default 3)")
    parser.add_argument("--rows", type=int, default=ALL_ROWS, help="most rows of a set")
    args = parsed(parser)
    if args.quick:
        args.rows, args.seeds = 1000, 1
    return args


def chosen(names: list[str], only: list[str] | None) -> list[str]:
    return [who for who in names if only is None or any(word in who for word in only)]


def kept(study: str, args: argparse.Namespace) -> Both:
    """The cells of a study so far; none if it is a quick one."""
    paths = [args.cells / f"{study}.{whose}.jsonl" for whose in ("ours", "others")]
    if args.quick:
        for path in paths:
            path.unlink(missing_ok=True)
    return Both(Cells(paths[0], build_id()), Cells(paths[1], build=""))


def main() -> None:
    args = asked(__doc__)
    sets, skipped = wanted_sets(args.sets, args.quick)
    names = chosen([*OURS, *BASELINES, *rivals()], args.only)
    cells = kept("regression_table", args)
    measure(cells, sets, names, args.rows, args.seeds)
    figures = Figures(cells, sets, args.rows, args.seeds)
    tables = []
    tables += [figures.errors(setting, names) for setting in SETTINGS]
    tables.append(figures.sizes(names))
    lengths = ", ".join(f"{name} {len(s.y):,}" for name, s in figures.streams.items())
    about = [
        (__doc__ or "").split("\n\n", maxsplit=1)[0],
        f"Rows in the order of their source ({', '.join(SHUFFLED)}: shuffled): {lengths}. Ours: the"
        f" median of {args.seeds} seeds. Predictions are held to the range of the targets known by"
        " then. A silent sensor (NaN, air_quality_co) counts as its mean so far.",
        "Stacked: three coefficients of the prediction, the target before, and the prediction for"
        " it, by recursive least squares with forgetting 0.999 (`benchmarks/regression/stack.py`)."
        " Linear learners of others scale features and target by what they learned so far."
        f" Refitted: every {EVERY:,} rows (first at 250, 500, 1,000) on the last {MOST_HELD:,} at"
        " most.",
        "The mean is geometric, of the RMSE in deviations of the target over the same rows.",
    ]
    raw = [[name, setting.name, who, figures.cells_of(name, setting, who)]
           for name in sets for setting in SETTINGS for who in names]  # fmt: skip
    title = "Regression of sensors, now, with late targets, and once targets stop"
    publish(Report("regression/table", title, tables, about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
