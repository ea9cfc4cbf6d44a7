"""Learners that give probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edgesvm.contract.inputs import Matrix
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Probable(Learner):
    """Base of learners whose core has `probabilities`."""

    def predict_proba(
        self, X: Matrix, out: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Probabilities of the labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        out : ndarray of shape (n_samples, n_labels), float64, C-contiguous, writeable, optional
            Written and returned instead of a new array.
        n_jobs : int, optional
            Threads; as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), float64
            A column for each of ``classes_``; each row sums to 1.

        Raises
        ------
        As `decision_function`.
        """
        core = self._fitted
        out, row, status = core.probabilities_many(self._matrix(X), out, self._team(n_jobs))
        self._check_decided(core, row, status)
        return out

    def predict_proba_one(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Probabilities of one sample's labels, in the order of ``classes_``.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
        out : ndarray of shape (n_labels,), float64, optional
            Where to put them, so that no memory is allocated.

        Returns
        -------
        ndarray of shape (n_labels,), float64

        Raises
        ------
        As `learn_one`.
        """
        p: np.ndarray = self._fitted.probabilities_one(x, out)
        return p
