"""A learner behind the windows of raw samples, in plain Python."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.preprocessing.constants import LARGEST

NORMAL = 1  # class index of a window without a label, where there are no labels


class ChainCoreRef:
    def __init__(self, votes, windows, learner, last, owner):
        self.votes, self.windows, self.learner = votes, windows, learner
        self.last, self.owner = last, owner

    def push(self, x, y):
        if not self.take(x, y):
            return None
        row = self.windows.row
        is_fitted = self.learner.views["n_per_class"].any()
        answer = self.learner.predict_with_score(row) if is_fitted else (None, 0.0)
        if self.winner >= 0:
            self.learner.learn_one(row, self.learner.labels.in_slots[self.winner])
        return answer

    def window(self, x, y):
        if not self.take(x, y):
            return None
        has_label = self.winner >= 0 and not self.learner.one_class
        return self.windows.row, self.learner.labels.in_slots[self.winner] if has_label else None

    def take(self, x, y):
        windows, labels = self.windows, self.learner.labels
        one_class = self.learner.one_class
        y = None if one_class else y
        slot = -1 if y is None else labels.slot_of(y)
        row = as_floats(x, windows.dtype, 1, windows.n_channels, self.owner)
        is_unknown = y is not None and slot < 0
        if is_unknown or not (np.abs(row) <= LARGEST).all():
            status = Status.UNKNOWN_LABEL if is_unknown else Status.NOT_FINITE
            sample = f"{self.owner}: the sample (label {y!r})"
            raise refusal(status, sample, windows.dtype, labels.in_slots)
        if y is not None:
            labels.take(slot, y)
        at = int(windows.views["n_run"])
        if at % windows.hop == 0:
            self.votes[at // windows.hop % windows.n_windows] = 0
        ended = None
        for place, age in windows.open_windows(at):
            if slot >= 0:
                self.votes[place, slot] += 1
            if age == windows.window - 1:
                ended = place
        windows.push(row)
        if ended is None:
            return False
        winner = slot if self.last else self.most_votes(self.votes[ended])
        self.winner = NORMAL if one_class else winner
        return True

    @staticmethod
    def most_votes(votes):
        return int(votes.argmax()) if votes.any() else -1

    def check(self):
        """Does nothing: the compiled core checks snapshots, the reference is for tests."""
