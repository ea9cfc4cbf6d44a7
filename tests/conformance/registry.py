"""Every learner; all of tests/conformance runs on each entry.

A learner of the catalogue that has no `entry(...)` here gets one with a small capacity; more lines
try more of its parameters. What takes raw samples is in a list of its own: it has no decision about
a row, but memory, snapshots and streams like any learner. Parameters are small, so that every
branch (full store, flush, merge, eviction) is reached within a few hundred samples.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from edgesvm import (
    RBF,
    BatchSVM,
    ByteSVM,
    Chain,
    ClockFeatures,
    FourierSVM,
    GaussianNovelty,
    KernelNovelty,
    KernelStreamSVM,
    Linear,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    ReservoirSVM,
    Standardized,
    StreamSVM,
    WindowFeatures,
    catalogue,
)
from edgesvm.catalogue import CATALOGUE, MODULE_OF
from edgesvm.contract.registry import kind_of
from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Wrapper
from reference.windows import WEEK

LABELS = (-1, 1, 4, 9)  # of a stream, as many as an entry has classes
DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Registered:
    """A learner with parameters, and how far its compiled core may stray from its NumPy twin."""

    name: str
    kind: type[Learner]
    params: Mapping[str, Any] = field(default_factory=dict)
    n_features: int = 5
    n_classes: int = 2
    wrapper: type[Learner] | None = None  # Standardized, RandSVM: the learner is its parameter
    around: Mapping[str, Any] = field(default_factory=dict)  # the wrapper's other parameters
    outer: type[Learner] | None = None  # one more around the wrapper, its parameter "learner"
    by_label: bool = False  # a parameter names labels of the stream: others have other effects
    one_pass: bool = True  # `fit` is `reset` and `partial_fit`
    tuned: str = "C"  # a parameter that is a number > 0; "" if it has none
    dtypes: tuple[str, ...] = DTYPES  # that the learner has
    # counts of the way to a solution, which the last bit of float32 decides where steps leave two
    # values level
    by_rounding: tuple[str, ...] = ("n_iter",)
    by_rounding_in: tuple[str, ...] = ("float32",)
    # relative, of decision values; the twin sums in another order
    twin_rtol: Mapping[str, float] = field(
        default_factory=lambda: {"float32": 2e-3, "float64": 1e-9}
    )

    def make(self, dtype: str = "float32", engine: str = "compiled", **changes: Any) -> Any:
        """A new learner that holds nothing yet."""
        params = {"dtype": dtype, **self.params, **changes}
        return self._whole(params, engine)

    def _whole(self, params: dict[str, Any], engine: str = "compiled") -> Any:
        """The learner with all that is around it; the outermost decides the engine."""
        kinds = [kind for kind in (self.kind, self.wrapper, self.outer) if kind is not None]
        kinds[-1] = on(engine, kinds[-1])
        around = dict(self.around)
        if self.sized is not self.kind and self.capacity in params:
            around[self.capacity] = params.pop(self.capacity)
        learner = kinds[0](**params)
        for kind, own in zip(kinds[1:], (around, {}), strict=False):
            learner = kind(**{kind._param_names()[0]: learner}, **own)
        return learner

    def within(self, budget: Any, dtype: str, **changes: Any) -> Any:
        """The learner of the largest capacity that fits; of the entry's capacity where named."""
        params = {"dtype": dtype, **self.params, **changes}
        fixed = self.capacity in changes
        if not fixed:
            params.pop(self.capacity, None)
        if self.wrapper is None:
            return self.kind.within(budget, self.n_features, **params)
        learner = self._whole(params)
        return learner.fitted_into(budget, self.n_features, fixed=fixed)

    @property
    def family(self) -> tuple[type[Learner] | None, ...]:
        """What is wrapped in what."""
        return self.kind, self.wrapper, self.outer

    @property
    def argument(self) -> str:
        """Under which name the learner of `kind` is a parameter of the whole; "" where it is it."""
        names = [kind._param_names()[0] for kind in (self.outer, self.wrapper) if kind is not None]
        return "__".join(names)

    @property
    def takes_more(self) -> bool:
        """Whether more classes than the stream has may be learned."""
        return (
            self.kind is ByteSVM
            and self.wrapper not in {OneVsOne, OneVsRest}
            and "n_classes" not in self.params
        )

    @property
    def unread(self) -> set[str]:
        """Parameters that do not matter in this setting, or are given."""
        degree = set() if self.params.get("kernel") == "poly" else {"degree"}
        return degree | {"n_classes"} & self.params.keys()

    @property
    def grows(self) -> bool:
        """Whether classes are added as they come, in the order of the stream."""
        return self.takes_more and self.wrapper is None

    @property
    def squares(self) -> bool:
        """Whether a number is refused whose square overflows."""
        return self.kind is not ByteSVM or self.wrapper is Standardized

    def taught(self, learner: Any, X: np.ndarray, y: Any) -> Any:
        return learner.partial_fit(X, y)

    def used(self, learner: Any) -> None:
        """Predict and learn a little; numbers near the largest are refused by name, as ever."""
        X, y = self.stream(8, learner.dtype)
        if not self.regresses:
            labels = learner.classes_.tolist() or [0, 1]
            y = [labels[int(label > 0) % len(labels)] for label in y]
        if learner.n_features_in_ == X.shape[1]:
            for row, one in zip(X, y, strict=True):
                with contextlib.suppress(ValueError):
                    learner.learn_one(row, one)
                    answer(learner, row)

    def inner(self, learner: Any) -> Any:
        """The learner of `kind`: the one wrapped, or `learner` itself."""
        return learner.get_params()[self.argument] if self.argument else learner

    @property
    def sized(self) -> type[Learner]:
        """The class that has the capacity: the wrapper, if it has one of its own."""
        return self.wrapper if self.wrapper is not None and self.wrapper._capacity else self.kind

    @property
    def capacity(self) -> str:
        """The parameter that is made as large as fits; "" if there is none."""
        return self.sized._capacity

    def capacity_of(self, learner: Any) -> int:
        if not self.capacity:
            return 0
        sized = self.inner(learner)
        if self.sized is not self.kind:
            sized = learner if self.outer is None else learner.get_params()["learner"]
        return getattr(sized, self.capacity)

    def named(self, **params: Any) -> dict[str, Any]:
        """Parameters of `kind` by the names under which the whole learner has them."""
        return (
            params
            if self.wrapper is None
            else {f"{self.argument}__{k}": v for k, v in params.items()}
        )

    @property
    def forecasts(self) -> bool:
        """Whether it is a regressor of a stream."""
        return self.kind.forecasts

    @property
    def regresses(self) -> bool:
        """Whether what it learns are numbers."""
        return self.kind.regresses

    @property
    def labels(self) -> tuple[int, ...] | None:
        """Of a stream; None: its targets are numbers."""
        return None if self.regresses else LABELS[: self.n_classes]

    @property
    def no_label(self) -> float:
        """What is refused as a label after a stream, or as a target."""
        return np.nan if self.regresses else 5

    @property
    def stands_nan(self) -> bool:
        """Whether a feature that is NaN counts as the mean; an infinite one is refused by all."""
        return self.around.get("missing") == "mean"

    @property
    def least_score(self) -> float:
        """What learning nothing does not reach: of two classes that is at one half, of targets at
        zero."""
        return 0.3 if self.regresses else 1.2 / self.n_classes

    def stream(self, n: int, dtype: str = "float32", seed: int = 1) -> tuple[np.ndarray, Any]:
        """n samples in order: overlapping clouds whose means drift, labels -1 and 1, and so on; of
        a regressor a smooth function of features that drift, and noise."""
        rng = np.random.default_rng([seed, n])
        if self.regresses:
            drift = np.sin(np.arange(n) / 40.0)[:, None]
            X = (rng.standard_normal((n, self.n_features)) + 0.5 * drift).astype(dtype)
            y = 20.0 + 3.0 * X[:, 0] + np.sin(2.0 * X[:, 1]) - X[:, 2]
            return X, y + 0.3 * rng.standard_normal(n)
        y = rng.choice(self.labels, n)
        centre = np.linspace(0.3, 1.0, self.n_features)
        across = 2.0 * centre * (-1.0) ** np.arange(self.n_features)
        centres = np.stack([-centre, centre, across, -across])
        drift = np.sin(np.arange(n) / 40.0)[:, None]
        places = centres[np.searchsorted(self.labels, y)]
        X = rng.standard_normal((n, self.n_features)) + places + 0.5 * drift
        return X.astype(dtype), y

    def renamed(self, y: Any, words: Any) -> list[Any]:
        """Labels of a stream, the lowest replaced by the first of `words`, the next by the second;
        a list, so that no NumPy type is forced upon them. Targets stay."""
        return y.tolist() if self.regresses else [words[i] for i in np.searchsorted(self.labels, y)]


@dataclass(frozen=True)
class RegisteredRaw:
    """`WindowFeatures` or `ClockFeatures`, or the `Chain` of them and a learner: what takes raw
    samples."""

    name: str
    windows: Mapping[str, Any]
    learner: Learner | None = None  # None: windows alone
    label: str = "majority"
    kind: type[Any] = WindowFeatures
    n_features: int = 3  # channels
    n_classes: int = 2
    dtypes: tuple[str, ...] = DTYPES
    takes_more = False  # as of Registered

    @property
    def family(self) -> tuple[Any, ...]:
        return (self.kind if self.learner is None else Chain,)

    def make(self, dtype: str = "float32", **changes: Any) -> Any:
        """New ones that hold nothing yet."""
        params = {"dtype": dtype, **self.windows, **changes}
        if self.learner is None:
            return self.kind(**params)
        learner = self.learner.like_new()
        learner.set_params(**{k: dtype for k in learner.get_params() if k.endswith("dtype")})
        windows = self.kind(**params)
        return Chain(windows=windows, learner=learner, label=self.label)

    def stream(self, n: int, dtype: str = "float32", seed: int = 1) -> tuple[np.ndarray, Any]:
        """n raw samples in order: a tone of each label for a while, on an offset, with noise."""
        rng = np.random.default_rng([seed, n])
        y = np.repeat(rng.integers(0, self.n_classes, n // 30 + 1), 30)[:n]
        tone = np.sin(2 * np.pi * np.array([3, 12, 25])[y] * np.arange(n) / 100.0)
        noise = rng.standard_normal((n, self.n_features))
        return self.timed(
            (tone[:, None] + 0.3 * noise + np.arange(self.n_features)).astype(dtype)
        ), y

    def timed(self, X: np.ndarray) -> np.ndarray:
        """Raw samples, the last channel the time where that is wanted: one every half hour."""
        if self.kind is ClockFeatures:
            X[:, -1] = 1800 * np.arange(len(X)) % WEEK
        return X

    def pushed(self, model: Any, X: np.ndarray, y: Any) -> list[bytes]:
        """Push raw samples; what came back of each complete window, as bytes."""
        if self.learner is None:
            return [row.tobytes() for x in X if (row := model.push(x)) is not None]
        pushed = (model.push(x, label) for x, label in zip(X, y.tolist(), strict=True))
        return [repr(answer).encode() for answer in pushed if answer is not None]

    def taught(self, model: Any, X: np.ndarray, y: Any) -> Any:
        self.pushed(model, X, np.asarray(y))
        return model

    def used(self, model: Any) -> None:
        """Go on for two windows; what a learner behind refuses, it refuses by name."""
        windows = getattr(model, "windows_", model)
        n_channels = windows._core.n_channels
        if windows.window > 1000:
            return
        X, _ = self.stream(2 * windows.window, windows.dtype)
        for x in np.resize(X, (len(X), n_channels)):
            with contextlib.suppress(SampleRefused):
                model.push(x)


def on(engine: str, kind: type[Any]) -> type[Any]:
    """`kind` on the compiled core, or on its NumPy twin."""
    return kind if engine == "compiled" else type(kind.__name__, (kind,), {"_engine": engine})


def decides(learner: Any) -> Any:
    """The method that gives what a learner decides about rows: decision values, or targets."""
    return learner.predict if learner.regresses else learner.decision_function


def answers(learner: Any, X: Any) -> np.ndarray:
    """All that a learner says of rows: decision values, or targets; of a regressor of a stream the
    target and the ends of its interval, and both as a forecast, ndarray of shape (n, 6)."""
    if not learner.forecasts:
        return decides(learner)(X)
    plain = learner.predict(X), learner.predict_interval(X)
    rows = X if isinstance(X, (np.ndarray, list)) else X.toarray()
    return np.column_stack([*plain, np.reshape([learner.forecast_one(x) for x in rows], (-1, 3))])


def answer(learner: Any, x: Any) -> Any:
    """`answers` of one sample: a float, or several."""
    if not learner.forecasts:
        return learner.predict_one(x) if learner.regresses else learner.decision_one(x)
    return (learner.predict_one(x), *learner.predict_interval_one(x), *learner.forecast_one(x))


def predicted(learner: Any, answers: np.ndarray) -> np.ndarray:
    """What `predict` says of rows, by their answers."""
    if learner.regresses:
        return answers[:, 0] if learner.forecasts else answers
    best = answers > 0 if answers.ndim == 1 else answers.argmax(axis=1)
    return learner.classes_[best.astype(int)]


def labels_of(learner: Any) -> list[Any]:
    """The labels that it has seen; a regressor has none."""
    return [] if learner.regresses else learner.classes_.tolist()


def one_sample_methods(learner: Any) -> dict[str, int]:
    """The methods that answer about one sample; to how many numbers each writes into an array of
    the caller's, 0: it has none."""
    if learner.regresses:
        forecasting = {"forecast_one": 0, "predict_interval_one": 0} if learner.forecasts else {}
        return {"predict_one": 0} | forecasting
    n_classes = len(learner.classes_)
    probable = {"predict_proba_one": n_classes} if hasattr(learner, "predict_proba") else {}
    values = {"decision_one": n_classes if n_classes > 2 else 0}
    return {"predict_one": 0, "predict_with_score": 0} | values | probable


def every_array(learner: Any) -> dict[str, np.ndarray]:
    """The arrays of a learner's arena by name, those of its parts too."""
    memory = learner.arena.memory
    return {
        a.name: memory[a.offset : a.offset + a.nbytes].view(a.dtype).reshape(a.shape)
        for a in learner.plan(learner.n_features_in_).leaves()
    }


def settings(learner: Learner) -> dict[str, Any]:
    """All parameters that are values, those of a wrapped learner among them."""
    return {k: v for k, v in learner.get_params().items() if not isinstance(v, Learner)}


# A step of the solver leaves two gradients level; started from coefficients that are not round
# numbers, rounding picks the next one in float64 too.
RETRAINED: dict[str, Any] = {
    "n_features": 3,
    "by_rounding_in": DTYPES,
    "twin_rtol": {"float32": 2e-3, "float64": 1e-5},
}
RETRAINS: dict[str, Any] = {"tol": 1e-7, "cache": 256}

# Coefficients are not unique, or two steps of a path are level.
BY_PATH: dict[str, Any] = {
    "by_rounding": ("n_path_events", "n_exchanges", "m", "S", "state"),
    "by_rounding_in": DTYPES,
}
PARTS = {n: {"n_classes": n, "around": {"n_classes": n}} for n in (2, 3, 4)}
STORE: dict[str, Any] = {
    **{"max_samples": 16, "when_full": "oldest", "cache": 128, "gamma": 0.3, "C": 3.0},
}
# as many non-zeros as so many rows of 37 features can have: none is refused
STORE_NONZEROS: dict[str, Any] = {"max_samples": 16, "when_full": "oldest", "max_nonzeros": 592}

# Kernel rows are float32 in either dtype, and a point is taken or not by their last bit.
ENCLOSING: dict[str, Any] = {
    "by_rounding_in": DTYPES,
    "twin_rtol": {"float32": 2e-3, "float64": 1e-5},
    "one_pass": False,
}
# room for half of the rows that max_core is: which limit is reached first is left open
ENCLOSING_NONZEROS: dict[str, Any] = {"n_probes": 3, "max_core": 14, "C": 3.0, "max_nonzeros": 300}
SOLVED_TO_EPSILON = ENCLOSING | {"twin_rtol": {"float32": 5e-3, "float64": 2e-3}}

SETTLES: dict[str, Any] = {"max_twins": 9, "gamma": 0.3, "settle_after": 60}
# Cosines are right to 1e-7.
WAVES: dict[str, Any] = {
    "tuned": "learning_rate",
    "twin_rtol": {"float32": 2e-3, "float64": 1e-5},
}
# Integers only: the twin has the same bytes, and samples are float32.
BYTES: dict[str, Any] = {"tuned": "", "dtypes": ("float32",), "twin_rtol": {"float32": 0.0}}
CALIBRATED_BYTES = BYTES | {"twin_rtol": {"float32": 1e-12}}


def entry(
    name: str, options: Mapping[str, Any] = MappingProxyType({}), **params: Any
) -> Registered:
    """An entry of the classes that its name says, the outermost first; of StreamSVM where it says
    only what is around a learner."""
    kinds = [kind_of(word) for word in name.split("-") if word in MODULE_OF]
    around = [kind for kind in kinds if issubclass(kind, Wrapper)]
    [learner] = [kind for kind in kinds if kind not in around] or [StreamSVM]
    found = dict(zip(("wrapper", "outer"), reversed(around), strict=False))
    found |= {"kind": learner, "n_classes": params.get("n_classes", 2)}
    return Registered(name, params=params, **found | options)


# fmt: off
REGISTERED = [
    entry("StreamSVM"),
    entry("StreamSVM-lower", average=False, C=0.1),
    entry("StreamSVM-upper", bound="upper", average=False),
    entry("StreamSVM-paper", bound="upper", slack="paper", C=10.0),
    entry("StreamSVM-balanced", class_weight="balanced"),
    entry("StreamSVM-wide", {"n_features": 37}, normalize=True, fit_intercept=True),
    entry("StreamSVM-balls", bound="upper", n_balls=3, fit_intercept=True),
    entry("StreamSVM-balls-reach", bound="upper", n_balls=3, join="reach"),
    entry("StreamSVM-balls-lower", n_balls=4, bound="lower"),
    entry("StreamSVM-lookahead", bound="upper", lookahead=4),
    entry("StreamSVM-lookahead-lower", lookahead=5, bound="lower"),
    entry("KernelStreamSVM", max_vectors=12, gamma=0.5),
    entry("KernelStreamSVM-upper", max_vectors=12, gamma=0.5, bound="upper", when_full="share"),
    entry("KernelStreamSVM-lower", max_vectors=7, kernel=RBF(0.3), when_full="share"),
    entry("KernelStreamSVM-poly", max_vectors=6, kernel="poly", degree=2, forgetting=5),
    entry("KernelStreamSVM-linear", max_vectors=4, kernel=Linear()),
    entry("BatchSVM", **STORE),
    entry("BatchSVR", **STORE),
    entry("BatchSVM-linear", {"n_features": 3}, max_samples=13, when_full="oldest", cache="1KiB",
          kernel=Linear()),
    entry("BatchSVM-nonzeros", **STORE_NONZEROS, cache=128, gamma=0.3, C=3.0),
    entry("BatchSVM-nonzeros-linear", **STORE_NONZEROS, kernel=Linear(), tol=1e-6, max_iter=20_000),
    entry("ReservoirSVM", {"n_features": 3}, max_samples=16, cache=128, kernel="poly", degree=2,
          gamma=0.2, seed=3),
    entry("IncrementalSVM", RETRAINED, max_vectors=12, batch_size=9, gamma=0.3, **RETRAINS),
    entry("IncrementalSVM-errors", RETRAINED, scheme="error_driven", max_vectors=14, batch_size=5,
          kernel=RBF(0.5), C=4.0, **RETRAINS),
    entry("IncrementalSVM-active", RETRAINED, scheme="active", errors_kept=0.9, correct_kept=0.3,
          seed=3, max_vectors=14, batch_size=6, kernel=RBF(0.5), **RETRAINS),
    entry("WindowedSVM", RETRAINED, window=2, scheme="exceeding_margin_errors", max_vectors=9,
          batch_size=11, kernel=RBF(0.3), **RETRAINS),
    entry("TwinVectorMachine", max_twins=9, gamma=0.3),
    entry("SharedTwinSVM", {"tuned": "r"}, **SETTLES),
    entry("SharedTwinSVM-classes", {"tuned": "r"}, **SETTLES, n_classes=4, kernel="poly", degree=2),
    entry("TwinVectorMachine-feature", max_twins=7, kernel=RBF(0.2), merge="feature",
          merge_side="global", C=5.0, forgetting=8),
    entry("TwinVectorMachine-narrow", max_twins=12, kernel="poly", degree=2, gamma=0.2,
          max_margin=3, C=10.0),
    entry("TwinVectorMachine-linear", {"n_features": 3, **BY_PATH}, max_twins=10, kernel=Linear(),
          C=10.0, rejection=False),
    entry("IncrementalDecrementalSVM", max_vectors=18, gamma=0.2),
    entry("IncrementalDecrementalSVR", BY_PATH, max_vectors=18, gamma=0.2),
    entry("IncrementalDecrementalSVM-ignore", max_vectors=20, kernel=RBF(0.1), when_full="ignore",
          max_margin=4),
    entry("SimpleSVM", {"one_pass": False}, max_vectors=24, gamma=0.2),
    entry("SimpleSVM-linear", {"n_features": 3, **BY_PATH, "one_pass": False}, max_vectors=60,
          kernel=Linear(), C=0.5, when_full="ignore"),
    entry("RandSVM", {"kind": BatchSVM, "around": {"max_passes": 3, "seed": 5}, "one_pass": False},
          **STORE),
    entry("RandSVM-nonzeros",
          {"kind": BatchSVM, "around": {"k": 12, "max_passes": 3, "seed": 5}, "one_pass": False},
          **STORE_NONZEROS, kernel=Linear(), max_iter=20_000),
    entry("RandSVM-reservoir",
          {"kind": ReservoirSVM, "n_features": 3, "around": {"k": 12, "c": 1.0, "max_passes": 2},
           "one_pass": False}, max_samples=10, cache=128, kernel=Linear(), seed=3, max_iter=20_000),
    entry("BallVectorMachine", ENCLOSING, n_probes=3, max_core=14, gamma=0.3, epsilon=1e-3, C=3.0),
    entry("BallVectorMachine-poly", ENCLOSING, n_probes=5, max_core=40, kernel="poly", degree=3,
          normalize=True, shrink=False, epsilon=0.01, C=0.1),
    entry("CoreVectorMachine", SOLVED_TO_EPSILON, n_probes=3, max_core=14, gamma=0.3, epsilon=1e-6,
          C=3.0),
    entry("CoreVectorMachine-linear", SOLVED_TO_EPSILON | {"n_features": 3}, n_probes=3,
          max_core=10, kernel=Linear(), normalize=True, epsilon=1e-6),
    entry("CoreVectorMachine-normalised", SOLVED_TO_EPSILON, n_probes=3, max_core=30,
          kernel="poly", normalize="kernel", bulk=False, epsilon=1e-6),
    entry("BallVectorMachine-nonzeros", ENCLOSING, **ENCLOSING_NONZEROS, gamma=0.3, epsilon=1e-3),
    entry("CoreVectorMachine-nonzeros", SOLVED_TO_EPSILON, **ENCLOSING_NONZEROS, kernel=Linear(),
          normalize=True, epsilon=1e-6),
    entry("Perceptron", {"tuned": ""}),
    entry("PassiveAggressive", C=0.3),
    entry("PassiveAggressive-II", variant="PA-II", C=0.2, fit_intercept=False),
    entry("PassiveAggressive-wide", {"n_features": 37}, variant="PA"),
    entry("Pegasos", {"tuned": "lambda_"}, lambda_=0.05),
    entry("Pegasos-batch", {"tuned": "lambda_"}, lambda_=0.01, batch_size=7, project=True),
    entry("KernelPerceptron", {"tuned": "gamma"}, max_vectors=12, gamma=0.3, when_full="random",
          seed=3),
    entry("KernelPerceptron-oldest", {"tuned": "gamma"}, max_vectors=9, kernel="poly", degree=2,
          gamma=0.2, when_full="oldest"),
    entry("Forgetron", {"tuned": "gamma"}, max_vectors=12, gamma=0.3),
    entry("LASVM", max_vectors=30, gamma=0.3, C=1.0),
    entry("LASVM-linear", {"n_features": 3}, max_vectors=60, kernel=Linear(), C=0.5, tau=1e-6),
    entry("Standardized", bound="lower", C=10.0),
    entry("Standardized-until", {"around": {"until": 120}}, bound="lower", C=10.0),
    entry("Standardized-lookahead", {"n_features": 8}, lookahead=4),
    entry("Standardized-KernelStreamSVM", max_vectors=12, gamma=0.1, bound="lower"),
    entry("Standardized-TwinVectorMachine", max_twins=8, gamma=0.1),
    entry("FourierSVM", WAVES, n_directions=70),
    entry("FourierSVM-logistic", WAVES | {"n_features": 3}, n_directions=9, loss="logistic"),
    entry("FourierSVM-classes", WAVES, n_directions=12, n_classes=4, gamma=0.2),
    entry("Standardized-FourierSVM", WAVES, n_directions=20),
    entry("FourierSVM-orthogonal", WAVES | {"n_features": 37}, n_directions=70,
          directions="orthogonal"),
    entry("ByteSVM", BYTES, n_bytes=900),
    entry("ByteSVM-classes", BYTES, n_classes=4),
    entry("ByteSVM-grows", BYTES | {"n_features": 8, "n_classes": 4}, n_bytes=6150),
    entry("ByteSVM-fills", BYTES | {"n_features": 8, "n_classes": 4}, n_bytes=200, scale="common"),
    entry("ByteSVM-common", BYTES | {"n_features": 37, "n_classes": 3}, n_bytes=400,
          scale="common", class_weight="balanced"),
    entry("ByteSVM-fixed", BYTES | {"n_features": 3}, n_bytes=700, learn_directions=False),
    entry("Standardized-ByteSVM", BYTES, n_bytes=500),
    entry("OneVsOne-ByteSVM", PARTS[3] | BYTES, n_bytes=300),
    entry("AdaGradSVM", {"tuned": "learning_rate"}),
    entry("AdaGradSVR", {"tuned": "learning_rate"}),
    entry("FourierSVR", WAVES, n_directions=70),
    entry("FourierSVR-pinball", WAVES | {"n_features": 3}, n_directions=9, loss="pinball",
          quantile=0.8, gamma=0.5),
    entry("FourierSVR-orthogonal", WAVES | {"n_features": 17}, n_directions=20, loss="epsilon",
          directions="orthogonal", label_delay=3),
    entry("FourierRLS", WAVES | {"tuned": "forgetting"}, n_directions=9),
    entry("FourierRLS-orthogonal", WAVES | {"tuned": "", "n_features": 3}, n_directions=67,
          loss="squared", directions="orthogonal", label_delay=2),
    entry("Standardized-FourierSVR", WAVES | {"around": {"missing": "mean"}}, n_directions=20),
    entry("AdaGradSVM-classes", {"tuned": "learning_rate"}, n_classes=4, loss="logistic"),
    entry("Calibrated", C=10.0),
    entry("Calibrated-cost",
          {"kind": PassiveAggressive, "around": {"cost": {-1: 3.0}}, "by_label": True}, C=0.3,
          class_weight="balanced"),
    entry("Calibrated-recall",
          {"kind": KernelStreamSVM, "around": {"min_recall": {1: 0.9}}, "by_label": True},
          max_vectors=12, gamma=0.5),
    entry("Calibrated-sets", {"around": {"coverage": 0.8}}, C=10.0),
    entry("Calibrated-classes",
          WAVES | {"kind": FourierSVM, "around": {"min_recall": {4: 0.9}}, "by_label": True},
          n_directions=12, n_classes=3, gamma=0.2, class_weight="balanced"),
    entry("Calibrated-ByteSVM", CALIBRATED_BYTES, n_bytes=500),
    entry("Calibrated-ByteSVM-classes", CALIBRATED_BYTES, n_bytes=900, n_classes=3),
    entry("Calibrated-Standardized"),
    entry("Calibrated-OneVsOne", PARTS[3]),
    entry("OneVsOne", PARTS[4], bound="lower"),
    entry("OneVsOne-lookahead", PARTS[3], lookahead=3),
    entry("OneVsOne-two", PARTS[2], bound="lower"),
    entry("OneVsOne-BatchSVM", PARTS[3], **STORE),
    entry("OneVsRest", PARTS[3], bound="lower", C=3.0),
    entry("OneVsRest-two", PARTS[2], bound="lower"),
    entry("OneVsRest-BatchSVM", PARTS[3], **STORE),
    entry("Standardized-OneVsOne", PARTS[3], bound="lower"),
]
# fmt: on


def of_class(name: str) -> Registered:
    """The entry of a learner that has none above: its defaults, in a small store."""
    kind = kind_of(name)
    default = {k: p.default for k, p in signature(kind).parameters.items()}
    numbers = [k for k, v in default.items() if isinstance(v, float) and v > 0]
    params = {kind._capacity: 12} if kind._capacity else {}
    return Registered(
        name,
        kind,
        params | ({"gamma": 0.5} if "gamma" in default else {}),
        one_pass=kind.fit is Learner.fit,
        tuned=next((k for k in ("C", *numbers) if k in default), ""),
    )


TRIED = {kind.__name__ for entry in REGISTERED for kind in entry.family if kind}
REGISTERED += [
    of_class(entry.name)
    for entry in CATALOGUE
    if entry.family in catalogue.LEARNERS and entry.name not in TRIED
]

# A learner of another package: EDGESVM_ENTRIES names a file whose ENTRIES are put through the
# contract too, in the processes that some checks start as well. See docs/write-a-learner.md.
if "EDGESVM_ENTRIES" in os.environ:
    sys.path.insert(0, str(Path(os.environ["EDGESVM_ENTRIES"]).parents[1]))
    sys.modules.setdefault("registry", sys.modules[__name__])
    REGISTERED += runpy.run_path(os.environ["EDGESVM_ENTRIES"])["ENTRIES"]

BY_NAME = {entry.name: entry for entry in REGISTERED}

OF_BANDS = {"rate": 100.0, "bands": "2-9,9-30"}
# Windows of raw samples, alone and with a learner behind. Some overlap, and some leave gaps.
RAW = [
    RegisteredRaw("WindowFeatures", {"window": 20, "hop": 8, **OF_BANDS}),
    RegisteredRaw("WindowFeatures-all", {"window": 16, "hop": 16, **OF_BANDS, "features": "all"}),
    RegisteredRaw(
        "WindowFeatures-apart",
        {"window": 7, "hop": 10, "rate": 100.0, "features": "std,crest"},
    ),
    RegisteredRaw(
        "WindowFeatures-rocket", {"window": 36, "hop": 7, "rate": 100.0, "features": "rocket"}
    ),
    RegisteredRaw("ClockFeatures", {}, kind=ClockFeatures),
    RegisteredRaw("Chain", {"window": 20, "hop": 8, **OF_BANDS}, Standardized(learner=StreamSVM())),
    RegisteredRaw("Chain-clock", {}, GaussianNovelty(warm_up=5), kind=ClockFeatures),
    RegisteredRaw(
        "Chain-last",
        {"window": 16, "hop": 5, "rate": 100.0, "bands": "9-30"},
        Standardized(learner=OneVsOne(learner=StreamSVM(), n_classes=3)),
        label="last",
        n_classes=3,
    ),
    RegisteredRaw(
        "Chain-KernelNovelty",
        {"window": 12, "hop": 12, "rate": 100.0, "features": "std,skewness,magnitude"},
        KernelNovelty(max_vectors=5, warm_up=5),
    ),
]

# For what only methods do (inputs, labels, refusals, outputs): one entry for each class that has
# methods of its own, as the code behind them is the same for every learner of the kind.
OWN_METHODS = (
    "StreamSVM",  # the methods of every core
    "FourierSVR",  # those of a regressor
    "KernelStreamSVM",
    "BatchSVM",  # keeps samples, and solves when it is asked
    "IncrementalSVM",
    "TwinVectorMachine",
    "RandSVM",  # fits in passes over its data
    "BallVectorMachine",
    "Standardized",
    "FourierSVM-classes",
    "ByteSVM-fills",  # adds classes as they come
    "OneVsOne",
    "OneVsRest-BatchSVM",
    "Standardized-OneVsOne",
    "Standardized-FourierSVR",
    "Calibrated-OneVsOne",
)

# For hostile snapshots: one entry for each implementation of `check`, and for each form of an arena
# that the same one reads otherwise.
CHECKS = (
    "StreamSVM",
    "StreamSVM-balls-lower",
    "StreamSVM-lookahead",
    "KernelStreamSVM",
    "KernelStreamSVM-lower",
    "BatchSVM",
    "BatchSVM-linear",
    "BatchSVM-nonzeros",
    "BatchSVM-nonzeros-linear",
    "BatchSVR",
    "ReservoirSVM",
    "IncrementalSVM",
    "IncrementalSVM-active",
    "WindowedSVM",
    "TwinVectorMachine",
    "SharedTwinSVM-classes",
    "IncrementalDecrementalSVM",
    "SimpleSVM",
    "RandSVM",
    "BallVectorMachine",
    "BallVectorMachine-nonzeros",
    "CoreVectorMachine",
    "CoreVectorMachine-nonzeros",
    "Perceptron",
    "Pegasos-batch",
    "KernelPerceptron-oldest",
    "Forgetron",
    "LASVM",
    "Standardized",
    "Standardized-until",
    "Calibrated-recall",
    "FourierSVM-classes",
    "AdaGradSVM",
    "FourierSVR",
    "FourierRLS",
    "Standardized-FourierSVR",  # with the counts of what is missing
    "ByteSVM",
    "ByteSVM-classes",
    "ByteSVM-grows",
    "ByteSVM-common",
    "OneVsOne-lookahead",
    "OneVsRest-BatchSVM",
)
