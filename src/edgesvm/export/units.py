"""What a model's translated cores need to know: one `Unit` for each, the innermost first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from edgesvm.kernels import Kernel
from edgesvm.learner import Learner
from edgesvm.learners.fourier.constants import FIRST_TILT
from edgesvm.learners.fourier.directed_learner import DirectedLearner
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.gradient.adagrad_svm import AdaGradSVM
from edgesvm.learners.gradient.gradient_learner import GradientLearner
from edgesvm.learners.stream.kernel_stream_svm import KernelStreamSVM
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.learners.wrapper import Shell
from edgesvm.preprocessing.fourier_features import FourierFeatures
from edgesvm.preprocessing.standardized import Standardized


@dataclass(frozen=True)
class Unit:
    """One core of a model.

    name, header : of the class in C, and its file
    macros : its attributes that are no arrays, name -> number or C text
    renamed : array in C -> array of the plan, where they differ
    beside : bytes of what the core keeps behind the arena while it works
    """

    name: str
    header: str
    macros: Mapping[str, Any]
    renamed: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Arrays:
    """What a snapshot's arrays must be, besides finite numbers and counts.

    zeros : scratch, zero between two samples
    most : integers that are indices -> the largest
    """

    zeros: frozenset[str]
    most: Mapping[str, int]


def units_of(learner: Learner, n_features: int) -> list[Unit]:
    """The cores of a model.

    Raises
    ------
    ValueError
        The learner, or one in it, has no translation.
    """
    maker = MAKERS.get(type(learner))
    if maker is None:
        names = ", ".join(sorted(kind.__name__ for kind in MAKERS))
        raise ValueError(
            f"{type(learner).__name__} cannot be exported to C; what can: {names}"
        )
    return maker(learner, n_features)


def arrays_of(learner: Learner, n_features: int) -> Arrays:
    """What is known of the arrays of a model that `units_of` accepts."""
    scratch = frozenset({"scaled", "features", "angle", "mixed", "scores"})
    if isinstance(learner, Shell):
        inner = arrays_of(learner._inner, learner._width(n_features))
        return Arrays(inner.zeros | scratch, inner.most)
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    if isinstance(learner, StreamSVM):
        most = {"n_held": shapes["radius"][0] - 1} if "radius" in shapes else {}
        return Arrays(scratch, most)
    if isinstance(learner, KernelStreamSVM):
        room = shapes["share"][0] - (learner.when_full != "newton")
        return Arrays(scratch, {"n_held": room})
    return Arrays(scratch, {})


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
    return [Unit("StreamSVM", "stream_svm.h", macros | common(learner, n_features))]


def kernel_stream_svm(learner: KernelStreamSVM, n_features: int) -> list[Unit]:
    shapes = {array.name: array.shape for array in learner.plan(n_features).arrays}
    macros = {
        "C": float(learner.C),
        "lower": learner.bound == "lower",
        "newton": learner.when_full == "newton",
        "slots": shapes["share"][0],
        **kernel(learner, n_features),
    }
    return [Unit("KernelStreamSVM", "kernel_stream_svm.h", macros | common(learner, n_features))]


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
    beside = {"amplitude": 8 * len(FIRST_TILT)}
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


def fourier_features(learner: FourierFeatures, n_features: int) -> list[Unit]:
    macros = directions(learner, n_features)
    units = shell("FourierFeatures", "fourier_features.h", learner, n_features, "features", macros)
    return units


def table(numbers: Iterable[float]) -> str:
    return "{" + ", ".join(number(float(x)) for x in numbers) + "}"


def standardized(learner: Standardized, n_features: int) -> list[Unit]:
    return shell("Standardized", "standardized.h", learner, n_features, "scaled", {})


def shell(
    name: str, header: str, learner: Shell, n_features: int, mapped: str, macros: dict[str, Any]
) -> list[Unit]:
    """A stage behind its learner's units."""
    inside = units_of(learner._inner, learner._width(n_features))
    around = common(learner, n_features) | {"balanced": False, **macros}
    around["inner(f)"] = f"{inside[-1].name}_##f"
    return [*inside, Unit(name, header, around, {"mapped": mapped})]


def common(learner: Learner, n_features: int) -> dict[str, Any]:
    """What every core has."""
    return {
        "n_features": n_features,
        "n_classes": learner._n_classes,
        "one_class": not learner._takes_labels,
        "balanced": learner.class_weight == "balanced",
    }


def kernel(learner: Any, n_features: int) -> dict[str, Any]:
    """The kernel, and the bytes of a vector."""
    chosen: Kernel = learner._kernel(n_features)
    kind, gamma, coef0, degree = chosen.code
    text = f"{{(kernels_KernelKind){int(kind)}, {degree}, {number(gamma)}, {number(coef0)}}}"
    return {"KERNEL": text, "row_bytes": n_features * (4 if learner.dtype == "float32" else 8)}


def number(value: Any) -> str:
    """A number in C, exact."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    text = value.hex() if isinstance(value, float) else str(int(value))
    return f"({text})" if text.startswith("-") else text


MAKERS: dict[type[Learner], Callable[[Any, int], list[Unit]]] = {
    StreamSVM: stream_svm,
    KernelStreamSVM: kernel_stream_svm,
    AdaGradSVM: adagrad_svm,
    FourierSVM: fourier_svm,
    Standardized: standardized,
    FourierFeatures: fourier_features,
}
