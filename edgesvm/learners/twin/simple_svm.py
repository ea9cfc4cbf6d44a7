"""SimpleSVM: the public class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import one_of, whole
from edgesvm.contract.registry import registered
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.data.survey import survey
from edgesvm.learner import fits
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.twin._simple_svm import SimpleSVMCore
from edgesvm.learners.twin.adiabatic_learner import MAX_TWINS, SampleVectors, penalty

__all__ = ["SimpleSVM"]

Progress = Callable[[int, int], Any]
Self = TypeVar("Self", bound="SimpleSVM")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class SimpleSVM(SampleVectors):
    """Kernel SVM by an active set: the exact solution of the samples it holds, found by taking in
    one violator at a time.

    Parameters
    ----------
    max_vectors : int, default 500
        Number of samples stored. `fit` needs room for all support vectors.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    C : float, default 1.0
        Penalty of a margin violation per unit of weight; 1e-100 to 1e100.
    when_full : {"oldest", "ignore"}, default "oldest"
        What happens in a stream to a violator when `max_vectors` are stored and all have a
        coefficient. "oldest": it replaces the first learned, which is unlearned exactly. "ignore":
        it is not learned. `fit` stops in either case.
    max_passes : int, default 1000
        Passes over the data of a `fit` at most.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors; everything else is float64.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, n_features)
    labels_, sample_weights_, support_ : ndarray of shape (n,)
    dual_coef_ : ndarray of shape (1, n)
    intercept_ : ndarray of shape (1,)
    margin_ : ndarray of shape (n,), bool
    converged_ : bool
    n_forgotten_, n_ignored_ : int
    n_path_events_, n_exchanges_, n_refactored_, n_refreshed_, n_from_scratch_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Vishwanathan, Smola & Murty 2003, with the linear penalty, 0 <= alpha <= C weight: the problem
    of LIBSVM, which Tsang et al. 2007 set beside it with the same C. (Their remark that it inverts
    a matrix of all support vectors fits the quadratic penalty, which is not implemented.)

    The working set holds the samples whose coefficients are between their bounds. A violator enters
    it; the coefficients move towards the solution of the working set's linear system until the
    first reaches a bound, and that sample leaves; and so on, until all have arrived and no stored
    sample violates. Each step raises the dual objective, so this ends. Instead of the inverse, a
    Cholesky factor gains and loses rows, O(m^2) for m samples in the working set; a sample whose
    kernel function is a combination of theirs changes places with one of them.

    `fit` reads the rows where they lie, in their order, and takes in each that violates; one whose
    coefficient has become zero is removed. A pass without a violator ends it: the solution is then
    that of all rows, and ``converged_``. It ends early if there is no room or after `max_passes`;
    the model is then the SVM of what is stored. In a stream, a sample that violates is stored. One
    without a coefficient stays until its place is needed, the farthest beyond the margin first.
    Which violator is taken first changes the time, not the solution: of the stored ones the worst,
    of the rows the first. The initial pair of samples, one of each class, are the first.

    Bytes: see ``plan``; 176 + M (D s + 101) +
    4 M (M + 1), M = max_vectors, s = 4 or 8. Time of a row: n kernel values; of a violator, n m in
    addition for each sample that enters or leaves the working set.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, SimpleSVM
    >>> X = np.random.default_rng(0).standard_normal((500, 2)).astype(np.float32)
    >>> y = (X**2).sum(axis=1) > 1.5
    >>> model = SimpleSVM(kernel=RBF(1.0), C=10.0).fit(X, y)
    >>> model.converged_, len(model.vectors_) < 60, model.kt_residual() < 1e-9
    (True, True, True)
    """

    _capacity = "max_vectors"
    _compiled = SimpleSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "when_full", "max_passes", "dtype")

    max_vectors: int = 500
    when_full: str = "oldest"
    max_passes: int = 1000

    n_forgotten_ = Counter("Samples with a coefficient removed to make room.")
    n_ignored_ = Counter("New samples not learned for want of room.")

    # -- parameters and memory ---------------------------------------------------------------------

    @property
    def _slots(self) -> int:
        return int(self.max_vectors)

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 2, MAX_TWINS

    def _check_params(self) -> None:
        whole("max_vectors", self.max_vectors, 2, MAX_TWINS)
        whole("max_passes", self.max_passes, 1, 1 << 30)
        penalty(self.C)
        one_of("when_full", self.when_full, "oldest", "ignore")
        self.kernel_for(1)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            *((name, "i8", ()) for name in ("n_forgotten", "n_ignored", "converged")),
            ("number", "i8", (self._slots,)),
            *self._solver_arrays(n_features),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        kernel = self.kernel_for(n_features)
        return {"C": float(self.C), "when_full": self.when_full, "kernel": kernel}

    # -- learning ----------------------------------------------------------------------------------

    @fits
    def fit(  # type: ignore[override]
        self: Self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Reset, then solve the SVM of all rows.

        Parameters
        ----------
        X : array, np.memmap, CSR matrix of shape (n_samples, n_features), or a source of chunks
            A source, such as a `Recording`, has its own labels.
        y : array of shape (n_samples,), labels
        sample_weight : array of shape (n_samples,), float64, optional
            C times this is the row's penalty; rows of weight zero are skipped.
        progress : callable, optional
            Called as ``progress(n_passes, n_vectors)`` after each chunk. An exception it raises, or
            Ctrl-C, ends the passes; the model is then the SVM of what is stored.

        Raises
        ------
        ValueError
            As for any learner; nothing is reset.
        """
        owner = type(self).__name__
        source = self._guard.call(Source, self._closed(X), y, sample_weight, owner=owner)
        self.plan(source.n_features)
        labels = self._fresh_labels()
        found = self._guard.call(
            survey,
            source,
            labels,
            owner=owner,
            dtype=self.dtype,
            kernel=self.kernel_for(source.n_features),
            C=float(self.C),
            bounded=not self._is_part,
        )
        self._start_over(source.n_features, labels)
        views = self.core.views
        try:
            views["converged"][...] = self._sweep(source, found.n_rows, progress)
        finally:
            if views["n"]:
                views["n_seen"][...] = found.n_rows
                views["n_per_class"][...] = found.per_class
                views["n_updates"][...] = views["n"]
                self._set_mean_weight(found.mean_weight)
        return self

    def _sweep(self, source: Source, n_rows: int, progress: Progress | None) -> bool:
        """Passes over the rows until none violates; whether they ended so."""
        core = self.core
        for n_passes in range(int(self.max_passes)):
            before = core.n_moves
            for chunk in source.chunks(CHUNK_ROWS, core.dtype):
                slots, n_known, _ = self._guard.call(core.labels.encode, chunk.y)
                if n_known < len(chunk.y) or chunk.first + len(chunk.y) > n_rows:
                    raise ValueError(f"{core.owner}: the source changed between two passes")
                if not core.sweep(chunk.X, slots, chunk.weight, chunk.first):
                    return False
                if progress is not None:
                    self._guard.call(progress, n_passes, int(core.views["n"]))
            if core.n_moves == before:
                return True
        return False

    # -- what was learned --------------------------------------------------------------------------

    @property
    def support_(self) -> np.ndarray:
        """Numbers of the stored samples: rows of the data, or samples of the stream, from 0;
        ndarray of shape (n,), int64."""
        return self._held("number").copy()

    @property
    def converged_(self) -> bool:
        """Whether `fit` ended with no violator among all rows, and none came since."""
        return bool(self.core.views["converged"])
