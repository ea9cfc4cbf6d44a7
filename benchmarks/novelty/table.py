"""Do alarms find faults, at the rate asked for? Series in the order of time, with faults and quiet:
learners that go on, that stop, and the detectors of scikit-learn and river. VUS-PR is of TSB-AD's
own harness, where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from river.anomaly import HalfSpaceTrees
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.series import FAULTS, Series, absent, generated, quiet
from edgesvm import GaussianNovelty, KernelNovelty

RATES = (0.01, 0.001)
ALARM = "3/5"  # as `edgesvm watch` has it
MOST_SHOWN, SHARE_SHOWN = 2_000, 0.2  # rows that a user shows first
SHOWN_OF_SKAB = 400  # its faults begin after some 500 of 1,100 rows
BYTES = 16 << 10  # of a KernelNovelty
WINDOW = 20  # samples, of VUS-PR

Watched = tuple[np.ndarray, np.ndarray]  # scores, and at which rows an alarm is on


def shown_of(series: Series) -> int:
    if series.name.startswith("SKAB"):
        return SHOWN_OF_SKAB
    return min(int(SHARE_SHOWN * len(series.X)), MOST_SHOWN)


def ours(kind: type[GaussianNovelty | KernelNovelty], stops: bool) -> Callable[..., Watched]:
    def watched(series: Series, rate: float) -> Watched:
        """Judged and then learned, as by `Watch`."""
        shown, (n, d) = shown_of(series), series.X.shape
        mode = {"learn": f"until {shown}"} if stops else {}
        learner: Any = kind(alarm_rate=rate, alarm=ALARM, warm_up=shown, **mode)
        learner = learner.fitted_into(BYTES, d) if kind is KernelNovelty else learner
        learner.allocate(d)
        scores, on = np.zeros(n), np.zeros(n, bool)
        for i, x in enumerate(series.X):
            if i >= shown:
                scores[i] = learner.score_one(x)
            learner.learn_one(x)
            on[i] = learner.alarm_on_
        return scores, on

    return watched


def judged(scores: np.ndarray, shown: int, rate: float) -> Watched:
    """By the quantile of the scores of the rows shown."""
    return scores, scores > np.quantile(scores[:shown], 1 - rate)


def batch(make: Callable[[], Any]) -> Callable[..., Watched]:
    def watched(series: Series, rate: float) -> Watched:
        shown = shown_of(series)
        model = make_pipeline(StandardScaler(), make()).fit(series.X[:shown])
        return judged(-model.score_samples(series.X), shown, rate)

    return watched


def half_space_trees(series: Series, rate: float) -> Watched:
    shown = shown_of(series)
    low, high = series.X[:shown].min(axis=0), series.X[:shown].max(axis=0)
    ends = enumerate(zip(low.tolist(), high.tolist(), strict=True))
    limits = {j: (a, max(b, a + 1e-6)) for j, (a, b) in ends}
    model, scores = HalfSpaceTrees(limits=limits, seed=0), np.zeros(len(series.X))
    for i, x in enumerate(series.X.tolist()):
        row = dict(enumerate(x))
        scores[i] = model.score_one(row)
        model.learn_one(row)
    return judged(scores, shown, rate)


CONTESTANTS: dict[str, Callable[..., Watched]] = {
    "GaussianNovelty": ours(GaussianNovelty, stops=False),
    "GaussianNovelty, stopped": ours(GaussianNovelty, stops=True),
    "KernelNovelty": ours(KernelNovelty, stops=False),
    "KernelNovelty, stopped": ours(KernelNovelty, stops=True),
    "IsolationForest, stopped": batch(lambda: IsolationForest(random_state=0)),
    "LocalOutlierFactor, stopped": batch(lambda: LocalOutlierFactor(novelty=True)),
    "OneClassSVM, stopped": batch(lambda: OneClassSVM(nu=0.1)),
    "HalfSpaceTrees": half_space_trees,
}


def windows_of(y: np.ndarray) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], y, [False]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def vus_pr(y: np.ndarray, scores: np.ndarray) -> float | None:
    if find_spec("TSB_AD") is None:
        return None
    from TSB_AD.evaluation.basic_metrics import generate_curve

    return float(generate_curve(y.astype(int), scores, WINDOW, "opt", 250)[-1])


class Told(NamedTuple):
    auc: float | None  # None: all rows after those shown have one label
    vus: float | None
    asked: float  # alarms on the quiet rows
    alarms: float  # that began there
    on: float  # share of them in an alarm
    delays: list[int | None]  # rows from the begin of each window to an alarm; None: none


def told(series: Series, watched: Watched, rate: float, volume: bool) -> Told:
    shown, (scores, on) = shown_of(series), watched
    y, on, scores = series.y[shown:], on[shown:], scores[shown:]
    mixed, calm = 0 < y.sum() < len(y), on[~y]
    delays = [int(on[w].argmax()) if on[w].any() else None for w in windows_of(y)]
    return Told(
        auc=float(roc_auc_score(y, scores)) if mixed else None,
        vus=vus_pr(y, scores) if mixed and volume else None,
        asked=rate * len(calm),
        alarms=int((np.diff(calm.astype(int), prepend=0) > 0).sum()),
        on=float(calm.mean()),
        delays=delays,
    )


def mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def delays_of(of: list[Told]) -> list[int | None]:
    return [delay for one in of for delay in one.delays]


def share_found(of: list[Told]) -> float:
    return 100 * float(np.mean([delay is not None for delay in delays_of(of)]))


def rows_late(of: list[Told]) -> float | None:
    """Median of the faults that were found."""
    delays = [delay for delay in delays_of(of) if delay is not None]
    return float(np.median(delays)) if delays else None


SHOWN: dict[str, tuple[Callable[[list[Told]], float | None], str]] = {
    "AUC of the scores": (lambda of: mean([one.auc for one in of]), "{:.3f}"),
    "VUS-PR": (lambda of: mean([one.vus for one in of]), "{:.3f}"),
    "Faults found, per cent": (share_found, "{:.0f}"),
    "Rows from the begin of a fault to the alarm, median of those found": (rows_late, "{:.0f}"),
    "Alarms on quiet rows, as a multiple of those asked for": (
        lambda of: sum(one.alarms for one in of) / sum(one.asked for one in of),
        "{:.2f}",
    ),
    "Share of the quiet rows in an alarm, per cent": (
        lambda of: 100 * float(np.mean([one.on for one in of])),
        "{:.1f}",
    ),
}
OF_SCORES = ("AUC of the scores", "VUS-PR")  # the same at every rate

Found = dict[str, dict[str, list[Told]]]  # contestant and rate; set; its series


def measured(sets: dict[str, list[Series]]) -> Found:
    found: Found = {}
    for name, watch in CONTESTANTS.items():
        for rate in RATES:
            for of, all_series in sets.items():
                progress(f"{name}, {rate:g}, {of}")
                row = [told(s, watch(s, rate), rate, rate == RATES[-1]) for s in all_series]
                found.setdefault(f"{name}, {rate:g}", {})[of] = row
    return found


def table(title: str, found: Found, sets: list[str]) -> Table:
    what, form = SHOWN[title]
    rows = []
    for kind in list(found)[1::2] if title in OF_SCORES else found:
        values = [what(found[kind][name]) for name in sets]
        cells = [None if v is None else form.format(v) for v in [*values, mean(values)]]
        rows.append([kind, *cells])
    return Table(title, ["", *sets, "mean"], rows)


def rates(series: list[Series]) -> Table:
    """Alarms begun and rows in an alarm on quiet series."""
    rows, names = [], ("GaussianNovelty", "KernelNovelty")
    for one in series:
        cells = [f"{rate * (len(one.X) - shown_of(one)):.0f}" for rate in RATES]
        for name in names:
            for rate in RATES:
                progress(f"{one.name}, {name}, {rate:g}")
                seen = told(one, CONTESTANTS[name](one, rate), rate, volume=False)
                cells.append(f"{seen.alarms} ({100 * seen.on:.1f} %)")
        rows.append([one.name, *cells])
    columns = [f"{name}, {rate:g}" for name in ("asked", *names) for rate in RATES]
    return Table("Quiet series: alarms, and rows in one", ["", *columns], rows)


def main() -> None:
    args = parsed(arguments(__doc__))
    sets: dict[str, list[Series]] = {"generated": [generated()]} if args.quick else {}
    skipped = ["real series: a quick run uses generated ones"] if args.quick else []
    calm: list[Series] = []
    if not args.quick:
        for name, (source, load) in FAULTS.items():
            if why := absent(source):
                skipped.append(f"{name}: {why}")
            else:
                sets[name] = list(load())
        calm, more = quiet([])
        skipped += more
    found = measured(sets)
    about = [
        "The first fifth of a series, at most 2,000 rows (SKAB: 400), is shown; then each row is"
        " judged before it is learned. Ours have 3 of 5 and else their defaults, KernelNovelty 16"
        " KiB; the others alarm above a quantile of the rows shown. Series: "
        + "; ".join(f"{k}, {len(v)}" for k, v in sets.items())
        + ".",
    ]
    tables = [table(title, found, list(sets)) for title in SHOWN]
    tables += [rates(calm)] if calm else []
    title = "Novelty learners on faults and on quiet series in the order of time"
    publish(Report("novelty/table", title, tables, about, found, skipped), args.out)


if __name__ == "__main__":
    main()
