"""Is the alarm rate kept in the order of time? Asked against observed on quiet series, each learner
and each choice of what is learned, and rivals at the same rate; which of them alarm for ever; and
how much of NAB's labelled windows is found at that rate.

A user shows the first rows, and asks for a rate from there on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import poisson

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.contestants import Streamed
from benchmarks.novelty.hysteresis import Hysteresis
from benchmarks.novelty.rows import CLIP
from benchmarks.novelty.series import DAY, Series, absent, generated, nab_files, quiet
from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.constants import MOST_RATE
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

RATES: dict[str, float | None] = {"0.01": 0.01, "0.003": 0.003, "0.001": 0.001, "0.0003": 3e-4}
RATES["1/day"] = None  # by the series' own clock; 1/week where a day has too few rows
NAB_RATES = ("0.01", "0.001")
ALARM = "3/5"  # as `edgesvm watch` has it
AFTER = 3_000  # rows, from where a series that alarms at every second is locked
MODES = ("normal", "all", "until N")
MOST_SHOWN, SHARE_SHOWN = 2_000, 0.2  # rows that a user shows first
N_NEIGHBOURS = 20
N_TREES, TREE_ROWS = 10, 128  # of a random cut forest

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


# -- what is counted -------------------------------------------------------------------------------


class Seen(NamedTuple):
    rows: int  # that could alarm
    asked: float  # share of them
    alarms: int  # rows
    episodes: int
    locked: bool
    us: float  # a row
    windows: int = 0  # labelled
    by_row: int = 0  # of them with an alarm
    by_episode: int = 0  # of them with an episode


def refractory(rate: float) -> float:
    """Rows after the begin of an episode in which another is the same one."""
    return min(0.1 / rate, 100.0)


def lasting(strange: np.ndarray) -> np.ndarray:
    """Whether an episode is on at each row of a contestant that has none: 3 of the last 5."""
    rule = Hysteresis(3, 5)
    return np.array([rule.add(one) for one in strange.tolist()])


def episodes(on: np.ndarray, rate: float) -> int:
    """How many began."""
    begins = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int)])) > 0)
    return int((np.diff(begins, prepend=-np.inf) > refractory(rate)).sum())


def windows_of(y: np.ndarray) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], y, [False]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def counted(series: Series, told: Sequence[np.ndarray], shown: int, rate: float, us: float) -> Seen:
    """Of which rows are strange and at which an alarm is on; those shown first cannot alarm. Only
    rows outside labels count."""
    strange, on = (each.copy() for each in told)
    strange[:shown] = on[:shown] = False
    fine = ~series.y[shown:]
    places = [k for k in (AFTER, len(strange) // 2) if k < len(strange)]
    late = [each[k:].mean() for k in places for each in (strange, on)]
    windows = [w for w in windows_of(series.y) if w.stop > shown]
    return Seen(
        rows=int(fine.sum()),
        asked=rate,
        alarms=int(strange[shown:][fine].sum()),
        episodes=episodes(on[shown:][fine], rate),
        locked=bool(max(late) > 0.5),
        us=us,
        windows=len(windows),
        by_row=sum(bool(strange[w].any()) for w in windows),
        by_episode=sum(bool(on[w].any()) for w in windows),
    )


def shown_of(series: Series) -> int:
    return min(int(SHARE_SHOWN * len(series.X)), MOST_SHOWN)


def rate_of(text: str, series: Series) -> float | None:
    """None: the series has no clock."""
    rate = RATES[text]
    if rate is not None or series.seconds is None:
        return rate
    a_day = series.seconds / DAY
    return a_day if a_day < min(0.01, MOST_RATE) else a_day / 7


def watched(
    learner: NoveltyLearner, X: np.ndarray, shown: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which rows are strange, at which an alarm is on, and their scores: judged and then learned,
    as by `Watcher`."""
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


def run(make: Make, series: Series, rate: float, learn: str) -> Seen:
    shown = shown_of(series)
    learner = make(series.X.shape[1], rate, learn, shown)
    began = process_time()
    strange, on, _ = watched(learner, series.X, shown)
    return counted(
        series, (strange, on), shown, rate, 1e6 * (process_time() - began) / len(series.X)
    )


# -- rivals, fitted on the rows shown first --------------------------------------------------------


def fitted(model: Any, Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    """Alarms of one of scikit-learn's, by the threshold that its own parameter gives."""
    return np.concatenate([np.zeros(shown, bool), model.fit(Z[:shown]).predict(Z[shown:]) < 0])


def one_class(Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    from sklearn.svm import OneClassSVM

    return fitted(OneClassSVM(nu=rate), Z, shown, rate)


def neighbours(Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    from sklearn.neighbors import LocalOutlierFactor

    model = LocalOutlierFactor(N_NEIGHBOURS, novelty=True, contamination=rate)
    return fitted(model, Z, shown, rate)


def forest(Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    return fitted(IsolationForest(contamination=rate, random_state=0), Z, shown, rate)


def half_space(Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    """river's trees, that learn on, behind its quantile filter."""
    from river.anomaly import HalfSpaceTrees, QuantileFilter

    model = QuantileFilter(HalfSpaceTrees(seed=0), q=1 - rate)
    strange = np.zeros(len(Z), bool)
    for i, row in enumerate(Streamed(model, squeeze=0.5 / CLIP, shift=0.5).rows(Z)):
        strange[i] = model.classify(model.score_one(row))
        model.learn_one(row)
    return strange


def cut_forest(Z: np.ndarray, shown: int, rate: float) -> np.ndarray:
    """The threshold is a quantile of the displacements of the second half of the rows shown."""
    scores = displaced(Z.tobytes(), Z.shape[1])
    return scores > np.quantile(scores[shown // 2 : shown], 1 - rate)


@lru_cache(1)
def displaced(rows: bytes, n_features: int) -> np.ndarray:
    """By a robust random cut forest that learns on: the same for all rates, and slow."""
    import rrcf

    Z, random = np.frombuffer(rows).reshape(-1, n_features), np.random.default_rng(0)
    trees = [rrcf.RCTree(random_state=int(seed)) for seed in random.integers(2**31, size=N_TREES)]
    scores = np.zeros(len(Z))
    for i, z in enumerate(Z):
        for tree in trees:
            if len(tree.leaves) == TREE_ROWS:
                tree.forget_point(i - TREE_ROWS)
            tree.insert_point(z, index=i)
            scores[i] += tree.codisp(i) / N_TREES
    return scores


Rival = Callable[[np.ndarray, int, float], np.ndarray]
RIVALS: dict[str, tuple[str, Rival]] = {
    "OneClassSVM": ("sklearn", one_class),
    "LocalOutlierFactor": ("sklearn", neighbours),
    "IsolationForest": ("sklearn", forest),
    "HalfSpaceTrees, quantile": ("river", half_space),
    "random cut forest": ("rrcf", cut_forest),
}


def run_rival(rival: Rival, series: Series, rate: float) -> Seen:
    shown = shown_of(series)
    mean, deviation = series.X[:shown].mean(axis=0), series.X[:shown].std(axis=0)
    deviation[deviation == 0] = 1.0
    Z = ((series.X - mean) / deviation).astype(np.float64).clip(-CLIP, CLIP)
    began = process_time()
    strange = rival(Z, shown, rate)
    us = 1e6 * (process_time() - began) / len(Z)
    return counted(series, (strange, lasting(strange)), shown, rate, us)


# -- all of them -----------------------------------------------------------------------------------

Found = dict[str, dict[str, dict[str, Seen]]]  # contestant, rate as asked, series


def contestants(args: argparse.Namespace) -> Iterator[tuple[str, Callable[[Series, float], Seen]]]:
    for (name, make), learn in product(LEARNERS.items(), MODES):
        if chosen(f"{name}, {learn}", args.learner) and chosen(learn, args.learn):
            yield f"{name}, {learn}", lambda s, r, make=make, learn=learn: run(make, s, r, learn)
    for name, (module, rival) in RIVALS.items():
        if args.rivals and chosen(name, args.learner) and find_spec(module) is not None:
            yield name, lambda s, r, rival=rival: run_rival(rival, s, r)


def chosen(name: str, words: Sequence[str]) -> bool:
    return not words or any(word in name for word in words)


def measured(args: argparse.Namespace, series: Sequence[Series], rates: Sequence[str]) -> Found:
    found: Found = {}
    for name, contest in contestants(args):
        for one, text in product(series, rates):
            rate = rate_of(text, one)
            if rate is not None:
                progress(f"{name}, {text}, {one.name}")
                found.setdefault(name, {}).setdefault(text, {})[one.name] = contest(one, rate)
    return found


def by_chance(seen: Seen) -> tuple[float, float]:
    """The numbers between which chance leaves 95 of 100 counts, at the rate asked."""
    low, high = poisson.ppf((0.025, 0.975), seen.rows * seen.asked)
    return float(low), float(high)


def ratios(seen: dict[str, Seen], what: str) -> list[float]:
    """Observed to asked where two or more are asked for."""
    found = [(getattr(s, what), s.rows * s.asked) for s in seen.values()]
    return [count / asked for count, asked in found if asked >= 2]


def summary(found: Found, what: str) -> Table:
    rows = []
    for name, by_rate in found.items():
        for text, seen in by_rate.items():
            all_of = list(seen.values())
            many = ratios(seen, what)
            inside = [by_chance(s)[0] <= getattr(s, what) <= by_chance(s)[1] for s in all_of]
            below = [getattr(s, what) <= by_chance(s)[1] for s in all_of]
            observed, asked = (
                sum(getattr(s, what) for s in all_of),
                sum(s.rows * s.asked for s in all_of),
            )
            rows.append(
                [
                    name,
                    text,
                    f"{asked:.0f}",
                    f"{observed:,}",
                    f"{observed / asked:.2f}",
                    f"{np.median(many):.2f}" if many else None,
                    f"{max(many):.2f}" if many else None,
                    f"{sum(0.5 <= m <= 2 for m in many)} of {len(many)}",
                    f"{sum(inside)}, {sum(below)} of {len(all_of)}",
                    f"{sum(s.locked for s in all_of)}",
                    f"{np.mean([s.us for s in all_of]):.1f}",
                ]
            )
    columns = ["", "rate", "asked", "observed", "ratio of sums", "median", "worst"]
    columns += ["within two", "by chance: inside, not above", "locked", "us a row"]
    note = (
        "Ratios of observed to asked; median and worst of the series in which two or more are"
        " asked for. By chance: series whose count lies where Poisson's law leaves 95 of 100, and"
        " those not above. Locked: half of the rows after the 3,000th, or of the last half, are"
        " strange or in an episode."
    )
    return Table(f"Asked and observed, {what}", columns, rows, note)


def by_series(found: Found, what: str, text: str) -> Table:
    names = list(dict.fromkeys(n for by_rate in found.values() for n in by_rate.get(text, {})))
    some = {n: s for by_rate in found.values() for n, s in by_rate.get(text, {}).items()}
    rows: list[list[str | None]] = [
        ["asked", *(f"{some[n].rows * some[n].asked:.1f}" for n in names)]
    ]
    rows.append(["by chance", *("{:.0f}-{:.0f}".format(*by_chance(some[n])) for n in names)])
    for name, by_rate in found.items():
        seen = by_rate.get(text, {})
        cells = [
            f"{getattr(seen[n], what):,}{'*' * seen[n].locked}" if n in seen else None
            for n in names
        ]
        rows.append([name, *cells])
    return Table(f"Rate {text}, {what} of each series", ["", *names], rows, "* locked")


def of_nab(found: Found) -> Table:
    rows = []
    for name, by_rate in found.items():
        for text, seen in by_rate.items():
            all_of = list(seen.values())
            asked = sum(s.rows * s.asked for s in all_of)
            windows = sum(s.windows for s in all_of)
            many = [s.episodes / (s.rows * s.asked) for s in all_of]
            rows.append(
                [
                    name,
                    text,
                    f"{sum(s.locked for s in all_of)} of {len(all_of)}",
                    f"{sum(s.alarms for s in all_of) / asked:.2f}",
                    f"{sum(s.episodes for s in all_of) / asked:.2f}",
                    f"{np.median(many):.2f}",
                    f"{100 * sum(s.by_row for s in all_of) / windows:.0f}" if windows else None,
                    f"{100 * sum(s.by_episode for s in all_of) / windows:.0f}" if windows else None,
                ]
            )
    columns = ["", "rate", "locked", "rows / asked", "episodes / asked", "median of files"]
    columns += ["windows by a row, %", "by an episode, %"]
    note = (
        "Alarms outside the labelled windows as multiples of those asked for, all files together."
    )
    return Table("NAB: locked files, and labelled windows found", columns, rows, note)


def add_words(parser: argparse.ArgumentParser, series: str) -> None:
    """Options for a part of the study."""
    for option, what in (
        ("--learner", "only contestants whose names hold one of these words"),
        ("--learn", "only these of normal, all, until"),
        ("--series", f"only {series} whose names hold one of these words"),
    ):
        parser.add_argument(option, nargs="+", default=[], metavar="WORD", help=what)


def main() -> None:
    parser = arguments(__doc__)
    add_words(parser, "quiet series")
    parser.add_argument(
        "--rate",
        nargs="+",
        default=[],
        metavar="WORD",
        help=f"only these of {', '.join(RATES)}",
    )
    parser.add_argument("--no-rivals", dest="rivals", action="store_false")
    parser.add_argument("--no-nab", dest="nab", action="store_false")
    args = parsed(parser)
    rates = args.rate or list(RATES)
    if args.quick:
        series, skipped, files = [generated()], ["real series: a quick run uses generated ones"], []
        files = [generated(1)] if args.nab else []
    else:
        series, skipped = quiet(args.series)
        why = absent("nab")
        files = list(nab_files()) if args.nab and not why else []
        skipped += [f"NAB: {why}"] if why else []
    skipped += [
        f"{name}: {module} is not installed"
        for name, (module, _) in RIVALS.items()
        if args.rivals and find_spec(module) is None
    ]
    found = measured(args, series, rates)
    args.rivals = False  # of 58 files, an hour
    nab = measured(args, files, [r for r in NAB_RATES if r in rates])
    about = [
        f"{len(series)} quiet real series in the order of time. The first fifth, at most"
        f" {MOST_SHOWN:,} rows, is shown: the warm-up, or N. Then each row is judged before it is"
        " learned, as by `Watcher`. Episodes are the learner's alarms, 3 of 5; of rivals, 3 of the"
        " last 5 rows that alarm, until none does. One that begins less than min(0.1 / rate, 100)"
        " rows after another belongs to it. Rivals are fitted on the rows shown, scaled by their"
        " mean and deviation; the trees and the cut forest learn on. 1/day: 1/week where a day is"
        " less than 100 rows.",
    ]
    tables = [
        summary(found, "episodes"),
        summary(found, "alarms"),
        *(by_series(found, "episodes", text) for text in rates if found),
        *([of_nab(nab)] if files else []),
    ]
    figures = {"quiet": found, "nab": nab}
    publish(
        Report(
            "novelty/rates", "Alarm rates in the order of time", tables, about, figures, skipped
        ),
        args.out,
    )


if __name__ == "__main__":
    main()
