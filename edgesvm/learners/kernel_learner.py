"""The kernel among a learner's parameters."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.kernels import RBF, Kernel, Linear, Polynomial
from edgesvm.learner import Learner

KERNEL = ("kernel", "gamma", "degree", "coef0")


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMethod(Learner):
    """Base of the learners with a kernel.

    Parameters
    ----------
    kernel : Kernel or {"linear", "rbf", "poly"}, default "rbf"
        An object, such as ``RBF(0.5)``, or a name with the parameters below.
    gamma : float, optional
        Width of the kernel "rbf" or "poly"; > 0, default 1 / n_features.
    degree : int, default 3
        Degree of "poly", 1 to 64.
    coef0 : float, default 1.0
        Constant term of "poly", >= 0.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples.
    """

    kernel: Kernel | str = "rbf"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    dtype: str = "float32"

    def kernel_for(self, n_features: int) -> Kernel:
        """The kernel object; ValueError for an unknown name or a number out of range."""
        kernel = self.kernel
        if isinstance(kernel, Kernel):
            return kernel
        width = 1.0 / n_features if self.gamma is None else self.gamma
        if kernel == "linear":
            return Linear()
        if kernel == "rbf":
            return RBF(width)
        if kernel == "poly":
            return Polynomial(self.degree, width, self.coef0)
        raise ValueError(
            f"kernel={kernel!r}: give 'linear', 'rbf', 'poly', or Linear(), RBF(gamma),"
            " Polynomial(degree)"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLearner(KernelMethod):
    """Base of the SVMs with a kernel: a `KernelMethod` with a penalty.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation; > 0.
    """

    C: float = 1.0
