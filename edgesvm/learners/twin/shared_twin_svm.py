"""SharedTwinSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import positive, whole
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.kernel_learner import KERNEL, KernelMethod
from edgesvm.learners.twin._shared_twin_svm import SharedTwinSVMCore
from edgesvm.learners.twin.adiabatic_learner import MAX_TWINS

__all__ = ["SharedTwinSVM"]

MOST_SAMPLES = 1 << 31  # before the twins stand still


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class SharedTwinSVM(KernelMethod):
    """SVM with a kernel, for any number of classes, on one dictionary of twins that all classes
    share.

    `OneVsRest` and `OneVsOne` give each class, or pair, vectors of its own; in few bytes hardly one
    is left for each. Here every vector serves every class, at 8 bytes a class.

    Parameters
    ----------
    max_twins : int, default 100
        Number of vectors, 1 to 2^20.
    n_classes : int, default 2
        Largest number of classes, 2 to 127.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    settle_after : int, default 1000
        Number of samples after which the twins stand still; 1 to 2^31.
    r : float, default 0.1
        Variance of a sample's decision value in AROW, beside the prior variance k(x, x) of f; > 0.
        Smaller learns faster.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and twins; everything else is float64.

    Attributes
    ----------
    twins_ : ndarray of shape (n, n_features)
    twin_labels_ : ndarray of shape (n,)
    weights_ : ndarray of shape (n, n_labels), columns as `classes_`
    dual_coef_ : ndarray of shape (1, n), with n_classes > 2 (n_labels, n); zero while twins move
    intercept_ : ndarray of shape (1,) or (n_labels,)
    settled_at_, n_merged_, n_refined_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Twins are made as in Wang & Vucetic 2009, section 4.2.1: of all twins and the new sample, the
    two of one class whose merge moves the samples least become their mean. Until they settle, the
    class of the nearest twin is the answer. Then Crammer, Kulesza & Dredze 2009 (AROW), Figure 1,
    learns the coefficients of each class against the rest, with one precision for all, from the
    samples whose class is not ahead by 1. A sample of weight s has the variance r / s.

    Bytes: see ``plan``; with M = max_twins, V = n_classes, or 1 with two classes, s = 4 or 8:
    80 + 16 V + M (D s + 8 V + 33) + 4 M (M + 1), and padding. Time: M kernel values and O(M^2) for
    a sample that is learned, M kernel values for a decision. It does not forget.

    Examples
    --------
    >>> from edgesvm import SharedTwinSVM
    >>> from edgesvm.data import Waveform
    >>> (X, y), (X_test, y_test) = Waveform(seed=1).read(3_000), Waveform(seed=2).read(1_000)
    >>> model = SharedTwinSVM(max_twins=40, n_classes=3, gamma=0.02).partial_fit(X, y)
    >>> model.settled_at_, model.dual_coef_.shape
    (1000, (3, 40))
    """

    _capacity = "max_twins"
    _compiled = SharedTwinSVMCore
    _param_order = ("max_twins", "n_classes", *KERNEL, "settle_after", "r", "dtype")

    max_twins: int = 100
    n_classes: int = 2
    settle_after: int = 1000
    r: float = 0.1

    settled_at_ = Counter("Number of samples learned when the twins settled; 0 while they move.")
    n_merged_ = Counter("Merges of two twins, or of a twin and a sample.")
    n_refined_ = Counter("Samples that moved the coefficients since the twins settled.")

    def _check_params(self) -> None:
        whole("max_twins", self.max_twins, 1, MAX_TWINS)
        whole("n_classes", self.n_classes, 2, MOST_CLASSES)
        whole("settle_after", self.settle_after, 1, MOST_SAMPLES)
        positive("r", self.r)
        self.kernel_for(1)

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, MAX_TWINS

    @property
    def n_classes_planned(self) -> int:
        return whole("n_classes", self.n_classes, 2, MOST_CLASSES)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        M, K = int(self.max_twins), self.n_classes_planned
        several = K > 2
        return [
            *((name, "i8", ()) for name in ("n", "n_merged", "settled_at", "n_refined")),
            ("lift", "f8", ()),
            *((name, "f8", (M,)) for name in ("weight", "ones")),
            *((name, "f8", (M + 1,)) for name in ("border", "solution")),
            ("coef", "f8", (K if several else 1, M)),
            ("pool", "f8", (packed_length(M),)),
            ("twin_class", "i1", (M,)),
            ("vectors", self.dtype, (M, n_features)),
            *([("scores", "f8", (K,))] if several else []),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {
            "settle_after": int(self.settle_after),
            "r": float(self.r),
            "kernel": self.kernel_for(n_features),
        }

    # -- what was learned --------------------------------------------------------------------------

    def _held(self, name: str) -> np.ndarray:
        views = self._fitted.views
        return views[name][..., : int(views["n"])]

    @property
    def twins_(self) -> np.ndarray:
        """Twin vectors, ndarray of shape (n, n_features), a copy."""
        views = self._fitted.views
        return views["vectors"][: int(views["n"])].copy()

    @property
    def twin_labels_(self) -> np.ndarray:
        """The label of each twin's samples, ndarray of shape (n,)."""
        return self._fitted.labels.of_slots(self._held("twin_class"))

    @property
    def weights_(self) -> np.ndarray:
        """Weight of each class in each twin, ndarray of shape (n, n_labels), float64, columns as
        `classes_`."""
        own = self.twin_labels_[:, None] == self.classes_
        return np.where(own, self._held("weight")[:, None], 0.0)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients, a row for each of ``classes_``, with two classes one for both; float64."""
        coef, labels = self._held("coef"), self._fitted.labels
        return labels.sign * coef if len(coef) == 1 else coef[list(labels.sorted_slots)]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept of each row of ``dual_coef_``: the sum of its coefficients, times k(q, q)
        of the largest twin."""
        return float(self._fitted.views["lift"]) * self.dual_coef_.sum(axis=1)
