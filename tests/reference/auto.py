"""Auto in plain NumPy; see _auto.pyx."""

from __future__ import annotations

import math

from edgesvm.core.status import Status
from edgesvm.learners.auto._auto import FOURIER
from edgesvm.learners.auto.constants import CLEARLY, RECENT, UNCOUNTED
from reference.core import ReferenceCore, note_errors


class AutoCoreRef(ReferenceCore):
    """The arena's arrays by name: ended, n_left_out, n_wrong, candidate_lapses, pool."""

    def __init__(self, *common, stages):
        super().__init__(*common)
        self.stages = stages

    @property
    def parts(self):
        ended = int(self.views["ended"])
        return [None if ended >> c & 1 else part for c, part in enumerate(self.stages[ended & 3])]

    @property
    def at_work(self):
        """(candidate, core) of those that have not ended."""
        return [(c, part) for c, part in enumerate(self.parts) if part is not None]

    @property
    def answering(self):
        lapses = self.views["candidate_lapses"]
        return min((c for c, _ in self.at_work), key=lambda c: lapses[c])

    def step(self, x, y, weight):
        wrong = {c: self.is_wrong(part, x, y) for c, part in self.at_work}
        statuses = []
        for _, part in self.at_work:
            statuses.append(part.learn_row(x, int(y > 0), weight))
            if statuses[0] > Status.CHANGED:
                return statuses[0]
        self.views["n_left_out"][...] += sum(status > Status.CHANGED for status in statuses)
        self.judge(wrong)
        return Status.CHANGED if Status.CHANGED in statuses else Status.UNCHANGED

    def is_wrong(self, part, x, y):
        value = part.decide(x)
        if math.isnan(value):
            return True
        per_class = part.views["n_per_class"]
        slot = int(per_class[0] == 0) if not per_class.all() else int(value > 0)
        return slot != int(y > 0)

    def judge(self, wrong):
        v = self.views
        n = int(v["n_per_class"].sum()) + 1
        for c, is_wrong in wrong.items():
            note_errors(v["candidate_lapses"][c : c + 1], [is_wrong], n, RECENT)
            v["n_wrong"][c] += is_wrong
        if n % UNCOUNTED == 0 and (n // UNCOUNTED).bit_count() == 1:
            if n > UNCOUNTED:
                self.review()
            v["n_wrong"][:] = 0

    def review(self):
        v, before = self.views, self.parts
        errors = {c: int(v["n_wrong"][c]) for c, _ in self.at_work}
        best = min(errors.values())
        for c, n_wrong in errors.items():
            if n_wrong - best > CLEARLY * math.sqrt(n_wrong + best):
                before[c].arena.memory[:] = 0
                v["candidate_lapses"][c] = 0.0
                v["ended"][...] |= 1 << c
        after = self.parts
        if after[FOURIER] is not None and after[FOURIER] is not before[FOURIER]:
            after[FOURIER].take_over(before[FOURIER])

    def decide(self, x):
        return self.parts[self.answering].decide(x)
