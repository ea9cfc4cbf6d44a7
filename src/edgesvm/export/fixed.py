"""A model that learns no more, as tables in flash: a linear one as one vector a value, scaling
included; a kernel machine as its vectors and their coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.export.sources import comment, rows
from edgesvm.export.units import number
from edgesvm.kernels import Linear
from edgesvm.learner import Learner
from edgesvm.preprocessing.robust_standardized import RobustStandardized
from edgesvm.preprocessing.scaler import Scaler


@dataclass(frozen=True)
class Fixed:
    """Numbers of a decision: w.x + b, or the sum of coef k(row, (x - center) inverse) + b."""

    prefix: str
    title: str
    dtype: str
    labels: tuple[Any, ...]  # by class index
    order: tuple[int, ...]
    coef: np.ndarray  # (values, features), or (1, rows)
    intercept: np.ndarray  # (values,)
    rows: np.ndarray | None = None  # (rows, features)
    center: np.ndarray | None = None
    inverse: np.ndarray | None = None
    kernel: str = ""
    n_features: int = 0

    @classmethod
    def of(cls, learner: Learner, prefix: str) -> Fixed:
        """Raises ValueError for a learner whose decision is neither."""
        if not learner.is_fitted:
            raise ValueError("the model has not learned a sample: there is nothing to decide by")
        inner: Any = learner
        center = np.zeros(learner.n_features_in_)
        scale = np.ones_like(center)
        if isinstance(learner, Scaler):
            if isinstance(learner, RobustStandardized) and learner.clip is not None:
                raise ValueError("a RobustStandardized that clips cannot be exported for inference")
            inner, center, scale = learner.learner_, learner.center_, learner.scale_
        # a feature that has not varied counts as 0
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        labels = learner._allocated.labels
        given = (prefix, repr(learner), learner.dtype, labels.in_slots, labels.sorted_slots)
        n_features = learner.n_features_in_
        if hasattr(type(inner), "coef_"):
            w = np.asarray(inner.coef_, float) * inverse
            b = np.asarray(inner.intercept_, float) - w @ center
            return cls(*given, w, b, n_features=n_features)
        held = ("support_vectors_", "vectors_", "twins_")
        vectors = next((getattr(inner, name) for name in held if hasattr(inner, name)), None)
        if vectors is None or not hasattr(inner, "dual_coef_") or not hasattr(inner, "_kernel"):
            raise ValueError(
                f"{type(inner).__name__} cannot be exported for inference: its decision is neither"
                " linear nor a sum over vectors"
            )
        b = np.atleast_1d(np.asarray(getattr(inner, "intercept_", 0.0), float))
        kind, gamma, coef0, degree = inner._kernel(n_features).code
        kernel = f"{{(kernels_KernelKind){int(kind)}, {degree}, {number(gamma)}, {number(coef0)}}}"
        coef = np.asarray(inner.dual_coef_, float)
        if isinstance(inner._kernel(n_features), Linear):
            w = coef @ vectors * inverse
            return cls(*given, np.atleast_2d(w), b - w @ center, n_features=n_features)
        return cls(*given, coef, b, vectors, center, inverse, kernel, n_features)

    @property
    def real(self) -> str:
        return "float" if self.dtype == "float32" else "double"

    @property
    def n_values(self) -> int:
        return len(self.intercept)

    @property
    def n_rows(self) -> int:
        return 0 if self.rows is None else len(self.rows)


def header(model: Fixed) -> str:
    labels = ", ".join(f"{slot} is {y!r}" for slot, y in enumerate(model.labels))
    return HEADER.format(
        p=model.prefix,
        P=model.prefix.upper(),
        title=comment(model.title),
        labels=comment(labels),
        real=model.real,
        n_features=model.n_features,
        n_values=model.n_values,
        n_labels=len(model.labels),
        flash=table_bytes(model),
    )


def table_bytes(model: Fixed) -> int:
    item = 4 if model.dtype == "float32" else 8
    if model.rows is None:
        return item * (model.coef.size + model.n_values)
    return item * (model.rows.size + 2 * model.n_features) + 8 * (model.coef.size + 1)


def source(model: Fixed) -> str:
    p = model.prefix
    parts = [
        f"/* {comment(model.title)}: exported by edgesvm, for inference. */",
        f'#include "{p}.h"\n#define ESVM_IS_FLOAT32 {int(model.dtype == "float32")}',
        '#include "edgesvm/floor.h"\n#include "edgesvm/kernels.h"',
        f"#define ESVM_NAME(f) {p}_##f\n#define ESVM_VALUES {model.n_values}\n"
        f"#define ESVM_FEATURES {model.n_features}\n#define ESVM_N_VECTORS {model.n_rows}",
        f"static const signed char {p}_order[] = {{{', '.join(map(str, model.order))}}};",
    ]
    wide = "esvm_real" if model.rows is None else "double"
    parts.append(table(f"{p}_coef", wide, model.coef, model.dtype))
    parts.append(table(f"{p}_intercept", wide, model.intercept, model.dtype))
    if model.rows is not None:
        for name in ("rows", "center", "inverse"):
            parts.append(table(f"{p}_{name}", "esvm_real", getattr(model, name), model.dtype))
        parts.append(f"#define ESVM_KERNEL {model.kernel}")
    parts.append('#include "edgesvm/fixed.h"')
    return "\n\n".join(parts) + "\n"


def table(name: str, kind: str, numbers: np.ndarray, dtype: str) -> str:
    rounded = numbers.astype(dtype if kind == "esvm_real" else "float64").ravel().tolist()
    suffix = "f" if kind == "esvm_real" and dtype == "float32" else ""
    listed = rows([f"{x.hex()}{suffix}" for x in rounded] or ["0"], 4)
    return f"static const {kind} {name}[] = {{\n{listed}\n}};"


HEADER = """\
/** @file {p}.h
 * {title}
 *
 * For inference: {flash} bytes of tables in flash, no RAM but the stack; it learns no more.
 * Decisions are the host's but for rounding. Of a StreamSVM that normalizes, values are not divided
 * by the sample's length: the sign is the same.
 */
#ifndef EDGESVM_MODEL_{P}_H
#define EDGESVM_MODEL_{P}_H

#ifdef __cplusplus
extern "C" {{
#endif

#define {P}_N_FEATURES {n_features}     /**< numbers of a sample */
#define {P}_N_LABELS {n_labels}         /**< classes */
#define {P}_N_VALUES {n_values}         /**< decision values of a sample */

/** A number of a sample. */
typedef {real} {p}_value;

/** Decide about one sample.
 * @param values  {P}_N_VALUES numbers: positive for the larger label, or one of each label, sorted
 * @return 0, or -1 if a value is not finite
 */
int {p}_decide(const {p}_value *x, double *values);

/** Predict the class of one sample.
 * @param score  the decision value of that class
 * @return the class index ({labels}), or -1 if there is no decision
 */
int {p}_predict(const {p}_value *x, double *score);

#ifdef __cplusplus
}}
#endif
#endif
"""
