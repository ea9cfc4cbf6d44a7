"""KernelStreamSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.params import one_of, positive, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.kernel_learner import KERNEL, KernelLearner
from edgesvm.learners.stream._kernel_stream_svm import KernelStreamSVMCore

__all__ = ["KernelStreamSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelStreamSVM(KernelLearner):
    """StreamSVM with a kernel: one pass, one ball, at most ``max_vectors`` vectors.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of vectors stored. When a new sample needs room, the older vector of the smallest
        share is removed and its share goes to the vector nearest to it.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 1.0
        Penalty of the l2-SVM's squared slack; > 0.
    bound : {"upper", "lower"}, default "upper"
        As for `StreamSVM`. "upper": when a vector is removed, R grows by the centre's displacement,
        so the ball still encloses all that it enclosed.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples, vectors and the sums inside a kernel value.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_held, n_features)
    dual_coef_ : ndarray of shape (1, n_held)
    radius_ : float
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Rai, Daumé III & Venkatasubramanian 2008, "All of the above calculations can be kernelized";
    what happens at ``max_vectors`` is not in the paper. Bytes: see ``plan``; 72 + (max_vectors + 1)
    (n_features s + 40), s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, KernelStreamSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = KernelStreamSVM(max_vectors=10, kernel=RBF(2.0), C=10.0, bound="lower")
    >>> _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _capacity = "max_vectors"

    _compiled = KernelStreamSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "bound", "dtype")

    max_vectors: int = 100
    bound: str = "upper"

    def _check_params(self) -> None:
        whole("max_vectors", self.max_vectors, 1, MAX_CAPACITY)
        positive("C", self.C)
        one_of("bound", self.bound, "upper", "lower")
        self._kernel(1)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        slots = int(self.max_vectors) + 1
        return [
            *((name, "f8", ()) for name in ("R", "xi2", "ww", "q")),
            ("n_held", "i8", ()),
            *((name, "f8", (slots,)) for name in ("share", "sign", "norm", "own", "row")),
            ("vectors", self.dtype, (slots, n_features)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"C": float(self.C), "bound": self.bound, "kernel": self._kernel(n_features)}

    @property
    def support_vectors_(self) -> np.ndarray:
        """Stored vectors, ndarray of shape (n_held, n_features), a copy."""
        views = self._allocated.views
        return views["vectors"][: int(views["n_held"])].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients in the decision value, ndarray of shape (1, n_held), float64."""
        core = self._allocated
        held = slice(0, int(core.views["n_held"]))
        return core.labels.sign * (core.views["share"][held] * core.views["sign"][held])[None, :]

    @property
    def radius_(self) -> float:
        """Radius of the ball in feature space; 0.0 before the second sample."""
        return float(self._allocated.views["R"])
