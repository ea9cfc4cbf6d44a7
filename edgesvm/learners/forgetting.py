"""The parameter `forgetting`, of the kernel learners whose samples can lose weight."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, ClassVar

from edgesvm.learners.constants import THRESHOLD
from edgesvm.learners.kernel_learner import KernelLearner


@dataclass(kw_only=True, eq=False, repr=False)
class ForgettingLearner(KernelLearner):
    """Base of `TwinVectorMachine` and `KernelStreamSVM`.

    Parameters
    ----------
    forgetting : "drift", float or None, default "drift"
        When all that was learned loses weight. "drift": where errors become more, and for a while
        after it. A number: by half every so many samples, >= 1. None: never.
    """

    _threshold: ClassVar[float] = THRESHOLD

    forgetting: float | str | None = "drift"

    def _check_forgetting(self) -> None:
        if self.forgetting in (None, "drift"):
            return
        given = self.forgetting
        is_number = isinstance(given, Real) and not isinstance(given, bool)
        if not is_number or not 1.0 <= float(given) < inf:
            raise ValueError(
                f"forgetting={given!r}: give 'drift', None, or a number of samples >= 1"
            )

    def _forgetting_arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        if self.forgetting is None:
            return []
        numbers = [("since", "f8", ()), ("due", "f8", ()), ("errors", "f8", (6,))]
        return [("n_drifts", "i8", ()), *numbers]

    def _forgetting_params(self) -> dict[str, Any]:
        """`half_life` is 0 where drifts say when to forget, below 0 where nothing is forgotten."""
        given = -1.0 if self.forgetting is None else self.forgetting
        half_life = 0.0 if given == "drift" else float(given)
        return {"half_life": half_life, "threshold": self._threshold}

    @property
    def n_drifts_(self) -> int:
        """Drifts found so far."""
        return int(self.core.views.get("n_drifts", 0))
