"""A model that learns no more, as tables in flash: a linear one as one vector a value, scaling
included, the same but for rounding; a kernel machine as its vectors and their coefficients, to the
bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgesvm.export.dual import MOST, Dual, dual_of
from edgesvm.export.sources import (
    SIZES,
    VALUE,
    Model,
    comment,
    named,
    rows,
    sorted_labels,
    windows_header,
    windows_source,
)
from edgesvm.export.units import Unit, number
from edgesvm.kernels import Linear
from edgesvm.learner import Learner
from edgesvm.learners.fourier.constants import SETTLED
from edgesvm.learners.kinds import tracked_in
from edgesvm.preprocessing.standardized import Standardized


@dataclass(frozen=True)
class Fixed:
    """Numbers of a linear decision, w.x + b of the sample as it is, or of a `Dual`."""

    prefix: str
    title: str
    dtype: str
    labels: tuple[Any, ...]  # by class index, sorted
    only: int  # class index of the only one that was ever seen, or -1
    coef: np.ndarray  # (values, features), or (rows,)
    intercept: np.ndarray  # (values,)
    n_features: int
    dual: Dual | None = None
    center: np.ndarray | None = None  # of a dual machine behind a standardizer
    scale: np.ndarray | None = None
    clip: float = math.inf  # of a scaled value
    limits: np.ndarray | None = None  # (2, features): of a linear machine's sample
    windows: Unit | None = None  # ahead of a chain's learner
    means: np.ndarray | None = None  # (features,): what NaN counts as, if it is not refused
    target: Mapping[str, float] | None = None  # of a regressor, as floor/line.h names its numbers
    names: tuple[str, ...] = ()  # of the features, or of the channels of windows

    @classmethod
    def of(cls, learner: Learner, prefix: str) -> Fixed | None:
        """None for a learner whose decision is neither."""
        if learner.regresses and not learner.forecasts:
            return None
        core = learner.core
        labels, per_class = core.labels, core.views["n_per_class"]
        target = target_of(learner) if learner.regresses else None
        only = -1
        if len(per_class) == 2 and not per_class.all():
            only = labels.sorted_slots.index(int(per_class.argmax()))
        given = (prefix, repr(learner), learner.dtype, sorted_labels(labels), only)
        n_features = learner.n_features_in_
        outer: Any = learner
        inner: Any = outer.learner_ if isinstance(learner, Standardized) else learner
        clip = math.inf if getattr(outer, "clip", None) is None else float(outer.clip)
        means = outer.center_ if getattr(outer, "missing", None) == "mean" else None
        linear = _linear(inner)
        if linear is not None:
            center, scale = np.zeros(n_features), np.ones(n_features)
            if inner is not learner:
                center, scale = outer.center_, outer.scale_
            # a feature that has not varied counts as 0
            inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
            w = linear[0] * inverse
            limits = None if clip == math.inf else center + np.outer([-clip, clip], scale)
            b = linear[1] - w @ center
            return cls(*given, w, b, n_features, limits=limits, means=means, target=target)
        if inner is not learner and not isinstance(learner, Standardized):
            return None
        dual = dual_of(inner)
        if dual is None:
            return None
        whole = cls(*given, dual.coef, np.array([dual.intercept]), n_features, dual)
        if inner is learner:
            return whole
        share = 1.0 / outer.n_scaled_
        scale = np.sqrt(core.views["spread"] * share)
        return replace(whole, center=outer.mean_, scale=scale, clip=clip, means=means)

    @property
    def real(self) -> str:
        return "float" if self.dtype == "float32" else "double"

    @property
    def n_values(self) -> int:
        return len(self.intercept)

    @property
    def regresses(self) -> bool:
        return self.target is not None


def _linear(learner: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Weights (values, features) and intercepts; of a regressor, in deviations of the target."""
    w: Any
    b: Any
    if learner.regresses:
        if not hasattr(type(learner), "coef_"):
            return None
        w, b = np.split(learner.core.views["w"], [-1])
    elif hasattr(type(learner), "coef_"):
        w, b = learner.coef_, learner.intercept_
    else:
        dual = dual_of(learner)
        if dual is None or dual.normalize or not isinstance(dual.kernel, Linear):
            return None
        share = dual.sign / dual.mu
        w, b = share * (dual.coef @ dual.rows), share * dual.intercept
    return np.atleast_2d(np.asarray(w, float)), np.atleast_1d(np.asarray(b, float))


def target_of(learner: Any) -> dict[str, float]:
    """What of a regressor's target `floor/line.h` asks for."""
    core = tracked_in(learner.core)
    mean, spread, least, most = map(float, core.views["target"][:4])
    n = int(core.views["n_per_class"][0])
    if n < SETTLED:
        least, most = -MOST, MOST
    size, below, above = core.views["interval"][0].tolist()
    return {
        "MEAN": mean,
        "DEVIATION": math.sqrt(spread / n) if spread > 0 else 1.0,
        "LEAST": least,
        "MOST": most,
        "BELOW": below * size,
        "ABOVE": above * size,
    }


def header(model: Fixed) -> str:
    note = TO_THE_BIT
    if model.dual is None:
        note = BUT_FOR_ROUNDING + ("" if model.regresses else NOT_DIVIDED)
    return header_of(model, table_bytes(model), "no RAM but the stack", note)


def header_of(model: Fixed | Model, flash: int, ram: str, note: str, more: str = "") -> str:
    """The text of NAME.h"""
    if model.regresses:
        functions = TARGETS.format(p=model.prefix)
        sizes = ""
    else:
        functions, sizes = labelled(model)
    return HEADER.format(
        p=model.prefix,
        P=model.prefix.upper(),
        title=comment(model.title),
        value=VALUE.format(p=model.prefix, real=model.real),
        n_features=model.n_features,
        sizes=sizes,
        flash=flash,
        ram=ram,
        note=note,
        functions=functions + more + windows_header(model.prefix, model.windows),
        names=named(model.prefix, model.labels, model.names),
    )


def labelled(model: Fixed | Model) -> tuple[str, str]:
    """The functions that predict labels, and how many numbers they have."""
    listed = ", ".join(f"{index} is {y!r}" for index, y in enumerate(model.labels)) or "1 is normal"
    p, P = model.prefix, model.prefix.upper()
    n_labels = max(len(model.labels), 1)
    functions = CLASSES.format(p=p, P=P, labels=comment(listed))
    return functions, SIZES.format(P=P, n_labels=n_labels, n_values=model.n_values)


def table_bytes(model: Fixed) -> int:
    item = 4 if model.dtype == "float32" else 8
    if model.dual is None:
        limits = 0 if model.limits is None else model.limits.size
        means = 0 if model.means is None else model.means.size
        return item * (model.coef.size + model.n_values + limits + means)
    ahead = 0 if model.center is None else 16 * model.n_features
    return item * model.dual.rows.size + 8 * model.coef.size + ahead


def source(model: Fixed) -> str:
    p, dual = model.prefix, model.dual
    parts = [
        f"/* {comment(model.title)}: exported by edgesvm, for inference. */",
        f'#include "{p}.h"\n#define ESVM_IS_FLOAT32 {int(model.dtype == "float32")}',
        '#include "edgesvm/floor.h"',
        f"#define ESVM_NAME(f) {p}_##f\n#define ESVM_VALUES {model.n_values}\n"
        f"#define ESVM_FEATURES {model.n_features}\n#define ESVM_ONLY ({model.only})",
    ]
    parts[-1] += f"\n#define ESVM_STANDS_NAN {int(model.means is not None)}"
    wide = "esvm_real" if dual is None else "double"
    parts.append(table(f"{p}_coef", wide, model.coef, model.dtype))
    if dual is None:
        parts.append(table(f"{p}_intercept", wide, model.intercept, model.dtype))
        parts.append(f"#define ESVM_LIMITED {int(model.limits is not None)}")
        if model.limits is not None:
            parts.append(table(f"{p}_limits", wide, model.limits, model.dtype))
        if model.means is not None:
            parts.append(table(f"{p}_means", wide, model.means, model.dtype))
        parts.append('#define ESVM_FOLDED\n#include "edgesvm/folded.h"')
    else:
        parts.append(table(f"{p}_rows", "esvm_real", dual.rows, model.dtype))
        for name, numbers in (("center", model.center), ("scale", model.scale)):
            if numbers is not None:
                parts.append(table(f"{p}_{name}", "double", numbers, model.dtype))
        parts.append(dual.macros(model.center is not None))
        parts.append(f"#define ESVM_CLIP {number(model.clip)}")
        parts.append('#include "edgesvm/dual.h"')
    if model.target is not None:
        parts += [f"#define ESVM_{name} {number(value)}" for name, value in model.target.items()]
    of_what = "fixed" if model.target is None else "line"
    parts.append(f'#include "edgesvm/{of_what}.h"')
    parts += windows_source(model.windows)
    return "\n\n".join(parts) + "\n"


def table(name: str, kind: str, numbers: np.ndarray, dtype: str) -> str:
    rounded = numbers.astype(dtype if kind == "esvm_real" else "float64").ravel().tolist()
    suffix = "f" if kind == "esvm_real" and dtype == "float32" else ""
    listed = rows([f"{x!r}{suffix}" for x in rounded] or ["0"], 4)
    return f"static const {kind} {name}[] = {{\n{listed}\n}};"


TO_THE_BIT = "Decisions are the host's to the bit."
BUT_FOR_ROUNDING = "Decisions are the host's but for rounding."
NOT_DIVIDED = """\
 Of a StreamSVM that normalizes, values are not divided
 * by the sample's length: the sign is the same."""

HEADER = """\
/** @file {p}.h
 * {title}
 *
 * For inference: {flash} bytes of tables in flash, {ram}; it learns no more.
 * {note}
 */
#ifndef EDGESVM_MODEL_{P}_H
#define EDGESVM_MODEL_{P}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define {P}_N_FEATURES {n_features}     /**< numbers of a sample */
{sizes}{names}
{value}
{functions}\
#ifdef __cplusplus
}}
#endif
#endif
"""

CLASSES = """\
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

"""

TARGETS = """\
/** Predict the target of one sample.
 * @return 0, or -1 if a value is not finite
 */
int {p}_predict(const {p}_value *x, double *value);

/** The interval of that prediction.
 * @param out  its low and high end
 * @return as {p}_predict
 */
int {p}_interval(const {p}_value *x, double out[2]);

"""
