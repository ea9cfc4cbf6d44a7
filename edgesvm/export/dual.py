"""What a kernel machine decides by: vectors, coefficients, and in what order they are summed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgesvm.core.constants import LARGEST_NORM
from edgesvm.core.views import TilesView
from edgesvm.export.units import keeps_nonzeros, number
from edgesvm.kernels import RBF, Kernel
from edgesvm.learners.batch.batch import SmoLearner, StoreSVM
from edgesvm.learners.batch.constants import HIDEABLE
from edgesvm.learners.papers.enclosing.enclosing import EnclosingMachine
from edgesvm.learners.papers.incremental.incremental import IncrementalSVM, WindowedSVM
from edgesvm.learners.papers.online.constants import MOST as ONLINE_MOST
from edgesvm.learners.papers.online.online import ExpansionLearner
from edgesvm.learners.papers.randomized.rand_svm import RandSVM
from edgesvm.learners.stream.constants import MAX_SQUARE
from edgesvm.learners.stream.stream import KernelStreamSVM
from edgesvm.learners.twin.exact import MarginSetLearner

Views = Mapping[str, np.ndarray]
SUMS = ("tiles", "twins", "rows", "lanes")  # of floor/dual.h
MOST = sys.float_info.max


@dataclass(frozen=True)
class Dual:
    """sum coef k(row, x) + b, times the sign of the labels."""

    rows: np.ndarray  # (rows, features)
    coef: np.ndarray  # (rows,)
    intercept: float
    sign: int
    kernel: Kernel
    sums: str = "tiles"
    mu: float = 1.0  # what the sum of twins is divided by
    largest_norm: float = MOST  # of k(x, x)
    largest_value: float = 0.0  # 0: any that is finite
    has_intercept: bool = False  # of a sum in order
    normalize: bool = False
    noise: float = 0.0  # what float32 leaves uncertain, and how much of it may be
    most_noise: float = 0.0

    def macros(self, is_scaled: bool) -> str:
        kind, gamma, coef0, degree = self.kernel.code
        given = {
            "VECTORS": len(self.rows),
            "SIGN": self.sign,
            "KIND": int(kind),
            "GAMMA": gamma,
            "COEF0": coef0,
            "DEGREE": degree,
            "SCALED": is_scaled,
            "NORMALIZED": self.normalize,
            "SUM": SUMS.index(self.sums),
            "MU": self.mu,
            "LARGEST_NORM": self.largest_norm,
            "INTERCEPT": self.intercept,
            "HAS_INTERCEPT": self.has_intercept,
            "NOISE": self.noise,
            "MOST_NOISE": self.most_noise,
            # whether kernel values are float64: 2 if it depends on the sample
            "WIDE": self.wide,
        }
        if self.largest_value:
            given["LARGEST_VALUE"] = self.largest_value
        return "\n".join(f"#define ESVM_{name} {number(value)}" for name, value in given.items())

    @property
    def wide(self) -> int:
        if self.noise == 0.0:
            return 0
        return int(self.noise > self.most_noise) if isinstance(self.kernel, RBF) else 2


def dual_of(learner: Any) -> Dual | None:
    """Of a learner alone; None if it decides otherwise."""
    if isinstance(learner, RandSVM):
        learner = learner.solver_
    maker = next((maker for kind, maker in MAKERS.items() if isinstance(learner, kind)), None)
    if maker is None:
        return None
    core = learner.core
    if not learner.takes_labels or getattr(core, "width", core.n_features) > core.n_features:
        return None
    if keeps_nonzeros(learner):
        raise ValueError(
            f"{type(learner).__name__} cannot be exported to C to decide: use it without"
            " max_nonzeros, since C keeps no non-zeros"
        )
    return maker(learner, core, core.views, learner.kernel_for(core.n_features))


def enclosing(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    n = int(views["n_core"])
    given = untiled(views["rows"], n), views["beta"][:n], float(views["intercept"])
    return Dual(*given, core.labels.sign, kernel, normalize=bool(learner.normalize))


def twins(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    n = int(views["n"])
    given = views["vectors"][:n], views["coef"][:n], float(views["b"]), core.labels.sign, kernel
    return Dual(*given, sums="twins", mu=float(views["mu"]), largest_norm=LARGEST_NORM)


def kernel_stream(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    n = int(views["n_held"])
    ended = learner.when_full == "newton" and n == len(views["share"])
    coef = views["share"][:n] * views["sign"][:n]
    given = views["vectors"][:n], coef, 0.0, core.labels.sign, kernel
    return Dual(*given, sums="rows" if ended else "lanes", largest_norm=MAX_SQUARE)


def expansion(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    n, has = int(views["n_held"]), "intercept" in views
    b = float(views["intercept"]) if has else 0.0
    given = views["vectors"][:n], views["coef"][:n], b, core.labels.sign, kernel
    most = ONLINE_MOST * ONLINE_MOST
    limited = Dual(*given, sums="rows", largest_norm=ONLINE_MOST, largest_value=most)
    return replace(limited, has_intercept=has)


def windowed(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    m = core.answering
    coef = views["model_beta"][m][: int(views["n_support"][m])]
    return in_tiles(learner, views["model_rows"][m], coef, float(views["intercept"][m]), kernel)


def incremental(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    n = int(views["n_support"] if views["n_cycles"] else views["n_held"])
    return in_tiles(learner, views["rows"], views["beta"][:n], float(views["intercept"]), kernel)


def store(learner: Any, core: Any, views: Views, kernel: Kernel) -> Dual:
    np.asarray(learner.dual_coef_)  # it solves when it is asked
    coef = views["beta"][: int(views["n_support"])]
    return in_tiles(learner, views["rows"], coef, float(views["intercept"]), kernel)


MAKERS = {
    EnclosingMachine: enclosing,
    MarginSetLearner: twins,
    KernelStreamSVM: kernel_stream,
    ExpansionLearner: expansion,
    WindowedSVM: windowed,
    IncrementalSVM: incremental,
    StoreSVM: store,
}


def in_tiles(
    learner: SmoLearner, tiles: np.ndarray, coef: np.ndarray, b: float, kernel: Kernel
) -> Dual:
    """Of what the solver found, whose sums are float64 where float32 hides too much."""
    rows, sign = untiled(tiles, len(coef)), learner.core.labels.sign
    noise = 0.0
    if rows.dtype == np.float32 and len(rows):
        noise = TilesView(rows).kernel_noise(kernel.code, coef)
    most = HIDEABLE * float(learner.tol)
    return Dual(rows, coef, b, sign, kernel, noise=noise, most_noise=most)


def untiled(tiles: np.ndarray, n: int) -> np.ndarray:
    """The first rows, (n, features), of tiles (tiles, features, lanes)."""
    return np.ascontiguousarray(tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:n])
