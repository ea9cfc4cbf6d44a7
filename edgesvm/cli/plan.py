"""``edgesvm plan``: the learners by purpose, and what fits in a number of bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from edgesvm.budget import PARTS, MemoryBudgetError, MemoryPlan, format_bytes, parse_bytes
from edgesvm.catalogue import CATALOGUE
from edgesvm.cli import arguments, learner_settings, parameters
from edgesvm.cli.learner_settings import DEFAULT_MEMORY, LearnerSettings
from edgesvm.cli.options import AS_JSON, argument, option, option_name, options_of, section
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import innermost

HELP = """\
List the learners to begin with, what each is for, how accurate it was in our tables (of
benchmarks/results), the capacity that fits in BYTES, and the bytes it takes. Nothing is allocated.

  edgesvm plan                                   16 KiB, 8 features
  edgesvm plan 64KiB --features 16 --all         those of the papers too
  edgesvm plan 4KiB --features 3 --learner twin  its arrays, and the parameters --set gives it
"""


@dataclass(frozen=True, kw_only=True)
class Asked(LearnerSettings):
    """The learner; the memory is an argument here."""

    memory: str | int = DEFAULT_MEMORY


@dataclass(frozen=True, kw_only=True)
class Settings:
    memory: str = argument("such as 65536, 64KiB, 1MiB", unit="BYTES", default=DEFAULT_MEMORY)
    features: int = option(8, "features per sample", unit="D", check=arguments.count)
    all: bool = option(False, "all learners")
    json: bool = option(False, AS_JSON)
    asked: Asked = section(Asked)


def act(settings: Settings) -> int:
    asked = replace(settings.asked, memory=settings.memory)
    if asked.learner is not None or asked.set:
        return _one(asked, settings.features, as_json=settings.json)
    return table(asked, settings.features, whole=settings.all, as_json=settings.json)


def table(
    asked: LearnerSettings, n_features: int, *, whole: bool = False, as_json: bool = False
) -> int:
    """Print what fits of the learners to begin with, or of all."""
    budget = parse_bytes(asked.memory)
    named = [e for e in CATALOGUE if learner_settings.KINDS.get(e.command) == e.name]
    rows = [(e, _row(asked, n_features, e.command)) for e in named if whole or e.measured]
    if as_json:
        learners = [row for _, row in rows]
        print(json.dumps({"budget": budget, "features": n_features, "learners": learners}))
        return 0
    print(f"{format_bytes(budget)}, {n_features} features per sample\n")
    cells = [_cell(row) for _, row in rows]
    for (entry, _), cell in zip(rows, cells, strict=True):
        if entry.measured:
            print(f"  {entry.command:<8} {entry.help}\n{'':11}{entry.measured}\n{'':11}{cell}")
    for (entry, _), cell in zip(rows, cells, strict=True):
        if not entry.measured:
            print(f"  {entry.command:<23} {cell:<28} {entry.help or 'to compare with'}")
    more = "" if whole else "The others: edgesvm plan --all. "
    print(f"\n  {more}Without labels: edgesvm watch.")
    print("  A learner's arrays and parameters: edgesvm plan --learner NAME")
    return 0


def _cell(cell: dict) -> str:
    """Capacity and bytes of a learner."""
    if "needs" in cell:
        return f"does not fit: needs {cell['needs']:,} B"
    capacity = "".join(f"{name}={n}, " for name, n in cell["capacity"].items())
    return f"{capacity}{cell['bytes']:,} B"


def _one(asked: LearnerSettings, n_features: int, *, as_json: bool) -> int:
    """Print the arrays of one learner."""
    learner = asked.build(n_features)
    plan = learner.plan(n_features)
    if as_json:
        report = {
            "budget": parse_bytes(asked.memory),
            "features": n_features,
            "learner": repr(learner),
        }
        inside = {"part" if n == PARTS else n: _arrays(p) for n, p in plan.inside.items()}
        print(json.dumps({**report, "arrays": _arrays(plan), **inside, "bytes": plan.total}))
    else:
        print(f"{learner!r}, {n_features} features\n\n{plan}\n\n{_options(asked.kind)}")
    return 0


def _options(kind: type[Learner]) -> str:
    """What a learner can be told: its parameters, and the options that not all take."""
    without = {"raw": kind.scales_itself, "multiclass": "n_classes" in parameters.types_of(kind)}
    more = [
        f"  {option_name(one.name)}\n      {found.help}"
        for _, one, found in options_of(LearnerSettings)
        if found.hidden and not without[one.name]
    ]
    return "\n".join([parameters.described(kind), *more])


def _arrays(plan: MemoryPlan) -> list[dict]:
    return [
        {"name": a.name, "dtype": a.dtype.name, "shape": a.shape, "bytes": a.nbytes}
        for a in plan.arrays
    ]


def _row(asked: LearnerSettings, n_features: int, name: str) -> dict:
    """Capacity and bytes of one learner, as `run` makes it."""
    kind = learner_settings.class_of(name)
    one = replace(asked, learner=name, raw=asked.raw and not kind.scales_itself)
    try:
        fitting = one.build(n_features)
    except MemoryBudgetError as error:
        return {"learner": name, "needs": error.required}
    own = kind._capacity
    return {
        "learner": name,
        "capacity": {own: getattr(innermost(fitting), own)} if own else {},
        "bytes": fitting.plan(n_features).total,
    }
