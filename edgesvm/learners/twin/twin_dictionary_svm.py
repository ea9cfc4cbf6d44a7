"""TwinDictionarySVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import positive, whole
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.constants import THRESHOLD
from edgesvm.learners.twin._twin_dictionary_svm import TwinDictionarySVMCore
from edgesvm.learners.twin.twin_vector_machine import TwinVectorMachine

__all__ = ["TwinDictionarySVM"]

MOST_SAMPLES = 1 << 31


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class TwinDictionarySVM(TwinVectorMachine):
    """Twin vector machine whose twins settle: from then on their coefficients alone are learned,
    by second-order steps.

    It is more accurate than `TwinVectorMachine` in the same bytes, and faster. Twins that keep
    being merged cannot learn from all samples; coefficients of twins that stand still can.

    Parameters
    ----------
    max_twins, kernel, gamma, degree, coef0, C, m1, m2, eta, merge, merge_side, rejection, \
max_margin, dtype, control_C, forgetting
        As in `TwinVectorMachine`. ``m1`` remains the test of what is learned once the twins have
        settled; ``C`` and the others have no effect then. A small ``max_margin`` saves fewer bytes,
        since the factor of all twins must have room.
    settle_after : int, default 2000
        Number of samples after which the twins stand still; 1 to 2^31.
    r : float, default 0.1
        Variance of a sample's decision value in AROW, beside the prior variance k(x, x) of f; > 0.
        Smaller learns faster.

    Attributes
    ----------
    settled_at_ : int
        Number of samples learned when the twins settled; 0 while they move.
    n_refined_ : int
        Samples that moved the coefficients since.
    twins_, weights_, dual_coef_, intercept_, margin_, C_
        As in `TwinVectorMachine`; the weights are those at which the twins settled, no twin is on
        the margin any more, the coefficients no longer sum to 0, and C_ is 1.
    n_accepted_, n_absorbed_, n_merged_, n_removed_, n_rejected_, n_forced_, n_overflowed_ : int
    n_path_events_, n_exchanges_, n_refactored_, n_refreshed_, n_from_scratch_ : int
    n_drifts_, n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Until the twins settle: Wang & Vucetic 2009, Algorithms 1 to 3. From then on: Crammer, Kulesza &
    Dredze 2009 (AROW), Figure 1, in the coefficients of the twins. The belief begins at the
    solution of the twin vector machine, with the kernel matrix as its precision, so that its
    variance of f(x) is k(x, x) where the twins can represent it. `kt_residual` is NaN from then on,
    since the model is no longer the solution of an SVM.

    Forgetting is as in `TwinVectorMachine`, with 50 deviations for 75. Once the twins have settled,
    the samples lose weight in the precision P: it becomes part P + (1 - part) K, with K the prior's
    and part the power of 2 that multiplies weights otherwise. The coefficients stay, so no answer
    changes; what comes next moves them farther. Time then: O(M^3).

    Bytes: those of `TwinVectorMachine`, and 16. Time of a sample once settled: M kernel values, and
    O(M^2) if it is learned.

    Examples
    --------
    >>> from edgesvm import TwinDictionarySVM
    >>> from edgesvm.data import Checkerboard
    >>> noisy, clean = Checkerboard(seed=1, flip=0.15), Checkerboard(seed=2)
    >>> model = TwinDictionarySVM(max_twins=100, gamma=1.35).partial_fit(*noisy.read(20_000))
    >>> model.settled_at_, model.score(*clean.read(5_000)) > 0.97
    (2000, True)
    """

    _compiled = TwinDictionarySVMCore
    _threshold = THRESHOLD
    _param_order = (*TwinVectorMachine._param_order, "settle_after", "r")

    settle_after: int = 2000
    r: float = 0.1

    settled_at_ = Counter("Number of samples learned when the twins settled; 0 while they move.")
    n_refined_ = Counter("Samples that moved the coefficients since the twins settled.")

    def _check_params(self) -> None:
        super()._check_params()
        whole("settle_after", self.settle_after, 1, MOST_SAMPLES)
        positive("r", self.r)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        own = [("settled_at", "i8", ()), ("n_refined", "i8", ())]
        return [*own, *super()._arrays(n_features)]

    def _pool_length(self) -> int:
        return max(super()._pool_length(), packed_length(int(self.max_twins)))

    def _core_params(self, n_features: int) -> dict[str, Any]:
        own = {"settle_after": int(self.settle_after), "r": float(self.r)}
        return {**super()._core_params(n_features), **own}
