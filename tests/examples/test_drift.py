"""examples/drift.py on a stream that turns over: the window comes back, and it is drawn."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "drift.py"


@pytest.fixture
def drift():
    spec = importlib.util.spec_from_file_location("drift", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def turning(tmp_path):
    """1,200 rows; from 600 on the labels are the other way about."""
    X = np.random.default_rng(0).standard_normal((1200, 2)).astype(np.float32)
    y = np.where((X[:, 0] > 0) ^ (np.arange(1200) >= 600), 7, 3)
    path = tmp_path / "turning.npz"
    np.savez(path, X=X, y=y, batch=np.arange(1200) // 600)
    return path


def test_rows_stay_in_their_batch(drift, turning):
    X, y = drift.stream(turning, positive=7)
    assert X.shape == (1200, 2) and y.dtype == bool
    assert (y == ((X[:, 0] > 0) ^ (np.arange(1200) >= 600))).all()
    assert X.tolist() != np.load(turning)["X"].tolist()


def test_it_tells_and_draws(drift, turning, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    picture = tmp_path / "drift.png"
    options = ["--rolling", "100", "--batch-size", "20", "--window", "5", "--plot", str(picture)]
    drift.main([str(turning), *options])
    told = capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 5000
    lines = {line.split("  ")[0]: line for line in told.splitlines()}
    accuracy = float(lines["windowed, the last 100"].split("accuracy ")[1].split(" %")[0])
    assert accuracy > 80 and len(lines) == 5
    assert 40 < float(lines["previous label"].split("accuracy ")[1].split(" %")[0]) < 60
