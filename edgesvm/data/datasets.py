"""The papers' synthetic data sets, as endless seeded streams.

>>> from edgesvm.data import Checkerboard
>>> X, y = Checkerboard(seed=1, flip=0.15).read(1000)

A set is a `Stream`, so it can replace a file or a sensor. The rows depend only on the seed, not on
how the stream is split into chunks: classes, values, noise and switched labels each come from their
own generator, which draws row after row. Nothing is stored between two reads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import Rows, Stream

__all__ = ["SETS", "Checkerboard", "Gauss", "NoisyCrossedNorm", "RingNorm", "TwoNorm", "Waveform"]


class Dataset(Stream):
    """Base of the sets: equally likely classes, and labels that may be switched.

    Parameters
    ----------
    seed : int, >= 0
        The same seed gives the same rows, on one NumPy version.
    flip : float, 0 to 0.5
        Share of the labels that are switched, independently of the row.
    """

    n_features = 2
    n_classes = 2

    def __init__(self, seed: int = 0, *, flip: float = 0.0) -> None:
        if not 0 <= flip <= 0.5:
            raise ValueError(f"flip={flip!r}: give a share from 0 to 0.5")
        self.flip = flip
        generators = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(4))
        self._classes, self._values, self._noise, self._flips = generators

    def read(self, n: int) -> Rows:
        """The next `n` rows: X of shape (n, n_features), float32, y int32, -1 or 1, in `Waveform` 0
        to 2."""
        X, y = self._rows(n)
        if self.flip:
            y = np.where(self._flips.random(n) < self.flip, -y, y)
        return Rows(X.astype(np.float32), y.astype(np.int32))

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        raise NotImplementedError

    def _signs(self, n: int) -> NDArray[np.int64]:
        """-1 and 1, equally likely."""
        return np.where(self._classes.random(n) < 0.5, -1, 1)

    def _normal(self, n: int) -> NDArray[np.float64]:
        return self._values.standard_normal((n, self.n_features))


class Checkerboard(Dataset):
    """Rows uniform on a board of 4 by 4 squares of alternating class.

    x = (U(0, 4), U(0, 4)); y = 1 if floor(x1) and floor(x2) are both even or both odd, else -1.
    With ``flip=0.15`` it is the "N-Checkerboard", which is tested on clean rows (Krishnan,
    Bhattacharyya & Hariharan 2007, section 3; Wang & Vucetic 2009, section 5.1).
    """

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X = 4.0 * self._values.random((n, 2))
        squares = np.floor(X).astype(np.int64).sum(axis=1)
        return X, np.where(squares % 2 == 0, 1, -1)


class Gauss(Dataset):
    """Two round Gaussians, one inside the other: 1 is N((0, 0), I), -1 is N((2, 0), 4 I).

    The best classifier has an accuracy of 81.55 %. Wang & Vucetic 2009 do not describe their
    "Gauss"; the kernel machines of their Table 3 reach 81.5 % on it.
    """

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = self._signs(n)
        wide = (y < 0)[:, None]
        return np.where(wide, 2.0, 1.0) * self._normal(n) + wide * np.array([2.0, 0.0]), y


class Waveform(Dataset):
    """Breiman's waves: 21 points of a random mixture of two of three triangles, plus noise.

    x_i = u h_a(i) + (1 - u) h_b(i) + e_i for i = 1 to 21, u uniform on (0, 1), e_i standard normal;
    (a, b) is (1, 2), (1, 3), (2, 3) in class 0, 1, 2. h_1(i) = max(6 - |i - 11|, 0), h_2(i) = h_1(i
    - 4), h_3(i) = h_1(i + 4) (Breiman, Friedman, Olshen & Stone 1984, section 2.6.2). The best
    classifier has an accuracy of about 86 %.
    """

    n_features = 21
    n_classes = 3
    _triangles = np.maximum(6.0 - abs(np.arange(1, 22) - np.array([[11], [15], [7]])), 0.0)
    _pairs = np.array([[0, 1], [0, 2], [1, 2]])

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = np.floor(3.0 * self._classes.random(n)).astype(np.int64)
        first, second = self._triangles[self._pairs[y].T]
        share = self._noise.random(n)[:, None]
        return share * first + (1.0 - share) * second + self._normal(n), y


class TwoNorm(Dataset):
    """Two round Gaussians of unit variance in 20 dimensions: the mean is y (a, ..., a).

    a = 2 / sqrt(20), so that the means are 4 apart (Krishnan, Bhattacharyya & Hariharan 2007,
    section 3). The best classifier is the plane sum(x) = 0, with an accuracy of 97.7 %. Domeniconi
    & Gunopulos 2001 describe their "noisy crossed norm" in the same words and do not specify the
    noise.
    """

    n_features = 20
    _a = 2.0 / np.sqrt(20.0)

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = self._signs(n)
        return self._normal(n) + self._a * y[:, None], y


NoisyCrossedNorm = TwoNorm


class RingNorm(Dataset):
    """A Gaussian of unit variance inside one of variance 4, in 20 dimensions.

    1 is N((a, ..., a), I) with a = 2 / sqrt(20); -1 is N((centre, ..., centre), 4 I), centre 0 in
    Breiman 1996 and 1 in Krishnan, Bhattacharyya & Hariharan 2007, section 3. The best classifier
    has an accuracy of about 98.7 %.
    """

    n_features = 20

    def __init__(self, seed: int = 0, *, flip: float = 0.0, centre: float = 0.0) -> None:
        super().__init__(seed, flip=flip)
        self.centre = float(centre)

    def _rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = self._signs(n)
        wide = (y < 0)[:, None]
        mean = np.where(wide, self.centre, 2.0 / np.sqrt(20.0))
        return np.where(wide, 2.0, 1.0) * self._normal(n) + mean, y


SETS: dict[str, type[Dataset]] = {
    "checkerboard": Checkerboard,
    "gauss": Gauss,
    "waveform": Waveform,
    "twonorm": TwoNorm,
    "ringnorm": RingNorm,
}
