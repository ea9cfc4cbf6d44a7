"""Learned models as ONNX files, for runtimes without edgesvm.

Needs onnx (``pip install edgesvm[onnx]``), which is imported with this module.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

import edgesvm
from edgesvm.export.fixed import target_of
from edgesvm.kernels import RBF, Linear, Polynomial
from edgesvm.learner import Learner
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.learners.fourier.directed_learner import DirectedLearner
from edgesvm.learners.fourier.directions import Directions
from edgesvm.learners.fourier.fourier_svm import FourierSVM
from edgesvm.learners.kernel_learner import KernelMethod
from edgesvm.learners.multiclass import OneVsRest
from edgesvm.learners.papers.incremental.incremental import WindowedSVM
from edgesvm.learners.papers.randomized.rand_svm import RandSVM
from edgesvm.learners.regression.stream_regressor import StreamRegressor
from edgesvm.learners.twin.twins import SharedTwinSVM
from edgesvm.preprocessing.robust_standardized import RobustStandardized
from edgesvm.preprocessing.standardized import Standardized

__all__ = ["export"]

ML = "ai.onnx.ml"
OPSETS = [helper.make_opsetid("", 13), helper.make_opsetid(ML, 1)]
IR_VERSION = 8
LARGEST = float(np.finfo(np.float32).max)


def export(learner: Learner, path: str | os.PathLike[str]) -> None:
    """Write what a learner has learned as an ONNX model.

    Its input "X" is float32 of shape (n, n_features). Its outputs are "label" of shape (n,), int64
    or strings, and "scores" of shape (n, n_labels), float32, with a column for each of
    ``classes_``; for two labels these are -f and f, f being ``decision_function``. A regressor has
    one output, "value" of shape (n,), float32: ``predict``. Names of the features are in the
    metadata, "feature_names", as a JSON list.

    Parameters
    ----------
    learner : Learner
        A linear one, alone or behind ``Standardized(clip=None)``: one `LinearClassifier`, the
        scales folded into its weights. One with a kernel: an `SVMClassifier`. `FourierSVM`:
        products, cosines, sines. Either of these behind `Standardized` or `RobustStandardized`;
        `OneVsRest` of linear ones. `FourierSVR`, `FourierRLS` and `AdaGradSVR`, alone or behind a
        scaler.
    path : path

    Raises
    ------
    NotFittedError
    ValueError
        This learner cannot be exported, or a label is neither bool, int nor str, or there is only
        one.

    Notes
    -----
    Decision values are those of the learner to float32's rounding; of `FourierSVM` to about 1e-3,
    since its angles are rounded to 16 bits; of `ByteSVM` to about 5e-3, since its cosines are
    rounded to bytes. Where `StreamSVM` scales its samples to unit norm, f is
    its decision value times that norm, of x and the constant 1: the labels are the same. True and
    False are exported as 1 and 0.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import StreamSVM
    >>> from edgesvm.compat.onnx import export
    >>> export(StreamSVM().fit(np.eye(4), [0, 1, 0, 1]), "model.onnx")
    """
    learner._fitted  # noqa: B018
    graph = Graph(learner)
    graph.decide(learner, "X")
    onnx.save(graph.model(), os.fspath(path))


class Graph:
    """The nodes of a model, made one after the other."""

    def __init__(self, learner: Learner) -> None:
        self.name, self.n_features = type(learner).__name__, learner.n_features_in_
        self.regresses = bool(learner.regresses)
        self.labels: dict[str, Any] = {} if self.regresses else exported_labels(learner)
        names = list(learner._columns or ())
        self.metadata = {"feature_names": json.dumps(names)} if names else {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, op: str, *inputs: str | np.ndarray, to: tuple[str, ...] = (), **of: Any) -> str:
        """A node of standard ONNX, or of its machine-learning operators if `of` is not empty; the
        name of its output. An array as input becomes a constant."""
        names = [self.constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        outputs = to or (f"{op}_{len(self.nodes)}",)
        domain = of.pop("domain", "")
        self.nodes.append(helper.make_node(op, names, list(outputs), domain=domain, **of))
        return outputs[0]

    def constant(self, x: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        x = x if x.dtype == np.int64 else x.astype(np.float32)
        self.constants.append(onnx.numpy_helper.from_array(x, name))
        return name

    # -- the learners ------------------------------------------------------------------------------

    def decide(self, learner: Any, x: str) -> None:
        """Decide the samples `x`."""
        if getattr(learner, "missing", None) == "mean":
            x = self.add("Where", self.add("IsNaN", x), learner.center_, x)
        plane = None if self.regresses else plane_of(learner)
        if plane is not None:
            self.linear(*plane, x)
        elif isinstance(learner, (Standardized, RobustStandardized)):
            self.decide(learner.learner_, self.scaled(learner, x))
        elif isinstance(learner, StreamRegressor):
            self.number(learner, x)
        elif isinstance(learner, FourierSVM):
            self.fourier(learner, x)
        elif isinstance(learner, ByteSVM):
            self.byte(learner, x)
        elif isinstance(learner, RandSVM):
            self.decide(learner.solver_, x)
        elif has_vectors(learner) and not self.regresses:
            self.kernel(learner, self.normalized(learner, x))
        else:
            raise ValueError(
                f"{self.name} cannot be exported: {type(learner).__name__} is none of those that"
                " edgesvm.compat.onnx.export lists"
            )

    def scaled(self, stage: Any, x: str) -> str:
        x = self.add(
            "Scaler", x, domain=ML, offset=stage.center_.tolist(), scale=inverse(stage.scale_)
        )
        clip = getattr(stage, "clip", None)
        return x if clip is None else self.add("Clip", x, np.array(-clip), np.array(clip))

    def normalized(self, learner: Any, x: str) -> str:
        is_needed = getattr(learner, "normalize", False)
        if is_needed == "kernel":
            raise ValueError(f"{self.name} cannot be exported: normalize='kernel' has no operator")
        return self.add("Normalizer", x, domain=ML, norm="L2") if is_needed else x

    def linear(self, weights: np.ndarray, intercept: np.ndarray, x: str) -> None:
        if len(weights) == 1:
            weights, intercept = np.vstack([-weights, weights]), np.append(-intercept, intercept)
        self.add(
            "LinearClassifier",
            x,
            to=("label", "scores"),
            domain=ML,
            coefficients=weights.ravel().tolist(),
            intercepts=intercept.tolist(),
            **self.labels,
        )

    def kernel(self, learner: Any, x: str) -> None:
        vectors, coef, b = expansion_of(learner)
        first = coef < 0
        n_first = int(first.sum())
        order = np.argsort(~first, kind="stable")  # ONNX wants the vectors class by class
        self.add(
            "SVMClassifier",
            x,
            to=("label", "both"),
            domain=ML,
            coefficients=(-coef[order]).tolist(),  # its decision value is for the first class
            support_vectors=vectors[order].ravel().tolist(),
            vectors_per_class=[n_first, len(coef) - n_first],
            rho=[-b],
            **kernel_attributes(learner.kernel_for(learner.n_features_in_)),
            **self.labels,
        )
        self.add("Neg", "both", to=("scores",))

    def number(self, learner: StreamRegressor, x: str) -> None:
        """The target, within its range."""
        weights = learner.core.views["w"].astype(float)[None]
        if isinstance(learner, DirectedLearner):
            f = self.waves(learner, weights, x)
        else:
            f = self.add("Gemm", x, weights[:, :-1].T, weights[:, -1])
        of = target_of(learner)
        value = self.add("Mul", f, np.array(of["DEVIATION"]))
        value = self.add("Add", value, np.array(of["MEAN"]))
        if abs(of["MOST"]) <= LARGEST:
            value = self.add("Clip", value, np.array(of["LEAST"]), np.array(of["MOST"]))
        self.add("Squeeze", value, np.array([1]), to=("value",))

    def fourier(self, learner: FourierSVM, x: str) -> None:
        weights = learner._weights.astype(float)
        if len(weights) == 1:
            weights = np.vstack([-weights, weights])
        self.waves(learner, weights, x, "scores")
        self.largest()

    def waves(self, learner: Any, weights: np.ndarray, x: str, *to: str) -> str:
        """W [a cos(2 pi T x), a sin(2 pi T x), a x, a], a being the amplitudes if there are any."""
        core, n = learner.core, int(learner.n_directions)
        drawn = Directions(core, n=n, **learner._drawn_by(core.n_features))
        turns = np.stack([drawn.along(e) for e in np.eye(core.n_features, dtype=core.dtype)])
        amplitudes = getattr(learner, "amplitudes_", np.ones(5))
        group = np.tile(np.arange(n) % (len(amplitudes) - 1), 2)[drawn.order]
        waves = np.empty((len(weights), 2 * n))
        waves[:, drawn.order] = weights[:, : 2 * n] * amplitudes[group]
        rest = weights[:, 2 * n :] * amplitudes[-1]
        angle = self.add("MatMul", x, 2 * np.pi * turns * drawn.in_turns)
        cosines = self.add("MatMul", self.add("Cos", angle), waves[:, :n].T)
        sines = self.add("Gemm", self.add("Sin", angle), waves[:, n:].T, cosines)
        return self.add("Gemm", x, rest[:, :-1].T, self.add("Add", sines, rest[:, -1]), to=to)

    def byte(self, learner: ByteSVM, x: str) -> None:
        """z = round(32 (x - m) / s), and the cosines and sines of U z in 256ths of a turn."""
        core = learner.core
        per_turn = np.resize(core.layout["angle"], learner.n_directions_) / 256
        waves, ones = learner.weights_
        if len(waves) == 1:
            waves, ones = np.concatenate([-waves, waves]), np.append(-ones, ones)
        e, m, s = learner.scales_
        x = self.add("Sub", self.add("Round", self.add("Mul", x, np.ldexp(1.0, -e))), m * 1.0)
        x = self.add("Round", self.add("Mul", x, 32 * np.array(inverse(s * 1.0))))
        z = self.add("Clip", x, np.array(-127.0), np.array(127.0))
        sums = self.add("MatMul", z, core.directions.T / (1 << core.layout["angle_shift"]))
        angle = self.add("Floor", self.add("Mul", self.add("Floor", sums), per_turn))
        angle = self.add("Mul", self.add("Add", angle, np.array(0.5)), np.array(2 * np.pi / 256))
        sines = self.add("Gemm", self.add("Sin", angle), waves[:, :, 1].T, ones)
        self.add("Gemm", self.add("Cos", angle), waves[:, :, 0].T, sines, to=("scores",))
        self.largest()

    def largest(self) -> None:
        """The label of the largest score."""
        best = self.add("ArgMax", "scores", axis=1, keepdims=0)
        label = helper.make_tensor("labels", *self.label_tensor())
        self.constants.append(label)
        self.add("Gather", "labels", best, to=("label",))

    # -- the file ----------------------------------------------------------------------------------

    def label_tensor(self) -> tuple[int, list[int], list[Any]]:
        ((key, values),) = self.labels.items()
        return tensor_type(key), [len(values)], values

    def model(self) -> Any:
        value = helper.make_tensor_value_info
        if self.regresses:
            outputs = [value("value", TensorProto.FLOAT, ["n"])]
        else:
            kind, (n_labels,), _ = self.label_tensor()
            outputs = [
                value("label", kind, ["n"]),
                value("scores", TensorProto.FLOAT, ["n", n_labels]),
            ]
        made = helper.make_graph(
            self.nodes,
            self.name,
            [value("X", TensorProto.FLOAT, ["n", self.n_features])],
            outputs,
            self.constants,
        )
        model = helper.make_model(
            made,
            opset_imports=OPSETS,
            ir_version=IR_VERSION,
            producer_name="edgesvm",
            producer_version=edgesvm.__version__,
        )
        helper.set_model_props(model, self.metadata)
        onnx.checker.check_model(model)
        return model


def plane_of(learner: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Weights of shape (1 or n_labels, n_features) and intercepts of a linear learner, in units of
    the samples as they come; None for other learners."""
    if isinstance(learner, Standardized) and learner.clip is None:
        inner = plane_of(learner.learner_)
        if inner is None:
            return None
        weights = inner[0] * np.array(inverse(learner.scale_))
        return weights, inner[1] - weights @ learner.center_
    if isinstance(learner, OneVsRest):
        return planes_of_parts(learner)
    if has_vectors(learner):
        return plane_of_vectors(learner)
    if not hasattr(learner, "coef_"):
        return None
    return learner.coef_.astype(float), learner.intercept_.astype(float)


def has_vectors(learner: Learner) -> bool:
    """Whether its decision value is one sum over vectors."""
    return isinstance(learner, KernelMethod) and not isinstance(
        learner, WindowedSVM | SharedTwinSVM
    )


def plane_of_vectors(learner: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The plane of a linear kernel: sums over many vectors would round more."""
    is_linear = isinstance(learner.kernel_for(learner.n_features_in_), Linear)
    if not is_linear or getattr(learner, "normalize", False):
        return None
    vectors, coef, intercept = expansion_of(learner)
    return (coef @ vectors)[None, :], np.array([intercept])


def planes_of_parts(learner: OneVsRest) -> tuple[np.ndarray, np.ndarray] | None:
    parts = [learner.parts_[slot] for slot in learner.core.labels.sorted_slots]
    planes = [None if are_apart(part) else plane_of(part) for part in parts]
    found = [plane for plane in planes if plane is not None]
    if len(found) < len(parts):
        return None
    weights = np.concatenate([plane[0] for plane in found])
    intercepts = np.concatenate([plane[1] for plane in found])
    if len(parts) > 2:
        return weights, intercepts
    return (weights[1:] - weights[:1]) / 2, (intercepts[1:] - intercepts[:1]) / 2


def are_apart(part: Any) -> bool:
    """Whether the parts of a learner multiply one sample by different numbers, or put different
    ones in place of NaN."""
    if not isinstance(part, Standardized):
        return False
    return part.missing == "mean" or getattr(part.learner_, "normalize", False)


def expansion_of(learner: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Vectors, coefficients and intercept of a decision value sum c_i k(v_i, x) + b."""
    names = ("support_vectors_", "vectors_", "twins_")
    vectors = next(getattr(learner, name) for name in names if hasattr(learner, name))
    intercept = learner.intercept_[0] if hasattr(learner, "intercept_") else 0.0
    return vectors, learner.dual_coef_[0], float(intercept)


def kernel_attributes(kernel: Any) -> dict[str, Any]:
    """As `SVMClassifier` has a kernel: its type; gamma, coef0 and degree."""
    if isinstance(kernel, Linear):
        return {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
    if isinstance(kernel, RBF):
        return {"kernel_type": "RBF", "kernel_params": [float(kernel.gamma), 0.0, 1.0]}
    assert isinstance(kernel, Polynomial)
    params = [float(kernel.gamma), float(kernel.coef0), float(kernel.degree)]
    return {"kernel_type": "POLY", "kernel_params": params}


def exported_labels(learner: Any) -> dict[str, list[Any]]:
    """The labels, under the name by which ONNX has labels of their kind."""
    labels = learner.classes_.tolist()
    kinds = {type(label) for label in labels}
    if len(labels) < 2:
        raise ValueError(f"{type(learner).__name__} cannot be exported: it has one label, {labels}")
    if kinds <= {bool, int}:
        return {"classlabels_ints": [int(label) for label in labels]}
    if kinds == {str}:
        return {"classlabels_strings": labels}
    raise ValueError(
        f"{type(learner).__name__} cannot be exported: ONNX has labels of int or str, not {labels}"
    )


def tensor_type(key: str) -> int:
    return int(TensorProto.INT64 if key == "classlabels_ints" else TensorProto.STRING)


def inverse(scale: np.ndarray) -> list[float]:
    """1 / scale, and 0 for a feature that never changed."""
    ones: np.ndarray = np.ones_like(scale)
    return np.divide(ones, scale, out=np.zeros_like(scale), where=scale > 0).tolist()
