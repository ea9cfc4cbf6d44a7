"""Instructions, machine code and stack of a model on a core, from counts made on an emulator.

A model is a sum of parts: stages and a learner. The instructions of a part are a sum over its
sizes, such as a + b D + c M D for D features and M vectors, whose factors `tools/board_costs.py`
fits to runs under QEMU and writes to costs.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from edgesvm.learner import Learner
from edgesvm.learners.calibrated import Calibrated
from edgesvm.learners.wrapper import Shell


@dataclass(frozen=True)
class Part:
    """Of a model."""

    kind: str  # as costs.json names it
    sizes: tuple[int, ...]  # what its instructions are a sum over; the first is 1
    scores: int = 0  # how often it decides about a sample that is learned


@dataclass(frozen=True)
class Cost:
    """Instructions of a decision, of a regressor of a forecast, and of learning a sample; bytes of
    machine code and of stack."""

    decide: float
    learn: float
    code: int
    stack: int
    within: tuple[float, float]  # by what factor a count may differ, to decide and to learn


def parts(learner: Learner, n_features: int, scores: int = 0) -> Iterator[Part]:
    """The parts of a model, the outermost first."""
    name, D = type(learner).__name__, n_features
    if not isinstance(learner, Shell):
        yield Part(*leaf(learner, D), scores)
        return
    sizes: tuple[int, ...] = (1, D)
    if isinstance(learner, Calibrated):
        V = columns(learner)
        sizes = (1, V, V if V > 1 else 0)  # logarithms of shares, if it decides among several
    yield Part(name, sizes, scores)
    yield from parts(learner.inner, D, scores + isinstance(learner, Calibrated))


def leaf(learner: Any, D: int) -> tuple[str, tuple[int, ...]]:
    """Kind and sizes of a learner that has none inside."""
    name = type(learner).__name__
    kind = name + "".join(f", {getattr(learner, part)}" for part in VARIANTS.get(name, ()))
    if name == "StreamSVM" and (L := max(learner.lookahead, learner.n_balls - 1)):
        kind += ", lookahead" if learner.lookahead else ", several balls"
        return kind, (1, D, L * D, L * L)
    if name == "ByteSVM":
        shape = learner.like_new().allocate(D).core.layout
        P, both = shape["n_directions"], 1 + shape["has_mean"]
        return kind, (1, P, P * shape["n_vectors"] * both, D)
    if name in ("FourierSVM", "FourierSVR"):
        P = learner.n_directions
        kind += ", orthogonal" if learner._is_orthogonal(D) else ""
        return kind, (1, P, P * D, D if learner.regresses else P * columns(learner))
    if kind == "GaussianNovelty, full":
        return kind, (1, D, D * D)
    if name == "KernelNovelty":
        M = learner.max_vectors
        return kind, (1, M, M * D, M * M)
    return kind, (1, D)


LEAST_FACTOR = 1.5  # other rows than those counted may take as much longer
# Parameters by which a learner's parts are told apart.
VARIANTS = {"GaussianNovelty": ("covariance",), "KernelNovelty": ("storage",)}


def columns(learner: Any) -> int:
    """Decision values of a sample."""
    return 1 if learner.n_classes_planned <= 2 else learner.n_classes_planned


@cache
def table() -> dict[str, Any]:
    """costs.json"""
    return json.loads((files("edgesvm.export") / "costs.json").read_text(encoding="utf-8"))


def ahead_of(model: Any) -> str:
    """What is ahead of a chain's learner; "" of a learner."""
    windows = getattr(model, "windows_", None)
    patterns = ", patterns" if getattr(windows, "_patterns", None) else ""
    return "" if windows is None else f"{type(windows).__name__}{patterns}"


def predicted(learner: Learner, n_features: int, core: str, *, ahead: str = "") -> Cost | None:
    """What a model costs on a core whose instructions were counted; None if a part was not."""
    decide = learn = 0.0
    code = stack = 0
    within = [LEAST_FACTOR, LEAST_FACTOR]
    counted = table()["cores"].get(core, {})
    before = [Part(ahead, (1,))] if ahead else []
    for part in [*before, *parts(learner, n_features)]:
        entry = counted.get(part.kind)
        if entry is None:
            return None
        done = instructions(entry, part, learner.dtype)
        decide, learn = decide + done[0], learn + done[1]
        code, stack = code + entry["code"], stack + entry["stack"]
        within = [max(pair) for pair in zip(within, entry["wrong"], strict=True)]
    return Cost(decide, learn, code, stack, (within[0], within[1]))


def instructions(entry: dict[str, Any], part: Part, dtype: str) -> tuple[float, float]:
    """Of a part, for a sample: to decide and to learn."""
    done = {}
    for what in ("decide", "learn"):
        terms = [factor * size for factor, size in zip(entry[what], part.sizes, strict=True)]
        constant, growing = entry["float64"][what] if dtype == "float64" else (1.0, 1.0)
        done[what] = constant * terms[0] + growing * sum(terms[1:])
    return done["decide"], done["learn"] + part.scores * done["decide"]
