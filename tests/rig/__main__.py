"""``python -m rig``: simulated machines, many seeds, or one again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgesvm.serve.process import CLEAR
from rig.simulation.plan import plan
from rig.simulation.run import simulate

TOLD_EVERY = 100  # seeds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rig",
        description="Run edgesvm on a simulated machine: a seed is a node, a line, a disk, their "
        "faults, signals and power cuts, on a virtual clock. What must hold is checked after each "
        "event.",
    )
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="up to this; default 20")
    parser.add_argument(
        "--from",
        type=int,
        default=0,
        dest="first",
        metavar="N",
        help="from this seed on; default 0",
    )
    parser.add_argument(
        "--replay", type=int, metavar="SEED", help="one seed, twice, with all its events"
    )
    parser.add_argument(
        "--go-on", action="store_true", help="go on after a seed that breaks an invariant"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.replay is not None:
        return replay(options.replay)
    return many(range(options.first, options.seeds), go_on=options.go_on)


def replay(seed: int) -> int:
    """Run a seed twice and print what happens."""
    outcome, again = simulate(seed, keep_lines=True), simulate(seed)
    print(plan(seed))
    print(*outcome.lines, sep="\n")
    print(outcome)
    if again.trace != outcome.trace:
        print(f"NOT THE SAME: the second run had the trace {again.trace}")
    return int(bool(outcome.broken) or again.trace != outcome.trace)


def many(seeds: Sequence[int], *, go_on: bool) -> int:
    """Run seeds, tell of those that break an invariant, and sum up."""
    total = np.zeros(7)
    for seed in seeds:
        one = simulate(seed)
        counts = one.n_events, one.lives, one.learned, one.virtual_s / 3600
        total += 1, *counts, bool(one.broken), one.seconds
        if one.broken:
            print(one, flush=True)
            if not go_on:
                break
        if sys.stderr.isatty():
            sys.stderr.write(f"{CLEAR}{summed(total)}; go on with --from {seed + 1}")
            sys.stderr.flush()
        elif (seed + 1) % TOLD_EVERY == 0:
            print(f"{summed(total)}; go on with --from {seed + 1}", flush=True)
    print(summed(total))
    return int(total[5] > 0)


def summed(total: NDArray[np.float64]) -> str:
    return (
        "simulation  {:,.0f} seeds, {:,.0f} events, {:,.0f} lives, {:,.0f} samples learned in "
        "{:,.1f} h; broken {:,.0f}; {:,.0f} s in all"
    ).format(*total)


if __name__ == "__main__":
    sys.exit(main())
