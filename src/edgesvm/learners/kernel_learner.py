"""The kernel among a learner's parameters."""

from __future__ import annotations

from edgesvm.kernels import Kernel, resolve_kernel
from edgesvm.learner import Learner


class KernelLearner(Learner):
    """Base of the learners with a kernel, an object or a name with its numbers beside it."""

    kernel: Kernel | str
    gamma: float | None
    degree: int
    coef0: float

    def _check_kernel(self) -> None:
        self._kernel(1)

    def _kernel(self, n_features: int) -> Kernel:
        return resolve_kernel(self.kernel, n_features, self.gamma, self.degree, self.coef0)
