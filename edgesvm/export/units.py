"""What a model's translated cores need to know: one `Unit` for each, the innermost first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from edgesvm.budget import MemoryPlan
from edgesvm.calibration.calibrated import Calibrated
from edgesvm.core.packed_factor import packed_length
from edgesvm.kernels import Kernel
from edgesvm.learner import Learner
from edgesvm.learners.fourier.constants import FIRST_TILT
from edgesvm.learners.fourier.directed_learner import DirectedLearner
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.gradient.adagrad_svm import AdaGradSVM
from edgesvm.learners.gradient.gradient_learner import GradientLearner
from edgesvm.learners.multiclass import Multiclass, OneVsOne, OneVsRest
from edgesvm.learners.novelty.constants import ABOVE, CALM
from edgesvm.learners.novelty.gaussian_novelty import GaussianNovelty
from edgesvm.learners.novelty.kernel_novelty import KernelNovelty
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner
from edgesvm.learners.papers.enclosing._enclosing import SCRATCH
from edgesvm.learners.papers.enclosing.ball_vector_machine import BallVectorMachine
from edgesvm.learners.papers.online.constants import MOST_WW
from edgesvm.learners.papers.online.forgetron import Forgetron
from edgesvm.learners.papers.online.kernel_perceptron import KernelPerceptron
from edgesvm.learners.papers.online.lasvm import LASVM
from edgesvm.learners.papers.online.passive_aggressive import PassiveAggressive
from edgesvm.learners.papers.online.pegasos import Pegasos
from edgesvm.learners.papers.online.perceptron import Perceptron
from edgesvm.learners.stream.kernel_stream_svm import KernelStreamSVM
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.learners.twin.adiabatic_learner import MarginSetLearner
from edgesvm.learners.twin.incremental_decremental_svm import IncrementalDecrementalSVM
from edgesvm.learners.twin.simple_svm import SimpleSVM
from edgesvm.learners.twin.twin_dictionary_svm import TwinDictionarySVM
from edgesvm.learners.twin.twin_vector_machine import TwinVectorMachine
from edgesvm.learners.wrapper import Shell, Wrapper
from edgesvm.preprocessing.fourier_features import FourierFeatures
from edgesvm.preprocessing.robust_standardized import RobustStandardized
from edgesvm.preprocessing.standardized import Standardized
from edgesvm.preprocessing.window_features import WindowFeatures


@dataclass(frozen=True)
class Unit:
    """One core of a model.

    name, header : of the class in C, and its file
    macros : its attributes that are no arrays, name -> number or C text
    renamed : array in C -> array of the plan, where they differ
    most : integers of its arrays that are indices -> the largest
    plan : that its arrays are in; None: the learner's
    is_part : of a multiclass learner, on the labels 0 and 1
    beside : what the core keeps behind the arena while it works, as it is at first
    of_labels : more macros, from the labels
    scratch : arrays that are zero between samples
    """

    name: str
    header: str
    macros: Mapping[str, Any]
    renamed: Mapping[str, str] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    plan: MemoryPlan | None = None
    is_part: bool = False
    beside: Mapping[str, bytes] = field(default_factory=dict)
    of_labels: Callable[[tuple[Any, ...]], dict[str, Any]] = lambda labels: {}
    scratch: frozenset[str] = frozenset()


def units_of(learner: Learner, n_features: int) -> list[Unit]:
    """The cores of a model.

    Raises
    ------
    ValueError
        The learner, or one in it, has no translation.
    """
    maker = MAKERS.get(type(learner))
    if maker is None:
        why = INSTEAD.get(type(learner).__name__, "it has no translation; use FourierSVM")
        raise ValueError(f"{type(learner).__name__} cannot be exported to C to learn: {why}")
    return maker(learner, n_features)


def untranslated(learner: Learner) -> str:
    """The class of a learner in this one, or of itself, that has no translation; "" if all have."""
    inner: Any = learner
    while type(inner) in MAKERS:
        if not isinstance(inner, Wrapper):
            return ""
        inner = inner.inner
    return type(inner).__name__


# -- one function for each learner -----------------------------------------------------------------


def stream_svm(learner: StreamSVM, n_features: int) -> list[Unit]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    lower = learner.bound == "lower"
    macros = {
        "C": float(learner.C),
        "lower": lower,
        "paper_slack": learner.slack == "paper",
        "normalize": bool(learner.normalize),
        "intercept": bool(learner.fit_intercept),
        "flush": learner.lookahead > 0,
        "by_reach": learner.join == "reach" and not lower,
        "width": n_features + bool(learner.fit_intercept),
        "balls_capacity": shapes.get("radius", (0,))[0],
    }
    most = {"n_held": shapes["radius"][0] - 1} if "radius" in shapes else {}
    return [Unit("StreamSVM", "stream_svm.h", macros | common(learner, n_features), most=most)]


def kernel_stream_svm(learner: KernelStreamSVM, n_features: int) -> list[Unit]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    macros = {
        "C": float(learner.C),
        "lower": learner.bound == "lower",
        "newton": learner.when_full == "newton",
        "slots": shapes["share"][0],
        **kernel(learner, n_features),
    }
    macros |= common(learner, n_features)
    most = {"n_held": macros["slots"] - (not macros["newton"])}
    return [Unit("KernelStreamSVM", "kernel_stream_svm.h", macros, most=most)]


def linear(learner: Any, n_features: int) -> list[Unit]:
    """Perceptron, PassiveAggressive, Pegasos."""
    macros = common(learner, n_features) | {
        "intercept": bool(learner.fit_intercept),
        "width": n_features + bool(learner.fit_intercept),
        "most_ww": MOST_WW[learner.dtype],
    }
    most = {}
    if isinstance(learner, PassiveAggressive):
        variant = learner.variant.replace("-", "_")
        macros |= {"C": float(learner.C), "variant": f"passive_aggressive_{variant}"}
    if isinstance(learner, Pegasos):
        given = learner._core_params(n_features)
        macros |= {name: given[name] for name in ("lambda_", "batch_size", "project")}
        most = {"n_waiting": int(learner.batch_size)}
    name = type(learner).__name__
    return [Unit(name, header_of(name), macros, most=most)]


def expansion(learner: Any, n_features: int) -> list[Unit]:
    """KernelPerceptron, Forgetron."""
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    (room,) = shapes["coef"]
    macros = common(learner, n_features) | kernel(learner, n_features) | {"capacity": room}
    if isinstance(learner, KernelPerceptron):
        chosen = {"random": "REPLACE_RANDOM", "oldest": "REPLACE_OLDEST", "ignore": "IGNORE"}
        macros["when_full"] = f"kernel_perceptron_{chosen[learner.when_full]}"
    name = type(learner).__name__
    return [Unit(name, header_of(name), macros, most={"n_held": room, "oldest": room})]


def lasvm(learner: LASVM, n_features: int) -> list[Unit]:
    (unit,) = expansion(learner, n_features)
    macros = {**unit.macros, "C": float(learner.C), "tau": float(learner.tau)}
    return [replace(unit, macros=macros, most={"n_held": learner.max_vectors})]


def header_of(name: str) -> str:
    """StreamSVM -> stream_svm.h, LASVM -> lasvm.h"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() + ".h"


def adagrad_svm(learner: GradientLearner, n_features: int) -> list[Unit]:
    return [Unit("AdaGradSVM", "adagrad_svm.h", gradient(learner, n_features))]


def gradient(learner: GradientLearner, n_features: int) -> dict[str, Any]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    n_vectors, width = shapes["w"]
    return {
        "rate": float(learner.learning_rate),
        "is_hinge": learner.loss == "hinge",
        "n_vectors": n_vectors,
        "width": width,
        "n_ahead": width - n_features - 1,
        **common(learner, n_features),
    }


def fourier_svm(learner: FourierSVM, n_features: int) -> list[Unit]:
    macros = gradient(learner, n_features) | directions(learner, n_features)
    macros["FIRST_TILT"] = table(FIRST_TILT)
    # What is kept only while many rows are worked on.
    macros |= {"waves": "((char *)esvm_none())", "ahead": "((int16_t *)esvm_none())"}
    macros |= {"row_ahead": "((char *)esvm_none())", "rows_ahead": "0"}
    beside = {"amplitude": bytes(8 * len(FIRST_TILT))}
    return [Unit("FourierSVM", "fourier_svm.h", macros, beside=beside)]


def directions(learner: DirectedLearner, n_features: int) -> dict[str, Any]:
    """What random directions are drawn by."""
    drawn = learner._drawn_by(n_features)
    mixed = learner._is_orthogonal(n_features)
    return {
        "directions_key": f"{drawn['key']}u",
        "DIRECTIONS_SCALES": table(drawn["scales"]),
        "directions_n": learner.n_directions,
        "directions_n_features": n_features,
        "directions_n_mixed": learner._n_mixed(n_features) if mixed else 0,
    }


def multiclass(learner: Multiclass, n_features: int) -> list[Unit]:
    plan, part = learner.plan(n_features), learner._part(n_features)
    inside = units_of(learner.inner, n_features)
    if any(unit.beside for unit in inside):
        raise ValueError(
            f"{type(learner.inner).__name__} within {type(learner).__name__} cannot be exported"
            " to C: it has n_classes of its own"
        )
    most = learner.inner._most_samples
    macros = common(learner, n_features) | {
        "balanced": False,
        "pairs": learner._pairs,
        "most": -1 if most is None else most,
        "part_bytes": plan.arrays[-1].shape[1],
        "each(f)": f"{inside[-1].name}_##f",
    }
    parts = [replace(unit, plan=part, is_part=True) for unit in inside]
    return [*parts, Unit("Multiclass", "multiclass.h", macros)]


def robust_standardized(learner: RobustStandardized, n_features: int) -> list[Unit]:
    clip = learner._core_params(n_features)
    return shell(learner, n_features, "scaled", clip)


def fourier_features(learner: FourierFeatures, n_features: int) -> list[Unit]:
    macros = directions(learner, n_features)
    return shell(learner, n_features, "features", macros)


def novelty(learner: NoveltyLearner, n_features: int) -> dict[str, Any]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    return {
        **learner._core_params(n_features),
        "log_ratio": log(ABOVE / float(learner.alarm_rate)),
        "n_scratch": shapes.get("scratch", (0,))[0],
        **common(learner, n_features),
    }


def gaussian_novelty(learner: GaussianNovelty, n_features: int) -> list[Unit]:
    order = n_features if learner.covariance == "full" else 0
    macros = novelty(learner, n_features) | factor(n_features)
    beside = {"order": order.to_bytes(8, "little"), "lift": bytes(8)}
    most = {"alarmed": CALM}
    return [Unit("GaussianNovelty", "gaussian_novelty.h", macros, most=most, beside=beside)]


def kernel_novelty(learner: KernelNovelty, n_features: int) -> list[Unit]:
    arrays = {array.name: array for array in learner.plan(n_features).arrays}
    room = int(learner.max_vectors)
    width = n_features * arrays["centres"].dtype.itemsize
    macros = novelty(learner, n_features) | {"room": room, "width": width}
    most = {"alarmed": CALM, "n_held": room, "partner": room - 1}
    return [Unit("KernelNovelty", "kernel_novelty.h", macros, most=most)]


def factor(order: int) -> dict[str, Any]:
    """A packed factor without room for rows of its matrix."""
    return {"factor_length": packed_length(order), "factor_width": packed_length(order) + 1}


def log(x: float) -> float:
    """log_ of core/logistic.pxd"""
    m, k = math.frexp(x)
    s, total = (m - 1.0) / (m + 1.0), 0.0
    for i in range(33, 0, -2):
        total = total * s * s + 1.0 / i
    return k * 6.93147180559945286227e-01 + 2.0 * s * total


def margin_set(learner: MarginSetLearner, n_features: int) -> dict[str, Any]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    return {
        "C": float(learner.C),
        "slots": shapes["coef"][0],
        "factor_length": shapes["pool"][0],
        "factor_width": shapes["coef"][0],
        **kernel(learner, n_features),
        **common(learner, n_features),
    }


def most_of_margin(macros: Mapping[str, Any]) -> dict[str, int]:
    """Of the numbers of twins, all and on the margin, of their slots and states."""
    slots, on_margin = macros["slots"], 0
    while packed_length(on_margin + 1) <= macros["factor_length"]:
        on_margin += 1
    return {"n": slots, "m": min(on_margin, slots), "S": slots - 1, "state": 4}


def twin_vector_machine(learner: TwinVectorMachine, n_features: int) -> list[Unit]:
    macros = margin_set(learner, n_features)
    macros |= {
        "m1": float(learner.m1),
        "m2": float(learner.m2),
        "eta": float(learner.eta),
        "in_feature_space": learner.merge == "feature",
        "one_sided": learner.merge_side == "one",
        "control_C": bool(learner.control_C),
        "rejection": bool(learner.rejection),
        "as_printed": learner.rejection == "paper",
        "max_twins": macros["slots"] - 2,
    }
    most = most_of_margin(macros)
    return [Unit("TwinVectorMachine", "twin_vector_machine.h", macros, most=most)]


def incremental_decremental_svm(learner: IncrementalDecrementalSVM, n_features: int) -> list[Unit]:
    macros = margin_set(learner, n_features)
    macros["when_full"] = f"incremental_decremental_svm_{learner.when_full.upper()}"
    macros["max_vectors"] = macros["slots"] - 1
    header, most = "incremental_decremental_svm.h", most_of_margin(macros)
    return [Unit("IncrementalDecrementalSVM", header, macros, most=most)]


def twin_dictionary_svm(learner: TwinDictionarySVM, n_features: int) -> list[Unit]:
    (unit,) = twin_vector_machine(learner, n_features)
    macros = {**unit.macros, "settle_after": int(learner.settle_after), "r": float(learner.r)}
    return [replace(unit, name="TwinDictionarySVM", header="twin_dictionary_svm.h", macros=macros)]


def simple_svm(learner: SimpleSVM, n_features: int) -> list[Unit]:
    macros = margin_set(learner, n_features) | {"forgets": learner.when_full == "oldest"}
    return [Unit("SimpleSVM", "simple_svm.h", macros, most=most_of_margin(macros))]


def ball_vector_machine(learner: BallVectorMachine, n_features: int) -> list[Unit]:
    macros = common(learner, n_features) | kernel(learner, n_features)
    given = learner._core_params(n_features)
    macros |= {name: value for name, value in given.items() if name not in ("kernel", "shrink")}
    macros["lifted"] = given["shrink"]
    most = {"n_core": macros["max_core"], "converged": 1}
    header, scratch = "ball_vector_machine.h", frozenset(SCRATCH)
    return [Unit("BallVectorMachine", header, macros, most=most, scratch=scratch)]


def calibrated(learner: Calibrated, n_features: int) -> list[Unit]:
    inside = units_of(learner.inner, n_features)
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    macros = common(learner, n_features) | {
        "balanced": False,
        "missed": learner._core_params(n_features)["missed"],
        "n_sigmoids": shapes["slope"][0],
        "named_at": 0,  # labels are known when the model is exported
        "labels_n_changes": 0,
        "inner(f)": f"{inside[-1].name}_##f",
    }

    def prices(labels: tuple[Any, ...]) -> dict[str, Any]:
        by_slot = [learner._by_label()(label) for label in labels]
        by_slot += [(0.0, False)] * (learner.n_classes_planned - len(labels))
        kept = [slot for slot, (_, is_kept) in enumerate(by_slot) if is_kept]
        return {"PRICE": table(price for price, _ in by_slot), "kept": [-1, *kept][-1]}

    return [*inside, Unit("Calibrated", "calibrated.h", macros, of_labels=prices)]


def window_features(windows: WindowFeatures, n_channels: int) -> Unit:
    """The windows ahead of a chain's learner."""
    plan = windows.plan(n_channels)
    shapes = {array.name: array.shape for array in plan.arrays}
    n_windows, n_streams, n_bands = shapes["power"]
    codes, bands = windows._codes, windows._filters
    sections = [section for _, both in bands for section in both]
    macros = {
        "n_features": n_channels,
        "n_channels": n_channels,
        "window": windows.window,
        "hop": windows.hop,
        "rate": float(windows.rate),
        "n_windows": n_windows,
        "n_streams": n_streams,
        "n_bands": n_bands,
        "n_pairs": shapes["products"][1],
        "n_codes": len(codes),
        "has_magnitude": "magnitude" in windows._features,
        "MOST_BANDS": max(n_bands, 1),
        "CODES": "{" + ", ".join(str(int(code)) for code in codes) + "}" if codes else "{0}",
        "CENTERS": table([center for center, _ in bands] or [0.0]),
        "SECTIONS": "{" + ", ".join(map(table, sections or [[0.0] * 3])) + "}",
    }
    return Unit("WindowFeatures", "window_features.h", macros, plan=plan)


def item_bytes(learner: Learner) -> int:
    return 4 if learner.dtype == "float32" else 8


def table(numbers: Iterable[float]) -> str:
    return "{" + ", ".join(number(float(x)) for x in numbers) + "}"


def standardized(learner: Standardized, n_features: int) -> list[Unit]:
    until = 0 if learner.until is None else int(learner.until)
    return shell(learner, n_features, "scaled", {"until": f"((int64_t){until})"})


def shell(learner: Shell, n_features: int, mapped: str, macros: dict[str, Any]) -> list[Unit]:
    """A stage behind its learner's units; `mapped` is what the learner gets of a sample."""
    inside = units_of(learner.inner, learner._width(n_features))
    around = common(learner, n_features) | {"balanced": False, **macros}
    around["inner(f)"] = f"{inside[-1].name}_##f"
    name = type(learner).__name__
    return [*inside, Unit(name, header_of(name), around, {"mapped": mapped})]


def common(learner: Learner, n_features: int) -> dict[str, Any]:
    """What every core has."""
    return {
        "n_features": n_features,
        "n_classes": learner.n_classes_planned,
        "one_class": not learner.takes_labels,
        "balanced": learner.class_weight == "balanced",
    }


def kernel(learner: Any, n_features: int) -> dict[str, Any]:
    """The kernel, and the bytes of a vector."""
    chosen: Kernel = learner.kernel_for(n_features)
    kind, gamma, coef0, degree = chosen.code
    text = f"{{(kernels_KernelKind){int(kind)}, {degree}, {number(gamma)}, {number(coef0)}}}"
    return {"KERNEL": text, "row_bytes": n_features * item_bytes(learner)}


def number(value: Any) -> str:
    """A number in C, exact."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and math.isinf(value):
        return "ESVM_INFINITY"
    text = value.hex() if isinstance(value, float) else str(int(value))
    return f"({text})" if text.startswith("-") else text


ALL_AT_ONCE = "it solves for all its samples at once; use LASVM, or --inference"
A_BATCH = "it solves for a batch at a time; use LASVM, or --inference"
INSTEAD = {
    "BatchSVM": ALL_AT_ONCE,
    "ReservoirSVM": ALL_AT_ONCE,
    "RandSVM": ALL_AT_ONCE,
    "IncrementalSVM": A_BATCH,
    "WindowedSVM": A_BATCH,
    "CoreVectorMachine": "it solves after every sample; use BallVectorMachine, or --inference",
    "Auto": "it has several learners; use the one that answers, or FourierSVM",
}

MAKERS: dict[type[Learner], Callable[[Any, int], list[Unit]]] = {
    StreamSVM: stream_svm,
    KernelStreamSVM: kernel_stream_svm,
    Perceptron: linear,
    PassiveAggressive: linear,
    Pegasos: linear,
    KernelPerceptron: expansion,
    Forgetron: expansion,
    LASVM: lasvm,
    AdaGradSVM: adagrad_svm,
    FourierSVM: fourier_svm,
    GaussianNovelty: gaussian_novelty,
    KernelNovelty: kernel_novelty,
    TwinVectorMachine: twin_vector_machine,
    TwinDictionarySVM: twin_dictionary_svm,
    IncrementalDecrementalSVM: incremental_decremental_svm,
    SimpleSVM: simple_svm,
    BallVectorMachine: ball_vector_machine,
    OneVsOne: multiclass,
    OneVsRest: multiclass,
    Standardized: standardized,
    RobustStandardized: robust_standardized,
    FourierFeatures: fourier_features,
    Calibrated: calibrated,
}
