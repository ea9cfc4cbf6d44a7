"""``edgesvm plan``: the learners that fit in a number of bytes."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace

from edgesvm.budget import PARTS, MemoryBudgetError, MemoryPlan, format_bytes, parse_bytes
from edgesvm.cli import arguments, learner_settings, parameters
from edgesvm.cli.learner_settings import DEFAULT_MEMORY, LearnerSettings
from edgesvm.cli.options import AS_JSON, argument, option, section
from edgesvm.learner import DTYPES
from edgesvm.learners.multiclass import Multiclass
from edgesvm.learners.wrapper import innermost

HELP = """\
List, for every learner, the capacity that fits in BYTES, the bytes it takes and the bytes left.
Nothing is allocated. With --learner, list that learner's arrays.

  edgesvm plan 64KiB --features 16
  edgesvm plan 4KiB --features 3 --learner kernel-stream
  edgesvm plan 64KiB --features 16 --classes 10 --learner stream
  edgesvm plan --learner twin --help-parameters     what --set can set of it
"""
TOO_SMALL = (
    "*: little better than chance; take --multiclass one-vs-rest, --learner shared-twin or more"
    " memory"
)
OF_ALL = ("C", "bound", "dtype")  # the others need a choice of a learner


@dataclass(frozen=True, kw_only=True)
class Asked(LearnerSettings):
    """The learner; the memory is an argument here."""

    memory: str | int = DEFAULT_MEMORY


@dataclass(frozen=True, kw_only=True)
class Settings:
    memory: str | None = argument("memory budget: 65536, 64KiB, 1MiB", unit="BYTES", default=None)
    features: int | None = option(None, "features per sample", unit="D", check=arguments.count)
    help_parameters: bool = option(
        False, "say what --set can set of this --learner, and what it is without"
    )
    json: bool = option(False, AS_JSON)
    asked: Asked = section(Asked)


def act(settings: Settings) -> int:
    asked = settings.asked
    if settings.help_parameters:
        print(parameters.described(asked.kind))
        return 0
    if settings.memory is None or settings.features is None:
        raise ValueError("give BYTES and --features D (see edgesvm plan --help)")
    asked = replace(asked, memory=settings.memory)
    if asked.learner is not None or asked.fourier:
        return _one(asked, settings.features, as_json=settings.json)
    return table(asked, settings.features, as_json=settings.json)


def table(asked: LearnerSettings, n_features: int, *, as_json: bool = False) -> int:
    """Print what fits of every kind of learner, with those parameters that it has."""
    if given := [name for name in asked.parameters if name not in OF_ALL]:
        raise ValueError(f"{parameters.spelled(given[0])} needs a choice of --learner")
    budget = parse_bytes(asked.memory)
    rows = [_row(asked, n_features, name) for name in learner_settings.KINDS]
    if as_json:
        print(json.dumps({"budget": budget, "features": n_features, "learners": rows}))
        return 0
    dtype = asked.parameters.get("dtype", DTYPES[0])
    print(f"{format_bytes(budget)}, {n_features} features per sample, {dtype}{_parts(asked)}\n")
    told = [(row["learner"], _cell(row["raw"]), _cell(row["standardized"])) for row in rows]
    for name, raw, scaled in [("learner", "as it is", "standardized"), *told]:
        print(f"  {name:<20} {raw:<34}  {scaled}")
    if any("*" in cell for row in told for cell in row):
        print(f"\n  {TOO_SMALL}")
    print("\n  To list a learner's arrays: edgesvm plan BYTES --features D --learner NAME")
    return 0


def _cell(cell: dict) -> str:
    """Capacity and bytes of a learner."""
    if "needs" in cell:
        return f"does not fit: needs {cell['needs']:,} B"
    mark = " *" if cell["caution"] else ""
    capacity = "".join(f"{name}={n}{mark}, " for name, n in cell["capacity"].items())
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
        print(f"{learner!r}, {n_features} features\n\n{plan}")
    return 0


def _arrays(plan: MemoryPlan) -> list[dict]:
    return [
        {"name": a.name, "dtype": a.dtype.name, "shape": a.shape, "bytes": a.nbytes}
        for a in plan.arrays
    ]


def _row(asked: LearnerSettings, n_features: int, name: str) -> dict:
    """Capacity and bytes of one learner, raw and standardized."""
    kind = learner_settings.class_of(name)
    own = parameters.types_of(kind)
    given = {name: text for name, text in asked.parameters.items() if name in own}
    if kind.scales_itself:
        given.pop("dtype", None)  # it has one only
    one = replace(asked, learner=name).with_parameters(given)
    row: dict = {"learner": name}
    for how in ("raw", "standardized"):
        try:
            raw = (asked.raw or how == "raw") and not kind.scales_itself
            learner, fixed = replace(one, raw=raw).requested()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the table has a mark for it
                fitting = learner.fitted_into(asked.memory, n_features, fixed=fixed)
            inner = innermost(fitting)
            capacity = kind._capacity
            row[how] = {
                "capacity": {own: getattr(inner, own) for own in (capacity,) if own},
                "bytes": fitting.plan(n_features).total,
                "caution": fitting._caution,
            }
        except MemoryBudgetError as error:
            row[how] = {"needs": error.required}
    return row


def _parts(asked: LearnerSettings) -> str:
    whole = asked.of_many(learner_settings.of_kind("stream", {}))
    if not isinstance(whole, Multiclass):
        return ""
    return f", {whole._n_parts} parts for {whole.n_classes} classes, capacity per part"
