"""Kernels, as values: ``Linear()``, ``RBF(gamma)``, ``Polynomial(degree, gamma, coef0)``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from edgesvm.contract.params import not_negative, positive, whole
from edgesvm.core.constants import LARGEST_NORM

MAX_DEGREE = 64  # a larger power overflows for any base that is not close to 1


class KernelKind(IntEnum):  # as core/kernels.pxd has it
    LINEAR = 0
    RBF = 1
    POLYNOMIAL = 2


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x.z"""

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of rows, ndarray of shape (n, m)."""
        return X @ Z.T

    def of_square(self, square: np.ndarray) -> np.ndarray:
        """k(x, x) where x.x = square"""
        return square

    @property
    def code(self) -> tuple[int, float, float, int]:
        return int(KernelKind.LINEAR), 0.0, 0.0, 1


@dataclass(frozen=True)
class RBF:
    """k(x, z) = exp(-gamma |x - z|^2), gamma > 0"""

    gamma: float

    def __post_init__(self) -> None:
        positive("gamma", self.gamma)

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of rows, ndarray of shape (n, m)."""
        return np.exp(-self.gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))

    def of_square(self, square: np.ndarray) -> np.ndarray:
        """k(x, x) where x.x = square"""
        return np.ones_like(square)

    @property
    def code(self) -> tuple[int, float, float, int]:
        return int(KernelKind.RBF), float(self.gamma), 0.0, 1


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (gamma x.z + coef0)^degree, degree 1 to 64, gamma > 0, coef0 >= 0"""

    degree: int
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        whole("degree", self.degree, 1, MAX_DEGREE)
        positive("gamma", self.gamma)
        not_negative("coef0", self.coef0)
        if self.degree * math.log(max(self.coef0, 1.0)) > math.log(LARGEST_NORM):
            raise ValueError(f"coef0={self.coef0!r}: coef0 ** degree is above {LARGEST_NORM}")

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of rows, ndarray of shape (n, m)."""
        return (self.gamma * (X @ Z.T) + self.coef0) ** self.degree

    def of_square(self, square: np.ndarray) -> np.ndarray:
        """k(x, x) where x.x = square"""
        return (self.gamma * square + self.coef0) ** self.degree

    @property
    def code(self) -> tuple[int, float, float, int]:
        return int(KernelKind.POLYNOMIAL), float(self.gamma), float(self.coef0), int(self.degree)


Kernel = Linear | RBF | Polynomial
