"""examples/read_snapshot.py knows FORMATS.md only, and scores as edgesvm does."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import (
    RBF,
    BallVectorMachine,
    BatchSVM,
    KernelStreamSVM,
    Polynomial,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "read_snapshot.py"
MODELS = {
    "stream": StreamSVM(C=10.0),
    "stream, float64, not normalized": StreamSVM(
        normalize=False, fit_intercept=False, dtype="float64"
    ),
    "stream, last weights": StreamSVM(average=False),
    "lookahead": StreamSVM(lookahead=4),
    "kernel stream": KernelStreamSVM(max_vectors=15, C=5.0),
    "kernel stream, float64": KernelStreamSVM(max_vectors=15, kernel="poly", dtype="float64"),
    "kernel stream, shares": KernelStreamSVM(max_vectors=15, when_full="share"),
    "batch": BatchSVM(max_samples=150, kernel=RBF(0.7), C=5.0),
    "batch, float64": BatchSVM(max_samples=150, kernel="linear", dtype="float64"),
    "ball": BallVectorMachine(max_core=50, C=10.0),
    "ball, normalized": BallVectorMachine(
        max_core=50, kernel=Polynomial(2), normalize=True, dtype="float64"
    ),
    "twin": TwinVectorMachine(max_twins=12, C=2.0),
    "twin, bounded margin": TwinVectorMachine(max_twins=12, max_margin=9, dtype="float64"),
    "standardized": Standardized(learner=StreamSVM(C=10.0)),
    "not clipped": Standardized(learner=BatchSVM(max_samples=150), clip=None),
    "standardized batch": Standardized(learner=BatchSVM(max_samples=150)),
}


@pytest.fixture(scope="module")
def reader():
    spec = importlib.util.spec_from_file_location("read_snapshot", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data():
    X = np.random.default_rng(3).normal(1.0, 2.0, (120, 3)).astype(np.float32)
    return X, np.where(X @ [1.0, -1.0, 0.5] > 0.4, "hot", "cold")


def saved(learner, path, first_label):
    X, y = data()
    first = int(np.flatnonzero(y == first_label)[0])
    order = [first, *(i for i in range(len(X)) if i != first)]
    learner.reset()
    learner.partial_fit(X[order], y[order])
    f = learner.decision_function(X)
    learner.save(path)
    return X, f


def fresh(name):
    return type(MODELS[name])(**MODELS[name].get_params(deep=False))


@each("first_label", ["cold", "hot"])
@each("name", MODELS)
def test_scores_equal(reader, name, first_label, tmp_path):
    X, f = saved(fresh(name), tmp_path / "model.esvm", first_label)
    score = reader.read((tmp_path / "model.esvm").read_bytes())
    ours = np.array([score(x.tolist()) for x in X])
    assert np.abs(ours - f).max() <= 1e-5 * np.abs(f).max()
    assert np.ptp(f) > 0.0


def test_it_knows_no_edgesvm():
    assert "import edgesvm" not in EXAMPLE.read_text()
    assert "from edgesvm" not in EXAMPLE.read_text()


def test_an_unsolved_store_is_refused(reader, tmp_path):
    X, y = data()
    BatchSVM(max_samples=150).partial_fit(X, y).save(tmp_path / "model.esvm")
    with pytest.raises(ValueError, match="not solved"):
        reader.read((tmp_path / "model.esvm").read_bytes())


def test_it_prints_the_scores_of_a_csv(reader, tmp_path, capsys):
    X, f = saved(fresh("stream"), tmp_path / "model.esvm", "hot")
    np.savetxt(tmp_path / "samples.csv", X, delimiter=",", fmt="%.9g")
    reader.main(tmp_path / "model.esvm", tmp_path / "samples.csv")
    printed = np.array([float(line) for line in capsys.readouterr().out.split()])
    assert np.abs(printed - f).max() <= 1e-5 * np.abs(f).max()
