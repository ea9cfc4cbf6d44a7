"""Base of the NumPy references of learners that solve by SMO."""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import LARGEST_NORM
from edgesvm.core.status import Status
from reference.kernel_core import KernelCoreRef


class SmoCoreRef(KernelCoreRef):
    """The arena's arrays by name; the solver's scratch stays zero."""

    def __init__(self, *common, C, kernel, tol):
        super().__init__(*common, kernel=kernel)
        self.C, self.tol = C, tol

    def rounding(self, X):
        """Error of a kernel value of these rows in the compiled core, see `kernel_noise`"""
        return 2.0**-24 * np.sqrt(1.0 + 0.25 * X.shape[1] if X.dtype == np.float32 else 1.0)

    def refuses(self, x, weight):
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        if not self.self_kernel(x) <= LARGEST_NORM:
            return Status.NOT_FINITE
        return Status.UNCHANGED if 0.0 < self.C * weight < np.inf else Status.BAD_WEIGHT
