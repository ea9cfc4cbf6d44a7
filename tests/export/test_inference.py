"""A model exported for inference: tables in flash, the host's decisions but for rounding."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from each import each
from on_host import at

from edgesvm import (
    AdaGradSVM,
    BallVectorMachine,
    BatchSVM,
    FourierSVM,
    IncrementalDecrementalSVM,
    KernelStreamSVM,
    Perceptron,
    RobustStandardized,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.cli import main
from edgesvm.export.folder import export
from firmware_sim.boards import STRICT

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

KERNEL = {"kernel": "rbf", "gamma": 0.2}
MODELS = [
    (Standardized(learner=StreamSVM()), 2),
    (StreamSVM(dtype="float64", normalize=False), 2),
    (RobustStandardized(learner=AdaGradSVM(n_classes=3), clip=None), 3),
    (Perceptron(), 2),
    (Standardized(learner=KernelStreamSVM(max_vectors=20, **KERNEL)), 2),
    (Standardized(learner=TwinVectorMachine(max_twins=20, dtype="float64", **KERNEL)), 2),
    (IncrementalDecrementalSVM(max_vectors=30, **KERNEL), 2),
    (BatchSVM(max_samples=300, **KERNEL), 2),
    (BallVectorMachine(max_core=100, **KERNEL), 2),
]


def learned(model, n_classes):
    """The model after 200 samples, one feature of which never varies; and more samples."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 5)).astype(model.dtype) * [1, 2, 0.5, 1, 0] + [0, 1, 0, 2, 3]
    X = np.ascontiguousarray(X.astype(model.dtype))
    y = np.digitize(X[:, 0] + X[:, 2], np.linspace(-1, 1, n_classes + 1)[1:-1])
    return model.fit(X[:200], y[:200]), X[200:]


@each("model, n_classes", MODELS)
def test_decides_as_the_host_but_for_rounding(model, n_classes, tmp_path):
    model, X = learned(model, n_classes)
    export(model, tmp_path, "mod", inference=True)
    flags = ["gcc", "-O1", *STRICT, "-fPIC", "-shared", f"-I{tmp_path}"]
    subprocess.run([*flags, tmp_path / "mod.c", "-o", tmp_path / "m.so", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    values = model.decision_function(X).reshape(len(X), -1)
    near = np.abs(values).min(axis=1) < 1e-3 * np.abs(values).max()
    normalizes = getattr(model, "learner", model)
    normalizes = isinstance(normalizes, StreamSVM) and normalizes.normalize
    there, score = np.zeros(values.shape[1]), np.zeros(1)
    for x, value, label, is_near in zip(X, values, model.predict(X), near, strict=True):
        assert library.mod_decide(at(x.copy()), at(there)) == 0
        slot = library.mod_predict(at(x.copy()), at(score))
        assert is_near or model._allocated.labels.in_slots[slot] == label
        if not normalizes:
            assert np.allclose(there, value, rtol=1e-3, atol=1e-3 * np.abs(values).max())
    nan = np.full(5, np.nan, model.dtype)
    assert library.mod_predict(at(nan), at(score)) == -1


def test_what_has_no_such_form_says_so(tmp_path, capsys):
    model, _ = learned(Standardized(learner=FourierSVM()), 2)
    model.save(tmp_path / "f.esvm")
    args = ["export", str(tmp_path / "f.esvm"), "--c", str(tmp_path / "c"), "--inference"]
    assert main(args) == 2
    assert "FourierSVM cannot be exported for inference" in capsys.readouterr().err
