"""Memory does not grow with the data: a file larger than the process may hold is learned."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from each import each

from edgesvm import RBF, BatchSVM, RandSVM
from edgesvm.data import Rows
from edgesvm.link._ring import Batch
from edgesvm.link.recording import RecordingSchema, RecordingWriter

LIMIT = 200 << 20
FILE = 400 << 20
WIDTH = 20
ROWS = FILE // (4 * WIDTH)
BLOCK = 1 << 16

CHILD = """
import resource, sys
import numpy as np
from edgesvm import Linear, BatchSVM, RandSVM
from edgesvm.link.recording import Recording

resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))
path = sys.argv[2]
model = RandSVM(
    solver=BatchSVM(max_samples=1000, C=1.0, kernel=Linear(), cache="8MiB"), max_passes=3)
if sys.argv[1] == "memmap":
    X, y = np.load(path + ".X.npy", mmap_mode="r"), np.load(path + ".y.npy", mmap_mode="r")
    model.fit(X, y)
elif sys.argv[1] == "recording":
    with Recording(path + ".rec") as source:
        model.fit(source)
else:
    np.load(path + ".X.npy")
test = np.load(path + ".test.npz")
print(model.n_seen_, model.n_passes_, model.score(test["X"], test["y"]))
"""


def rows(n, seed):
    """Two clouds, of which 2.3 % lie on the wrong side of the best plane."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = rng.standard_normal((n, WIDTH), np.float32)
    X[:, 0] += np.where(y, 2.0, -2.0).astype(np.float32)
    return X, y.astype(np.int32)


def blocks():
    for seed, at in enumerate(range(0, ROWS, BLOCK)):
        yield at, *rows(min(BLOCK, ROWS - at), seed)


def write_arrays(path):
    X = np.lib.format.open_memmap(f"{path}.X.npy", "w+", np.float32, (ROWS, WIDTH))
    y = np.lib.format.open_memmap(f"{path}.y.npy", "w+", np.int32, (ROWS,))
    for at, X_block, y_block in blocks():
        X[at : at + len(X_block)], y[at : at + len(X_block)] = X_block, y_block


def write_recording(path):
    with RecordingWriter(f"{path}.rec", RecordingSchema(WIDTH)) as writer:
        for at, X, y in blocks():
            n = len(X)
            numbers = np.arange(at, at + n, dtype=np.uint32)
            writer.append(Batch(X, y, np.ones(n, bool), np.ones(n, np.float32), numbers))


def run(kind, path):
    return subprocess.run(
        [sys.executable, "-I", "-c", CHILD.format(limit=LIMIT), kind, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_DATA is Linux's")
@each("kind, write", [("memmap", write_arrays), ("recording", write_recording)])
def test_a_file_of_twice_the_memory_that_is_allowed(kind, write, tmp_path):
    path = tmp_path / "rows"
    write(path)
    X_test, y_test = rows(10_000, 10**6)
    np.savez(f"{path}.test.npz", X=X_test, y=y_test)
    largest = max(file.stat().st_size for file in Path(tmp_path).iterdir())
    assert largest >= FILE >= 2 * LIMIT
    child = run(kind, path)
    assert child.returncode == 0, child.stderr
    n_seen, n_passes, score = child.stdout.split()
    assert int(n_seen) == ROWS and int(n_passes) >= 1 and float(score) > 0.95
    if kind == "memmap":
        assert "MemoryError" in run("whole", path).stderr, "the control: the limit is one"


class Endless:
    """n rows made as they are asked for, the same in each pass."""

    n_features = 2

    def __init__(self, n):
        self.n = n

    def chunks(self, size):
        for at in range(0, self.n, size):
            X = np.random.default_rng(at).uniform(0, 4, (min(size, self.n - at), 2))
            yield Rows(X.astype(np.float32), np.floor(X).sum(axis=1) % 2 == 0)


def peak_of_fit(n):
    solver = BatchSVM(max_samples=200, C=10.0, kernel=RBF(2.0), cache="160KiB")
    model = RandSVM(solver=solver, max_passes=3).allocate(2)
    tracemalloc.start()
    try:
        model.fit(Endless(n))
        return tracemalloc.get_traced_memory()[1], model.n_passes_
    finally:
        tracemalloc.stop()


def test_the_peak_does_not_grow_with_the_rows():
    peak_of_fit(2000)  # what is imported on the way
    few, many = peak_of_fit(4000), peak_of_fit(80_000)
    assert few[1] == many[1] == 3
    more = 76_000 * 2 * 4  # bytes of the rows that `many` has more
    assert many[0] < few[0] + more / 10  # garbage may wait to be collected
