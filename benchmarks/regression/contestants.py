"""Who competes, and how each runs: predict a row, then learn the one whose target has come.

Ours are given raw rows with their NaN, and scale them themselves. The others get each NaN as the
mean of what the column had before. Those that are linear stand behind a running scaler of features
and target, river's behind its own.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Any, Protocol

import numpy as np

from benchmarks.common.clock import since
from benchmarks.regression.data import (
    STOP,
    Setting,
    Stream,
    filled,
    mean_so_far,
    same_hour,
    value_before,
)
from edgesvm import AdaGradSVR, FourierRLS, FourierSVR, Standardized

BUDGETS = {f"{k} KiB": k << 10 for k in (2, 8, 64)}
CLIP = 20.0  # deviations from the mean that a scaled feature may have


@dataclass(frozen=True)
class Found:
    """A prediction for each row that counts, NaN where there was none; bytes at the end; seconds of
    the processor.
    """

    predicted: np.ndarray
    n_bytes: int
    seconds: float


def in_turn(
    predict: Callable[[Any], float],
    learn: Callable[[Any, float], Any],
    rows: Sequence[Any],
    y: np.ndarray,
    setting: Setting,
) -> tuple[np.ndarray, float]:
    """Predictions from the first row on for which a target is known, and seconds of the
    processor.
    """
    n, targets = len(y), y.tolist()
    end = setting.end(n)
    first = end if setting.stops else setting.delay + 1
    predicted = np.full(n, np.nan)
    begin = process_time()
    for i in range(n):
        if i >= first:
            predicted[i] = predict(rows[i])
        j = i - setting.delay
        if 0 <= j < end:
            learn(rows[j], targets[j])
    return predicted, since(begin)


# -- what a user would take instead ----------------------------------------------------------------


class OneByOne(Protocol):
    """Learns rows of numbers one at a time."""

    def predict(self, x: np.ndarray) -> float: ...

    def learn(self, x: np.ndarray, y: float) -> None: ...


@dataclass
class Running:
    """Mean and deviation of what was learned so far."""

    mean: Any = 0.0
    squares: Any = 0.0
    n: int = 0

    def learn(self, x: Any) -> None:
        self.n += 1
        apart = x - self.mean
        self.mean = self.mean + apart / self.n
        self.squares = self.squares + apart * (x - self.mean)

    @property
    def deviation(self) -> Any:
        found = np.sqrt(self.squares / max(self.n, 1))
        return np.where(found > 0, found, 1.0)


@dataclass
class Scaled:
    """A linear learner behind running scalers of the features and the target."""

    inner: OneByOne
    features: Running = field(default_factory=Running)
    target: Running = field(default_factory=Running)

    def scaled(self, x: np.ndarray) -> np.ndarray:
        apart: np.ndarray = (x - self.features.mean) / self.features.deviation
        return np.clip(apart, -CLIP, CLIP)

    def predict(self, x: np.ndarray) -> float:
        inner = self.inner.predict(self.scaled(x))
        return float(self.target.mean + self.target.deviation * inner)

    def learn(self, x: np.ndarray, y: float) -> None:
        self.features.learn(x)
        self.target.learn(y)
        self.inner.learn(self.scaled(x), float((y - self.target.mean) / self.target.deviation))


class RecursiveLeastSquares:
    """Linear, with an offset; the covariance starts at 1, the noise is 0.1."""

    most = 10.0  # variance of a weight: forgetting would raise it without end

    def __init__(self, n_features: int, forgetting: float) -> None:
        self.forgetting = forgetting
        self.w, self.Q = np.zeros(n_features + 1), np.eye(n_features + 1)

    def predict(self, x: np.ndarray) -> float:
        return float(self.w[:-1] @ x + self.w[-1])

    def learn(self, x: np.ndarray, y: float) -> None:
        z = np.append(x, 1.0)
        K = self.Q @ z
        alpha = 0.1 * self.forgetting + K @ z
        self.w += K / alpha * (y - self.w @ z)
        Q = (self.Q - np.outer(K, K / alpha)) / self.forgetting
        self.Q = (Q + Q.T) / 2  # or what rounding leaves unequal grows as 1 / forgetting^n
        g = np.sqrt(np.minimum(self.most / np.maximum(self.Q.diagonal(), 1e-12), 1.0))
        self.Q *= np.outer(g, g)


class SGD:
    """scikit-learn's, with its defaults."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDRegressor

        self.model = SGDRegressor(random_state=0)

    def predict(self, x: np.ndarray) -> float:
        return float(self.model.predict(x[None])[0])

    def learn(self, x: np.ndarray, y: float) -> None:
        self.model.partial_fit(x[None], [y])


def one_by_one(make: Any, stream: Stream, setting: Setting, lags: bool = False) -> Found:
    X = filled(stream.X)
    if lags:  # the change of each feature, and the last target known
        X = np.column_stack([X, np.diff(X, axis=0, prepend=X[:1]), value_before(stream.y, setting)])
    model = make(X.shape[1])
    predicted, seconds = in_turn(model.predict, model.learn, list(X), stream.y, setting)
    return Found(predicted, len(pickle.dumps(model)), seconds)


def river(make: Callable[[], Any], stream: Stream, setting: Setting) -> Found:
    model = make()
    rows = [dict(enumerate(x)) for x in filled(stream.X).tolist()]
    predicted, seconds = in_turn(model.predict_one, model.learn_one, rows, stream.y, setting)
    return Found(predicted, len(pickle.dumps(model)), seconds)


def linear_of_river(**params: Any) -> Any:
    """By its defaults it diverges where a feature is rare, and so many deviations out."""
    from river.linear_model import LinearRegression
    from river.preprocessing import StandardScaler, TargetStandardScaler

    return StandardScaler() | TargetStandardScaler(regressor=LinearRegression(**params))


def clipped_of_river() -> Any:
    return linear_of_river(clip_gradient=1.0)


def trees_of_river() -> dict[str, Callable[[], Any]]:
    from river.forest import ARFRegressor
    from river.tree import HoeffdingTreeRegressor

    return {
        "river HoeffdingTreeRegressor": HoeffdingTreeRegressor,
        "river ARFRegressor": partial(ARFRegressor, seed=0),
    }


# -- ceilings: what holds thousands of rows, and is fitted anew ------------------------------------

MOST_HELD, EVERY = 6000, 2000
FIRST_FITS = (250, 500, 1000)  # targets known


def svr() -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    model = make_pipeline(SimpleImputer(), StandardScaler(), SVR(C=10.0, epsilon=0.1))
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = HistGradientBoostingRegressor(random_state=0)
    return make_pipeline(SimpleImputer(), StandardScaler(), model)


def refitted(make: Callable[[], Any], stream: Stream, setting: Setting) -> Found:
    """Bytes: of the model and of the rows it was fitted on."""
    X, y = stream.X.astype(np.float64), stream.y
    n, known = len(y), setting.known(len(y))
    ends = [e for e in (*FIRST_FITS, *range(EVERY, n, EVERY)) if e < setting.end(n)]
    if setting.stops:
        ends = [setting.end(n)]
    begins = [int(np.searchsorted(known, end)) for end in ends]
    predicted, n_bytes = np.full(n, np.nan), 0
    begin = process_time()
    for end, start, stop in zip(ends, begins, [*begins[1:], n], strict=True):
        held = slice(max(end - MOST_HELD, 0), end)
        if start >= n:
            break
        model = make().fit(X[held], y[held])
        predicted[start:stop] = model.predict(X[start:stop])
        n_bytes = len(pickle.dumps(model)) + X[held].nbytes + y[held].nbytes
    return Found(predicted, n_bytes, since(begin))


# -- all of them -----------------------------------------------------------------------------------

Run = Callable[[Stream, Setting], Found]


def baseline(values: Callable[[np.ndarray, Setting], np.ndarray], n_bytes: int) -> Run:
    return lambda stream, setting: Found(values(stream.y, setting), n_bytes, 0.0)


BASELINES: dict[str, Run] = {
    "mean so far": baseline(mean_so_far, 16),
    "value before": baseline(value_before, 8),
    "same hour": baseline(same_hour, 24 * 8),
}


def forgetting(n_features: int) -> OneByOne:
    return Scaled(RecursiveLeastSquares(n_features, 0.999))


def rivals() -> dict[str, Run]:
    """By name; river's where it is installed."""
    runs: dict[str, Run] = {
        "SGDRegressor": partial(one_by_one, lambda _: Scaled(SGD())),
        "linear RLS": partial(one_by_one, lambda D: Scaled(RecursiveLeastSquares(D, 1.0))),
        "linear RLS, forgetting": partial(one_by_one, forgetting),
        "linear RLS, lags": partial(one_by_one, forgetting, lags=True),
    }
    try:
        trees = trees_of_river()
    except ImportError:
        trees = {}
    else:
        runs["river LinearRegression"] = partial(river, linear_of_river)
        runs["river LinearRegression, clipped"] = partial(river, clipped_of_river)
    runs |= {name: partial(river, make) for name, make in trees.items()}
    return runs | {
        "SVR, refitted": partial(refitted, svr),
        "HistGradientBoosting, refitted": partial(refitted, boosting),
    }


# -- ours ------------------------------------------------------------------------------------------

FOURIER, SQUARES, LINEAR = "FourierSVR", "FourierRLS", "AdaGradSVR"
SEEDED = (FOURIER, SQUARES)
UNSAID = (np.nan,) * 3
ALONE = "alone"  # not stacked on the target before
OF_SQUARES = tuple(f"{SQUARES}, {budget}" for budget in tuple(BUDGETS)[:2])
OURS = (*(f"{FOURIER}, {budget}" for budget in BUDGETS), *OF_SQUARES, LINEAR)


def allocated(name: str, n_features: int, seed: int, **params: Any) -> Standardized:
    """The largest within its budget; MemoryBudgetError where none fits."""
    if name == LINEAR:
        whole = Standardized(learner=AdaGradSVR(**params), missing="mean")
    else:
        kind, _, budget_name = name.partition(", ")
        plain = (FourierSVR if kind == FOURIER else FourierRLS)(seed=seed, **params)
        budget = BUDGETS[budget_name]
        whole = Standardized.within(budget, n_features=n_features, learner=plain, missing="mean")
    return whole.allocate(n_features)


def ours(name: str, seed: int, stream: Stream, setting: Setting, *, alone: bool = False) -> Found:
    """`forecast_one` where the target before is known, unless `alone`; else `predict`."""
    X, y = stream.X, stream.y
    learner = allocated(name, X.shape[1], seed, label_delay=setting.delay)
    if setting == STOP:
        end = setting.end(len(y))
        predicted = np.full(len(y), np.nan)
        begin = process_time()
        learner.partial_fit(X[:end], y[:end])
        predicted[end:] = learner.predict(X[end:])
        return Found(predicted, learner.nbytes, since(begin))
    begin = process_time()
    if alone:
        predicted, _ = in_turn(learner.predict_one, learner.learn_one, list(X), y, setting)
    else:
        predicted = forecast(learner, X, y, setting)[:, 0]
    return Found(predicted, learner.nbytes, since(begin))


def forecast(learner: Standardized, X: np.ndarray, y: np.ndarray, setting: Setting) -> np.ndarray:
    """(value, low, high) as it was said of each row; where the target comes late, the learner is
    told so again. Without a target before, it is what `predict_one` and its interval say.
    """
    rows, targets = list(X), y.tolist()
    issued: list[tuple[float, float, float] | None] = []  # None before there is a target
    for i, x in enumerate(rows):
        issued.append(learner.forecast_one(x) if i > setting.delay else None)
        j = i - setting.delay
        if j >= 0:
            if setting.delay:
                learner.learn_late_one(rows[j], targets[j], issued[j])
            else:
                learner.learn_one(rows[j], targets[j])
    return np.array([said or UNSAID for said in issued])


def quiet(run: Callable[[], Any]) -> Any:
    """Overflows of those that diverge show in their errors."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run()
