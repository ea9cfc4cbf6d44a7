"""Kernel SVMs on twins, each of which stands for many samples: TwinVectorMachine and
SharedTwinSVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import SCRATCH, Table
from edgesvm.contract.counter import Counter
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.params import among, flag, not_negative, param, positive, size, within
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.kernel_learner import KERNEL, ForgettingLearner, KernelMethod
from edgesvm.learners.twin._adiabatic import TwinVectorMachineCore
from edgesvm.learners.twin._shared_twin_svm import SharedTwinSVMCore
from edgesvm.learners.twin.exact import MAX_TWINS, AdiabaticLearner

__all__ = ["SharedTwinSVM", "TwinVectorMachine"]

MOST_SAMPLES = 1 << 31  # before the twins of a SharedTwinSVM stand still


def flag_or_paper(name: str, value: object) -> Any:
    return value if value == "paper" else flag(name, value)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class TwinVectorMachine(AdiabaticLearner, ForgettingLearner):
    """Kernel SVM of at most ``max_twins`` twin vectors, kept at its exact optimum in one pass.

    A twin vector stands for all samples merged into it: one vector with a weight for each class.
    After every sample the Kuhn-Tucker conditions hold on all twins (`kt_residual`).

    Parameters
    ----------
    max_twins : int, default 100
        Number of twin vectors (the paper's B).
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 100.0
        Penalty of a margin violation per twin; > 0. The penalty per unit of weight is `C_`, which
        falls as weight accumulates: C_ * sum of weights = C * max_twins. (The paper's "100 B" is
        C=100.)
    m1 : float, default 1.0
        Once there are ``max_twins`` twins, a sample with abs(f(x)) > m1 is not learned, whatever it
        weighs. Give 4 if weights are to make up for a rare class in noise: else what is beyond m1
        on the wrong side is lost, and one class may answer for all.
    m2 : float, default 2.0
        A twin with abs(f(q)) > m2 is removed to make room before any two are merged.
    eta : float, default 0.2
        A merge passes if f of the merged twin differs from the mean of the two by at most this
        share. Among those that pass, a merge that moves f by at most 1 is preferred.
    merge : {"input", "feature"}, default "input"
        Where distortion is measured; "feature" searches the line between the two.
    merge_side : {"one", "global"}, default "one"
        "one": only twins on the same side of the boundary are merged, while there are two such.
    rejection : bool or "paper", default True
        Whether a merge that does not pass is rejected in favour of the next best pair; if none of
        64 pairs passes, the best of them is merged. "paper" is section 4.2.4 as printed: ``eta``
        alone decides, over all pairs, and if none passes, the new sample is ignored. (The printed
        inequality has no solution where f < 0; it is read as a relative error.)
    max_margin : int, optional
        Number of margin twins for which there is room for both the kernel row and the factor, which
        share one block. Default: the smallest block in which all twins can be on the margin. A
        sample that would overflow a smaller one is dropped, and two margin twins are merged instead
        (``n_overflowed_``).
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and twin vectors; everything else is float64.
    control_C : bool, default True
        Whether the penalty per unit of weight falls as weight accumulates (section 4.3). If not, it
        is ``C`` throughout, and the number of samples decides how closely they are fitted.
    forgetting : "drift", float or None, default "drift"
        When all that is held loses weight. "drift": where errors become more, by the test of
        `edgesvm.PageHinkley`, and for a while after it. A number >= 1: by half every so many
        samples. None: never, as in the paper.

    Notes
    -----
    Wang & Vucetic 2009, Algorithms 1 to 3; the solver follows Cauwenberghs & Poggio 2000, with one
    coefficient per twin. Bytes: see ``plan``; with M =
    max_twins + 2 and max_margin=None, 248 + M (D s + 101) + 4 M (M + 1), s = 4 or 8, and padding;
    72 fewer with forgetting=None. Time: M kernel values per sample, O(M^2) for one that is
    accepted.

    Forgetting is not in the paper. A drift (Page-Hinkley's PH above 75 deviations, within 2,000
    samples of another one above 15) multiplies all weights by 2^-6; w samples after it they halve
    every max(w / 4, 100) samples, up to w = 8,000. Weights, coefficients, decision values and
    margin are multiplied by the same power of 2, so the Kuhn-Tucker conditions go on to hold and no
    answer changes. Up to w = 1,000 an error is learned even where abs(f(x)) > m1.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, TwinVectorMachine
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 20, dtype=np.float32)
    >>> model = TwinVectorMachine(max_twins=10, kernel=RBF(2.0)).partial_fit(X, [0, 0, 1, 1] * 20)
    >>> model.predict(X[:4])
    array([0, 0, 1, 1])
    >>> len(model.twins_), model.kt_residual() < 1e-9
    (4, True)
    """

    _capacity = "max_twins"
    _least_in_parts = (3, 3)
    _compiled = TwinVectorMachineCore
    _param_order: ClassVar[tuple[str, ...]] = (
        *("max_twins", *KERNEL, "C", "m1", "m2", "eta"),
        *("merge", "merge_side", "rejection", "max_margin", "dtype", "control_C"),
        "forgetting",
    )
    _absent: ClassVar[Mapping[str, Any]] = {"control_C": True, "forgetting": None}

    max_twins: int = size(100, within(1, MAX_TWINS))
    C: float = param(100.0, positive)
    m1: float = param(1.0, not_negative)
    m2: float = param(2.0, not_negative)
    eta: float = param(0.2, positive)
    merge: str = param("input", among("input", "feature"))
    merge_side: str = param("one", among("one", "global"))
    rejection: bool | str = param(True, flag_or_paper)
    control_C: bool = param(True, flag)

    @classmethod
    def of_paper(cls, **params: Any) -> TwinVectorMachine:
        """The learner as printed: no forgetting, and merges by ``eta`` alone."""
        return cls(**{"forgetting": None, "rejection": "paper"} | params)

    n_accepted_ = Counter("Samples accepted by the test Beneficial.")
    n_absorbed_ = Counter("Accepted samples added to an equal twin.")
    n_merged_ = Counter("Pairs of twins merged into one.")
    n_removed_ = Counter("Twins removed because they were far beyond the margin.")
    n_rejected_ = Counter("Pairs that failed the merge test.")
    n_forced_ = Counter("Merges made although no candidate passed the test.")

    @property
    def _slots(self) -> int:
        return int(self.max_twins) + 2

    def _arrays(self, n_features: int) -> Table:
        counters = ("n_accepted", "n_absorbed", "n_merged", "n_removed", "n_rejected", "n_forced")
        return [
            *((name, "i8", ()) for name in counters),
            *self._forgetting_arrays(),
            *self._solver_arrays(n_features),
            ("distortion_bound", "f8", (self._slots,)),
        ]

    @property
    def twins_(self) -> np.ndarray:
        """Twin vectors, ndarray of shape (n, n_features), a copy."""
        return self._held("vectors").copy()

    @property
    def weights_(self) -> np.ndarray:
        """Weight of each class in each twin, ndarray of shape (n, 2), columns as `classes_`."""
        weights = np.stack([self._held("s_minus"), self._held("s_plus")], axis=1)
        return weights[:, :: self.core.labels.sign].copy()

    @property
    def C_(self) -> float:
        """Current penalty of a margin violation per unit of weight."""
        return 1.0 / float(self._fitted.views["mu"])


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class SharedTwinSVM(KernelMethod):
    """SVM with a kernel, for any number of classes, on one dictionary of twins that all classes
    share.

    Every vector serves every class, at 8 bytes a class.

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

    max_twins: int = size(100, within(1, MAX_TWINS))
    n_classes: int = size(2, within(2, MOST_CLASSES))
    settle_after: int = param(1000, within(1, MOST_SAMPLES))
    r: float = param(0.1, positive)

    settled_at_ = Counter("Number of samples learned when the twins settled; 0 while they move.")
    n_merged_ = Counter("Merges of two twins, or of a twin and a sample.")
    n_refined_ = Counter("Samples that moved the coefficients since the twins settled.")

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 1, MAX_TWINS

    @property
    def n_classes_planned(self) -> int:
        return within(2, MOST_CLASSES)("n_classes", self.n_classes)

    def _arrays(self, n_features: int) -> Table:
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
            *([("scores", "f8", (K,), SCRATCH)] if several else []),
        ]

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
