"""What a model's translated cores need to know: one `Unit` for each, the innermost first.

The translator lists which numbers and arrays a core's C asks for, to learn or to decide
(``translated/*/attributes.json``); the numbers are read from the compiled core, by name. What is no
plain number is in `MORE`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from edgesvm.budget import PARTS, MemoryPlan
from edgesvm.core.packed_factor import packed_length
from edgesvm.learner import Learner
from edgesvm.learners.calibrated import Calibrated
from edgesvm.learners.fourier.constants import FIRST_AMPLITUDES, FIRST_TILT
from edgesvm.learners.multiclass import Multiclass
from edgesvm.learners.wrapper import Shell, Wrapper
from edgesvm.preprocessing.window_features import RawFeatures, WindowFeatures

# Class -> as `translated` has it, of a core whose C is written by hand
WRITTEN: dict[str, dict[str, Any]] = {
    "ByteSVM": {
        "header": "byte_svm.h",
        "numbers": {"balanced": "int", "several": "int"},
        "at": ["n_per_class", "model", "coded", "mean_weight"],
        "len": [],
        "has": ["mean_weight"],
        "scratch": ["coded"],
    }
}


def read(folder: str, name: str) -> str:
    """The text of a file that is the same for every model."""
    return (files("edgesvm.export") / folder / name).read_text(encoding="utf-8")


@cache
def translated(goal: str) -> dict[str, dict[str, Any]]:
    """Of what is translated to "learn" or to "decide": class -> its header and what it needs."""
    return json.loads(read(f"translated/{goal}", "attributes.json")) | WRITTEN


@dataclass(frozen=True)
class Unit:
    """One core of a model."""

    name: str  # of the class in C
    goal: str  # "learn" or "decide", what its C is for
    macros: Mapping[str, Any]  # its attributes that are no arrays: number or C text
    plan: MemoryPlan | None = None  # that its arrays are in; None: the learner's
    is_part: bool = False  # of a multiclass learner, on the labels 0 and 1
    beside: Mapping[str, bytes] = field(default_factory=dict)  # behind the arena, as it is at first

    @property
    def asked(self) -> dict[str, Any]:
        """What its header asks for, as `translated` lists it."""
        return translated(self.goal)[self.name]

    @property
    def header(self) -> str:
        return str(self.asked["header"])

    def stored(self, name: str) -> str:
        """The array of the plan that the C calls `name`."""
        return "scaled" if name == "mapped" else name


def name_of(learner: Learner | RawFeatures) -> str:
    """The class in C: one of all that share a core."""
    return getattr(learner, "_compiled", Learner).__name__.removesuffix("Core")


def keeps_nonzeros(learner: Any) -> bool:
    """Whether it stores the non-zeros of its rows, which C does not."""
    return getattr(learner, "max_nonzeros", None) is not None


def untranslated(learner: Learner, goal: str) -> Learner | None:
    """The learner in this one, or itself, that has no translation for this; None if all have."""
    inner: Any = learner
    while name_of(inner) in translated(goal):
        if getattr(inner, "normalize", False) == "kernel" or keeps_nonzeros(inner):
            return inner
        if not isinstance(inner, Wrapper):
            return None
        inner = inner.inner
    return inner


def units_of(learner: Learner, core: Any, labels: tuple[Any, ...], goal: str) -> list[Unit]:
    """The cores of a model; `core` is a new one of the learner, `labels` the model's by index."""
    inside: list[Unit] = []
    name = name_of(learner)
    macros = numbers(name, core, goal) | MORE.get(name, nothing)(learner, core)
    if isinstance(learner, Multiclass):
        inside = units_of(learner.inner, core.parts[0], (0, 1), goal)
        if any(unit.beside for unit in inside):
            raise ValueError(
                f"{type(learner.inner).__name__} within {type(learner).__name__} cannot be"
                " exported to C: it has n_classes of its own"
            )
        part = learner._part(core.n_features)
        inside = [replace(unit, plan=part, is_part=True) for unit in inside]
        macros["each(f)"] = f"{inside[-1].name}_##f"
    elif isinstance(learner, Shell):
        inside = units_of(learner.inner, core.inner, labels, goal)
        macros["inner(f)"] = f"{inside[-1].name}_##f"
    if isinstance(learner, Calibrated):
        macros |= prices(learner, labels)
    if hasattr(core, "kernel"):
        kind, degree, gamma, coef0 = map(number, core.kernel.values())
        macros["KERNEL"] = f"{{(kernels_KernelKind){kind}, {degree}, {gamma}, {coef0}}}"
    if "pool" in core.views:
        macros["factor_length"] = len(core.views["pool"])
        macros["factor_width"] = len(core.views["ones"])
    return [*inside, Unit(name, goal, macros, beside=BESIDE.get(name, nothing)(core))]


def raw_features(windows: RawFeatures, n_channels: int, goal: str) -> Unit:
    """What is ahead of a chain's learner."""
    name = name_of(windows)
    macros = numbers(name, windows._core, goal) | {"n_features": n_channels}
    macros |= {what: getattr(windows._core, what) for what in ("window", "hop", "n_windows")}
    if isinstance(windows, WindowFeatures):
        macros |= bands_of(windows)
    return Unit(name, goal, macros, plan=windows.plan(n_channels))


def bands_of(windows: WindowFeatures) -> dict[str, Any]:
    codes, bands = windows._codes, windows._filters
    sections = [section for _, both in bands for section in both]
    patterns = [pattern for level in windows._patterns for pattern in level]
    return {
        "MOST_BANDS": max(len(bands), 1),
        "CODES": table_of([int(code) for code in codes] or [0]),
        "CENTERS": table([center for center, _ in bands] or [0.0]),
        "SECTIONS": "{" + ", ".join(map(table, sections or [[0.0] * 3])) + "}",
        "MOST_PATTERNS": max(len(patterns), 1),
        "TRIPLES": table_of([place for pattern in patterns for place in pattern.triple] or [0]),
        "NORMAL": table([pattern.normal for pattern in patterns] or [0.0]),
        "WANTED": table([pattern.wanted for pattern in patterns] or [0.0]),
    }


# -- numbers ---------------------------------------------------------------------------------------


def numbers(name: str, core: Any, goal: str) -> dict[str, Any]:
    """What the C asks of a core, by name; an enum's value by its name in C."""
    found = {}
    for attribute, kind in translated(goal)[name]["numbers"].items():
        value = is_of_several(core) if attribute == "several" else getattr(core, attribute)
        found[attribute] = kind[value] if isinstance(kind, list) else value
    return found


def is_of_several(core: Any) -> bool:
    """Whether a core counts classes, not two sides: by its scores, or as they come."""
    return "scores" in core.views or getattr(core, "grows", False)


def nothing(*_: Any) -> dict[str, Any]:
    return {}


def directions(learner: Any, core: Any) -> dict[str, Any]:
    """What random directions are drawn by."""
    drawn = learner._drawn_by(core.n_features)
    mixed = learner._is_orthogonal(core.n_features)
    return {
        "directions_key": f"{drawn['key']}u",
        "DIRECTIONS_SCALES": table(drawn["scales"]),
        "DIRECTIONS_FIRST": table(FIRST_TILT),
        "directions_n": learner.n_directions,
        "directions_n_features": core.n_features,
        "directions_n_mixed": learner._n_mixed(core.n_features) if mixed else 0,
    }


def prices(learner: Calibrated, labels: tuple[Any, ...]) -> dict[str, Any]:
    # Labels are known when the model is exported.
    by_slot = [learner._by_label()(label) for label in labels]
    by_slot += [(0.0, False)] * (learner.n_classes_planned - len(labels))
    kept = [slot for slot, (_, is_kept) in enumerate(by_slot) if is_kept]
    price = table(price for price, _ in by_slot)
    return {"PRICE": price, "kept": [-1, *kept][-1], "named_at": 0, "labels_n_changes": 0}


def fourier_svm(learner: Any, core: Any) -> dict[str, Any]:
    # The last three are kept only while many rows are worked on.
    return directions(learner, core) | {
        "waves": "((char *)esvm_none())",
        "ahead": "((int16_t *)esvm_none())",
        "row_ahead": "((char *)esvm_none())",
    }


def adagrad_svr(learner: Any, core: Any) -> dict[str, Any]:
    return {"ISSUED": table([0.0] * 3)}  # of a late target, which a board does not know of


def fourier_svr(learner: Any, core: Any) -> dict[str, Any]:
    return directions(learner, core) | adagrad_svr(learner, core)


def fourier_rls(learner: Any, core: Any) -> dict[str, Any]:
    drawn = directions(learner, core) | {"FIRST": table(FIRST_AMPLITUDES)}
    return drawn | adagrad_svr(learner, core)


def byte_svm(_: Any, core: Any) -> dict[str, Any]:
    shape = core.layout
    fields = ", ".join(
        table_of(value) if isinstance(value, list) else f"{value}" for value in shape.values()
    )
    counts = f"(ByteSVM_AT_model + {shape['at_counts']})" if shape["counts"] else None
    return {
        "n_features": core.n_features,
        "n_classes": shape["n_classes"],
        "n_vectors": shape["n_vectors"],
        "AT_counts": counts or "ByteSVM_AT_n_per_class",
        "SHAPE": f"{{{fields}}}",
    }


# Class -> of a learner and its core, what is not one of the core's numbers
MORE: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "StreamSVM": lambda _, core: {"balls_capacity": len(core.views.get("radius", ()))},
    "Standardized": lambda _, core: {"until": f"((int64_t){core.until})"},
    "ByteSVM": byte_svm,
    "FourierSVM": fourier_svm,
    "FourierSVR": fourier_svr,
    "FourierRLS": fourier_rls,
    "AdaGradSVR": adagrad_svr,
    "GaussianNovelty": lambda _, core: {
        "factor_length": packed_length(core.n_features),
        "factor_width": packed_length(core.n_features) + 1,
    },
    "Multiclass": lambda _, core: {"part_bytes": core.views[PARTS].shape[1]},
}
# Class -> of its core, what it keeps behind the arena, as it is at first
BESIDE: dict[str, Callable[[Any], dict[str, bytes]]] = {
    "FourierSVM": lambda core: {"amplitude": bytes(8 * len(FIRST_TILT))},
    "GaussianNovelty": lambda core: {
        "order": (core.n_features if "factor" in core.views else 0).to_bytes(8, "little"),
        "lift": bytes(8),
    },
}


# -- in C ------------------------------------------------------------------------------------------


def table_of(whole: Iterable[int]) -> str:
    return "{" + ", ".join(map(str, whole)) + "}"


def table(given: Iterable[float]) -> str:
    return "{" + ", ".join(number(float(x)) for x in given) + "}"


def number(value: Any) -> str:
    """A number in C, exact."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "ESVM_INFINITY"
    text = repr(float(value)) if isinstance(value, float) else str(int(value))
    return f"({text})" if text.startswith("-") else text
