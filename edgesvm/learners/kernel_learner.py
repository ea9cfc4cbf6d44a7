"""Parameters that kernel learners share: the kernel, C, and when samples lose weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

from edgesvm.budget import NOT_NEGATIVE, SHARE, Table
from edgesvm.contract.labels import Labels
from edgesvm.contract.params import param
from edgesvm.data.sources import Source
from edgesvm.data.survey import Surveyed, survey
from edgesvm.kernels import RBF, Kernel, Linear, Polynomial
from edgesvm.learner import Learner

KERNEL = ("kernel", "gamma", "degree", "coef0")
# Bounds of the numbers of `PageHinkley`
OF_ERRORS = (NOT_NEGATIVE, SHARE, NOT_NEGATIVE, NOT_NEGATIVE, NOT_NEGATIVE, SHARE)


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

    def _check_params(self) -> None:
        super()._check_params()
        self.kernel_for(1)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"kernel": self.kernel_for(n_features)}

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


def half_life(name: str, value: object) -> float:
    """`forgetting`, as the core takes it: 0 with drifts, below 0 where nothing is forgotten."""
    if value is None:
        return -1.0
    if value == "drift":
        return 0.0
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 1.0 <= float(value) < inf:  # type: ignore[arg-type]
        raise ValueError(f"{name}={value!r}: give 'drift', None, or a number of samples >= 1")
    return float(value)  # type: ignore[arg-type]


@dataclass(kw_only=True, eq=False, repr=False)
class ForgettingLearner(KernelLearner):
    """Base of `TwinVectorMachine` and `KernelStreamSVM`.

    Parameters
    ----------
    forgetting : "drift", float or None, default "drift"
        When all that was learned loses weight. "drift": where errors become more, and for a while
        after it. A number: by half every so many samples, >= 1. None: never.
    """

    forgetting: float | str | None = param("drift", half_life)

    def _forgetting_arrays(self) -> Table:
        if self.forgetting is None:
            return []
        numbers = [(name, "f8", (), NOT_NEGATIVE) for name in ("since", "due")]
        return [("n_drifts", "i8", ()), *numbers, ("errors", "f8", (6,), OF_ERRORS)]

    @property
    def n_drifts_(self) -> int:
        """Drifts found so far."""
        return int(self.core.views.get("n_drifts", 0))


def surveyed(
    learner: Learner,
    X: Any,
    y: Any,
    sample_weight: Any,
    kernel_for: Callable[[int], Kernel] | None = None,
    **checks: Any,
) -> tuple[Source, Labels, Surveyed]:
    """What a `fit` in several passes reads, its labels, and what there is; nothing is reset."""
    owner, call = type(learner).__name__, learner._guard.call
    data = learner._closed(X), y, sample_weight
    source = call(Source, *data, owner=owner, regresses=learner.regresses)
    learner.plan(source.n_features)
    labels = learner._fresh_labels()
    checks |= {"owner": owner, "dtype": learner.dtype, "bounded": not learner._is_part}
    kernel = None if kernel_for is None else kernel_for(source.n_features)
    return source, labels, call(survey, source, labels, kernel=kernel, **checks)
