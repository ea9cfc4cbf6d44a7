"""The main job and its score."""

from mutant import Area, mutants_of

AREA = Area(
    "runner",
    ("tests/test_runner.py", "tests/test_evaluation.py", "tests/test_main_job.py"),
    (
        *mutants_of(
            "edgesvm/runner.py",
            ("        self.taken += 1\n", "", "samples taken are not counted"),
            ("flags |= TRAINED", "pass", "an answer does not say that its sample was learned"),
            ("            self.over_rate += 1\n", "", "labels over the rate are not counted"),
            (
                "self._credit = min(max(1.0, self._rate), self._credit + earned)",
                "self._credit = self._credit + earned",
                "credit for labels grows without end",
            ),
            (
                "                self._count_refused(refused)\n\n",
                "                pass\n\n",
                "late samples that are refused are not counted",
            ),
            (
                "            n = self.handle_waiting(at_most)\n",
                "            n = self.handle_waiting()\n",
                "more samples are handled than were asked for",
            ),
            (
                "self.score.add(label, predicted)",
                "self.score.add(label, label)",
                "the score is always right",
            ),
            (
                "only_label = refused.status == Status.UNKNOWN_LABEL",
                "only_label = False",
                "an unknown label is counted as a bad value",
            ),
        ),
        *mutants_of(
            "edgesvm/evaluation.py",
            (
                "self._recent += hit - self._hits[at]",
                "self._recent += hit",
                "the rolling accuracy forgets nothing",
            ),
            (
                "if self.n == self.window:",
                "if self.n == self.window + 1:",
                "the first window is longer",
            ),
            (
                "return sum(recalls) / len(recalls) if recalls else None",
                "return self.accuracy",
                "balanced accuracy is the plain one",
            ),
            (
                "return max(samples for samples, _",
                "return min(samples for samples, _",
                "the majority is the smaller class",
            ),
        ),
    ),
)
