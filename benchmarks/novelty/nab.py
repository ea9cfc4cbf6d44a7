"""NAB's own score: wrappers built of a learner and simple features, one for all 58 files, by the
benchmark's own sweep over thresholds (github.com/numenta/NAB; NAB_HOME is a clone of it).

Each value is judged before it is learned. A published score and ours have the same scale: 0 is a
detector that never alarms, 100 a perfect one. As there, one threshold for all files is chosen with
the labels known.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.novelty.series import by_hour, generated, with_level
from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

PROBATION = 0.15  # of a file, at most 750 values: not scored
PROFILES = {
    "standard": "standard",
    "low FP": "reward_low_FP_rate",
    "low FN": "reward_low_FN_rate",
}
PEAK = 100  # rows that a score must stand above to count
BUDGET = 16 << 10


class File(NamedTuple):
    name: str
    value: np.ndarray
    seconds: np.ndarray
    times: list[Any]  # as the harness compares them with the ends of windows
    windows: list[tuple[Any, Any]]


# -- features, learners, what becomes of the scores ------------------------------------------------


def features(file: File, n: int) -> np.ndarray:
    """The first n of value, difference, distance to a slow mean, and to its hour's."""
    X = np.column_stack([with_level(file.value), by_hour(file.value, file.seconds)])
    return np.ascontiguousarray(X[:, :n], np.float32)


def kernel(
    learn: str = "all", budget: int = BUDGET, width: float = 3.0, stuck: str = "learn"
) -> Callable[[int], Any]:
    return lambda d: KernelNovelty(learn=learn, stuck=stuck, gamma=width / d).fitted_into(budget, d)


def gaussian(learn: str = "all") -> Callable[[int], Any]:
    return lambda d: GaussianNovelty(learn=learn, stuck="learn")


def as_it_is(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return scores


def above(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return scores - thresholds


def peaks(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Only what is stranger than the last `PEAK` rows, so that a long fault alarms once."""
    out = np.full(len(scores), -np.inf)
    for i, score in enumerate(scores):
        if score > scores[max(0, i - PEAK) : i].max(initial=-np.inf):
            out[i] = score
    return out


class Wrapper(NamedTuple):
    make: Callable[[int], NoveltyLearner]
    n_features: int
    after: Callable[[np.ndarray, np.ndarray], np.ndarray]


BEST = kernel()
WRAPPERS = {
    "KernelNovelty, all; value, difference, level, hour; peaks": Wrapper(BEST, 4, peaks),
    "the same, every score": Wrapper(BEST, 4, as_it_is),
    "the same, score less threshold": Wrapper(BEST, 4, above),
    "without hour; peaks": Wrapper(BEST, 3, peaks),
    "without hour, every score": Wrapper(BEST, 3, as_it_is),
    "without hour, score less threshold": Wrapper(BEST, 3, above),
    "value, difference; peaks": Wrapper(BEST, 2, peaks),
    "value; peaks": Wrapper(BEST, 1, peaks),
    "four features, 8 KiB; peaks": Wrapper(kernel(budget=8 << 10), 4, peaks),
    "four features, 64 KiB; peaks": Wrapper(kernel(budget=64 << 10), 4, peaks),
    "four features, stuck skip; peaks": Wrapper(kernel(stuck="skip"), 4, peaks),
    "four features, gamma 1/D; peaks": Wrapper(kernel(width=1.0), 4, peaks),
    "four features, learn normal; peaks": Wrapper(kernel("normal"), 4, peaks),
    "four features, learn normal, every score": Wrapper(kernel("normal"), 4, as_it_is),
    "four features, learn normal, score less threshold": Wrapper(kernel("normal"), 4, above),
    "GaussianNovelty, all; four features; peaks": Wrapper(gaussian(), 4, peaks),
    "GaussianNovelty, all; score less threshold": Wrapper(gaussian(), 4, above),
    "GaussianNovelty, normal; score less threshold": Wrapper(gaussian("normal"), 4, above),
}


def judged(wrapper: Wrapper, file: File) -> np.ndarray:
    scores, thresholds = scored(wrapper.make, wrapper.n_features, file.name)
    found = wrapper.after(scores, thresholds)
    return 0.5 + np.arctan(found) / math.pi  # from 0 to 1, as the harness takes them


FILES: dict[str, File] = {}


@lru_cache(256)
def scored(
    make: Callable[[int], NoveltyLearner], n_features: int, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Score and threshold of each value, before it was learned."""
    X = features(FILES[name], n_features)
    learner = make(n_features).allocate(n_features)
    scores, thresholds = np.zeros(len(X)), np.zeros(len(X))
    for i, x in enumerate(X):
        if learner.is_fitted:
            thresholds[i] = -learner.offset_
            scores[i] = thresholds[i] - learner.decision_one(x)
        learner.learn_one(x)
    return scores, thresholds


# -- the harness -----------------------------------------------------------------------------------


def home() -> Path | None:
    told = os.environ.get("NAB_HOME")
    return Path(told) if told and (Path(told) / "nab" / "sweeper.py").is_file() else None


def read_files(root: Path) -> Iterator[File]:
    def instant(text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)

    for name, windows in json.loads(
        (root / "labels" / "combined_windows.json").read_text()
    ).items():
        with (root / "data" / name).open() as lines:
            rows = list(csv.DictReader(lines))
        times = [instant(row["timestamp"]) for row in rows]
        value = np.array([float(row["value"]) for row in rows])
        seconds = np.array([time.timestamp() for time in times])
        yield File(name, value, seconds, times, [(instant(a), instant(b)) for a, b in windows])


def of_harness(root: Path, wrapper: Wrapper) -> dict[str, float]:
    """The score in each profile, by the sweep that NAB publishes."""
    sys.path[:0] = [str(root)]
    from nab.sweeper import Sweeper

    sys.path.remove(str(root))
    profiles = json.loads((root / "config" / "profiles.json").read_text())
    n_windows = sum(len(file.windows) for file in FILES.values())
    found = {}
    for short, profile in PROFILES.items():
        costs = profiles[profile]["CostMatrix"]
        sweeper = Sweeper(probationPercent=PROBATION, costMatrix=costs)
        points = [
            point
            for f in FILES.values()
            for point in sweeper.calcSweepScore(f.times, judged(wrapper, f), f.windows, f.name)
        ]
        best = max(sweeper.calcScoreByThreshold(points), key=lambda one: one.score)
        none = -n_windows * costs["fnWeight"]
        found[short] = 100 * (best.score - none) / (n_windows * costs["tpWeight"] - none)
    return found


def published(root: Path) -> dict[str, dict[str, float]]:
    """Of the results that lie in the clone."""
    found = json.loads((root / "results" / "final_results.json").read_text())
    kept = {name: {s: of[p] for s, p in PROFILES.items()} for name, of in found.items()}
    return dict(sorted(kept.items(), key=lambda one: -one[1]["standard"]))


def table(title: str, found: dict[str, dict[str, float]]) -> Table:
    rows = [[name, *(f"{of[short]:.1f}" for short in PROFILES)] for name, of in found.items()]
    return Table(title, ["", *PROFILES], rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--wrapper", nargs="+", default=[], metavar="WORD", help="only these")
    args = parsed(parser)
    root, skipped, tables, found = home(), [], [], {}
    if args.quick:
        series = generated()
        seconds = 300.0 * np.arange(len(series.X))
        file = File("generated", series.X[:, 0].astype(float), seconds, [], [])
        FILES[file.name] = file
        tops = {name: int(judged(w, file).argmax()) for name, w in WRAPPERS.items()}
        rows = [[name, top] for name, top in tops.items()]
        tables, found = [Table("Strangest value", ["", "number"], rows)], tops
        skipped = ["NAB: a quick run uses generated data"]
    elif root is None:
        skipped = ["NAB: set NAB_HOME to a clone of github.com/numenta/NAB"]
    else:
        FILES.update((file.name, file) for file in read_files(root))
        for name, wrapper in WRAPPERS.items():
            if not args.wrapper or any(word in name for word in args.wrapper):
                progress(name)
                found[name] = of_harness(root, wrapper)
        tables = [
            table("Ours", found),
            table("Published, from the clone's results", published(root)),
        ]
    about = [
        "Level: the distance to a mean of about 200 values. Hour: that to the slow mean of its hour"
        f" of the day. Peaks: a score counts if it is above those of the last {PEAK} values, as an"
        f" alarm is told once. {BUDGET >> 10} KiB where nothing else is said.",
    ]
    publish(Report("novelty/nab", "NAB's own score", tables, about, found, skipped), args.out)


if __name__ == "__main__":
    main()
