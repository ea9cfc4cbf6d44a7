"""The reader in C scores as edgesvm does."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import Perceptron, Standardized, StreamSVM

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = {
    "plain": StreamSVM(),
    "last weights": StreamSVM(average=False, normalize=False),
    "intercept": StreamSVM(fit_intercept=True, C=10.0),
    "standardized": Standardized(learner=StreamSVM(fit_intercept=True)),
}


@pytest.fixture
def program(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    built, source = tmp_path / "read_snapshot", EXAMPLES / "c" / "read_snapshot.c"
    flags = ["-O1", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", str(built), str(source), "-lm"], check=True)
    return str(built)


def data():
    X = np.random.default_rng(3).normal(1.0, 2.0, (60, 3)).astype(np.float32)
    return X, np.where(X @ [1.0, -1.0, 0.5] > 0.4, "hot", "cold")


def scored(program, model, X):
    """What the reader prints of samples from its standard input."""
    samples = "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n"
    command = [program, str(model)]
    done = subprocess.run(
        command, input=samples, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout.split(), done.stderr


@each("name", MODELS)
def test_snapshots(program, name, tmp_path):
    X, y = data()
    learner = MODELS[name].like_new().allocate(3, classes=["cold", "hot"]).partial_fit(X, y)
    learner.save(tmp_path / "model.esvm")
    code, values, errors = scored(program, tmp_path / "model.esvm", X)
    assert code == 0, errors
    f = learner.decision_function(X)
    np.testing.assert_allclose(np.array(values, float), f, rtol=2e-5, atol=1e-6)


def test_what_it_does_not_know_or_is_damaged_is_refused(program, tmp_path):
    X, y = data()
    path = tmp_path / "model.esvm"
    Perceptron().partial_fit(X, y).save(path)
    code, values, errors = scored(program, path, X)
    assert code == 1 and not values and "does not know" in errors
    StreamSVM().partial_fit(X, y).save(path)
    whole = path.read_bytes()
    for at in (0, 20, 60, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        code, values, errors = scored(program, path, X)
        assert code == 1 and not values and "damaged" in errors
