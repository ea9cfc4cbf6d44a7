"""Parameters and arrays of the regressors of a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from edgesvm.budget import Table
from edgesvm.contract.params import one_of, positive, share, whole
from edgesvm.learners.kinds import Forecasting, Regressor
from edgesvm.learners.regression._regressor import Loss
from edgesvm.learners.regression.constants import MOST_RATE

MOST_DELAY = 1 << 20

Arrays = Table


@dataclass(kw_only=True, eq=False, repr=False)
class StreamRegressor(Forecasting, Regressor):
    """Base of the regressors of a stream: what is learned of the target; see `FourierSVR` for the
    parameters. A subclass adds `_weights`."""

    forecasts: ClassVar[bool] = True

    loss: str = "huber"
    coverage: float = 0.9
    label_delay: int = 0
    dtype: str = "float32"

    def _check_params(self) -> None:
        share("coverage", self.coverage)
        whole("label_delay", self.label_delay, 0, MOST_DELAY)

    @property
    def _n_ahead(self) -> int:
        """Number of features ahead of x."""
        return 0

    def _width(self, n_features: int) -> int:
        return self._n_ahead + n_features + 1

    def _weights(self, n_features: int) -> Arrays:
        """The arrays of the weights."""
        raise NotImplementedError

    def _arrays(self, n_features: int) -> Arrays:
        return [
            ("target", "f8", (9,)),
            ("far_targets", "i8", ()),
            ("stack", "f8", (3,)),
            ("covariance", "f8", (3, 3)),
            ("interval", "f8", (2, 3)),
            ("scored", "i8", (2,)),
            *self._weights(n_features),
        ]

    def _target_params(self) -> dict[str, Any]:
        return {"miss": (1.0 - float(self.coverage)) / 2.0, "delay": int(self.label_delay)}

    @property
    def far_targets_(self) -> int:
        """Samples learned whose target was far outside what had been seen."""
        return int(self.core.views["far_targets"])


@dataclass(kw_only=True, eq=False, repr=False)
class GradientRegressor(StreamRegressor):
    """Base of the regressors by gradient steps; see `FourierSVR` for the parameters."""

    _param_order = (
        *("loss", "epsilon", "quantile", "learning_rate", "coverage", "label_delay", "dtype"),
    )

    epsilon: float = 0.1
    quantile: float = 0.5
    learning_rate: float = 0.3

    def _check_params(self) -> None:
        super()._check_params()
        one_of("loss", self.loss, "huber", "epsilon", "squared", "pinball")
        positive("epsilon", self.epsilon)
        share("quantile", self.quantile)
        if positive("learning_rate", self.learning_rate) > MOST_RATE:
            raise ValueError(f"learning_rate={self.learning_rate!r}: give at most 1e6")

    def _beside(self, n_features: int) -> Arrays:
        """Arrays of the learner beside the weights."""
        return []

    def _weights(self, n_features: int) -> Arrays:
        width = self._width(n_features)
        return [
            ("w", self.dtype, (width,)),
            ("squares", self.dtype, (width,)),
            *self._beside(n_features),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        of_loss = {"huber": 1.0, "squared": 0.0, "pinball": self.quantile, "epsilon": self.epsilon}
        return {
            **self._target_params(),
            "rate": float(self.learning_rate) / math.sqrt(self._width(n_features)),
            "loss": Loss[self.loss.upper()],
            "parameter": float(of_loss[self.loss]),
        }
