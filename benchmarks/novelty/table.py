"""Which novelty learner, and which of what is learned, is the best default? Series with labelled
faults in the order of time: AUC, false alarms against those asked for, windows
found, and the time to the alarm.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.series import FAULTS, Series, absent, generated
from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.novelty import NoveltyLearner

RATES = (0.01, 0.001)
ALARM = "3/5"  # as `edgesvm watch` has it
MODES = ("normal", "all", "until N")
MOST_SHOWN, SHARE_SHOWN = 2_000, 0.2  # rows that a user shows first

Make = Callable[[int, float, str, int], NoveltyLearner]  # features, rate, learn, rows shown


def params(rate: float, learn: str, shown: int) -> dict[str, Any]:
    mode = f"until {shown}" if learn == "until N" else learn
    return {"alarm_rate": rate, "learn": mode, "warm_up": shown, "alarm": ALARM}


def kernel(budget: int) -> Make:
    return lambda d, rate, learn, shown: KernelNovelty(**params(rate, learn, shown)).fitted_into(
        budget, d
    )


LEARNERS: dict[str, Make] = {
    "GaussianNovelty": lambda d, *asked: GaussianNovelty(**params(*asked)),
    "GaussianNovelty, diagonal": lambda d, *asked: GaussianNovelty(
        covariance="diagonal", **params(*asked)
    ),
    "KernelNovelty, 8 KiB": kernel(8 << 10),
    "KernelNovelty, 16 KiB": kernel(16 << 10),
}


def refractory(rate: float) -> float:
    """Rows after the begin of an episode in which another is the same one."""
    return min(0.1 / rate, 100.0)


def episodes(on: np.ndarray, rate: float) -> int:
    """How many began."""
    begins = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int)])) > 0)
    return int((np.diff(begins, prepend=-np.inf) > refractory(rate)).sum())


def windows_of(y: np.ndarray) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], y, [False]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def shown_of(series: Series) -> int:
    return min(int(SHARE_SHOWN * len(series.X)), MOST_SHOWN)


def watched(
    learner: NoveltyLearner, X: np.ndarray, shown: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which rows are strange, at which an alarm is on, and their scores: judged and then learned,
    as by `Watch`."""
    strange, on, scores = np.zeros(len(X), bool), np.zeros(len(X), bool), np.zeros(len(X))
    learner.allocate(X.shape[1])
    for i, x in enumerate(X):
        label = 1
        if i >= shown and learner.is_fitted:
            label, value = learner.predict_with_score(x)
            scores[i] = -learner.offset_ - value
        learner.learn_one(x)
        strange[i] = label < 0 and not learner.stuck_features_
        on[i] = learner.alarm_on_
    return strange, on, scores


def chosen(name: str, words: Sequence[str]) -> bool:
    return not words or any(word in name for word in words)


def add_words(parser: argparse.ArgumentParser, series: str) -> None:
    """Options for a part of the study."""
    for option, what in (
        ("--learner", "only contestants whose names hold one of these words"),
        ("--learn", "only these of normal, all, until"),
        ("--series", f"only {series} whose names hold one of these words"),
    ):
        parser.add_argument(option, nargs="+", default=[], metavar="WORD", help=what)


class Told(NamedTuple):
    auc: float | None  # None: all rows after those shown have one label
    asked: float  # false alarms
    false_alarms: int
    delays: list[int | None]  # rows from the begin of each window to an alarm; None: none


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
        asked=rate * n_fine,
        false_alarms=episodes(on[~y], rate),
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


def excess(of: list[Told]) -> float | None:
    return sum(one.false_alarms for one in of) / sum(one.asked for one in of)


def share_found(of: list[Told]) -> float | None:
    delays = [delay for one in of for delay in one.delays]
    return 100 * sum(delay is not None for delay in delays) / len(delays) if delays else None


def rows_late(of: list[Told]) -> float | None:
    """Median of the faults that were found."""
    delays = [delay for one in of for delay in one.delays if delay is not None]
    return float(np.median(delays)) if delays else None


SHOWN = {
    "AUC of the scores": (auc, "{:.3f}"),
    "False alarms, episodes, as a multiple of those asked for": (excess, "{:.2f}"),
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
        " alarms, 3 of 5. Series: " + "; ".join(f"{k}, {len(v)}" for k, v in sets.items()) + ".",
    ]
    tables = [table(title, found, list(sets)) for title in SHOWN]
    title = "Novelty learners and what they learn, on faults in the order of time"
    publish(Report("novelty/table", title, tables, about, found, skipped), args.out)


if __name__ == "__main__":
    main()
