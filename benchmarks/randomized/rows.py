"""The rows of a set in files, written where they are not there, and read a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common.data import read
from edgesvm.data import SETS, Rows

TEST_ROWS = 10_000
SIZES = {"1": 10**5, "2": 10**6, "quick": 8_000}
QUICK = "checkerboard_quick"


@dataclass(frozen=True)
class RowFile:
    """Rows and labels in two .npy files, read a chunk at a time: nothing is mapped."""

    stem: Path

    @property
    def n_features(self) -> int:
        return int(np.load(self.stem.with_suffix(".X.npy"), mmap_mode="r").shape[1])

    def chunks(self, rows: int) -> Iterator[Rows]:
        X = np.load(self.stem.with_suffix(".X.npy"), mmap_mode="r")
        y = np.load(self.stem.with_suffix(".y.npy"))
        n_features, offset, n_rows = X.shape[1], X.offset, len(X)
        del X
        with self.stem.with_suffix(".X.npy").open("rb") as file:
            file.seek(offset)
            for at in range(0, n_rows, rows):
                n = min(rows, n_rows - at)
                part = np.fromfile(file, np.float32, n * n_features)
                yield Rows(part.reshape(n, n_features), y[at : at + n])


def rows_of(folder: Path, name: str) -> tuple[RowFile, np.ndarray, np.ndarray]:
    """A source of the training rows; test rows and their labels. Written where it is not there."""
    stem = folder / "data" / name
    test = stem.with_suffix(".test.npz")
    if not test.is_file():
        stem.parent.mkdir(parents=True, exist_ok=True)
        if name == "a9a":
            file = read("a9a")
            X, y = file["X_train"].astype(np.float32), file["y_train"] > 0
            X_test, y_test = file["X_test"].astype(np.float32), file["y_test"] > 0
        else:
            kind, size = name.split("_")
            stream = SETS[kind](seed=1)
            X, y = stream.read(SIZES[size])
            X_test, y_test = SETS[kind](seed=2).read(TEST_ROWS)
        np.save(stem.with_suffix(".X.npy"), X)
        np.save(stem.with_suffix(".y.npy"), y.astype(np.int8))
        np.savez(test, X=X_test, y=y_test.astype(np.int8))
    with np.load(test) as file:
        return RowFile(stem), file["X"], file["y"]


def n_rows(folder: Path, name: str) -> int:
    return len(np.load((folder / "data" / name).with_suffix(".y.npy"), mmap_mode="r"))
