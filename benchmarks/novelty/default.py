"""Which novelty learner, and which of what is learned, is the best default? Series with labelled
faults in the order of time: AUC, range-based F1, false alarms against those asked for, windows
found, and the time to the alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.rates import (
    LEARNERS,
    MODES,
    add_words,
    chosen,
    episodes,
    shown_of,
    watched,
    windows_of,
)
from benchmarks.novelty.series import DAY, FAULTS, Series, absent, generated

RATES = (0.01, 0.001)
EXISTS = 0.5  # of a window's recall is for finding it at all, the rest for how much of it


class Told(NamedTuple):
    auc: float | None  # None: all rows after those shown have one label
    f1: float | None
    asked: float  # false alarms
    false_alarms: int
    days: float | None  # without a fault
    delays: list[int | None]  # rows from the begin of each window to an alarm; None: none


def range_f1(on: np.ndarray, y: np.ndarray) -> float:
    """F1 of precision and recall by ranges, flat (Tatbul et al. 2018, eqs. 1 to 6): an alarm's
    precision is the share of it inside faults; a window's recall is half for being found and half
    for the share that is covered, over the number of pieces.
    """

    def covered(one: slice, others: np.ndarray) -> float:
        pieces = len(windows_of(others[one]))
        return float(others[one].mean()) / pieces if pieces else 0.0

    alarms, faults = windows_of(on), windows_of(y)
    if not alarms or not faults:
        return 0.0
    precision = np.mean([covered(one, y) for one in alarms])
    recall = np.mean([EXISTS * bool(on[w].any()) + (1 - EXISTS) * covered(w, on) for w in faults])
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def told(series: Series, on: np.ndarray, scores: np.ndarray, rate: float) -> Told:
    shown = shown_of(series)
    y, on = series.y[shown:], on[shown:]
    n_fine, mixed = int((~y).sum()), 0 < y.sum() < len(y)
    delays = []
    for window in windows_of(y):
        at = np.flatnonzero(on[window])
        delays.append(int(at[0]) if len(at) else None)
    return Told(
        auc=float(roc_auc_score(y, scores[shown:])) if mixed else None,
        f1=range_f1(on, y) if mixed else None,
        asked=rate * n_fine,
        false_alarms=episodes(on[~y], rate),
        days=None if series.seconds is None else series.seconds * n_fine / DAY,
        delays=delays,
    )


Found = dict[str, dict[str, list[Told]]]  # learner, mode and rate; set; its series


def measured(sets: dict[str, list[Series]], learners: Sequence[str], modes: Sequence[str]) -> Found:
    found: Found = {}
    for name, learn, rate in product(LEARNERS, MODES, RATES):
        kind = f"{name}, {learn}"
        if not chosen(kind, learners) or not chosen(learn, modes):
            continue
        for of, all_series in sets.items():
            progress(f"{kind}, {rate:g}, {of}")
            for series in all_series:
                shown = shown_of(series)
                learner = LEARNERS[name](series.X.shape[1], rate, learn, shown)
                _, on, scores = watched(learner, series.X, shown)
                one = told(series, on, scores, rate)
                found.setdefault(f"{kind}, {rate:g}", {}).setdefault(of, []).append(one)
    return found


def mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def auc(of: list[Told]) -> float | None:
    return mean([one.auc for one in of])


def f1(of: list[Told]) -> float | None:
    return mean([one.f1 for one in of])


def excess(of: list[Told]) -> float | None:
    return sum(one.false_alarms for one in of) / sum(one.asked for one in of)


def a_day(of: list[Told]) -> float | None:
    clocked = [(one.false_alarms, one.days) for one in of if one.days is not None]
    return sum(n for n, _ in clocked) / sum(days for _, days in clocked) if clocked else None


def share_found(of: list[Told]) -> float | None:
    delays = [delay for one in of for delay in one.delays]
    return 100 * sum(delay is not None for delay in delays) / len(delays) if delays else None


def rows_late(of: list[Told]) -> float | None:
    """Median of the faults that were found."""
    delays = [delay for one in of for delay in one.delays if delay is not None]
    return float(np.median(delays)) if delays else None


SHOWN = {
    "AUC of the scores": (auc, "{:.3f}"),
    "Range-based F1": (f1, "{:.3f}"),
    "False alarms, episodes, as a multiple of those asked for": (excess, "{:.2f}"),
    "False alarms a day, where there is a clock": (a_day, "{:.3f}"),
    "Faults found by an episode, per cent": (share_found, "{:.0f}"),
    "Rows from the begin of a fault to the alarm, median of those found": (rows_late, "{:.0f}"),
}


def table(title: str, found: Found, sets: Sequence[str]) -> Table:
    what, form = SHOWN[title]
    rows = []
    for kind, by_set in found.items():
        values = [what(by_set[name]) for name in sets]
        middle = mean(values)
        cells = [None if v is None else form.format(v) for v in [*values, middle]]
        rows.append([kind, *cells])
    return Table(title, ["", *sets, "mean"], rows)


def main() -> None:
    parser = arguments(__doc__)
    add_words(parser, "sets")
    args = parsed(parser)
    sets: dict[str, list[Series]] = {"generated": [generated()]} if args.quick else {}
    skipped = ["real series: a quick run uses generated ones"] if args.quick else []
    for name, (source, load) in FAULTS.items():
        if args.quick or not chosen(name, args.series):
            continue
        why = absent(source)
        if why:
            skipped.append(f"{name}: {why}")
        else:
            sets[name] = list(load())
    found = measured(sets, args.learner, args.learn)
    about = [
        "Series in the order of time. The first fifth, at most 2,000 rows, is shown; then each row"
        " is judged before it is learned. Alarms, windows found and times are of the learner's"
        " alarms, 3 of 5. " + "; ".join(f"{k}: {len(v)} series" for k, v in sets.items()) + ".",
    ]
    tables = [table(title, found, list(sets)) for title in SHOWN]
    title = "Novelty learners and what they learn, on faults in the order of time"
    publish(Report("novelty/default", title, tables, about, found, skipped), args.out)


if __name__ == "__main__":
    main()
