"""Are nine of ten targets in the interval? From row 300 on: overall, in the lowest and the highest
window of 500 rows, and how wide the interval is beside the narrowest one of constant width that,
chosen in hindsight, covers 90 % around the same predictions. Targets come right after the
prediction, or 100 rows later; an interval is checked as it was given, before its target came.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.regression.contestants import (
    OURS,
    SEEDED,
    allocated,
    clipped_of_river,
    forecast,
    quiet,
)
from benchmarks.regression.data import LATE, NOW, Setting, Stream, filled, load, wanted_sets
from benchmarks.regression.table import Both, asked, chosen, kept, three
from edgesvm.errors import MemoryBudgetError

COVERAGE = 0.9
WINDOW = 500
JACKKNIFE = "river RegressionJackknife"
OVERALL = {NOW.name: (0.89, 0.91), LATE.name: (0.885, 0.91)}  # the marks
IN_WINDOWS = {NOW.name: (0.85, 0.95)}  # of every window; none is set for late targets


def jackknife(stream: Stream, setting: Setting) -> np.ndarray:
    """(value, low, high) of river's, of the last 500 errors of its linear regression."""
    from river.conf import RegressionJackknife

    model = RegressionJackknife(clipped_of_river(), COVERAGE, WINDOW)
    issued, targets = [], stream.y.tolist()
    rows = [dict(enumerate(x)) for x in filled(stream.X).tolist()]
    for i, x in enumerate(rows):
        ends = model.predict_one(x, with_interval=True)
        issued.append((model.predict_one(x), ends.lower, ends.upper))
        j = i - setting.delay
        if j >= 0:
            model.learn_one(rows[j], targets[j])
    return np.array(issued)


def judged(issued: np.ndarray, y: np.ndarray, setting: Setting) -> dict[str, float]:
    part = setting.scored(len(y))
    target, (value, low, high) = y[part], issued[part].T
    inside = (low <= target) & (target <= high)
    n = len(target) // WINDOW * WINDOW
    windows = inside[:n].reshape(-1, WINDOW).mean(axis=1)
    return {
        "coverage": float(inside.mean()),
        "lowest": float(windows.min()),
        "highest": float(windows.max()),
        "width": float(np.mean(high - low)),
        "hindsight": float(2 * np.quantile(np.abs(target - value), COVERAGE)),
    }


def measured(who: str, seed: int, stream: Stream, setting: Setting) -> dict[str, Any]:
    X, y = stream.X, stream.y
    if who == JACKKNIFE:
        return judged(quiet(partial(jackknife, stream, setting)), y, setting)
    params = {"label_delay": setting.delay, "coverage": COVERAGE}
    try:
        learner = allocated(who, X.shape[1], seed, **params)
    except MemoryBudgetError:
        return {"why": "does not fit"}
    found = judged(forecast(learner, X, y, setting), y, setting)
    return found | {"told": learner.coverage_}


# -- tables ----------------------------------------------------------------------------------------


def table(cells: Both, setting: Setting, sets: list[str], names: list[str], args: Any) -> Table:
    body: list[list[str]] = []
    low, high = OVERALL[setting.name]
    floor, roof = IN_WINDOWS.get(setting.name, (0.0, 1.0))
    for who in names:
        for name in sets:
            n = args.seeds if who.startswith(SEEDED) else 1
            found = [cells[name, args.rows, setting.name, seed, who] for seed in range(n)]
            if "coverage" not in found[0]:
                body.append([who, name, *[found[0]["why"]] * 5, ""])
                continue
            what = {key: median(cell[key] for cell in found) for key in found[0]}
            what["lowest"] = min(cell["lowest"] for cell in found)
            what["highest"] = max(cell["highest"] for cell in found)
            kept = low <= what["coverage"] <= high
            kept = kept and what["lowest"] >= floor and what["highest"] <= roof
            shown = [f"{what[key]:.3f}" for key in ("coverage", "lowest", "highest")]
            shown += [three(what["width"]), three(what["hindsight"])]
            body.append([who, name, *shown, "yes" if kept else "NO"])
    columns = ["", "data", "coverage", "lowest", "highest", "width", "in hindsight", "marks kept"]
    marks = f"Marks: {low} to {high} overall"
    if setting.name in IN_WINDOWS:
        marks += f", and every window of {WINDOW} within {floor} to {roof}"
    note = f"{marks}. Medians of the seeds; lowest and highest of all seeds."
    return Table(f"Targets {setting.name}", columns, body, note)


def main() -> None:
    args = asked(__doc__)
    sets, skipped = wanted_sets(args.sets, args.quick)
    names = [*OURS, JACKKNIFE]
    if find_spec("river") is None:
        names.remove(JACKKNIFE)
        skipped.append(f"{JACKKNIFE}: river is not installed")
    names = chosen(names, args.only)
    cells = kept("regression_intervals", args)
    wanted = [
        (name, args.rows, setting.name, seed, who)
        for name in sets
        for setting in (NOW, LATE)
        for who in names
        for seed in range(args.seeds if who.startswith(SEEDED) else 1)
    ]
    missing = [key for key in wanted if key not in cells]
    for k, key in enumerate(missing, start=1):
        name, rows, when, seed, who = key
        say(f"[{k}/{len(missing)}] {name}, {when}: {who}" + f", seed {seed}" * (seed > 0))
        setting = NOW if when == NOW.name else LATE
        cells[key] = measured(who, seed, load(name, rows), setting)
    tables = [table(cells, setting, sets, names, args) for setting in (NOW, LATE)]
    about = [
        (__doc__ or "").strip(),
        "Ours: `forecast_one`, and `learn_late_one` where targets come late."
        f" {args.seeds} seeds. river's: around its linear regression, from the"
        f" last {WINDOW} errors.",
    ]
    raw = [[*key, cells[key]] for key in wanted]
    title = "Intervals of regression: how often the target is inside"
    publish(Report("regression/intervals", title, tables, about, raw, skipped), args.out)


if __name__ == "__main__":
    main()
