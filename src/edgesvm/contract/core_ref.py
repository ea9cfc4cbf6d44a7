"""The same doors as `core.pyx`, in plain Python: what a NumPy twin stands on."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import NotFittedError, refusal


class ReferenceCore:
    """State and step of one learner on named NumPy views of its arena.

    A twin adds `step` and `decide`.
    """

    def __init__(self, plan, arena, labels, n_features, dtype, owner):  # noqa: PLR0917
        self.arena, self.labels, self.n_features = arena, labels, n_features
        self.dtype, self.owner = np.dtype(dtype), owner
        self.views = plan.cut(arena.memory)

    def step(self, x: np.ndarray, y: float, weight: float) -> Status:
        """Learn one sample, y = -1 or +1, weight > 0."""
        raise NotImplementedError

    def decide(self, x: np.ndarray) -> float:
        """Decision value, NaN where the sample is to be refused."""
        raise NotImplementedError

    def learn_row(self, x, slot, weight):
        if not (np.isfinite(weight) and weight >= 0):
            return Status.BAD_WEIGHT
        status = Status.UNCHANGED
        if weight > 0:
            with np.errstate(over="ignore", invalid="ignore"):
                status = self.step(x, 1.0 if slot else -1.0, weight)
            if status > Status.CHANGED:
                return status
            self.views["n_per_class"][slot] += 1
        self.views["n_seen"][...] += 1
        self.views["n_updates"][...] += status == Status.CHANGED
        return status

    def learn_one(self, x, y):
        row = as_floats(x, self.dtype, 1, self.n_features, self.owner)
        slot = self.labels.slot_of(y)
        status = self.learn_row(row, slot, 1.0) if slot >= 0 else Status.UNKNOWN_LABEL
        if status > Status.CHANGED:
            raise refusal(
                status, f"{self.owner}: the sample (label {y!r})", self.dtype, self.labels.in_slots
            )
        self.labels.take(slot, y)
        return status == Status.CHANGED

    def learn_many(self, X, slots, weights=None):
        updates = int(self.views["n_updates"])
        for i, x in enumerate(X):
            status = self.learn_row(x, int(slots[i]), 1.0 if weights is None else float(weights[i]))
            if status > Status.CHANGED:
                return i, int(self.views["n_updates"]) - updates, status
        return len(X), int(self.views["n_updates"]) - updates, Status.UNCHANGED

    def decision_one(self, x):
        self.check_fitted()
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.decide(as_floats(x, self.dtype, 1, self.n_features, self.owner))
        if not np.isfinite(value):
            raise refusal(
                Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, self.labels.in_slots
            )
        return self.labels.sign * float(value)

    def decide_many(self, X, out):
        self.check_fitted()
        for i, x in enumerate(X):
            with np.errstate(over="ignore", invalid="ignore"):
                value = self.decide(x)
            if not np.isfinite(value):
                return i, Status.NOT_FINITE
            out[i] = self.labels.sign * value
        return len(X), Status.UNCHANGED

    def predict_one(self, x):
        value = self.decision_one(x)
        per_class = self.views["n_per_class"]
        if per_class[0] == 0 or per_class[1] == 0:
            return self.labels.in_slots[int(per_class[0] == 0)]
        return self.labels.in_slots[(value > 0) ^ (self.labels.sign < 0)]

    def check_fitted(self):
        if self.views["n_per_class"].sum() == 0:
            raise NotFittedError(
                f"{self.owner} has learned no sample yet; call learn_one or partial_fit first"
            )

    def check(self):
        """Snapshots are checked by the compiled core; a twin is for tests."""
