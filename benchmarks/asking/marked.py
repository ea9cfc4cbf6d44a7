"""What it is worth to mark false alarms: the series of the Numenta Anomaly Benchmark in time order,
each as value, difference and distance to a slow mean. The watch learns the first 15 %, then
nothing but what somebody says was normal: an alarm that began outside the labelled windows is
marked 20 rows later, or at its end. A false alarm is one that began outside the windows; a window
is found if an alarm is on in it. One alarm in 1,000 rows is asked for, an alarm begins with 3
strange rows of 5.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out, missing, read
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.asking import Questions
from edgesvm.learners.novelty.novelty_learner import NORMAL, NoveltyLearner
from edgesvm.watcher import Watcher

RATE, LEARNED, SLOW, AFTER = 1e-3, 0.15, 100, 20
KINDS: tuple[type[NoveltyLearner], ...] = (GaussianNovelty, KernelNovelty)

Series = dict[str, tuple[np.ndarray, np.ndarray]]  # values, and whether each is in a window


def features(v: np.ndarray) -> np.ndarray:
    slow, far = v[0], np.zeros(len(v))
    for i, value in enumerate(v):
        far[i] = value - slow
        slow += far[i] / SLOW
    return np.stack([v, np.diff(v, prepend=v[0]), far], axis=1).astype(np.float32)


def generated() -> Series:
    """A series with a state that comes again and again, for a quick run."""
    v = np.random.default_rng(0).standard_normal(4000)
    for at in range(1500, 4000, 500):
        v[at : at + 60] += 15
    return {"generated": (v, np.zeros(len(v), bool))}


def nab() -> Series:
    file = read("nab")
    return {n: (file[f"{n}__v"].astype(float), file[f"{n}__y"] > 0) for n in file["names"]}


def watched(kind: type[NoveltyLearner], v: np.ndarray, y: np.ndarray, marks: bool) -> np.ndarray:
    """False alarms, share of the rows outside the windows in an alarm, and windows found."""
    X = features(v)
    learner = kind(alarm_rate=RATE, warm_up=int(LEARNED * len(X))).allocate(X.shape[1])
    link: Any = SimpleNamespace(
        epochs=0, counters={}, feature_names=None, freshness=SimpleNamespace(is_stale=False)
    )
    questions = Questions(learner)
    watch = Watcher(link, learner, answers=False, questions=questions)
    window = np.cumsum(np.diff(y.astype(int), prepend=0) == 1) * y  # 0: none
    found: set[int] = set()
    n_false = n_on = 0
    last, is_false = None, False
    for i, x in enumerate(X):
        watch.handle(x, i)
        now = watch.episode
        if now is not None and now is not last:
            last, is_false = now, not y[i]
            n_false += is_false
        if now is not None:
            found.add(int(window[i]))
            n_on += not y[i]
        over = now is None or watch.rows - now.row >= AFTER
        number = None if last is None or not is_false else last.question
        if marks and over and number is not None and questions.is_open(number):
            watch.answer(number, NORMAL)
    return np.array([n_false, n_on / max((~y).sum(), 1), len(found - {0})])


def main() -> None:
    args = parsed(arguments(__doc__))
    there = generated() if args.quick else {} if missing("nab") else nab()
    n_windows = sum(int((np.diff(y.astype(int), prepend=0) == 1).sum()) for _, y in there.values())
    body: list[list[Any]] = []
    for kind in KINDS:
        for marks in (False, True):
            progress(f"{kind.__name__}, {'marked' if marks else 'not'}")
            found = np.array([watched(kind, v, y, marks) for v, y in there.values()]).reshape(-1, 3)
            body.append([kind.__name__, "yes" if marks else "no", int(found[:, 0].sum())])
            body[-1] += [f"{100 * found[:, 1].mean():.1f}", int(found[:, 2].sum())]
    columns = ["learner", "marked", "false alarms", "% of the rows outside in an alarm"]
    table = Table("", [*columns, f"windows found, of {n_windows}"], body if there else [])
    title = "False alarms that are marked"
    about, skipped = [(__doc__ or "").strip()], left_out(["nab"], args.quick)
    publish(Report("asking/marked", title, [table], about, body, skipped), args.out)


if __name__ == "__main__":
    main()
