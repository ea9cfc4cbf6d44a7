"""Streams of sensors with a target to predict: rows in the order of their source, what is known of
the targets in each setting, and what is made of the predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.common.data import left_out, missing, read

SETS = (
    *("gas_turbine_nox", "air_quality_co", "beijing_pm25", "bike_hourly"),
    *("ccpp", "cmapss_fd001", "airfoil"),
)
SHUFFLED = ("ccpp", "airfoil")  # at the source, or for the file: they have no order
HOURLY = ("gas_turbine_nox", "air_quality_co", "beijing_pm25", "bike_hourly")
QUICK = "generated"
DAY = 24  # rows of an hourly set
FIRST_SCORED = 300
BOUNDED_FROM = 20  # targets known before predictions are held to their range


@dataclass(frozen=True)
class Stream:
    """Rows as the source has them, NaN where a sensor was silent."""

    name: str
    X: np.ndarray  # (n, D) float32
    y: np.ndarray  # (n,) float64

    @property
    def is_hourly(self) -> bool:
        return self.name in (*HOURLY, QUICK)


@dataclass(frozen=True)
class Setting:
    """When targets are known: that of a row comes `delay` rows after the next one is predicted;
    of the second half never, if they stop.
    """

    name: str
    delay: int = 0
    stops: bool = False

    def end(self, n: int) -> int:
        """Rows whose target ever comes, of n."""
        return n // 2 if self.stops else n

    def known(self, n: int) -> np.ndarray:
        """Targets known when each of n rows is predicted."""
        return np.clip(np.arange(n) - self.delay, 0, self.end(n))

    def scored(self, n: int) -> slice:
        """The rows that count."""
        return slice(self.end(n) if self.stops else FIRST_SCORED, n)


NOW, LATE, STOP = Setting("now"), Setting("100 late", delay=100), Setting("stop", stops=True)
SETTINGS = (NOW, LATE, STOP)


def wanted_sets(chosen: list[str] | None, quick: bool) -> tuple[list[str], list[str]]:
    """Names of the streams of this run, and what is left out."""
    names = [name for name in SETS if not chosen or name in chosen]
    skipped = left_out([f"regression/{name}" for name in names], quick)
    if quick:
        return [QUICK], skipped
    return [name for name in names if not missing(f"regression/{name}")], skipped


def load(name: str, most: int) -> Stream:
    """The first rows of a set, at most so many."""
    if name == QUICK:
        return generated(most)
    file = read(f"regression/{name}")
    X = np.ascontiguousarray(file["X"][:most], dtype=np.float32)
    return Stream(name, X, file["y"][:most].astype(np.float64))


def generated(n: int) -> Stream:
    """A bent function of three sensors and a wave of a day, with a disturbance that lasts; one
    sensor is silent now and then.
    """
    rng = np.random.default_rng(28)
    X = rng.standard_normal((n, 3))
    lasting = np.zeros(n)
    for i in range(1, n):
        lasting[i] = 0.9 * lasting[i - 1] + 0.3 * rng.standard_normal()
    y = 20 + 3 * np.sin(2 * X[:, 0]) + X[:, 1] + np.cos(2 * np.pi * np.arange(n) / DAY) + lasting
    X[rng.random(n) < 0.05, 2] = np.nan
    return Stream(QUICK, X.astype(np.float32), y)


def filled(X: np.ndarray) -> np.ndarray:
    """Float64, each NaN replaced by the mean of what its column had before; 0 before the first."""
    there = ~np.isnan(X)
    count = np.cumsum(there, axis=0)
    total = np.cumsum(np.where(there, X, 0.0), axis=0, dtype=np.float64)
    filling: np.ndarray = np.where(there, X.astype(np.float64), total / np.maximum(count, 1))
    return filling


def bounded(predicted: np.ndarray, y: np.ndarray, setting: Setting) -> np.ndarray:
    """Held to the range of the targets known at each row; their mean where none was predicted."""
    known = setting.known(len(y))
    last = np.maximum(known - 1, 0)
    low, high = np.minimum.accumulate(y)[last], np.maximum.accumulate(y)[last]
    held = np.where(np.isnan(predicted), mean_so_far(y, setting), predicted)
    return np.where(known >= BOUNDED_FROM, np.clip(held, low, high), held)


# -- what needs no learner -------------------------------------------------------------------------


def mean_so_far(y: np.ndarray, setting: Setting) -> np.ndarray:
    """Of the targets known; 0 before the first."""
    known = setting.known(len(y))
    sums = np.concatenate([[0.0], np.cumsum(y)])
    means: np.ndarray = sums[known] / np.maximum(known, 1)
    return means


def value_before(y: np.ndarray, setting: Setting) -> np.ndarray:
    """The last target known; the first one before."""
    before: np.ndarray = y[np.maximum(setting.known(len(y)) - 1, 0)]
    return before


def same_hour(y: np.ndarray, setting: Setting) -> np.ndarray:
    """The last target known whose row is a whole number of days back."""
    rows = np.arange(len(y))
    back = rows - (setting.known(len(y)) - 1)  # to the last one known
    days = np.ceil(np.maximum(back, 1) / DAY).astype(int)
    same: np.ndarray = y[np.maximum(rows - DAY * days, 0)]
    return same


def errors(predicted: np.ndarray, y: np.ndarray, setting: Setting) -> dict[str, float]:
    """RMSE, MAE and R^2 of the rows that count."""
    part = setting.scored(len(y))
    wrong, target = predicted[part] - y[part], y[part]
    squares = float(np.mean(wrong**2))
    return {
        "rmse": float(np.sqrt(squares)),
        "mae": float(np.mean(np.abs(wrong))),
        "r2": 1.0 - squares / float(np.var(target)),
    }
