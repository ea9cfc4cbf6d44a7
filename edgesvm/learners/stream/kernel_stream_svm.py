"""KernelStreamSVM: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.params import one_of, positive, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.forgetting import ForgettingLearner
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.stream._kernel_stream_svm import KernelStreamSVMCore

__all__ = ["KernelStreamSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelStreamSVM(ForgettingLearner):
    """StreamSVM with a kernel: one pass, at most ``max_vectors`` vectors.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of vectors stored.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 100.0
        Penalty of the l2-SVM's squared slack; > 0.
    bound : {"upper", "lower"}, default "lower"
        As for `StreamSVM`.
    when_full : {"newton", "share"}, default "newton"
        What follows when the last place is taken. "newton": the ball ends and the vectors stay;
        each later sample inside the margin is a Newton step of the same l2-SVM over their span.
        "share": the ball goes on; for a new vector the older one of the smallest share is removed,
        and its share goes to the vector nearest to it.
    forgetting : "drift", float or None, default "drift"
        When the samples learned lose weight, once the last place is taken. "drift": where errors
        become more, which the test of `edgesvm.PageHinkley` says, and for a while after it; without
        a drift the model is as with None. A number >= 1: by half every so many samples. None:
        never. Nothing is forgotten with when_full="share".
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors, and with "share" of the sums inside a kernel value.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included; what "drift" counts of an error of the larger
        class is less by n_small / n_large.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_held, n_features)
    dual_coef_ : ndarray of shape (1, n_held)
    radius_ : float
    n_drifts_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Rai, Daumé III & Venkatasubramanian 2008, "All of the above calculations can be kernelized";
    what happens at ``max_vectors`` is not in the paper. ``KernelStreamSVM(bound="upper",
    when_full="share", C=1.0)`` with room for every update is the paper's algorithm.

    `radius_` with "share" and "upper": when a vector is removed, R grows by the centre's
    displacement, so the ball still encloses all that it enclosed. With "share" and "lower", it is
    at most the radius of the smallest ball around all samples. With "newton", it remains that of
    the ball when the last place was taken: with "lower" still at most the radius of the smallest
    ball, with "upper" a ball around the samples until then and no others.

    With "upper" few samples are outside the ball (about 15 of 4,000), so the last place is rarely
    taken: "newton" is meant for "lower". With "newton" samples of a label that comes only after the
    last place was taken are learned with one vector of that label, which replaces the newest.

    Forgetting: a drift (Page-Hinkley's PH above 50 deviations, within 2,000 samples of another one
    above 15) multiplies the weight of all samples by 2^-6; w samples after it they halve every
    max(w / 4, 100) samples, up to w = 8,000. The matrix K + C sum_t k_t k_t' of the Newton steps
    keeps this part of what is not K. The coefficients stay, so no answer changes; what comes next
    moves them farther. Time then: O(max_vectors^3).

    Bytes: see ``plan``; with "newton" 152 + max_vectors (n_features s + 40) + 4 max_vectors
    (max_vectors + 1), 72 fewer with forgetting=None, with "share" 80 + (max_vectors + 1)
    (n_features s + 40), s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, KernelStreamSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = KernelStreamSVM(max_vectors=10, kernel=RBF(2.0))
    >>> _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _capacity = "max_vectors"

    _compiled = KernelStreamSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "bound", "dtype", "when_full", "forgetting")
    _absent: ClassVar[Mapping[str, Any]] = {
        "when_full": "share",
        "class_weight": None,
        "forgetting": None,
    }

    C: float = 100.0
    max_vectors: int = 100
    bound: str = "lower"
    when_full: str = "newton"
    class_weight: str | None = None

    def _check_params(self) -> None:
        whole("max_vectors", self.max_vectors, 1, MAX_CAPACITY)
        positive("C", self.C)
        one_of("bound", self.bound, "upper", "lower")
        one_of("when_full", self.when_full, "newton", "share")
        self._check_forgetting()
        self.kernel_for(1)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        slots = int(self.max_vectors)
        if self.when_full == "newton":
            per_vector = ("share", "sign", "weight", "row", "gain")
            forgetting = self._forgetting_arrays()
            factor = [("L", "f8", (slots * (slots + 1) // 2,))]
        else:
            slots += 1  # one for the new sample
            per_vector, forgetting, factor = ("share", "sign", "norm", "own", "row"), [], []
        return [
            *((name, "f8", ()) for name in ("R", "xi2", "ww", "q")),
            *forgetting,
            ("n_held", "i8", ()),
            *((name, "f8", (slots,)) for name in per_vector),
            *factor,
            ("vectors", self.dtype, (slots, n_features)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {
            "C": float(self.C),
            "bound": self.bound,
            "when_full": self.when_full,
            **self._forgetting_params(),
            "kernel": self.kernel_for(n_features),
        }

    @property
    def support_vectors_(self) -> np.ndarray:
        """Stored vectors, ndarray of shape (n_held, n_features), a copy."""
        views = self.core.views
        return views["vectors"][: int(views["n_held"])].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients in the decision value, ndarray of shape (1, n_held), float64."""
        core = self.core
        held = slice(0, int(core.views["n_held"]))
        return core.labels.sign * (core.views["share"][held] * core.views["sign"][held])[None, :]

    @property
    def radius_(self) -> float:
        """Radius of the ball in feature space; 0.0 before the second sample. See the notes for what
        it bounds."""
        return float(self.core.views["R"])
