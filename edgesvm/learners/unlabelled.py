"""Learners without labels: the methods of a learner for samples that are all of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import Matrix, as_rows
from edgesvm.contract.labels import Labels
from edgesvm.learner import Learner

__all__ = ["NORMAL", "STRANGE", "Unlabelled"]

Self = TypeVar("Self", bound="Unlabelled")

STRANGE, NORMAL = -1, 1  # what is predicted, as by scikit-learn's outlier detectors


class Unlabelled(Learner):
    """Base of the learners of what is normal. To scikit-learn they are outlier detectors.

    To the contract below, every sample has the label 1; -1 is what only a prediction can be.
    """

    takes_labels: ClassVar[bool] = False

    def allocate(
        self: Self, n_features: int, classes: Sequence[Any] | None = None, buffer: Any = None
    ) -> Self:
        """Allocate the planned bytes and forget what was learned. A learner allocates memory
        nowhere else.

        Parameters
        ----------
        n_features : int
        classes : None or (-1, 1)
            There are no others.
        buffer : writable contiguous buffer, optional
            At least ``plan(n_features).total`` bytes, aligned to 8; used instead of new memory.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` is the number of bytes needed.
        ValueError
            `classes` are others.
        """
        if classes is not None and sorted(classes) != [STRANGE, NORMAL]:
            raise ValueError(f"classes={list(classes)!r}: {type(self).__name__} has -1 and 1")
        return super().allocate(n_features, (STRANGE, NORMAL), buffer)

    def _fresh_labels(self) -> Labels:
        return Labels((STRANGE, NORMAL), 2)

    def learn_one(self, x: ArrayLike) -> bool:  # type: ignore[override]
        """Learn one sample. Returns whether the model changed.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            With the learner's dtype no allocator call is made. Anything else is converted.

        Raises
        ------
        ValueError
            A feature is NaN, infinite or too large, or the length is wrong. The sample is not
            learned; the model does not change.
        """
        return Learner.learn_one(self, x, NORMAL)  # `super()` would allocate

    def partial_fit(self: Self, X: Matrix, y: Any = None) -> Self:  # type: ignore[override]
        """Learn rows in order; equal to ``learn_one`` row by row, bit for bit.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        y : ignored
            For scikit-learn's pipelines.

        Raises
        ------
        ValueError
            Names the first refused row. The rows before it are learned; it and later rows are not.
        """
        return super().partial_fit(X, None)  # type: ignore[arg-type]

    def fit_predict(self, X: Matrix, y: Any = None) -> np.ndarray:
        """``fit``, then ``predict`` of the same rows."""
        return self.fit(X).predict(X)  # type: ignore[call-arg]

    def _rows(self, X: Matrix, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, None]:
        rows = self._matrix(X)
        return rows, np.full(len(rows), NORMAL), None

    def _rows_to_fit(self, X: Matrix, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, None]:
        rows = as_rows(X, self._dtype, None, type(self).__name__)
        labels = np.full(len(rows), NORMAL)
        return super()._rows_to_fit(rows, labels, None)  # type: ignore[return-value]

    def score_one(self, x: ArrayLike) -> float:
        """How strange one sample is: the higher, the stranger. See the class for its unit.

        It is ``-score_samples`` of that sample: scikit-learn's scores are higher for what is
        normal.

        Raises
        ------
        As `predict_one`.
        """
        with self._guard:
            return -self.offset_ - float(self.decision_one(x))

    def score_samples(self, X: Matrix, n_jobs: int | None = None) -> np.ndarray:
        """How normal rows are, as by scikit-learn: the higher, the more normal; ``-score_one``.
        `n_jobs` as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        with self._guard:
            return self.decision_function(X, n_jobs=n_jobs) + self.offset_

    @property
    def offset_(self) -> float:
        """``decision_function`` is ``score_samples - offset_``."""
        raise NotImplementedError
