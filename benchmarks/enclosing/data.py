"""The data sets of Tsang, Kocsor & Kwok 2007, Table 1, as far as they can be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.common.data import Split, generated, missing, read, standardised
from edgesvm.data import Waveform


@dataclass(frozen=True)
class EnclosingSet:
    """`load()` gives float32 rows, and labels from 0 on."""

    name: str
    file: str  # empty: generated
    load: Callable[[], Split]
    is_sparse: bool = False  # kept so by LIBSVM

    @property
    def missing(self) -> str | None:
        """Why it cannot be had."""
        return missing(self.file) if self.file else None


def numbered(y: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels = np.unique(y)
    return np.searchsorted(labels, y), np.searchsorted(labels, y_test)


def of_file(name: str, scaled: bool = False) -> Split:
    """The file's own split; `scaled` to mean 0 and deviation 1."""
    file = read(name)
    X, X_test = file["X_train"].astype(np.float32), file["X_test"].astype(np.float32)
    if scaled:
        X, X_test = standardised(X.astype(np.float64), X_test.astype(np.float64))
    y, y_test = numbered(file["y_train"], file["y_test"])
    return X, y, X_test, y_test


def reuters() -> Split:
    """Dense, 258 MB."""
    file = read("reuters_csr")
    parts = []
    for part in ("train", "test"):
        ends = file[f"X_{part}_indptr"]
        X = np.zeros((len(ends) - 1, int(file["n_features"])), np.float32)
        rows = np.repeat(np.arange(len(X)), np.diff(ends))
        X[rows, file[f"X_{part}_indices"]] = file[f"X_{part}_data"]
        parts.append(X)
    y, y_test = numbered(file["y_train"], file["y_test"])
    return parts[0], y, parts[1], y_test


def shifted_usps(shift: int = 5) -> Split:
    """Digits 0 and 1 in a wider frame, each moved by up to `shift` pixels in all directions:
    (2 shift + 1)^2 images of one. With 5 pixels there are as many rows and features as the paper
    has (266,079 and 75,383 of 26 x 26), 720 MB."""
    file = read("usps")
    parts: list[np.ndarray] = []
    for part in ("train", "test"):
        y = file[f"y_{part}"]
        keep = y <= 1
        parts += [moved(file[f"X_{part}"][keep], shift), np.repeat(y[keep], (2 * shift + 1) ** 2)]
    return parts[0], parts[1], parts[2], parts[3]


def moved(X: np.ndarray, shift: int) -> np.ndarray:
    side, n_shifts = 16 + 2 * shift, 2 * shift + 1
    images = np.full((len(X), n_shifts, n_shifts, side, side), -1.0, np.float32)
    for down in range(n_shifts):
        for right in range(n_shifts):
            images[:, down, right, down : down + 16, right : right + 16] = X.reshape(-1, 16, 16)
    return images.reshape(-1, side * side)


def intrusion() -> Split:
    """Attacks against the rest, 94,021 rows drawn to be tested. Counts by their logarithm, then all
    columns to [0, 1]: bytes reach 7e8."""
    file = read("kdd99_10pct")
    X, y = file["X"], (file["y"] > 0).astype(np.int8)
    counts = X.max(axis=0) > 1
    X[:, counts] = np.log1p(X[:, counts])
    X /= np.maximum(X.max(axis=0), np.float32(1e-30))
    order = np.random.default_rng(0).permutation(len(X))
    test, train = order[:94_021], order[94_021:]
    return X[train], y[train], X[test], y[test]


def waves() -> Split:
    X, y, X_test, y_test = generated(Waveform, 500, 500)(np.random.default_rng(0))
    return X, y.astype(np.int64), X_test, y_test.astype(np.int64)


QUICK = "waveform, generated"
SETS = {
    each.name: each
    for each in [
        EnclosingSet("optdigits", "optdigits", partial(of_file, "optdigits", scaled=True)),
        EnclosingSet("satimage", "satimage", partial(of_file, "satimage", scaled=True)),
        EnclosingSet("w3a", "w3a", partial(of_file, "w3a"), is_sparse=True),
        EnclosingSet("pendigits", "pendigits", partial(of_file, "pendigits", scaled=True)),
        EnclosingSet("reuters", "reuters_csr", reuters, is_sparse=True),
        EnclosingSet("letter", "letter_libsvm", partial(of_file, "letter_libsvm")),
        EnclosingSet("web", "w8a", partial(of_file, "w8a"), is_sparse=True),
        EnclosingSet("ijcnn1", "ijcnn1", partial(of_file, "ijcnn1")),
        EnclosingSet("usps", "usps", shifted_usps),
        EnclosingSet("intrusion", "kdd99_10pct", intrusion),
        EnclosingSet("usps, 10 classes", "usps", partial(of_file, "usps")),
        EnclosingSet("usps, 2 pixels", "usps", partial(shifted_usps, 2)),
        EnclosingSet(QUICK, "", waves),
    ]
}


def nested(split: Split, n_rows: int, seed: int = 0) -> Split:
    """The first `n_rows` of one random order: a smaller part lies in a larger."""
    X, y, X_test, y_test = split
    first = np.random.default_rng(seed).permutation(len(X))[:n_rows]
    return X[first], y[first], X_test, y_test


def mean_square_distance(X: np.ndarray) -> float:
    """Between two rows, over all pairs: twice the sum of the features' variances."""
    squares = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X)
    mean = X.mean(axis=0, dtype=np.float64)
    return 2.0 * float(squares - mean @ mean)
