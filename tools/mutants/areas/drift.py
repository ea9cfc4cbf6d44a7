"""drift: where a learner's errors become more, and what follows."""

from mutant import Area, mutants_of

AREA = Area(
    "drift",
    ("tests/drift", "tests/persist/test_checkpointing.py", "tests/conformance/test_labels.py"),
    (
        *mutants_of(
            "edgesvm/drift/_page_hinkley.pyx",
            (
                "s.m2 += difference * (error - s.mean)",
                "s.m2 += difference * difference",
                "the deviation is too large",
            ),
            (
                "s.excess + error - s.mean - self.delta * deviation",
                "s.excess + error - s.mean - self.delta",
                "the tolerance is not in deviations",
            ),
            (
                "s.excess <= self.threshold * deviation",
                "s.excess <= self.threshold",
                "the threshold is not in deviations",
            ),
            ("s.n < self.min_samples", "s.n < 1", "a drift at the first errors"),
            ("            s.n_low, s.mean_low = s.n, s.mean\n", "            pass\n", "no start"),
            ("        memset(s, 0, sizeof(State))\n", "", "it does not start over"),
        ),
        *mutants_of(
            "edgesvm/drift/_adwin.pyx",
            (
                "if self.n_in_row[row] <= self.per_row:",
                "if self.n_in_row[row] < self.per_row:",
                "a row has a bucket less",
            ),
            (
                "                self.pop(row)\n                self.n_window[0] -= <int64_t> 1 << row\n",
                "                self.pop(row)\n",
                "what a full last row forgets is still counted",
            ),
            ("if times > most:", "if times > 1.0:", "the last cut, not the clearest"),
            (
                "log_(2.0 * log_(n) / self.delta)",
                "log_(2.0 / self.delta)",
                "the bound is not that of a window",
            ),
            ("if n1 < self.least:", "if n1 < 1:", "a cut before the last error"),
            (
                "dropped * self.n_window[0] >= total * n_dropped",
                "False",
                "fewer errors are a drift",
            ),
            (
                "self.found.n_added % self.every == 0 and ",
                "",
                "it looks at every error",
            ),
        ),
        *mutants_of(
            "edgesvm/drift/_detector.pyx",
            (
                "        if not 0.0 <= error <= 1.0:\n            raise not_an_error(error)\n",
                "",
                "NaN is an error",
            ),
            (
                "sizeof(Found), 0), 0, self.arena.nbytes - sizeof(Found)",
                "0, 0), 0, self.arena.nbytes",
                "a reset forgets the counts",
            ),
        ),
        *mutants_of(
            "edgesvm/drift/watch.py",
            (
                "self.learner.reset(keep_labels=True)",
                "self.learner.reset()",
                "a new start forgets the labels",
            ),
            ("            self.detector.reset()\n", "", "the detector remembers the old learner"),
            ("        self._answer = None\n        if not", "        if not", "asked once"),
        ),
        *mutants_of(
            "edgesvm/persist/checkpointing.py",
            (
                "self._saved_seen, self._is_another = 0, True",
                "self._is_another = True",
                "after a reset the next save waits for the old number of samples",
            ),
            (
                "is_new = self._is_another or self._learner",
                "is_new = self._learner",
                "a learner that was reset is not new if it has seen as many",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/drift_options.py",
            ("            saver.forget()\n", "            pass\n", "the checkpoint is not told"),
        ),
        *mutants_of(
            "edgesvm/evaluation.py",
            (
                "self.drift.score(label):\n            self._fitted = False",
                "self.drift.score(label):\n            pass",
                "a learner that was reset is asked before it has learned",
            ),
        ),
    ),
)
