"""The device's limits: bytes of the learner, allocator calls, growth of the process."""

from __future__ import annotations

from typing import Any

import edgesvm
from edgesvm.errors import MemoryBudgetError
from edgesvm.learner import Learner
from firmware_sim.limits.allocations import WARM_UP, build_preload, hook_calls, preload_calls
from rig.conformance.edge_run import Run
from rig.conformance.section import Section

LIMIT_GROWTH = 256 * 1024  # bytes of peak resident memory, after 10,000 samples
WARM_ALLOWANCE = 1 << 20

# The code whose calls are counted, here and in a child process.
ALLOC_SETUP = """
import numpy as np
import edgesvm
from firmware_sim.limits import _alloc_hooks

saved = edgesvm.load({snapshot!r})
learner = type(saved)(**saved.get_params(deep=False)).allocate({n_features})
rng = np.random.default_rng(0)
rows = list(rng.standard_normal(({n_rows}, {n_features})).astype(learner.dtype))
labels = [int(label) for label in rng.integers(0, 2, {n_rows})]
cases = {{"learn_one": (learner.learn_one, (rows, labels)),
         "positive control": (_alloc_hooks.take_in_c, (rows,))}}
"""


def budget_section(run: Run) -> Section:
    edge = run.report.edge
    learner = edgesvm.load(run.snapshot)
    d, planned = run.node.source.n_features, edge["bytes_planned"]
    exact, short = _fits(learner, planned, d), _fits(learner, planned - 1, d)
    broken = []
    if edge["bytes_allocated"] != planned:
        broken.append(f"allocated {edge['bytes_allocated']} B, planned {planned} B")
    if not exact or short:
        broken.append("the learner must fit in exactly its planned bytes, and not in one byte less")
    return Section(
        "budget",
        f"stated {planned:,} B   ledger {edge['bytes_allocated']:,} B learner + "
        f"{edge['link_bytes']:,} B link (ring, frame buffer, outbox)   fits in {planned:,}: "
        f"{'yes' if exact else 'no'}, in {planned - 1:,}: {'yes' if short else 'no'}",
        broken,
        {"planned": planned, "link_bytes": edge["link_bytes"]},
    )


def _fits(learner: Learner, budget: int, n_features: int) -> bool:
    same = type(learner)(**learner.get_params(deep=False))
    try:
        same.fitted_into(budget, n_features, fixed=True).allocate(n_features)
    except MemoryBudgetError:
        return False
    return True


def alloc_section(run: Run, *, calls: int) -> Section:
    """Allocator calls of a learner like the one that ran, after its first 1,000 samples.

    CPython's hooks count exactly: the learner may make no more calls than a function that does
    nothing. A preloaded library counts the C library's calls, if it can be built: no more than the
    loop itself makes, both with CPython's small blocks passed on to it and with them in its pools.
    """
    setup = ALLOC_SETUP.format(
        snapshot=str(run.snapshot), n_features=run.node.source.n_features, n_rows=WARM_UP
    )
    hooks = hook_calls(setup, calls)["learn_one"]
    broken = []
    if any(hooks.excess):
        broken.append(f"calls (allocated, freed) beyond the control: {hooks.excess}; {hooks}")
    excess = (hooks.total - hooks.control) / calls
    text = f"calls per sample: python hooks {excess:.6f} (control {hooks.control})"
    values: dict[str, Any] = {"calls": hooks.total, "control": hooks.control}
    try:
        library = build_preload(run.snapshot.parent)
    except OSError as why:
        text += f", libc not counted: {why}"
    else:
        for pools in (False, True):
            counted = preload_calls(setup, library, calls, through_malloc=not pools)
            libc, positive = counted["learn_one"], counted["positive control"]
            name = "libc behind python's pools" if pools else "libc"
            if max(libc.excess) > libc.control:
                broken.append(
                    f"{name}: calls (allocated, freed) beyond the control: {libc.excess}; {libc}"
                )
            if positive.excess[0] < calls:
                broken.append(f"the libc counter misses calls: {positive}")
            excess = max(0, libc.total - libc.control) / calls
            text += f", {name} {excess:.6f} (control {libc.control}, positive control "
            text += f"{positive.total:,})"
            values[name] = {"calls": libc.total, "control": libc.control}
    text += f", {calls:,} calls of learn_one"
    return Section("alloc", text, broken, values)


def process_section(run: Run) -> Section:
    memory = run.report.memory
    if memory.growth is None:
        return Section("process", "not measured: needs /proc and more than 10,000 samples")
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
