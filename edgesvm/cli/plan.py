"""``edgesvm plan``: the learners that fit in a number of bytes."""

from __future__ import annotations

import argparse
import json

from edgesvm.budget import PARTS, MemoryBudgetError, MemoryPlan, format_bytes, parse_bytes
from edgesvm.cli import arguments, decision_options, learner_options
from edgesvm.learner import DTYPES
from edgesvm.learners.multiclass import Multiclass

HELP = """\
List, for every learner, the capacity that fits in BYTES, the bytes it takes and the bytes left.
Nothing is allocated. With --learner, list that learner's arrays.

  edgesvm plan 64KiB --features 16
  edgesvm plan 4KiB --features 3 --learner kernel-stream
  edgesvm plan 64KiB --features 16 --classes 10 --learner stream
"""
# Options that only some learners have.
CAPACITIES = ("lookahead", "n_balls", "max_vectors", "max_samples", "kernel", "gamma", "fourier")


def add_to(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "plan",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("memory", metavar="BYTES", help="memory budget: 65536, 64KiB, 1MiB")
    command.add_argument(
        "--features",
        type=arguments.count,
        required=True,
        metavar="D",
        help="features per sample",
    )
    command.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    learner_options.add_to(command, memory=False)
    command.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    if options.learner is not None:
        return _one(options)
    if given := [name for name in CAPACITIES if getattr(options, name) is not None]:
        raise ValueError(f"--{given[0].replace('_', '-')} needs a choice of --learner")
    rows = [_row(options, name) for name in learner_options.KINDS]
    if options.json:
        print(
            json.dumps(
                {
                    "budget": parse_bytes(options.memory),
                    "features": options.features,
                    "learners": rows,
                }
            )
        )
        return 0
    print(
        f"{format_bytes(parse_bytes(options.memory))}, {options.features} features per sample, "
        f"{options.dtype or DTYPES[0]}{_parts(options)}"
    )
    width = max(len(row["learner"]) for row in rows)
    print(f"\n  {'learner':<{width}} {'capacity':<20} {'bytes':>10}  {'left':>10}  standardized")
    for row in rows:
        print(
            f"  {row['learner']:<{width}} {_capacity(row, 'raw'):<20} "
            f"{_bytes(row, 'raw'):>10}  {_left(row, options):>10}  "
            f"{_capacity(row, 'standardized')}, {_bytes(row, 'standardized')} B"
        )
    print("\n  To list a learner's arrays: edgesvm plan BYTES --features D --learner NAME")
    return 0


def _one(options: argparse.Namespace) -> int:
    """Print the arrays of one learner."""
    learner = learner_options.build(options, options.features)
    plan = learner.plan(options.features)
    if options.json:
        arrays = _arrays(plan)
        budget = parse_bytes(options.memory)
        report = {"budget": budget, "features": options.features, "learner": repr(learner)}
        inside = {"part" if n == PARTS else n: _arrays(p) for n, p in plan.inside.items()}
        print(json.dumps({**report, "arrays": arrays, **inside, "bytes": plan.total}))
    else:
        print(f"{learner!r}, {options.features} features\n\n{plan}")
    return 0


def _arrays(plan: MemoryPlan) -> list[dict]:
    return [
        {"name": a.name, "dtype": a.dtype.name, "shape": a.shape, "bytes": a.nbytes}
        for a in plan.arrays
    ]


def _row(options: argparse.Namespace, name: str) -> dict:
    """Capacity and bytes of one learner, raw and standardized."""
    given = {"C": options.C, "bound": options.bound, "dtype": options.dtype}
    capacity = learner_options.class_of(name)._capacity
    base = learner_options.of_kind(name, {k: v for k, v in given.items() if v is not None})
    base = learner_options.of_many(options, base)
    row: dict = {"learner": name}
    for how, learner in (("raw", base), ("standardized", learner_options.scaled(options, base))):
        try:
            fitting = decision_options.around(options, learner).fitted_into(
                options.memory, options.features
            )
            inner = learner_options.innermost(fitting)
            row[how] = {
                "capacity": {own: getattr(inner, own) for own in (capacity,) if own},
                "bytes": fitting.plan(options.features).total,
            }
        except MemoryBudgetError as error:
            row[how] = {"needs": error.required}
    return row


def _parts(options: argparse.Namespace) -> str:
    whole = learner_options.of_many(options, learner_options.of_kind("stream", {}))
    if not isinstance(whole, Multiclass):
        return ""
    return f", {whole._n_parts} parts for {whole.n_classes} classes, capacity per part"


def _capacity(row: dict, how: str) -> str:
    if "needs" in row[how]:
        return "does not fit"
    return ", ".join(f"{name}={value}" for name, value in row[how]["capacity"].items()) or "-"


def _bytes(row: dict, how: str) -> str:
    cell = row[how]
    return f"needs {cell['needs']:,}" if "needs" in cell else f"{cell['bytes']:,}"


def _left(row: dict, options: argparse.Namespace) -> str:
    cell = row["raw"]
    return "-" if "needs" in cell else f"{parse_bytes(options.memory) - cell['bytes']:,}"
