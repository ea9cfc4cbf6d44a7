"""The conformance run: `edgesvm run` against the node in a mix of faults, and what must then hold.

A line of the report is a `Section`: what was found, how it was taken, and the limits it breaks.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edgesvm
from edgesvm.data import SampleSource, open_rows
from edgesvm.errors import MemoryBudgetError
from edgesvm.learner import Learner
from firmware_sim.allocations import WARM_UP, build_preload, hook_calls, preload_calls
from firmware_sim.checks import DAMAGED, Check, identities, matrix_checks
from firmware_sim.expected import Expected, expected
from firmware_sim.faults import MIXES, OVERLONG_BYTES, SECOND_BYTES, FaultInjector
from firmware_sim.harness import Memory, Report, simulate
from firmware_sim.kills import kill_again_and_again
from firmware_sim.line import Line
from firmware_sim.links import PtyLink
from firmware_sim.mishaps import MISHAP_MIXES, Mishaps
from firmware_sim.node import FrameNode, Node
from firmware_sim.power import PowerReport, checkpoint_ways, cut_everywhere
from firmware_sim.signals import RotatingMachine

LIMIT_GROWTH = 256 * 1024  # bytes of peak resident memory, after 10,000 samples
LIMIT_ACCURACY = 0.005  # lost at 1 % of frames lost
WARM_ALLOWANCE = 1 << 20
COUNTED_CALLS = 200_000
# So that a short run loses its plug now and then, too.
LEAST_UNPLUGGINGS = {"disconnect": 3, "stale": 2, "reboot": 2}
LEAST_MISHAPS = 3
# The long ones, where they do not hold the line up for long.
LEAST_LONG = {"noise": SECOND_BYTES, "overlong": OVERLONG_BYTES}
LONGEST_FAULT_S = 10.0
ACCURACY_SAMPLES = 20_000
LATE_SAMPLES = 20_000
# Of simulated disks; and of kills of the real process, 200 of which are in the long tests.
POWER_SEEDS = 11
POWER_KILLS = 10
SECTOR = 512
DATA = "EDGESVM_DATA"

# What is counted, here and in a child process.
ALLOC_SETUP = """
import numpy as np
import edgesvm
from firmware_sim import _alloc_hooks

saved = edgesvm.load({snapshot!r})
learner = type(saved)(**saved.get_params(deep=False)).allocate({n_features})
rng = np.random.default_rng(0)
rows = list(rng.standard_normal(({n_rows}, {n_features})).astype(learner.dtype))
labels = [int(label) for label in rng.integers(0, 2, {n_rows})]
cases = {{"learn_one": (learner.learn_one, (rows, labels)),
         "positive control": (_alloc_hooks.take_in_c, (rows,))}}
"""

_SUFFIX = {"": 1, "k": 1_000, "m": 1_000_000}
_CHUNK = 4096
_REACH = 1024  # samples that may arrive out of order by at most so many


def parse_count(text: str) -> int:
    """``"10M"``, ``"50k"``, ``"1,000"``; ValueError for anything else."""
    match = re.fullmatch(r"(\d+)([km]?)", text.replace(",", "").replace("_", "").lower())
    if match is None:
        raise ValueError(f"samples {text!r}: give a whole number, as 50000, 50k, 10M")
    return int(match[1]) * _SUFFIX[match[2]]


@dataclass
class Section:
    """A line of the report."""

    name: str
    text: str
    broken: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    taken: str = "native"

    def __str__(self) -> str:
        lines = [f"{self.name:<10}{self.text}   ({self.taken})"]
        return "\n".join([*lines, *(f"{'':<10}LIMIT BROKEN: {what}" for what in self.broken)])


@dataclass
class Run:
    """What one run of the edge process left behind."""

    report: Report
    node: FrameNode
    line: Line
    faults: FaultInjector
    snapshot: Path
    make_source: Callable[[], SampleSource]

    @property
    def counters(self) -> dict[str, int]:
        edge = self.report.edge
        return edge["counters"] if isinstance(edge, dict) and "counters" in edge else {}


def run_edge(
    make_source: Callable[[], SampleSource],
    folder: Path,
    *,
    samples: int | None,
    rates: dict[str, float],
    seed: int,
    mishaps: dict[str, float] | None = None,
    label_mode: str = "inline",
    baud: float | None = None,
    timeout_s: float = 3600.0,
    warm_allowance: int | None = None,
    on_progress: Callable[[Node, Line, Memory], None] | None = None,
) -> Run:
    """`edgesvm run` at the other end of a pseudo-terminal, until all samples are answered."""
    snapshot = folder / "model.esvm"
    snapshot.unlink(missing_ok=True)
    faults = FaultInjector(rates, seed=seed)
    with contextlib.closing(PtyLink(folder / "port")) as link:
        node = FrameNode(
            make_source(),
            samples=samples,
            boot_id=seed + 1,
            label_mode=label_mode,
            timestamps=bool(mishaps),  # or the clock has none to jump
            mishaps=Mishaps(mishaps, seed=seed) if mishaps else None,
        )
        # Without flow control a busy machine would lose bytes that no ledger knows of.
        line = Line(link, baud=baud, faults=faults, flow_control=True)
        argv = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json"]
        report = simulate(
            [*argv, "--save", str(snapshot)],
            node,
            line,
            timeout_s=timeout_s,
            warm_allowance=warm_allowance,
            on_progress=on_progress,
        )
    return Run(report, node, line, faults, snapshot, make_source)


def with_rare_faults(
    rates: dict[str, float], samples: int, baud: float | None = None
) -> dict[str, float]:
    """The rates of a mix that unplugs, with what is rare in it at least twice in so many samples.

    Noise and a run without a delimiter are left out where they would take long at this speed.
    """
    if not rates.get("disconnect"):
        return rates
    long = [
        kind for kind, n in LEAST_LONG.items() if baud is None or 10 * n / baud <= LONGEST_FAULT_S
    ]
    return _at_least(rates, {**LEAST_UNPLUGGINGS, **dict.fromkeys(long, 2)}, samples)


def with_mishaps(mix: str, samples: int) -> dict[str, float]:
    """The mishaps that go with a mix of faults, each at least a few times in so many samples."""
    rates = MISHAP_MIXES.get(mix, {})
    return _at_least(rates, dict.fromkeys(rates, LEAST_MISHAPS), samples)


def _at_least(rates: dict[str, float], least: dict[str, int], samples: int) -> dict[str, float]:
    """The rates, none of those named so low that it is not to be seen in so many samples."""
    floors = {kind: min(n / max(samples, 1), 0.01) for kind, n in least.items()}
    return {**rates, **{kind: max(rates.get(kind, 0.0), rate) for kind, rate in floors.items()}}


# The lines of the report.


def link_section(run: Run, *, baud: float | None, seed: int, mix: str) -> Section:
    report = run.report
    speed = "unpaced" if baud is None else f"{baud:,.0f} baud paced with RTS/CTS"
    rate = report.samples_sent / max(report.wall_s, 1e-9)
    broken = []
    if report.ended != "drained" or report.exit_code != 0:
        broken.append(f"ended by {report.ended}, exit code {report.exit_code}")
    if report.lost_bytes:
        broken.append(f"{report.lost_bytes} bytes lost in the line: counts are bounds only")
    return Section(
        "link",
        f'binary {speed}, seed {seed}, {report.samples_made:,} samples, fault mix "{mix}", '
        f"{report.wall_s:.1f} s, {rate:,.0f} samples/s",
        broken,
        {"baud": baud, "seed": seed, "mix": mix, "wall_s": report.wall_s, "samples_per_s": rate},
    )


def frames_section(run: Run) -> Section:
    c = run.counters
    checks = identities(c)
    broken = [str(check) for check in checks if not check.holds]
    broken += (
        run.report.edge.get("broken_identities", []) if isinstance(run.report.edge, dict) else []
    )
    bad = "/".join(str(c[name]) for name in DAMAGED[:3])
    state = "all hold" if not broken else "BROKEN"
    return Section(
        "frames",
        f"sent {run.report.samples_sent:,}  ok {c['samples']:,}  bad cobs/crc/len {bad}  "
        f"oversize {c['oversize']}  missing {c['missing']:,}   identities: {state}",
        broken,
        {"counters": c},
    )


def integrity_section(run: Run, want: Expected) -> Section:
    """False accepts, two ways: who was answered, and what the model has become."""
    c, ledger = run.counters, run.faults.ledger
    arrived = np.zeros(run.node.samples_made, bool)
    arrived[want.rows] = True
    assert run.node.answered is not None
    answered = run.node.answered[: len(arrived)]
    strangers = int(np.count_nonzero(answered & ~arrived)) + run.node.answers_astray
    damaged = sum(c[name] for name in DAMAGED)
    broken = [f"{strangers} damaged frames were accepted"] if strangers else []
    for name, right in (("unique", want.unique), ("missing", want.missing)):
        if c[name] != right:
            broken.append(f"{name} {c[name]}, by the ledger {right}")
    if c["learned"] != len(want.learned):
        broken.append(f"learned {c['learned']}, by the ledger {len(want.learned)}")
    same = model_is_that_of(run, want)
    if not same:
        broken.append("the model is not the one that the rows that arrived teach")
    lossy = [e for e in ledger.entries if e.lost]
    resync = np.sort([e.resync for e in ledger.entries if e.bad] or [0])
    last = len(resync) - 1
    p50, p99 = int(resync[last // 2]), int(resync[round(0.99 * last)])
    per_fault = sum(e.lost for e in lossy) / max(len(lossy), 1)
    return Section(
        "integrity",
        f"false accepts {strangers} of {damaged:,} damaged (limit 0)   frames lost per fault "
        f"{per_fault:.3f}   resync {p50}/{p99}/{int(resync[-1])} bytes   model = partial_fit of "
        f"the {len(want.learned):,} rows that arrived, byte for byte: {'yes' if same else 'no'}",
        broken,
        {
            "false_accepts": strangers,
            "damaged": damaged,
            "resync_bytes": [p50, p99, int(resync[-1])],
        },
    )


def model_is_that_of(run: Run, want: Expected) -> bool:
    """Whether the edge's snapshot equals one taught here, the same rows in the same order."""
    learner = edgesvm.load(run.snapshot)
    twin = type(learner)(**learner.get_params(deep=False))
    for X, y in _rows_of(run.make_source(), want.learned):
        twin.partial_fit(X.astype(twin.dtype), y)
    own = run.snapshot.with_name("twin.esvm")
    twin.save(own)
    return own.read_bytes() == run.snapshot.read_bytes()


def _rows_of(
    source: SampleSource, wanted: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Rows of a stream by index, in an order that is nearly the stream's own."""
    chunks = source.chunks(_CHUNK)
    X, y = next(chunks)
    assert y is not None
    base = 0
    for start in range(0, len(wanted), _CHUNK):
        rows = wanted[start : start + _CHUNK]
        while rows.max() >= base + len(y):
            more_X, more_y = next(chunks)
            assert more_y is not None
            X, y = np.concatenate([X, more_X]), np.concatenate([y, more_y])
        yield X[rows - base], y[rows - base]
        cut = max(0, int(rows.min()) - _REACH - base)
        X, y, base = X[cut:], y[cut:], base + cut


def ledger_section(run: Run) -> Section:
    exact = run.report.lost_bytes == 0
    checks = matrix_checks(run.faults.ledger, run.counters, exact=exact)
    owned_up = run.counters["node_samples_dropped"]
    checks.append(_equal("dropped before sending, by heartbeat", owned_up, run.node.boot_dropped))
    equal = [check for check in checks if check.exact]
    broken = [str(check) for check in checks if not check.holds]
    counts = run.faults.ledger.counts()
    told = ", ".join(f"{kind} {n:,}" for kind, n in counts.items()) or "no faults"
    return Section(
        "ledger",
        f"injected = counted for {sum(c.holds for c in equal)} of {len(equal)} exact counts, "
        f"{sum(c.holds for c in checks) - sum(c.holds for c in equal)} of "
        f"{len(checks) - len(equal)} bounds hold   {told}",
        broken,
        {"injected": counts, "checks": [str(check) for check in checks]},
    )


def latency_section(run: Run) -> Section:
    c, us = run.counters, run.report.latency_us or {"p50": 0.0, "p99": 0.0, "max": 0.0}
    broken = [f"{c['ring_dropped']} rows dropped by the ring"] if c["ring_dropped"] else []
    return Section(
        "latency",
        f"sample to prediction {us['p50']:,.0f}/{us['p99']:,.0f}/{us['max']:,.0f} us   ring "
        f"high-water {c['ring_high_water']} of {c['ring_capacity']}   dropped {c['ring_dropped']}",
        broken,
        {"latency_us": us},
    )


def link_loss_section(run: Run, want: Expected) -> Section:
    report, c = run.report, run.counters
    twice = max(0, c["learned"] - len(want.learned))
    n = len(run.line.unplugged_at)
    broken = [f"{twice} samples learned twice"] if twice else []
    if len(report.recover_s) < n:
        broken.append(f"{n - len(report.recover_s)} of {n} disconnects were not recovered from")
    if not n:
        return Section("link loss", "0 disconnects", broken)
    detect, recover = _p99_ms(report.detect_s), _p99_ms(report.recover_s)
    return Section(
        "link loss",
        f"{n} disconnects, detect p99 {detect} ms, recover p99 {recover} ms, "
        f"samples learned twice {twice}, epochs {c['epochs']}",
        broken,
        {"detect_s": report.detect_s, "recover_s": report.recover_s},
    )


def _p99_ms(seconds: list[float]) -> str:
    return f"{1e3 * float(np.quantile(seconds, 0.99)):,.1f}" if seconds else "-"


def labels_section(folder: Path, *, seed: int, samples: int) -> Section:
    """A run of its own, in which labels come late, too late, twice, astray or never."""
    run = run_edge(
        lambda: RotatingMachine(seed),
        folder,
        samples=samples,
        rates={},
        seed=seed,
        mishaps=with_mishaps("late", samples),
        label_mode="late",
    )
    c, counts = run.counters, run.faults.ledger.counts()
    if not c:
        return Section("labels", "no counts", [run.report.edge_errors.strip() or "it said nothing"])
    checks = [*matrix_checks(run.faults.ledger, c, exact=not run.report.lost_bytes), *identities(c)]
    in_time = samples - counts.get("label-expired", 0) - counts.get("label-never", 0)
    checks += [
        _equal("label_matched", c["label_matched"], in_time),
        _equal("learned", c["learned"], c["label_matched"]),
        _equal(
            "unlabelled + waiting", c["unlabelled"] + c["waiting"], counts.get("label-never", 0)
        ),
    ]
    return Section(
        "labels",
        f"late, of {samples:,} samples matched {c['label_matched']:,} = learned {c['learned']:,}   "
        f"expired {c['label_expired']}   unknown {c['label_unknown']}   "
        f"repeated {c['label_duplicate']}   never {c['unlabelled'] + c['waiting']}   "
        f"injected = counted: {sum(k.holds for k in checks)} of {len(checks)} checks hold",
        [str(check) for check in checks if not check.holds],
        {"injected": counts, "checks": [str(check) for check in checks]},
    )


def _equal(name: str, counted: int, right: int) -> Check:
    return Check(name, f"{right} injected", counted, "=", counted == right)


def budget_section(run: Run) -> Section:
    edge = run.report.edge
    learner = edgesvm.load(run.snapshot)
    d, planned = run.node.source.n_features, edge["bytes_planned"]
    exact, short = _fits(learner, planned, d), _fits(learner, planned - 1, d)
    broken = []
    if edge["bytes_allocated"] != planned:
        broken.append(f"allocated {edge['bytes_allocated']} B, planned {planned} B")
    if not exact or short:
        broken.append("it must construct in exactly its plan, and in no byte less")
    return Section(
        "budget",
        f"stated {planned:,} B   ledger {edge['bytes_allocated']:,} B learner + "
        f"{edge['link_bytes']:,} B link (ring, frame buffer, outbox)   constructs in {planned:,}: "
        f"{'yes' if exact else 'no'}, in {planned - 1:,}: {'yes' if short else 'no'}",
        broken,
        {"planned": planned, "link_bytes": edge["link_bytes"]},
    )


def _fits(learner: Learner, budget: int, n_features: int) -> bool:
    twin = type(learner)(**learner.get_params(deep=False))
    try:
        twin.fitted_into(budget, n_features, fixed=True).allocate(n_features)
    except MemoryBudgetError:
        return False
    return True


def alloc_section(run: Run) -> Section:
    """Allocator calls of a learner like the one that ran, past its first 1,000 samples.

    By CPython's hooks, which count exactly: as many as of a function that does nothing. By the C
    library, where a preloaded library can count: no more than the loop itself makes, with CPython's
    small blocks passed on to it, and with them kept in CPython's own pools.
    """
    setup = ALLOC_SETUP.format(
        snapshot=str(run.snapshot), n_features=run.node.source.n_features, n_rows=WARM_UP
    )
    hooks = hook_calls(setup, COUNTED_CALLS)["learn_one"]
    broken = []
    if any(hooks.excess):
        broken.append(f"(taken, freed) {hooks.excess} beyond the control's: {hooks}")
    excess = (hooks.total - hooks.control) / COUNTED_CALLS
    text = f"calls per sample: python hooks {excess:.6f} (control {hooks.control})"
    values: dict[str, Any] = {"calls": hooks.total, "control": hooks.control}
    try:
        library = build_preload(run.snapshot.parent)
    except OSError as why:
        text += f", libc not counted: {why}"
    else:
        for pools in (False, True):
            counted = preload_calls(setup, library, COUNTED_CALLS, through_malloc=not pools)
            libc, positive = counted["learn_one"], counted["positive control"]
            name = "libc behind python's pools" if pools else "libc"
            if max(libc.excess) > libc.control:
                broken.append(f"{name}: (taken, freed) {libc.excess} beyond the control's: {libc}")
            if positive.excess[0] < COUNTED_CALLS:
                broken.append(f"the libc counter misses calls: {positive}")
            excess = max(0, libc.total - libc.control) / COUNTED_CALLS
            text += f", {name} {excess:.6f} (control {libc.control}, positive control "
            text += f"{positive.total:,})"
            values[name] = {"calls": libc.total, "control": libc.control}
    text += f", {COUNTED_CALLS:,} calls of learn_one"
    return Section("alloc", text, broken, values)


def process_section(run: Run) -> Section:
    memory = run.report.memory
    if memory.growth is None:
        return Section("process", "not taken: needs /proc and more than 10,000 samples")
    broken = []
    if memory.growth > LIMIT_GROWTH:
        broken.append(f"the peak grew by {memory.growth / 1024:,.0f} kB after 10,000 samples")
    survived = memory.limit is not None and run.report.exit_code == 0
    if not survived:
        broken.append(f"did not survive RLIMIT_AS = now + {WARM_ALLOWANCE >> 20} MiB")
    return Section(
        "process",
        f"VmHWM growth 10^4 to {run.report.samples_made:,} samples {memory.growth / 1024:,.0f} kB "
        f"(limit {LIMIT_GROWTH >> 10})   survives RLIMIT_AS = now + {WARM_ALLOWANCE >> 20} MiB: "
        f"{'yes' if survived else 'no'}",
        broken,
        {"growth_bytes": memory.growth, "peak_bytes": memory.peak},
    )


def power_section(folder: Path) -> Section:
    """The checkpoint, cut at every operation on a simulated disk, and killed on the real one."""
    learners = _at_several_times()
    cut = [
        cut_everywhere(checkpoint_ways(second), learners, range(POWER_SEEDS), max_write=SECTOR)
        for second in (False, True)
    ]
    killed = kill_again_and_again(folder, kills=POWER_KILLS, seed=POWER_SEEDS)
    total = PowerReport()
    for part in (*cut, killed):
        for name, n in part.as_dict().items():
            setattr(total, name, getattr(total, name) + n)
    broken = [] if total.holds else ["a save was lost, mixed or unloadable"]
    return Section("power", total.text().removeprefix("power").strip(), broken, total.as_dict())


def _at_several_times() -> list[Learner]:
    """One learner after more and more samples."""
    rng = np.random.default_rng(5)
    learner = edgesvm.StreamSVM(lookahead=8)
    states: list[Learner] = []
    for _ in range(7):
        X = rng.standard_normal((20, 60)).astype(np.float32)
        learner.partial_fit(X, (X[:, 0] > 0).astype(int), classes=[0, 1])
        states.append(copy.deepcopy(learner))
    return states


def accuracy_section(folder: Path, *, seed: int, samples: int) -> Section:
    """Test-then-train accuracy as the node saw it, clean and with 1 % of the frames lost."""
    sources: dict[str, Callable[[], SampleSource]] = {"rotating": lambda: RotatingMachine(seed)}
    occupancy = Path(os.environ.get(DATA, "../shared/data")) / "occupancy.npz"
    missing = ""
    if occupancy.exists():
        sources["occupancy"] = lambda: open_rows(occupancy)
    else:
        missing = f"   occupancy not taken: {DATA} names no folder with it"
    parts, broken, values = [], [], {}
    for name, make in sources.items():
        n = samples if name == "rotating" else None
        clean = run_edge(make, folder, samples=n, rates={}, seed=seed).report.accuracy
        lossy_run = run_edge(make, folder, samples=n, rates=MIXES["loss"], seed=seed)
        lossy = lossy_run.report.accuracy
        if clean is None or lossy is None:
            broken.append(f"{name}: no answers")
            continue
        lost = lossy_run.report.frames_lost / max(lossy_run.report.samples_sent, 1)
        parts.append(
            f"{name} clean {100 * clean:.2f} %, with {100 * lost:.2f} % of frames lost "
            f"{100 * lossy:.2f} %, difference {100 * (lossy - clean):+.2f} points"
        )
        values[name] = {"clean": clean, "lossy": lossy, "lost": lost}
        if abs(clean - lossy) > LIMIT_ACCURACY:
            broken.append(f"{name}: accuracy differs by more than {100 * LIMIT_ACCURACY} points")
    text = "   ".join(parts) + f" (limit {100 * LIMIT_ACCURACY} points)" + missing
    return Section("accuracy", text, broken, values)


def conform(
    *,
    samples: int,
    mix: str = "field",
    seed: int = 7,
    baud: float | None = None,
    on_progress: Callable[[Node, Line, Memory], None] | None = None,
) -> Iterator[Section]:
    """Run it all; the sections as they come.

    Parameters
    ----------
    samples : int
    mix : str
        Of `firmware_sim.faults.MIXES`.
    seed : int
        Of the machine and of the faults.
    baud : float or None
        None: as fast as it goes.
    on_progress : callable or None
        As for `simulate`.
    """
    if mix not in MIXES:
        raise ValueError(f"no fault mix {mix!r}; there are {', '.join(MIXES)}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    with tempfile.TemporaryDirectory(prefix="firmware_sim.") as name:
        folder = Path(name)
        run = run_edge(
            lambda: RotatingMachine(seed),
            folder,
            samples=samples,
            rates=with_rare_faults(MIXES[mix], samples, baud),
            mishaps=with_mishaps(mix, samples),
            seed=seed,
            baud=baud,
            timeout_s=120.0 + samples * (0.01 if baud is None else 800 / baud),
            warm_allowance=WARM_ALLOWANCE,
            on_progress=on_progress,
        )
        yield link_section(run, baud=baud, seed=seed, mix=mix)
        if not run.counters or not run.snapshot.exists():
            why = run.report.edge_errors.strip() or "it said nothing"
            yield Section("edge", "no counts and no model", [why])
            return
        want = expected(run.node, run.faults)
        yield frames_section(run)
        yield integrity_section(run, want)
        yield ledger_section(run)
        yield latency_section(run)
        yield link_loss_section(run, want)
        yield budget_section(run)
        yield alloc_section(run)
        yield process_section(run)
        yield labels_section(folder, seed=seed, samples=min(samples, LATE_SAMPLES))
        yield power_section(folder)
        yield accuracy_section(folder, seed=seed, samples=ACCURACY_SAMPLES)


def as_json(sections: list[Section]) -> str:
    """One line."""
    return json.dumps(
        {
            "broken": [f"{s.name}: {what}" for s in sections for what in s.broken],
            **{s.name: {"text": s.text, "taken": s.taken, **s.values} for s in sections},
        }
    )
