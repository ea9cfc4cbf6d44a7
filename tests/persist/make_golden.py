"""Writes the golden snapshots, what each answers, and the checkpoint beside them; run it for a new
learner or a new format version. A file that exists is never written again.

They are in one archive for each release. The pickles in that of 0.1.0 are of its own build: they
name modules that have moved since.

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

from edgesvm import (
    LASVM,
    RBF,
    AdaGradSVM,
    AdaGradSVR,
    BallVectorMachine,
    BatchSVM,
    BatchSVR,
    ByteSVM,
    Calibrated,
    CoreVectorMachine,
    Forgetron,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    IncrementalDecrementalSVR,
    IncrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    Linear,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    RandSVM,
    ReservoirSVM,
    RobustStandardized,
    SharedTwinSVM,
    SimpleSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
    WindowedSVM,
    __version__,
)
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


# The defaults of the first release.
FIRST: dict[str, Any] = {"bound": "upper", "average": False}
EVEN: dict[str, Any] = {"weigh_widths": False, "learning_rate": 0.5, "directions": "independent"}
GOLDEN: dict[str, Learner] = {
    "stream_upper_f32": StreamSVM(C=10.0, **FIRST),
    "stream_lower_f64": StreamSVM(
        C=10.0, bound="lower", average=False, dtype="float64", fit_intercept=False
    ),
    "stream_lookahead_f32": StreamSVM(C=10.0, lookahead=6, **FIRST),
    "stream_balls_f64": StreamSVM(
        C=0.5,
        n_balls=4,
        bound="lower",
        average=False,
        slack="paper",
        dtype="float64",
        normalize=False,
    ),
    "stream_averaged_f32": StreamSVM(C=10.0, class_weight="balanced"),
    "kernel_rbf_f32": KernelStreamSVM(
        max_vectors=5, kernel=RBF(0.25), C=10.0, bound="upper", when_full="share", forgetting=None
    ),
    "kernel_newton_f32": KernelStreamSVM(max_vectors=5, kernel=RBF(0.25), C=10.0, forgetting=None),
    "kernel_forgets_f64": KernelStreamSVM(
        max_vectors=5, kernel=RBF(0.25), C=10.0, forgetting=7, dtype="float64"
    ),
    "kernel_poly_f64": KernelStreamSVM(
        **{"max_vectors": 5, "kernel": "poly", "degree": 2, "C": 1.0, "when_full": "share"},
        **{"dtype": "float64", "forgetting": None},
    ),
    "one_vs_one_f32": Standardized(
        learner=OneVsOne(learner=StreamSVM(bound="lower", average=False, lookahead=3), n_classes=3),
        clip=None,
    ),
    "one_vs_rest_f64": OneVsRest(
        learner=KernelStreamSVM(
            max_vectors=5,
            kernel=RBF(0.25),
            C=1.0,
            bound="upper",
            when_full="share",
            dtype="float64",
            forgetting=None,
        ),
        n_classes=3,
    ),
    "batch_rbf_f32": BatchSVM(max_samples=12, when_full="oldest", kernel=RBF(0.25), cache=128),
    "reservoir_poly_f64": ReservoirSVM(
        max_samples=12, kernel="poly", degree=2, seed=3, cache=128, dtype="float64"
    ),
    "incremental_errors_f64": IncrementalSVM(
        scheme="error_driven",
        max_vectors=9,
        batch_size=5,
        kernel=RBF(0.25),
        cache=256,
        dtype="float64",
    ),
    "windowed_f32": WindowedSVM(
        window=2, max_vectors=9, batch_size=7, kernel=RBF(0.25), cache=256, C=2.0
    ),
    "robust_stream_f64": RobustStandardized(
        learner=StreamSVM(C=10.0, bound="lower", dtype="float64"), clip=2.5
    ),
    "twins_rbf_sides_f32": TwinVectorMachine(max_twins=7, kernel=RBF(0.25), forgetting=None),
    "twins_forget_f32": TwinVectorMachine(max_twins=7, kernel=RBF(0.25)),
    "twins_fixed_C_sides_f32": TwinVectorMachine(
        max_twins=7, kernel=RBF(0.25), C=2.0, control_C=False, forgetting=None
    ),
    "shared_twins_f32": SharedTwinSVM(max_twins=7, kernel=RBF(0.25)),
    "shared_twins_classes_f64": SharedTwinSVM(
        max_twins=7, n_classes=3, kernel=RBF(0.25), settle_after=60, dtype="float64"
    ),
    "incremental_decremental_f64": IncrementalDecrementalSVM(
        max_vectors=12, kernel=RBF(0.25), dtype="float64"
    ),
    "batch_svr_f32": BatchSVR(max_samples=40, when_full="oldest", kernel=RBF(0.5), cache="4KiB"),
    "incremental_decremental_svr_f64": IncrementalDecrementalSVR(
        max_vectors=12, kernel=RBF(0.25), dtype="float64"
    ),
    "rand_best_f64": RandSVM(
        solver=ReservoirSVM(max_samples=10, kernel=Linear(), seed=3, cache=128, dtype="float64"),
        k=12,
        max_passes=2,
    ),
    "ball_vectors_margin_f32": BallVectorMachine(
        max_core=9, n_probes=5, kernel=RBF(0.25), epsilon=1e-2
    ),
    "core_vectors_bulk_f64": CoreVectorMachine(
        max_core=9, n_probes=5, kernel=RBF(0.25), epsilon=1e-2, dtype="float64"
    ),
    "ball_vectors_normalised_f32": BallVectorMachine(
        max_core=40, kernel="poly", normalize="kernel", epsilon=1e-2
    ),
    "one_class_core_f32": OneClassCoreVectorMachine(max_core=120, n_probes=5, kernel=RBF(0.25)),
    "one_class_ball_f64": OneClassBallVectorMachine(
        max_core=120, n_probes=5, kernel=RBF(0.25), nu=None, dtype="float64"
    ),
    "fourier_f32": FourierSVM(n_directions=10, gamma=0.25, **EVEN),
    "fourier_classes_f64": FourierSVM(
        n_directions=6, gamma=0.25, loss="logistic", n_classes=3, dtype="float64", **EVEN
    ),
    "fourier_weighed_f32": FourierSVM(n_directions=10),
    "stream_weighed_f32": StreamSVM(C=10.0),
    "one_vs_rest_weighed_f32": OneVsRest(learner=StreamSVM(), n_classes=3),
    "adagrad_f32": AdaGradSVM(),
    "adagrad_classes_f64": AdaGradSVM(loss="logistic", n_classes=3, dtype="float64"),
    "fourier_orthogonal_f32": FourierSVM(
        n_directions=18, gamma=0.25, **EVEN | {"directions": "orthogonal"}
    ),
    "perceptron_f32": Perceptron(),
    "passive_aggressive_f64": PassiveAggressive(
        variant="PA-II", C=0.1, fit_intercept=False, dtype="float64"
    ),
    "pegasos_f32": Pegasos(lambda_=0.1, batch_size=7, project=True),
    "kernel_perceptron_f32": KernelPerceptron(
        max_vectors=7, kernel=RBF(0.25), when_full="random", seed=3
    ),
    "forgetron_f64": Forgetron(max_vectors=7, kernel=RBF(0.25), dtype="float64"),
    "simple_f64": SimpleSVM(max_vectors=90, kernel=RBF(0.25), dtype="float64"),
    "active_f32": IncrementalSVM(
        scheme="active", correct_kept=0.5, max_vectors=9, batch_size=7, kernel=RBF(0.25), cache=256
    ),
    "standardized_until_f32": Standardized(learner=StreamSVM(), until=120, clip=None),
    "standardized_f32": Standardized(learner=StreamSVM()),
    "standardized_until_f64": Standardized(learner=StreamSVM(dtype="float64"), until=120, clip=1.5),
    "calibrated_cost_f32": Calibrated(
        learner=Standardized(learner=StreamSVM(), clip=None), cost={"hot": 20.0, "cold": 1}
    ),
    "calibrated_recall_f64": Calibrated(
        learner=FourierSVM(n_directions=6, n_classes=3, class_weight="balanced", dtype="float64"),
        min_recall={"mild": 0.9},
    ),
    "gaussian_novelty_alarms_f32": GaussianNovelty(alarm_rate=0.05),
    "gaussian_novelty_alarms_diagonal_f64": GaussianNovelty(
        covariance="diagonal",
        alarm_rate=0.01,
        learn="all",
        warm_up=20,
        dtype="float64",
        stuck="learn",
        alarm="3/5",
    ),
    "kernel_novelty_alarms_exact_f32": KernelNovelty(
        max_vectors=9, alarm_rate=0.05, warm_up=50, storage="exact", stuck="learn"
    ),
    "kernel_novelty_alarms_f32": KernelNovelty(max_vectors=9, alarm_rate=0.05, warm_up=50),
    "byte_f32": ByteSVM(n_bytes=400, n_classes=2),
    "byte_classes_f32": ByteSVM(n_bytes=400, n_classes=3, scale="common", learn_directions=False),
    "byte_grows_f32": ByteSVM(n_bytes=500, class_weight="balanced"),
    "adagrad_svr_f64": AdaGradSVR(loss="epsilon", label_delay=2, dtype="float64"),
    "fourier_svr_f32": FourierSVR(n_directions=10),
    "fourier_svr_quantile_f64": FourierSVR(
        n_directions=18,
        gamma=0.25,
        loss="pinball",
        quantile=0.8,
        coverage=0.5,
        directions="orthogonal",
        dtype="float64",
    ),
    "standardized_svr_f32": Standardized(learner=FourierSVR(n_directions=7), missing="mean"),
    "lasvm_f32": LASVM(max_vectors=9, kernel=RBF(0.25), C=2.0),
    "named_f32": Standardized(learner=ByteSVM(n_bytes=500)),
}
# Whose features have names: of format version 2.
FEATURES = {"named_f32": ("light", "CO2", "température")}


class Named:
    """Rows with these names, as a DataFrame has them; where ARM is emulated there is no pandas."""

    columns = FEATURES["named_f32"]

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
    learner = StreamSVM(C=10.0, **FIRST)
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
