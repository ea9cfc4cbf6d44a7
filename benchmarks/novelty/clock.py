"""What the hour of the week tells a novelty learner: the labelled series of the Numenta Anomaly
Benchmark, and a pump that runs on workdays, with and without `ClockFeatures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import ClockFeatures, GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

RATE, BUDGET, PROBATION = 0.001, "8KiB", 0.15
MONDAY = 4 * 86400  # the first one after 1970 began, in seconds
WEEK, DAY, HOUR = 604800, 86400, 3600
RHYTHM = 0.2  # share of the variance that the hour of the day has
INPUTS = {
    "value": [0],
    "value, level, difference": [0, 1, 2],
    "with the residual": [0, 1, 2, 3],
}
Make = Callable[[int, str], NoveltyLearner]


def gaussian(n_features: int, learn: str) -> NoveltyLearner:
    return GaussianNovelty(**of(learn)).allocate(n_features)


def kernel(n_features: int, learn: str) -> NoveltyLearner:
    return KernelNovelty.within(BUDGET, n_features, **of(learn)).allocate(n_features)


def of(learn: str) -> dict[str, Any]:
    """ "until N" as it is; a number N: "normal", with as long a warm-up"""
    if learn.isdecimal():
        return {"alarm_rate": RATE, "warm_up": int(learn)}
    return {"alarm_rate": RATE, "learn": learn}


KINDS: dict[str, Make] = {"GaussianNovelty": gaussian, "KernelNovelty": kernel}


class Judged(NamedTuple):
    """Of each row: the score before it was learned, and whether an alarm began."""

    score: np.ndarray
    on: np.ndarray

    @property
    def began(self) -> np.ndarray:
        return self.on & ~np.concatenate([[False], self.on[:-1]])


def judged(learner: NoveltyLearner, rows: np.ndarray, n_warm: int) -> Judged:
    """Each row scored, then learned; an alarm is 3 of 5, as in `watch`."""
    score, on = np.zeros(len(rows)), np.zeros(len(rows), bool)
    for i, row in enumerate(rows):
        if learner.is_fitted:
            score[i] = learner.score_one(row)
        learner.learn_one(row)
        on[i] = i >= n_warm and learner.alarm_on_
    return Judged(score, on)


def features(value: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Rows of the stage; `seconds` since any Monday 0:00."""
    X = np.column_stack([value, seconds % WEEK]).astype(np.float32)
    return ClockFeatures().allocate(2).push_many(X)


# -- NAB -------------------------------------------------------------------------------------------


class Series(NamedTuple):
    name: str
    rows: np.ndarray
    labels: np.ndarray
    rhythm: float


def rhythm(value: np.ndarray, seconds: np.ndarray) -> float:
    """Share of the variance that is between hours of the day."""
    hour = seconds % DAY // HOUR
    means = np.array([value[hour == h].mean() if (hour == h).any() else 0.0 for h in range(24)])
    return float(np.var(means[hour.astype(int)]) / max(np.var(value), 1e-12))


def series() -> Iterator[Series]:
    """Those with a label behind the first part, from which is only learned."""
    file = read("nab")
    for name in file["names"].tolist():
        t, v, y = (file[f"{name}__{column}"] for column in "tvy")
        if y[int(PROBATION * len(y)) :].any():
            seconds = t.astype(np.float64) - MONDAY
            yield Series(name, features(v, seconds), y > 0, rhythm(v.astype(float), seconds))


def found(one: Series, result: Judged, n_warm: int) -> dict[str, float]:
    """Of a series: AUC, labelled windows with an alarm in them, and alarms that began outside."""
    windows = np.cumsum(np.diff(one.labels.astype(int), prepend=0) == 1) * one.labels
    hit = set(windows[result.on & one.labels].tolist())
    return {
        "files": 1,
        "auc": float(roc_auc_score(one.labels[n_warm:], result.score[n_warm:])),
        "windows": len(set(windows[n_warm:].tolist()) - {0}),
        "found": len(hit),
        "false": int((result.began & ~one.labels).sum()),
    }


def nab(quick: bool) -> tuple[Table, dict[str, Any]]:
    figures: dict[str, Any] = {}
    for i, one in enumerate(series()):
        progress(f"{one.name} {one.rhythm:.2f}")
        n_warm = max(100, int(PROBATION * len(one.rows)))
        for kind, make in KINDS.items():
            for given, columns in INPUTS.items():
                rows = np.ascontiguousarray(one.rows[:, columns])
                result = judged(make(len(columns), str(n_warm)), rows, n_warm)
                figures[f"{one.name}, {kind}, {given}"] = {
                    "rhythm": one.rhythm,
                    **found(one, result, n_warm),
                }
        if quick and i == 1:
            break
    groups: dict[str, Callable[[str, float], bool]] = {
        "nyc_taxi": lambda name, _: "nyc_taxi" in name,
        f"rhythm from {RHYTHM:g} on": lambda _, share: share >= RHYTHM,
        "the others": lambda _, share: share < RHYTHM,
    }
    rows_of = []
    for group, belongs in groups.items():
        for kind in KINDS:
            for given in INPUTS:
                those = [
                    figure
                    for key, figure in figures.items()
                    if key.endswith(f", {kind}, {given}") and belongs(key, figure["rhythm"])
                ]
                if those:
                    rows_of.append([group, kind, given, *summed(those)])
    columns = ["series", "learner", "features", "files", "mean AUC", "windows found", "false"]
    return Table("Numenta's series, in the order of time", columns, rows_of, NOTE), figures


NOTE = f"""\
Rows of a file are scored, then learned; the first {PROBATION:.0%} are only learned. Rhythm is the
share of the variance that is between hours of the day. The constants of the stage were chosen on
these files."""


def summed(those: list[dict[str, float]]) -> list[str]:
    total = {key: sum(one[key] for one in those) for key in those[0]}
    return [
        f"{len(those)}",
        f"{total['auc'] / len(those):.3f}",
        f"{total['found']} of {total['windows']}",
        f"{total['false']}",
    ]


# -- a pump that runs on workdays ------------------------------------------------------------------

STEP, WEEKS, RUNS = 300, 16, 5
A_WEEK, A_DAY = WEEK // STEP, DAY // STEP
FROM = 8  # weeks; what is counted comes behind
LEARNED = {
    "5 days, then nothing": f"until {5 * A_DAY}",
    "4 weeks, then nothing": f"until {4 * A_WEEK}",
    "5 days, then what is normal": f"{5 * A_DAY}",
}


def pump(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Value, seconds, and where it stood still on a workday or ran on a Sunday for two hours, from
    the week `FROM` on, one of them a week.

    It runs from about 8 to about 17, not to the minute, on workdays: 1, else 0, and noise.
    """
    rng = np.random.default_rng(seed)
    seconds = np.arange(WEEKS * A_WEEK) * STEP
    runs = np.zeros(len(seconds), bool)
    for day in range(7 * WEEKS):
        if day % 7 < 5:
            start, end = 8 + rng.normal(0, 0.1), 17 + rng.normal(0, 0.1)
            runs |= (seconds >= day * DAY + start * HOUR) & (seconds < day * DAY + end * HOUR)
    stood, ran = np.zeros(len(seconds), bool), np.zeros(len(seconds), bool)
    for week in range(FROM, WEEKS):
        of_week, day = (stood, rng.integers(5)) if week % 2 else (ran, 6)
        at = (week * A_WEEK) + day * A_DAY + int((10 + 4 * rng.random()) * HOUR / STEP)
        of_week[at : at + 2 * HOUR // STEP] = True
    value = (runs & ~stood | ran) + rng.normal(0, 0.05, len(seconds))
    return value, seconds, stood, ran


def pumps(quick: bool) -> tuple[Table, dict[str, Any]]:
    rows, figures = [], {}
    for said, learn in LEARNED.items():
        for kind, make in KINDS.items():
            for given, columns in INPUTS.items():
                progress(f"{said} {kind} {given}")
                total = np.zeros(5)
                for seed in range(1 if quick else RUNS):
                    value, seconds, stood, ran = pump(seed)
                    of_stage = features(value, seconds)
                    n_warm = int(learn.split()[-1])
                    chosen = np.ascontiguousarray(of_stage[:, columns])
                    result = judged(make(len(columns), learn), chosen, n_warm)
                    total += told(result, seconds, stood, ran)
                figures[f"{said}, {kind}, {given}"] = total.tolist()
                n = (1 if quick else RUNS) * (WEEKS - FROM)
                told_of = [f"{false / n:.2f}" for false in total[:3]]
                told_of += [f"{faults:.0f} of {n // 2}" for faults in total[3:]]
                rows.append([said, kind, given, *told_of])
    columns = ["learned", "learner", "features", "false, an early weekend", "a weekend"]
    columns += ["five workdays", "stood still", "ran on Sunday"]
    return Table("A pump that runs on workdays", columns, rows, OF_PUMP), figures


OF_PUMP = f"""\
A sample every five minutes, {RUNS} runs of {WEEKS} weeks, alarms of the last {WEEKS - FROM}; early
weekends are those of the first {FROM}. Both faults last two hours and are within the usual range:
the pump stands still on a workday, or runs on a Sunday."""


def told(
    result: Judged, seconds: np.ndarray, stood: np.ndarray, ran: np.ndarray
) -> tuple[int, int, int, int, int]:
    """False alarms at early weekends, at weekends and on workdays; faults of both kinds with an
    alarm."""
    late = seconds >= FROM * WEEK
    near = stood | ran
    for _ in range(5):  # an alarm may begin, or be on, a little after a fault
        near = near | np.concatenate([[False], near[:-1]])
    false = result.began & ~near
    weekend = seconds % WEEK >= 5 * DAY
    return (
        int((false & weekend & ~late).sum()),
        int((false & weekend & late).sum()),
        int((false & ~weekend & late).sum()),
        spells(stood, result.on),
        spells(ran, result.on),
    )


def spells(fault: np.ndarray, on: np.ndarray) -> int:
    """Stretches of a fault in which an alarm is on."""
    number = np.cumsum(np.diff(fault.astype(int), prepend=0) == 1) * fault
    return len(set(number[on & fault].tolist()))


def main() -> None:
    args = parsed(arguments(__doc__))
    tables, figures, skipped = [], {}, []
    if missing("nab"):
        skipped.append("nab")
    else:
        table, figures["nab"] = nab(args.quick)
        tables.append(table)
    table, figures["pump"] = pumps(args.quick)
    about = [
        f"alarm_rate {RATE:g}, an alarm is 3 strange rows of 5; KernelNovelty in {BUDGET}.",
        "Without the residual, the features are the stage's others.",
    ]
    title = "Novelty with and without the hour of the week"
    publish(Report("novelty/clock", title, [*tables, table], about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
