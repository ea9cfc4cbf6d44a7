"""ReservoirSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.contract.params import whole
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.store_svm import StoreSVM
from edgesvm.learners.kernel_learner import KERNEL

__all__ = ["ReservoirSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class ReservoirSVM(StoreSVM):
    """The SVM of a uniform random sample, of fixed size, of all samples seen.

    After n samples each of them is stored with probability ``max_samples / n`` (Vitter 1985,
    algorithm R). The baseline for other learners of the same memory: "Random" of Wang & Vucetic
    2009.

    Parameters
    ----------
    max_samples : int, default 100
        Number of samples to store, B.
    C, kernel, gamma, degree, coef0, tol, cache, shrinking, max_iter, dtype
        As for `BatchSVM`.
    seed : int, default 0
        Seed of the random draws, 0 to 2**32 - 1; their state is in the arena.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, alpha_, intercept_, objective_, gap_, n_iter_, n_held_,
    converged_ : as for `BatchSVM`
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Solved on demand, like `BatchSVM`: learning is a draw and a copy. Samples of weight zero do not
    take part in the draw; any other weight changes the coefficient's bound, not the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import ReservoirSVM
    >>> X = np.random.default_rng(0).standard_normal((500, 2)).astype(np.float32)
    >>> model = ReservoirSVM(max_samples=50).partial_fit(X, X[:, 0] > 0)
    >>> model.n_seen_, model.n_held_
    (500, 50)
    """

    _when_full = "random"

    _param_order = (
        *("max_samples", "C", *KERNEL, "tol"),
        *("cache", "shrinking", "max_iter", "seed", "dtype"),
    )

    max_samples: int = 100
    seed: int = 0

    def _check_params(self) -> None:
        super()._check_params()
        whole("seed", self.seed, 0, (1 << 32) - 1)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [("rng", "u8", (4,)), *super()._arrays(n_features)]
