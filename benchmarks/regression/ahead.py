"""Forecasts of hourly targets 1, 6 and 24 hours ahead, from row 1,000 on: RMSE of `Forecaster` in
8 KiB, which knows the last targets, those of a day or a week before, and what the sensors say now;
of the last target and of that one day or week before; and of river's SNARIMAX and HoltWinters,
which know targets alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.regression.data import HOURLY, Stream, load, wanted_sets
from edgesvm import Forecaster

AHEAD = (1, 6, 24)
DAY, WEEK = 24, 168
BUDGET = 8 << 10
FIRST = 1000
OURS = {"Forecaster, day": DAY, "Forecaster, week": WEEK, "Forecaster, no season": 0}
BEFORE = {"last target": 0, "a day before": DAY, "a week before": WEEK}


def ours(stream: Stream, ahead: int, season: int) -> np.ndarray:
    """(value, low, high) of each row's target, as it was forecast."""
    n = stream.X.shape[1]
    model = Forecaster(ahead=ahead, season=season).fitted_into(BUDGET, n).allocate(n)
    said = [model.push(x, y) for x, y in zip(stream.X, stream.y.tolist(), strict=True)]
    return np.array([(np.nan,) * 3] * ahead + said[:-ahead])


def before(stream: Stream, ahead: int, season: int) -> np.ndarray:
    lag = season or ahead
    return np.r_[np.full(lag, np.nan), stream.y[:-lag]]


def snarimax() -> Any:
    from river import linear_model, optim, preprocessing, time_series

    linear = linear_model.LinearRegression(optimizer=optim.SGD(0.01), l2=0.0)
    regressor = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(linear)
    return time_series.SNARIMAX(p=6, d=0, q=0, m=DAY, sp=2, regressor=regressor)


def holt_winters() -> Any:
    from river import time_series

    return time_series.HoltWinters(0.3, 0.1, 0.6, seasonality=DAY)


def of_river(make: Callable[[], Any], stream: Stream, ahead: int) -> np.ndarray:
    model, value = make(), np.full(len(stream.y), np.nan)
    waiting = deque([np.nan] * ahead)
    for i, y in enumerate(stream.y.tolist()):
        value[i] = waiting.popleft()
        model.learn_one(y)
        waiting.append(model.forecast(horizon=ahead)[-1] if i > 2 * DAY else np.nan)
    return value


def measured(who: str, stream: Stream, ahead: int) -> dict[str, Any]:
    if who in OURS:
        value, low, high = ours(stream, ahead, OURS[who]).T
        inside = np.mean(((low <= stream.y) & (stream.y <= high))[FIRST:])
    elif who in BEFORE:
        value, inside = before(stream, ahead, BEFORE[who]), None
    else:
        make = snarimax if who == "river SNARIMAX" else holt_winters
        value, inside = of_river(make, stream, ahead), None
    error = float(np.sqrt(np.mean((value - stream.y)[FIRST:] ** 2)))
    return {"rmse": error, "coverage": None if inside is None else float(inside)}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", help="only these")
    parser.add_argument("--rows", type=int, default=8000, help="most rows of a set (default 8000)")
    args = parsed(parser)
    if args.quick:
        args.rows = 1300
    sets, skipped = wanted_sets(args.sets, args.quick)
    sets = [name for name in sets if name in HOURLY or args.quick]
    names = [*OURS, *BEFORE, "river SNARIMAX", "river HoltWinters"]
    if find_spec("river") is None:
        names = [*OURS, *BEFORE]
        skipped.append("SNARIMAX, HoltWinters: river is not installed")
    path = args.cells / "regression_ahead.jsonl"
    if args.quick:
        path.unlink(missing_ok=True)
    cells = Cells(path, build_id())
    wanted = [(name, args.rows, ahead, who) for name in sets for ahead in AHEAD for who in names]
    missing = [key for key in wanted if key not in cells]
    for k, key in enumerate(missing, start=1):
        name, rows, ahead, who = key
        say(f"[{k}/{len(missing)}] {name}, {ahead} ahead: {who}")
        cells[key] = measured(who, load(name, rows), ahead)
    tables = [table(partial(of, cells, args.rows, ahead), ahead, sets, names) for ahead in AHEAD]
    about = [(__doc__ or "").strip(), f"The first {args.rows:,} rows of each set."]
    raw = [[*key, cells[key]] for key in wanted]
    title = "Forecasts of hourly targets"
    publish(Report("regression/ahead", title, tables, about, raw, skipped), args.out)


def of(cells: Cells, rows: int, ahead: int, name: str, who: str) -> dict[str, Any]:
    found: dict[str, Any] = cells[name, rows, ahead, who]
    return found


def table(
    of: Callable[[str, str], dict[str, Any]], ahead: int, sets: list[str], names: list[str]
) -> Table:
    body = []
    for who in names:
        found = [of(name, who) for name in sets]
        inside = [cell["coverage"] for cell in found if cell["coverage"] is not None]
        within = f"{min(inside):.3f} to {max(inside):.3f}" if inside else ""
        body.append([who, *(f"{cell['rmse']:.4g}" for cell in found), within])
    return Table(f"{ahead} ahead", ["", *sets, "within 90 %"], body)


if __name__ == "__main__":
    main()
