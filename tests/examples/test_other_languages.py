"""The readers in C and JavaScript score and decode as edgesvm does."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import Perceptron, Standardized, StreamSVM
from edgesvm.link.wire import encode_sample

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = {
    "plain": StreamSVM(),
    "last weights": StreamSVM(average=False, normalize=False),
    "intercept": StreamSVM(fit_intercept=True, C=10.0),
    "standardized": Standardized(learner=StreamSVM(fit_intercept=True)),
}


@pytest.fixture(params=["c", "javascript"])
def program(request, tmp_path):
    """The command of a reader by its name, compiled where it must be."""

    def c(name):
        if shutil.which("cc") is None:
            pytest.skip("no C compiler")
        built = tmp_path / name
        source = EXAMPLES / "c" / f"{name}.c"
        flags = ["-O1", "-std=c99", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *flags, "-o", str(built), str(source), "-lm"], check=True)
        return [str(built)]

    def javascript(name):
        if shutil.which("node") is None:
            pytest.skip("no node")
        return ["node", str(EXAMPLES / "javascript" / f"{name}.js")]

    return {"c": c, "javascript": javascript}[request.param]


def data():
    X = np.random.default_rng(3).normal(1.0, 2.0, (60, 3)).astype(np.float32)
    return X, np.where(X @ [1.0, -1.0, 0.5] > 0.4, "hot", "cold")


def scored(command, model, X):
    """What a reader prints; C reads the samples from its standard input."""
    samples = "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n"
    path = model.with_suffix(".csv")
    path.write_text(samples, encoding="ascii")
    files = [str(model)] + [str(path)] * (command[0] == "node")
    done = subprocess.run(
        [*command, *files], input=samples, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout.split(), done.stderr


@each("name", MODELS)
def test_snapshots(program, name, tmp_path):
    X, y = data()
    learner = MODELS[name].like_new().allocate(3, classes=["cold", "hot"]).partial_fit(X, y)
    learner.save(tmp_path / "model.esvm")
    code, values, errors = scored(program("read_snapshot"), tmp_path / "model.esvm", X)
    assert code == 0, errors
    f = learner.decision_function(X)
    np.testing.assert_allclose(np.array(values, float), f, rtol=2e-5, atol=1e-6)


def test_what_it_does_not_know_or_is_damaged_is_refused(program, tmp_path):
    command = program("read_snapshot")
    X, y = data()
    path = tmp_path / "model.esvm"
    Perceptron().partial_fit(X, y).save(path)
    code, values, errors = scored(command, path, X)
    assert code == 1 and not values and "does not know" in errors
    StreamSVM().partial_fit(X, y).save(path)
    whole = path.read_bytes()
    for at in (0, 20, 60, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        code, values, errors = scored(command, path, X)
        assert code == 1 and not values and "damaged" in errors


def test_frames(program):
    X, _ = data()
    frames = [
        encode_sample(7, n, row.tolist(), label=None if n % 3 else n - 9) for n, row in enumerate(X)
    ]
    frames[5] = frames[5][:9] + b"\x77" + frames[5][10:]  # damaged
    sent = b"torn" + b"\0" + b"".join(frames[:20]) + b"\0\x05noise\0" + b"".join(frames[20:])
    done = subprocess.run(program("read_frames"), input=sent, capture_output=True, check=True)
    rows = [line.split(",") for line in done.stdout.decode().splitlines()]
    expected = [n for n in range(len(X)) if n != 5]
    assert [int(row[0]) for row in rows] == expected
    assert [row[1] for row in rows] == ["" if n % 3 else str(n - 9) for n in expected]
    assert np.array_equal(np.array([row[2:] for row in rows], np.float32), X[expected])
