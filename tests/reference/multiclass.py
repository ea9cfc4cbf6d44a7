"""A multiclass learner made of two-class learners, in plain NumPy; see _multiclass.pyx."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.core import ReferenceCore


class MulticlassCoreRef(ReferenceCore):
    def __init__(self, *common, parts, pairs, most):
        super().__init__(*common)
        self.parts, self.pairs, self.most = parts, pairs, most

    def of(self, slot):
        """The parts of a class, each with the side that the class is on."""
        if not self.pairs:
            return [(part, int(other == slot)) for other, part in enumerate(self.parts)]
        others = [other for other in range(len(self.views["n_per_class"])) if other != slot]
        return [(self.between(slot, other), int(slot > other)) for other in others]

    def between(self, slot, other):
        i, j = sorted((slot, other))
        return self.parts[j * (j - 1) // 2 + i]

    def step(self, x, y, weight):
        parts = self.of(y)
        if self.most is not None and any(seen(part).sum() >= self.most for part, _ in parts):
            return Status.FULL
        statuses = []
        for part, side in parts:
            statuses.append(part.learn_row(x, side, weight))
            if statuses[0] > Status.CHANGED:
                return statuses[0]
        self.views["n_left_out"][...] += sum(status > Status.CHANGED for status in statuses)
        return Status.CHANGED if Status.CHANGED in statuses else Status.UNCHANGED

    def decide(self, x):
        per_class = self.views["n_per_class"]
        competing = [slot for slot in self.labels.sorted_slots if per_class[slot]]
        score = np.zeros(len(per_class))
        if len(competing) == 1:
            score[:] = 0.0 if np.isfinite(x @ x) else np.nan
        elif self.pairs:
            score = self.vote(x, competing)
        else:
            score[competing] = [value_of(self.parts[slot], x) for slot in competing]
            if len(competing) == 2:
                low, high = competing
                d = (score[high] - score[low]) / 2
                score[low], score[high] = -d / 2, d / 2
        return self.unseen_last(score)

    def vote(self, x, competing):
        votes, sums = np.zeros((2, len(self.views["n_per_class"])))
        for b, high in enumerate(competing):
            for low in competing[:b]:
                part = self.between(low, high)
                if not seen(part).all():
                    continue
                f = value_of(part, x) * (1 if high > low else -1)
                votes[high if f > 0 else low] += 1
                sums[high] += f
                sums[low] -= f
        return sums / 2 if len(competing) == 2 else votes + sums / (1 + np.abs(sums)) / 3


def seen(part):
    return part.views["n_per_class"]


def value_of(part, x):
    return part.decide(x) if seen(part).all() else 0.0
