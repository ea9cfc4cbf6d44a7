"""Every learner, registered once; all of tests/conformance runs on each entry.

To put a learner through the whole contract, add one `Registered(...)` line. Parameters are small,
so that every branch (full store, flush, merge, eviction) is reached within a few hundred samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from edgesvm import RBF, KernelStreamSVM, Linear, StreamSVM
from edgesvm.learner import Learner


@dataclass(frozen=True)
class Registered:
    """A learner with parameters, and how far its compiled core may stray from its NumPy twin."""

    name: str
    kind: type[Learner]
    params: Mapping[str, Any] = field(default_factory=dict)
    n_features: int = 5
    unread: tuple[str, ...] = ()  # parameters that do not matter in this setting
    # relative, of decision values; the twin sums in another order
    twin_rtol: Mapping[str, float] = field(
        default_factory=lambda: {"float32": 2e-3, "float64": 1e-9}
    )

    def make(self, dtype: str = "float32", engine: str = "compiled", **changes: Any) -> Any:
        """A new learner that holds nothing yet."""
        kind = self.kind
        if engine != "compiled":
            kind = type(kind.__name__, (kind,), {"_engine": engine})
        return kind(**{"dtype": dtype, **self.params, **changes})

    def stream(self, n: int, dtype: str = "float32", seed: int = 1) -> tuple[np.ndarray, Any]:
        """n samples in order: two overlapping clouds whose means drift, labels -1 and 1."""
        rng = np.random.default_rng([seed, n])
        y = rng.choice([-1, 1], n)
        centre = np.linspace(0.3, 1.0, self.n_features)
        drift = np.sin(np.arange(n) / 40.0)[:, None]
        X = rng.standard_normal((n, self.n_features)) + y[:, None] * centre + 0.5 * drift
        return X.astype(dtype), y


REGISTERED = [
    Registered("StreamSVM", StreamSVM),
    Registered("StreamSVM-lower", StreamSVM, {"bound": "lower", "C": 0.1}),
    Registered("StreamSVM-paper", StreamSVM, {"slack": "paper", "C": 10.0}),
    Registered("StreamSVM-wide", StreamSVM, {"normalize": True, "fit_intercept": True}, 37),
    Registered("StreamSVM-balls", StreamSVM, {"n_balls": 3, "fit_intercept": True}),
    Registered("StreamSVM-balls-lower", StreamSVM, {"n_balls": 4, "bound": "lower"}),
    Registered("StreamSVM-lookahead", StreamSVM, {"lookahead": 4}),
    Registered("StreamSVM-lookahead-lower", StreamSVM, {"lookahead": 5, "bound": "lower"}),
    Registered(
        "KernelStreamSVM", KernelStreamSVM, {"max_vectors": 12, "gamma": 0.5}, unread=("degree",)
    ),
    Registered(
        "KernelStreamSVM-lower",
        KernelStreamSVM,
        {"max_vectors": 7, "kernel": RBF(0.3), "bound": "lower"},
        unread=("degree",),
    ),
    Registered(
        "KernelStreamSVM-poly", KernelStreamSVM, {"max_vectors": 6, "kernel": "poly", "degree": 2}
    ),
    Registered(
        "KernelStreamSVM-linear",
        KernelStreamSVM,
        {"max_vectors": 4, "kernel": Linear()},
        unread=("degree",),
    ),
]

BY_NAME = {entry.name: entry for entry in REGISTERED}
