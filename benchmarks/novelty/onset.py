"""From raw signal to alarm: a machine on a simulated line runs well, then a fault begins and grows.

The simulated housing of a rotating machine (`firmware_sim`), two axes at 2,000 Hz, sent in frames;
its load, speed and noise wander slowly. The host takes features of windows of 512 samples, learns
for five simulated minutes, watches for five more, and then the fault begins, at a tenth of its
height, and grows for five minutes. The learner stands still while it watches, but for one that
learns on what it takes for normal. Windows and learner share 64 KiB.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, figures_of, publish
from edgesvm import Chain, GaussianNovelty, KernelNovelty, WindowFeatures
from edgesvm.learners.novelty.alarm_rate import alarm_rate_of
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner
from edgesvm.link import open_link
from edgesvm.watcher import Episode, Watcher
from firmware_sim.harness import InMemory
from firmware_sim.limits.allocations import hook_calls
from firmware_sim.line import FaultInjector
from firmware_sim.node import FrameNode
from firmware_sim.node.raw_signals import DEFECTS, RawRotatingMachine

HZ, WINDOW, HOP, BANDS = 2000.0, 512, 256, "10-100,100-400,400-600,600-800"
BUDGET, ALARM_RATE = "64KiB", "1/day"
LEARN_S, GOOD_S, GROWTH_S = 300.0, 600.0, 300.0
LINES: dict[str, dict[str, float]] = {
    "clean": {},
    "damaged": {"flip": 1e-4, "lose": 1e-4, "duplicate": 1e-4, "noise": 1e-5},
}
RULES = ("1/1", "2/3", "3/5", "5/8")
RULE = "3/5"  # as `edgesvm watch` has it
N_COUNTED = 20_000

Make = Callable[[float], NoveltyLearner]
LEARNERS: dict[str, Make] = {
    "KernelNovelty": lambda rate: KernelNovelty(alarm_rate=rate),
    "KernelNovelty, learns on": lambda rate: KernelNovelty(alarm_rate=rate),
    "GaussianNovelty": lambda rate: GaussianNovelty(alarm_rate=rate),
    "GaussianNovelty, diagonal": lambda rate: GaussianNovelty(
        alarm_rate=rate, covariance="diagonal"
    ),
}


class Times(NamedTuple):
    learn: float
    good: float
    growth: float


class Told(NamedTuple):
    delay: float | None  # seconds from onset to alarm; None: it was over before
    false_alarms: int  # before the onset
    strange: int  # windows, before the onset
    windows: int  # watched, before the onset
    dropped: int
    missing: int
    n_bytes: int
    us: float  # a raw sample, link included


def chain_of(make: Make, times: Times, rule: str = RULE) -> Chain:
    rows = HZ / HOP
    learner = make(alarm_rate_of(ALARM_RATE, rows))
    learner.set_params(warm_up=round(times.learn * rows), alarm=rule)
    windows = WindowFeatures(window=WINDOW, hop=HOP, rate=HZ, bands=BANDS)
    return Chain(windows=windows, learner=learner).fitted_into(BUDGET, 2).allocate(2)


def machine(seed: int, defect: str, times: Times) -> RawRotatingMachine:
    return RawRotatingMachine(
        seed, rate=HZ, onset_s=times.good, growth_s=times.growth, defect=defect
    )


# -- over a line ---------------------------------------------------------------------------------


def watched(seed: int, defect: str, line: str, times: Times) -> Told:
    """The whole way, until the first alarm after the onset."""
    last = round((times.good + times.growth) * HZ)
    node = FrameNode(machine(seed, defect, times), rate=HZ, samples=last, label_mode="none")
    rates = LINES[line]
    world = InMemory(node, faults=FaultInjector(rates, seed=seed) if rates else None)
    link = open_link("memory", opener=world.open, clock=world.clock, sleep=world.sleep)
    chain = chain_of(LEARNERS["GaussianNovelty"], times)
    watcher = Watcher(link, chain, clock=world.clock)
    onset, began = round(times.good * HZ), process_time()
    told: list[Episode] = []
    strange = rows = 0
    while not (node.finished and world.pump.line.quiet) or watcher.step(0.1):
        watcher.step(0.1)
        if watcher.episode is not None and watcher.episode not in told:
            told.append(watcher.episode)
        if node.samples_made <= onset:
            strange, rows = watcher.strange, watcher.rows
        if told and told[-1].sequence >= onset:
            break
    assert watcher.check_identities() == []
    counts = watcher.counters()
    found = [e for e in told if e.sequence >= onset or e.ended is None]
    return Told(
        delay=max(0.0, (found[0].sequence - onset) / HZ) if found else None,
        false_alarms=sum(e.sequence < onset for e in told),
        strange=strange,
        windows=rows - chain.learner_.warm_up,
        dropped=counts["windows_dropped"],
        missing=counts["missing"],
        n_bytes=chain.nbytes,
        us=1e6 * since(began) / watcher.taken,
    )


# -- learners and rules, on the same windows -------------------------------------------------------


def rows_of(seed: int, defect: str, times: Times) -> np.ndarray:
    """The features of all windows; the fault begins after `times.good`."""
    n = round((times.good + times.growth) * HZ)
    X = machine(seed, defect, times).read(n).X
    windows = WindowFeatures(window=WINDOW, hop=HOP, rate=HZ, bands=BANDS).allocate(2)
    return windows.push_many(X)


def alarms(name: str, rule: str, rows: np.ndarray, times: Times) -> tuple[float | None, int, int]:
    """Seconds from onset to alarm, false alarms before, and the bytes of windows and learner."""
    chain = chain_of(LEARNERS[name], times, rule)
    learner, learns_on = chain.learner_, name.endswith("learns on")
    onset = (times.good * HZ - WINDOW) / HOP + 1
    n_false, before = 0, False
    for k, row in enumerate(rows):
        if learns_on or learner.n_updates_ < learner.warm_up:
            learner.learn_one(row)
        else:
            learner.watch_one(row)
        on = learner.alarm_on_
        if k >= onset and on:
            return (k - onset) * HOP / HZ, n_false, chain.nbytes
        n_false += on and not before
        before = on
    return None, n_false, chain.nbytes


COUNTED = """
from benchmarks.novelty.onset import LEARNERS, Times, chain_of, machine
times = Times(2.0, 4.0, 4.0)
X = machine(0, "outer-race", times).read(1000).X
chain = chain_of(LEARNERS["GaussianNovelty"], times)
for _ in range(5):
    chain.partial_fit(X, [None] * len(X))
cases = {"push": (chain.push, (list(X),))}
"""


# -- a picture -----------------------------------------------------------------------------------


def drawn(rows: np.ndarray, defect: str, times: Times, out: Path) -> list[tuple[str, str]]:
    """Scores of one stream and their thresholds, by the learner; needs matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = ("KernelNovelty", "GaussianNovelty")
    canvas, axes = plt.subplots(len(names), 1, figsize=(8, 5), sharex=True, layout="constrained")
    at = (np.arange(len(rows)) * HOP + WINDOW) / HZ
    for axis, name in zip(axes, names, strict=True):
        learner = chain_of(LEARNERS[name], times).learner_
        scores = []
        for row in rows:
            scores.append(learner.score_one(row) if learner.is_fitted else 0.0)
            if learner.n_updates_ < learner.warm_up:
                learner.learn_one(row)
        axis.plot(at, scores, ".", markersize=2)
        axis.axhline(-learner.offset_, color="tab:red", linewidth=1, label="threshold, 1 a day")
        axis.axvspan(0, times.learn, color="0.9", label="learning")
        axis.axvline(times.good, color="0.3", linestyle="--", label="the fault begins")
        axis.set_title(name, fontsize=10, loc="left")
        axis.set_ylabel("score")
        axis.set_yscale("symlog")
        axis.set_ylim(bottom=0)
        axis.margins(x=0.01)
    axes[0].legend(fontsize=9, loc="lower right")
    axes[-1].set_xlabel("seconds")
    path = figures_of(out) / "novelty_onset.png"
    canvas.savefig(path, dpi=120)
    plt.close(canvas)
    caption = f"Scores while an {defect} fault of a simulated bearing begins and grows"
    return [(caption, os.path.relpath(path, out))]


# -- the report ----------------------------------------------------------------------------------


def seconds(delays: list[float | None]) -> str:
    """Median and worst."""
    late = [np.inf if d is None else d for d in delays]
    if np.isinf(np.median(late)):
        return "never"
    worst = "never" if np.isinf(max(late)) else f"{max(late):.1f}"
    return f"{np.median(late):.1f} ({worst})"


def line_table(defects: list[str], seeds: int, times: Times) -> tuple[Table, Any]:
    rows, figures = [], {}
    for defect, line in product(defects, LINES):
        told = []
        for seed in range(seeds):
            progress(f"{defect}, {line} line, seed {seed}")
            told.append(watched(seed, defect, line, times))
        figures[f"{defect}, {line}"] = [one._asdict() for one in told]
        hours = sum(one.windows for one in told) * HOP / HZ / 3600
        rows.append(
            [
                defect,
                line,
                seconds([one.delay for one in told]),
                f"{sum(one.false_alarms for one in told)} in {hours:.2f} h",
                f"{sum(one.strange for one in told)} of {sum(one.windows for one in told)}",
                f"{sum(one.dropped for one in told)}",
                f"{max(one.n_bytes for one in told):,}",
                f"{np.median([one.us for one in told]):.1f}",
            ]
        )
    columns = ["fault", "line", "onset to alarm, s", "false alarms", "strange windows before"]
    columns += ["windows dropped", "bytes", "us a raw sample"]
    note = "Median of the seeds (worst). Time is of the processor: node, line, link and learner."
    title = "Over a line: GaussianNovelty, 3 of 5 windows"
    return Table(title, columns, rows, note), figures


def rule_table(defects: list[str], seeds: int, times: Times) -> tuple[Table, Any]:
    rows, figures = [], {}
    sources = {}
    for defect, seed in product(defects, range(seeds)):
        progress(f"windows of {defect}, seed {seed}")
        sources[defect, seed] = rows_of(seed, defect, times)
    for name in LEARNERS:
        progress(name)
        for rule in RULES:
            told = {key: alarms(name, rule, rows_, times) for key, rows_ in sources.items()}
            n_bytes = max(size for _, _, size in told.values())
            figures[f"{name}, {rule}"] = [[*key, *result] for key, result in told.items()]
            by_defect = [
                seconds([told[defect, seed][0] for seed in range(seeds)]) for defect in defects
            ]
            n_false = sum(n for _, n, _ in told.values())
            rows.append([name, rule, *by_defect, n_false, f"{n_bytes:,}"])
    hours = len(sources) * (times.good - times.learn) / 3600
    columns = ["learner", "alarm", *(f"{defect}, s" for defect in defects)]
    columns += [f"false alarms in {hours:.1f} h", "bytes"]
    title = "Learners and rules, without a line: onset to alarm, median (worst)"
    return Table(title, columns, rows), figures


def main() -> None:
    args = parsed(arguments(__doc__, rounds=3))
    times = Times(LEARN_S, GOOD_S, GROWTH_S)
    defects, seeds = list(DEFECTS), args.rounds
    if args.quick:
        times, defects, seeds = Times(20.0, 30.0, 20.0), ["outer-race"], 1
    pictures = drawn(rows_of(0, defects[0], times), defects[0], times, args.out)
    rules, of_rules = rule_table(defects, seeds, times)
    over_line, of_line = line_table(defects, seeds, times)
    n_calls = sum(hook_calls(COUNTED, N_COUNTED)["push"].excess)
    about = [
        f"Windows of {WINDOW} samples every {HOP}, bands {BANDS} Hz; alarm rate {ALARM_RATE}; "
        f"{seeds} seeds. Damaged: "
        + ", ".join(f"{k} {v:g}" for k, v in LINES["damaged"].items())
        + " of the frames.",
        f"Allocator calls of {N_COUNTED:,} raw samples through windows and learner: {n_calls}.",
    ]
    figures = {"line": of_line, "rules": of_rules, "allocator_calls": n_calls}
    title = "From raw signal to alarm"
    tables = [over_line, rules]
    publish(Report("novelty/onset", title, tables, about, figures, [], pictures), args.out)


if __name__ == "__main__":
    main()
