"""Writes the golden snapshots, what each answers, and the checkpoint beside them; run it for a new
learner or a new format version. A file that exists is never written again.

They are in one archive for each release.

python tests/persist/make_golden.py
"""

import json
import re
import tempfile
from inspect import signature
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np

from edgesvm import StreamSVM, __version__
from edgesvm.catalogue import CATALOGUE, LEARNERS
from edgesvm.contract.registry import kind_of
from edgesvm.learner import Learner
from edgesvm.persist import Checkpoint, restore

HERE = Path(__file__).parent / "golden"


def golden_files() -> dict[str, bytes]:
    """What was written so far, by name."""
    files: dict[str, bytes] = {}
    for path in sorted(HERE.glob("*.zip")):
        with ZipFile(path) as archive:
            files |= {name: archive.read(name) for name in archive.namelist()}
    return files


def stream(n: int, dtype: str, n_classes: int = 2) -> tuple[np.ndarray, list[str]]:
    """Rows of whole quarters from a linear congruence: the same on every machine and NumPy."""
    state, rows, labels = 1, [], []
    for _ in range(n):
        row = []
        for _ in range(3):
            state = (1103515245 * state + 12345) % 2**31
            row.append(((state >> 16) % 33 - 16) / 4)
        rows.append(row)
        labels.append("hot" if row[0] + 0.5 * row[1] > 0.25 else "cold")
        if n_classes > 2 and row[2] > abs(row[0]):
            labels[-1] = "mild"
    return np.array(rows, dtype=dtype), labels


def targets(X: np.ndarray) -> np.ndarray:
    """Numbers to learn of these rows, which no machine rounds."""
    return X[:, 0] + 0.25 * X[:, 1]


def with_gaps(X: np.ndarray, gaps: bool) -> np.ndarray:
    """The rows; with `gaps` some values are missing."""
    return np.where(gaps and X == 2.0, np.nan, X).astype(X.dtype)


# Files that this build reads and goes on from, but would write otherwise.
OLDER = {
    *("auto_f32", "ball_vectors_f32", "core_vectors_f64", "core_vectors_margin_f64"),
    *("byte_f32", "byte_classes_f32", "byte_grows_f32", "named_f32"),
    *("fourier_features_f32", "gaussian_novelty_diagonal_f64", "gaussian_novelty_f32"),
    *("gaussian_novelty_sensors_f32", "kernel_novelty_exact_f32", "kernel_novelty_f32"),
    *("gaussian_novelty_alarms_diagonal_f64", "gaussian_novelty_alarms_f32"),
    *("kernel_novelty_alarms_exact_f32", "kernel_novelty_alarms_f32"),
    *("rand_linear_f64", "robust_stream_f64", "settled_twins_sides_f64"),
    *("standardized_until_f64", "twins_fixed_C_f32", "twins_rbf_f32"),
}
# A new learner or parameter, by the name of the file that it gets.
NEW: dict[str, Learner] = {}


def of_files(files: dict[str, bytes]) -> dict[str, Learner]:
    """The learners in these files, with their parameters alone, by their names."""
    found = {}
    for file, data in files.items():
        name, _, kind = file.partition(".")
        if kind == "esvm" and name not in OLDER:
            model = restore(data)
            found[name] = type(model)(**model.get_params(deep=False))
    return found


GOLDEN = of_files(golden_files()) | NEW
# Whose features have names: of format version 2.
FEATURES = {"named_replay_f32": ("light", "CO2", "température")}


class Named:
    """Rows with these names, as a DataFrame has them; where ARM is emulated there is no pandas."""

    columns = FEATURES["named_replay_f32"]

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice) -> "Named":
        return Named(self.X[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.X, dtype)


# A learner of the catalogue that is not above gets a file with its defaults, in a small store.
NAMED = {name for learner in GOLDEN.values() for name in re.findall(r"\w+(?=\()", repr(learner))}
for entry in CATALOGUE:
    if entry.family in (*LEARNERS, "regressor") and entry.name not in NAMED:
        kind = kind_of(entry.name)
        small = {kind._capacity: 9} if kind._capacity else {}
        GOLDEN[f"{entry.name.lower()}_f32"] = kind(**small)


def samples(learner: Learner, n: int) -> tuple[Any, Any]:
    """What a learner gets of the stream."""
    X, labels = stream(n, learner.dtype, max(learner.n_classes_planned, 2))
    y = targets(X) if learner.regresses else labels
    X = with_gaps(X, getattr(learner, "missing", "") == "mean")
    return (Named(X) if hasattr(learner, "feature_names_in_") else X), y


def learned(name: str) -> Learner:
    learner = GOLDEN[name]
    chooses = "shuffle" in signature(learner.fit).parameters
    in_order = {"shuffle": False, "epochs": 1} if chooses else {}
    return learner.fit(*samples(learner, 200), **in_order).name_features(FEATURES.get(name))


def answers(learner: Learner) -> dict[str, list[Any]]:
    """What a learner says of rows that it has not learned."""
    X = samples(learner, 240)[0][200:]
    said = {"predict": learner.predict(X).tolist()}
    if learner.forecasts:
        said["predict_interval"] = learner.predict_interval(X).tolist()
        said["forecast"] = [learner.forecast_one(x) for x in X]
    if not learner.regresses:
        said["decision_function"] = learner.decision_function(X).tolist()
    return said


def checkpoint(path: Path) -> StreamSVM:
    """Saves after 100 and 200 samples: the second lies in slot 0, the first in slot 1. The learner
    saved last.
    """
    path.unlink(missing_ok=True)
    learner = StreamSVM(C=10.0, bound="upper", average=False)
    X, y = stream(200, "float32")
    saving = Checkpoint(path)
    for rows in (slice(0, 100), slice(100, 200)):
        saving.save(learner.partial_fit(X[rows], y[rows]))
    saving.close()
    return learner


def add(name: str, data: bytes) -> None:
    """Put a file that must not exist yet in the archive of this release."""
    if name in golden_files():
        raise FileExistsError(name)
    with ZipFile(HERE / f"{__version__}.zip", "a") as archive:
        archive.writestr(ZipInfo(name), data)
    print(name)


def main() -> None:
    """Add what is missing."""
    there = golden_files()
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / "new"
        for name in GOLDEN:
            if f"{name}.esvm" not in there:
                learned(name).save(new)
                add(f"{name}.esvm", new.read_bytes())
        if "two_saves_weighed.ckpt" not in there:
            checkpoint(new)
            add("two_saves_weighed.ckpt", new.read_bytes())
    for name, data in golden_files().items():
        beside = name.replace(".esvm", ".json")
        if beside != name and beside not in there:
            add(beside, json.dumps(answers(restore(data))).encode() + b"\n")


if __name__ == "__main__":
    main()
