"""Series in the order of time, quiet or with labelled faults, as the alarm studies watch them.

A series of one channel is seen as its value, its difference and its distance to a slow mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.data import missing, read
from edgesvm import WindowFeatures

SLOW = 200  # samples that the slow mean remembers
HOUR = 3600.0
HEALTHY = 100  # flights left, of an engine that still runs well
WINDOW = 52  # samples of acceleration in a row of features: a second


class Series(NamedTuple):
    name: str
    X: np.ndarray  # float32, a row each time
    y: np.ndarray  # bool: inside a labelled fault
    seconds: float | None = None  # a row; None: not known


def with_level(value: np.ndarray, slow: int = SLOW) -> np.ndarray:
    """Value, difference, distance to the mean of about the last `slow` values."""
    value = value.astype(np.float64)
    level, mean = np.empty(len(value)), value[0]
    for i, v in enumerate(value):
        mean += (v - mean) / slow
        level[i] = mean
    return np.column_stack([value, np.diff(value, prepend=value[0]), value - level])


def series_of(
    name: str, X: np.ndarray, seconds: float | None, y: np.ndarray | None = None
) -> Series:
    y = np.zeros(len(X), bool) if y is None else y.astype(bool)
    return Series(name, np.ascontiguousarray(X, np.float32), y, seconds)


# -- quiet ones ------------------------------------------------------------------------------------


def gas_turbine() -> Series:
    return series_of("gas turbine", read("regression/gas_turbine_nox")["X"], HOUR)


def weather() -> Series:
    file = read("regression/beijing_pm25")
    names = file["names"].tolist()
    kept = [names.index(name) for name in ("DEWP", "TEMP", "PRES", "Iws")]
    return series_of("weather", file["X"][:, kept], HOUR)


def bicycles() -> Series:
    file = read("regression/bike_hourly")
    return series_of("bicycles", np.column_stack([file["X"][:, -4:], file["y"]]), HOUR)


def air_sensors() -> Series:
    X = read("regression/air_quality_co")["X"]
    return series_of("air sensors", X[~np.isnan(X).any(axis=1)], HOUR)


def electricity() -> Series:
    """From where all columns are measured; without date, day and period."""
    return series_of("electricity", read("elec2")["X"][17_424:, 3:], HOUR / 2)


def empty_room() -> Series:
    file = read("occupancy")
    return series_of("empty room", file["X"][file["y"] == 0], 60.0)


def shuttle_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows by the first column, which is time, without it; and their classes."""
    file = read("shuttle")
    X = np.concatenate([file["X_train"], file["X_test"]])
    y = np.concatenate([file["y_train"], file["y_test"]])
    order = X[:, 0].argsort(kind="stable")
    return X[order, 1:], y[order]


def shuttle() -> Series:
    X, y = shuttle_rows()
    return series_of("shuttle", X[y == 1], None)


def gas_sensors() -> Series:
    file = read("gas_drift_8batches")
    return series_of("gas sensors", file["X"][file["y"] == 5], None)


def walking() -> Series:
    file = read("wisdm_windows")
    return series_of("walking", file["X"][file["y"] == 0], 10.0)


def sitting() -> Series:
    """Mean, deviation and mean difference of each axis, a second; one person after the other."""
    file = read("chest_accel")
    X = file["X"][file["y"] == 1].astype(np.float64)
    windows = X[: len(X) // WINDOW * WINDOW].reshape(-1, WINDOW, 3)
    steps = np.abs(np.diff(windows, axis=1)).mean(axis=1)
    rows = np.column_stack([windows.mean(axis=1), windows.std(axis=1), steps])
    return series_of("sitting", rows, 1.0)


def engines() -> Series:
    """The healthy part of each engine, one engine after the other, a row a flight."""
    file = read("regression/cmapss_fd001")
    return series_of("engines", file["X"][file["y"] > HEALTHY], None)


def legs() -> Series:
    rows = np.loadtxt(
        aeon_file("Daphnet_S06R02E0/S06R02E0.csv"), delimiter=",", skiprows=1, usecols=range(1, 11)
    )
    return series_of("legs", rows[:, :-1], 1 / 64)


def blood_pressure() -> Series:
    whole = bleeding()
    first = int(whole.y.argmax())
    return series_of("blood pressure", whole.X[:first], None)


def before_fault(name: str) -> Series:
    whole = nab_series(name)
    first = int(whole.y.argmax())
    short = name.split("__")[1].removesuffix("_system_failure").removesuffix("_misconfiguration")
    return series_of(short.replace("_", " "), whole.X[:first], whole.seconds)


QUIET: dict[str, tuple[str, Callable[[], Series]]] = {  # name: its file, how it is read
    "gas turbine": ("regression/gas_turbine_nox", gas_turbine),
    "weather": ("regression/beijing_pm25", weather),
    "bicycles": ("regression/bike_hourly", bicycles),
    "air sensors": ("regression/air_quality_co", air_sensors),
    "electricity": ("elec2", electricity),
    "empty room": ("occupancy", empty_room),
    "shuttle": ("shuttle", shuttle),
    "gas sensors": ("gas_drift_8batches", gas_sensors),
    "walking": ("wisdm_windows", walking),
    "sitting": ("chest_accel", sitting),
    "engines": ("regression/cmapss_fd001", engines),
    "legs": ("aeon", legs),
    "blood pressure": ("aeon", blood_pressure),
    "water circuit": ("skab", lambda: skab("anomaly-free/anomaly-free")),
    "nyc taxi": ("nab", lambda: before_fault("realKnownCause__nyc_taxi")),
    "ambient temperature": (
        "nab",
        lambda: before_fault("realKnownCause__ambient_temperature_system_failure"),
    ),
    "cpu utilization": (
        "nab",
        lambda: before_fault("realKnownCause__cpu_utilization_asg_misconfiguration"),
    ),
}


# -- SKAB: the folder `data` of its repository, where EDGESVM_SKAB says ----------------------------

SKAB = Path(os.environ.get("EDGESVM_SKAB", ""))


def skab(name: str) -> Series:
    rows = np.genfromtxt(SKAB / f"{name}.csv", delimiter=";", skip_header=1)[:, 1:]
    return series_of(f"SKAB {name}", rows[:, :8], 1.0, rows[:, 8] if rows.shape[1] > 8 else None)


def skab_faults() -> Iterator[Series]:
    """A water circuit: valves closed, rotors out of balance, leaks, air, hot water."""
    for path in sorted([*SKAB.glob("valve*/*.csv"), *SKAB.glob("other/*.csv")]):
        yield skab(f"{path.parent.name}/{path.stem}")


# -- NAB, and the sets in aeon's wheel -------------------------------------------------------------


def nab_series(name: str, file: dict[str, np.ndarray] | None = None) -> Series:
    file = read("nab") if file is None else file
    seconds = float(np.median(np.diff(file[f"{name}__t"])))
    X = with_level(file[f"{name}__v"])
    return series_of(name.replace("__", "/"), X, seconds, file[f"{name}__y"])


def nab_files() -> Iterator[Series]:
    file = read("nab")
    for name in file["names"].tolist():
        yield nab_series(name, file)


def aeon_folder() -> Path | None:
    """The data sets in aeon's wheel: installed, or unpacked where EDGESVM_AEON says."""
    told, spec = os.environ.get("EDGESVM_AEON"), find_spec("aeon")
    if told:
        root = Path(told)
    elif spec is not None and spec.origin:
        root = Path(spec.origin).parent
    else:
        return None
    return root / "datasets" / "data"


def aeon_file(path: str) -> Path:
    folder = aeon_folder()
    assert folder is not None, "aeon is not installed"
    return folder / path


def labelled(*paths: str) -> tuple[np.ndarray, np.ndarray]:
    """Values and labels of files of time, value and label, one behind the other."""
    rows = np.concatenate(
        [np.loadtxt(aeon_file(path), delimiter=",", skiprows=1) for path in paths]
    )
    return rows[:, 1], rows[:, 2] > 0


def bleeding() -> Series:
    stem = "KDD-TSAD_135/135_UCR_Anomaly_InternalBleeding16"
    value, y = labelled(f"{stem}_TRAIN.csv", f"{stem}_TEST.csv")
    return series_of("internal bleeding", with_level(value), None, y)


# -- with faults -----------------------------------------------------------------------------------


def heart() -> Series:
    """Features of overlapping windows of a generated ECG of 20 samples a beat; a window with any
    sample of a fault is one.
    """
    stem = "UnitTest/ecg-diff-count-3"
    value, y = labelled(f"{stem}_TRAIN_NA.csv", f"{stem}_TEST.csv")
    windows = WindowFeatures(window=64, hop=8).allocate(1)
    rows = windows.push_many(value[:, None].astype(np.float32))
    inside = np.lib.stride_tricks.sliding_window_view(y, 64)[::8].any(axis=1)
    return series_of("ECG", rows, None, inside[: len(rows)])


def bearings() -> Iterator[Series]:
    """The windows of a bearing that runs well, then those of one with a fault, for each fault."""
    file = read("bearing_cwru")
    names = file["class_names"].tolist()
    fine = file["X"][file["y"] == names.index("Normal_1")]
    for k, name in enumerate(names):
        if name != "Normal_1":
            fault = file["X"][file["y"] == k]
            y = np.repeat([False, True], [len(fine), len(fault)])
            yield series_of(f"bearing {name}", np.concatenate([fine, fault]), None, y)


def shuttle_faults() -> Iterator[Series]:
    """Without the class that is a fifth of the rows."""
    X, y = shuttle_rows()
    yield series_of("shuttle", X[y != 4], None, y[y != 4] != 1)


def gas_faults() -> Iterator[Series]:
    """One gas in the order of the batches; after the first half, behind each hundred rows, ten
    rows in a row of another gas of that batch.
    """
    file = read("gas_drift_8batches")
    X, y, batch = file["X"], file["y"], file["batch"]
    fine = np.flatnonzero(y == 5)
    order, last = list(fine[: len(fine) // 2]), dict.fromkeys(np.unique(batch).tolist(), 0)
    for begin in range(len(fine) // 2, len(fine), 100):
        rows = fine[begin : begin + 100]
        b = int(batch[rows[-1]])
        others = np.flatnonzero((batch == b) & (y != 5))
        order += [*rows, *others[last[b] : last[b] + 10]]
        last[b] += len(others) // 8
    yield series_of("gas", X[order], None, y[order] != 5)


FAULTS: dict[str, tuple[str, Callable[[], Iterator[Series]]]] = {
    "NAB": ("nab", nab_files),
    "bearing": ("bearing_cwru", bearings),
    "shuttle": ("shuttle", shuttle_faults),
    "gas": ("gas_drift_8batches", gas_faults),
    "ECG": ("aeon", lambda: iter([heart()])),
    "pressure": ("aeon", lambda: iter([bleeding()])),
    "SKAB": ("skab", skab_faults),
}


def absent(source: str) -> str | None:
    """Why a source cannot be read, or None where it can."""
    if source == "skab":
        return None if SKAB.name else "set EDGESVM_SKAB to the folder data of SKAB's repository"
    if source != "aeon":
        return missing(source)
    if (folder := aeon_folder()) is not None and folder.is_dir():
        return None
    return "aeon is not installed (or set EDGESVM_AEON to its unpacked folder)"


def quiet(words: list[str]) -> tuple[list[Series], list[str]]:
    """The quiet series, or those whose names hold one of the words; and what is left out."""
    series, skipped = [], []
    for name, (source, load) in QUIET.items():
        if words and not any(word in name for word in words):
            continue
        why = absent(source)
        if why:
            skipped.append(f"{name}: {why}")
        else:
            series.append(load())
    return series, skipped


def generated(seed: int = 0) -> Series:
    """A wave that wanders, with one fault, where there is no data."""
    rng = np.random.default_rng(seed)
    t = np.arange(1_500)
    value = (
        np.sin(t / 8)
        + 0.1 * rng.standard_normal(len(t))
        + 0.002 * np.cumsum(rng.standard_normal(len(t)))
    )
    y = (t >= 1_200) & (t < 1_260)
    value[y] += 1.5
    return series_of("generated", with_level(value), 300.0, y)
