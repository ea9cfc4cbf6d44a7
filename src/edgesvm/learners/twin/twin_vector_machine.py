"""TwinVectorMachine: the public class."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.contract.params import not_negative, one_of, positive, whole
from edgesvm.kernels import Kernel
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.twin._twin_vector_machine import TwinVectorMachineCore
from edgesvm.learners.twin._twin_vector_machine_ref import TwinVectorMachineCoreRef
from edgesvm.learners.twin.adiabatic_learner import AdiabaticLearner

__all__ = ["TwinVectorMachine"]


class TwinVectorMachine(AdiabaticLearner):
    _capacity = "max_twins"

    def __init__(
        self,
        *,
        max_twins: int = 100,
        kernel: Kernel | str = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        C: float = 100.0,
        m1: float = 1.0,
        m2: float = 2.0,
        eta: float = 0.2,
        merge: str = "input",
        merge_side: str = "one",
        rejection: bool = True,
        max_margin: int | None = None,
        dtype: str = "float32",
    ) -> None:
        self.max_twins = max_twins
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.m1 = m1
        self.m2 = m2
        self.eta = eta
        self.merge = merge
        self.merge_side = merge_side
        self.rejection = rejection
        self.max_margin = max_margin
        self.dtype = dtype

    @property
    def _slots(self) -> int:
        return int(self.max_twins) + 2

    def _check_params(self) -> None:
        whole("max_twins", self.max_twins, 1, MAX_CAPACITY)
        positive("C", self.C)
        not_negative("m1", self.m1)
        not_negative("m2", self.m2)
        positive("eta", self.eta)
        one_of("merge", self.merge, "input", "feature")
        one_of("merge_side", self.merge_side, "one", "global")
        if not isinstance(self.rejection, (bool, np.bool_)):
            raise ValueError(f"rejection={self.rejection!r}: give True or False")
        self._check_shared()

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        counters = ("n_accepted", "n_absorbed", "n_merged", "n_removed", "n_rejected", "n_forced")
        return [*((name, "i8", ()) for name in counters), *self._solver_arrays(n_features)]

    def _core(self, *common: Any) -> Any:
        core = TwinVectorMachineCore if self._engine == "compiled" else TwinVectorMachineCoreRef
        return core(
            *common,
            C=float(self.C),
            m1=float(self.m1),
            m2=float(self.m2),
            eta=float(self.eta),
            merge=self.merge,
            merge_side=self.merge_side,
            rejection=bool(self.rejection),
            kernel=self._kernel(common[3]),
        )

    @property
    def twins_(self) -> np.ndarray:
        """Twin vectors, ndarray of shape (n, n_features), a copy."""
        return self._held("vectors").copy()

    @property
    def weights_(self) -> np.ndarray:
        """Weight of either class in each twin, ndarray of shape (n, 2), columns as `classes_`."""
        weights = np.stack([self._held("s_minus"), self._held("s_plus")], axis=1)
        return weights[:, :: self._allocated.labels.sign].copy()
