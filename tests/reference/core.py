"""Base class of the reference cores: the entry points of `core.pyx` in plain Python."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from edgesvm.contract.inputs import as_floats, as_out
from edgesvm.core.status import Status
from edgesvm.errors import NotFittedError, as_sklearns, refusal


class ReferenceCore:
    """State and step of one learner, on named NumPy views of its arena.

    A subclass adds `step` and `decide`.
    """

    regresses = False  # y is a number
    one_class = False  # all samples are of one class: the decision value tells what is not

    def __init__(self, plan, arena, labels, n_features, dtype, owner, guard):  # noqa: PLR0917
        self.guard, self.successor = guard, None
        self.arena, self.labels, self.n_features = arena, labels, n_features
        self.dtype, self.owner = np.dtype(dtype), owner
        self.plan, self.views = plan, plan.cut(arena.memory)
        labels.wait_in(self.views.get("candidates"))
        self.balanced = False

    def step(self, x: np.ndarray, y: float, weight: float) -> Status:
        """Learn one sample; y is -1 or +1, in a multiclass learner the class index; weight > 0."""
        raise NotImplementedError

    def pass_over(self, x, y):
        return Status.UNCHANGED

    def decide(self, x: np.ndarray) -> Any:
        """Decision value, in a multiclass learner a score per class; NaN to refuse the sample."""
        raise NotImplementedError

    @property
    def kind_of_y(self):
        return "target" if self.regresses else "label"

    @property
    def is_multiclass(self):
        return "scores" in self.views

    def learn_row(self, x, slot, weight):
        """`slot`: the class index; of a regressor the target."""
        status = Status.UNCHANGED
        if weight != 0:
            if not 2.0**-40 <= weight <= 2.0**40:
                return Status.BAD_WEIGHT
            most = self.heaviest
            self.n_capped += weight > most
            weight = min(weight, most)
            with np.errstate(over="ignore", invalid="ignore"):
                y = slot if self.is_multiclass or self.regresses else 1.0 if slot else -1.0
                status = self.weighed_step(x, y, weight)
            if status > Status.CHANGED:
                return status
            self.note_weight(weight)
            self.views["n_per_class"][0 if self.regresses else slot] += 1
        self.views["n_seen"][...] += 1
        self.views["n_updates"][...] += status == Status.CHANGED
        return status

    @property
    def counts(self):
        """Samples learned, by class index"""
        return self.views["n_per_class"].copy()

    @property
    def is_fitted(self):
        return bool(self.counts.any())

    bounded = True

    def bound_weights(self, bound):
        self.bounded = bound

    most_weight = 0.0
    n_capped = 0

    @property
    def heaviest(self):
        """8 times the mean so far, or what `fit` says"""
        if "mean_weight" not in self.views or not self.bounded:
            return np.inf
        return self.most_weight or 8.0 * float(self.views["mean_weight"]) or np.inf

    def note_weight(self, weight):
        if "mean_weight" in self.views and self.bounded:
            mean, n = self.views["mean_weight"], int(self.views["n_per_class"].sum()) + 1
            mean[...] = weight if mean == 0 else mean + (weight - mean) / min(n, 1000)

    def weighed_step(self, x, y, weight):
        """`step`, by the weight of the sample's class."""
        return self.step(x, y, weight * self.class_weight(y) if self.balanced else weight)

    def class_weight(self, y):
        """n / (K n_k), a sample of the class included."""
        slot = y if self.is_multiclass else int(y > 0)
        counts = np.bincount([slot], minlength=len(self.views["n_per_class"]))
        counts[: len(self.views["n_per_class"])] += self.views["n_per_class"]
        n_classes = (counts > 0).sum() if self.is_multiclass else 2
        return counts.sum() / (n_classes * counts[slot])

    def learn_one(self, x, y, weight=1.0):
        row, known = as_floats(x, self.dtype, 1, self.n_features, self.owner), self.labels.values
        slot, weight = (self.as_target(y), weight) if self.regresses else self.slot_of(y, weight)
        status = Status.UNKNOWN_LABEL
        if self.regresses or slot >= 0:
            status = self.learn_row(row, slot, weight)
        if status > Status.CHANGED:
            self.labels.hold(known)
            error = refusal(
                status,
                f"{self.owner}: the sample ({self.kind_of_y} {y!r})",
                self.dtype,
                self.labels.in_slots,
                weight,
            )
            raise self.explained(error)
        return status == Status.CHANGED

    def slot_of(self, y, weight):
        """The class index of a label, which may get one here, or -1; and the sample's weight."""
        slot, n_seen = self.labels.find(y), int(self.views["n_seen"])
        if slot < len(self.labels.in_slots):
            return slot, weight
        if self.labels.is_rare(y, weight, n_seen):
            return 0, 0.0
        return self.labels.place(y, self.counts, n_seen), weight

    def learn_late_one(self, x, y, issued, weight=1.0):
        self.was_issued(issued)
        try:
            return self.learn_one(x, y, weight)
        finally:
            self.was_issued(None)

    def was_issued(self, said):
        self.inner.was_issued(said)  # of what is in front of a regressor

    def as_target(self, y):
        if not isinstance(y, str) and hasattr(type(y), "__float__") and np.ndim(y) == 0:
            with contextlib.suppress(OverflowError):
                return float(y)
        raise TypeError(f"{self.owner}: the target {y!r} is not a number")

    def learn_many(self, X, slots, weights=None, predicted=None):
        return self.learn_rows(X, slots, weights, predicted)

    def learn_rows(self, X, slots, weights, predicted):
        for i, slot in enumerate(slots):
            if predicted is not None:
                if not np.isfinite(values := self.answer(X[i])).all():
                    return i, Status.NOT_FINITE
                predicted[i] = self.winner(values)[0]
            weight = 1.0 if weights is None else float(weights[i])
            status = self.learn_row(X[i], float(slot) if self.regresses else int(slot), weight)
            if status > Status.CHANGED:
                return i, status
        return len(slots), Status.UNCHANGED

    # -- decisions as users see them: one value for two classes, else one per class, sorted --------

    @property
    def n_scores(self):
        return len(self.views["scores"])

    @property
    def n_columns(self):
        n = len(self.labels.in_slots)
        return n if self.is_multiclass and n > 2 else 1

    def answer(self, x):
        """Decision values, ndarray of shape (n_columns,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            decided = self.decide(x)
        if not self.is_multiclass:
            return np.array([self.labels.sign * decided])
        scores = np.broadcast_to(decided, (self.n_scores,))  # NaN if refused
        known = scores[list(self.labels.sorted_slots)]
        return known if len(known) > 2 else known[-1:] - known[:1]

    def unseen_last(self, scores):
        """`scores`, with those of classes without a sample below all others."""
        seen = self.views["n_per_class"] > 0
        least = scores[seen].min()
        scores[~seen] = least - max(1.0, abs(least))
        return scores

    def answer_row(self, x):
        self.check_fitted()
        values = self.answer(as_floats(x, self.dtype, 1, self.n_features, self.owner))
        if not np.isfinite(values).all():
            raise self.not_finite()
        return values

    def not_finite(self):
        sample = f"{self.owner}: the sample"
        return refusal(Status.NOT_FINITE, sample, self.dtype, self.labels.in_slots)

    def decision_one(self, x, out=None):
        values = self.answer_row(x)
        return float(values[0]) if self.n_columns == 1 else into(out, values)

    def decide_many(self, X, out=None, team=None):
        self.check_fitted()
        n = self.n_columns
        shape = (len(X),) if n == 1 else (len(X), n)
        out = np.empty(shape) if out is None else as_out(out, shape)
        for i, x in enumerate(X):
            values = self.answer(x)
            if not np.isfinite(values).all():
                return out, i, Status.NOT_FINITE
            out[i] = values if n > 1 else values[0]
        return out, len(X), Status.UNCHANGED

    def predict_many(self, X, team=None):
        self.check_fitted()
        slots = np.zeros(len(X), np.int8)
        for i, x in enumerate(X):
            values = self.answer(x)
            if not np.isfinite(values).all():
                return None, i, Status.NOT_FINITE
            slots[i] = self.winner(values)[0]
        return self.labels.of_slots(slots), len(X), Status.UNCHANGED

    def winner(self, values):
        """Class index predicted from decision values, and its decision value."""
        per_class = self.views["n_per_class"]
        if not self.is_multiclass and not self.one_class and not per_class.all():
            return int(per_class[0] == 0), float(values[0])
        best = int(values.argmax()) if len(values) > 1 else int(values[0] > 0)
        return self.labels.sorted_slots[best], float(values.max())

    def predict_one(self, x):
        return self.decision_one(x) if self.regresses else self.predict_with_score(x)[0]

    # -- of a regressor of a stream ----------------------------------------------------------------

    def _asked(self, x):
        """Value and ends of the interval: of any sample, and of the one that follows the last one
        learned. `forecast` has NaN of a sample that is refused."""
        self.check_fitted()
        plain, ahead = self.forecast(as_floats(x, self.dtype, 1, self.n_features, self.owner))
        if not np.isfinite(plain[0]):
            raise self.not_finite()
        return plain, ahead

    def interval_one(self, x):
        return self._asked(x)[0][1:]

    def forecast_one(self, x):
        return self._asked(x)[1]

    def probabilities_many(self, X, out=None, team=None):
        self.check_fitted()
        ends = np.empty((len(X), 2))
        for i, x in enumerate(X):
            ends[i] = self.forecast(x)[0][1:]
            if not np.isfinite(ends[i]).all():
                return ends, i, Status.NOT_FINITE
        return ends, len(X), Status.UNCHANGED

    def predict_with_score(self, x):
        if self.regresses:
            raise AttributeError(f"{self.owner} predicts numbers; there is no label with a score")
        slot, score = self.winner(self.answer_row(x))
        return self.labels.in_slots[slot], score

    def explained(self, error):
        return error

    def check_fitted(self):
        if self.views["n_per_class"].sum() == 0:
            raise as_sklearns(NotFittedError)(
                f"{self.owner} has not learned a sample yet; call learn_one or partial_fit first"
            )

    def check(self):
        """Does nothing: the compiled core checks snapshots, the reference is for tests."""


def into(out, values):
    """The values, in the caller's array if there is one."""
    if out is None:
        return values
    as_out(out, values.shape)[:] = values
    return out


def note_errors(rates, is_wrong, n, recent):
    """The shares among n samples, this one included; over about the last `recent`."""
    rates += (np.array(is_wrong, float) - rates) / min(n, recent)


def mean_decides(rates):
    """Whether the mean was wrong no more often than the last weights."""
    last, mean = rates
    return bool(mean <= last)
