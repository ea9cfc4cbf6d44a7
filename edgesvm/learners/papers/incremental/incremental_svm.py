"""IncrementalSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.contract.params import not_negative, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import exclusive
from edgesvm.learners.papers.incremental._incremental_svm import IncrementalSVMCore
from edgesvm.learners.papers.incremental.retrained_svm import (
    RETRAINED,
    SCHEMES,
    Arrays,
    RetrainedSVM,
)

__all__ = ["IncrementalSVM"]

Self = TypeVar("Self", bound="IncrementalSVM")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalSVM(RetrainedSVM):
    """An SVM retrained whenever a batch is full, on its support vectors and the batch.

    Parameters
    ----------
    scheme : str, default "fixed_partition"
        Which samples join the batch, f being the model's decision value and y = -1 or 1:

        - "error_driven": those misclassified, y f <= 0
        - "fixed_partition": all
        - "exceeding_margin": those inside the band, |f| <= 1
        - "exceeding_margin_errors": those inside it or misclassified, y f <= 1
        - "active": a share of those misclassified and a share of those correctly classified, drawn
          at random
    batch_size : int, optional
        Samples stored, besides the support vectors, before the model is retrained; default
        ``max_vectors``.
    max_vectors : int, default 500
        Number of support vectors stored, >= 2. If there are more, those farthest on the wrong side
        of the margin (smallest y f, the oldest of equals) are dropped from each class in
        proportion, and the rest is solved again; ``n_given_up_`` counts them.
    C : float, default 1.0
        Penalty of a margin violation, multiplied by the sample's weight; > 0.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the decision value, at which the solver stops; > 0.
    cache : int or str, optional
        Bytes for cached kernel rows, at least two rows; never more than the whole matrix. Default
        16 rows.
    max_iter : int, optional
        Largest number of iterations of the solver; ``converged_`` says whether it was enough.
        Default: 1,000,000 or 100 (``max_vectors`` + ``batch_size``), whichever is larger.
    errors_kept, correct_kept : float, default 1.0 and 0.1
        The two shares of "active", 0 to 1, not both zero; other schemes do not read them. With 1
        and 0 it is "error_driven", with 1 and 1 "fixed_partition".
    seed : int, default 0
        Seed of the draws of "active", 0 to 2**32 - 1; their state is in the arena.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and the sums inside a kernel value. Kernel rows are always float32,
        coefficients and gradient float64.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    condensed_ : float
    n_cycles_, n_given_up_, n_waiting_, n_iter_ : int
    converged_ : bool
    n_seen_, n_updates_, classes_, n_features_in_
        ``n_updates_`` counts the samples that joined a batch.

    Notes
    -----
    Domeniconi & Gunopulos 2001, section 2. The paper gives the last two schemes the same formula, y
    f <= 1, which includes the misclassified samples; its Table 1 shows that they differ. Hence |f|
    <= 1 for the third, which agrees with its small models there.

    "active" is the scheme of Mitra, Murthy & Pal 2000 ("Data condensation in large databases by
    incremental learning with support vector machines", ICPR) as Domeniconi & Gunopulos state it:
    both a percentage of the misclassified and of the correctly classified data is retained, with
    the support vectors; their own "error_driven" keeps the misclassified only. They give neither
    percentage nor how the samples are chosen. Here the percentages are parameters, with defaults of
    ours, and each sample is drawn by itself; classified means by the model of the moment. The
    factor by which the same authors adapt such shares, from the support vectors' neighbours, is of
    a later paper (2004) and not here.

    The first batch is stored whole. While it fills, it is solved at each doubling, so that there is
    a model from the second sample on. A cycle starts from the coefficients of the previous one.
    While all stored samples are of one class there are no support vectors, and the newest
    ``max_vectors`` samples stay. When a stream ends, ``update`` learns the samples still waiting.

    The sample that completes a batch takes the time of the whole cycle. Bytes: see ``plan``; about
    n_features s + 124 for each of ``max_vectors + batch_size``, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 2)).astype(np.float32)
    >>> y = (X**2).sum(axis=1) > 1.5
    >>> model = IncrementalSVM(batch_size=100, kernel=RBF(1.0), C=10.0).partial_fit(X, y)
    >>> model.n_cycles_, model.n_given_up_, model.score(X, y) > 0.97
    (20, 0, True)
    """

    _compiled = IncrementalSVMCore
    _param_order = (*RETRAINED, "errors_kept", "correct_kept", "seed")
    _absent: ClassVar[dict[str, Any]] = {"errors_kept": 1.0, "correct_kept": 0.1, "seed": 0}
    _schemes = (*SCHEMES, "active")

    errors_kept: float = 1.0
    correct_kept: float = 0.1
    seed: int = 0

    def _check_params(self) -> None:
        super()._check_params()
        whole("seed", self.seed, 0, (1 << 32) - 1)
        shares = {"errors_kept": self.errors_kept, "correct_kept": self.correct_kept}
        for name, share in shares.items():
            if not_negative(name, share) > 1.0:
                raise ValueError(f"{name}={share!r}: give a number from 0 to 1")
        if not any(shares.values()):
            raise ValueError("errors_kept and correct_kept are zero: no sample would be learned")

    def _own_arrays(self, n_features: int) -> Arrays:
        own: Arrays = [("n_support", "i8", ()), ("n_held", "i8", ()), ("intercept", "f8", ())]
        return [*own, ("rng", "u8", (4,))] if self.scheme == "active" else own

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {
            "errors_kept": float(self.errors_kept),
            "correct_kept": float(self.correct_kept),
            "seed": int(self.seed),
        }

    @exclusive
    def update(self: Self) -> Self:
        """Train now, on the support vectors and the samples that wait, if there are any.

        Raises
        ------
        NotFittedError
            No sample was learned.
        """
        if not self.is_fitted:
            self._raise_not_fitted()
        self.core.update()
        return self

    @property
    def n_waiting_(self) -> int:
        """Samples in the current batch."""
        views = self.core.views
        return int(views["n_held"] - views["n_support"])

    def _model(self) -> tuple[np.ndarray, np.ndarray, float]:
        views = self.core.views
        n = int(views["n_support"] if views["n_cycles"] else views["n_held"])
        return views["rows"], views["beta"][:n], float(views["intercept"])
