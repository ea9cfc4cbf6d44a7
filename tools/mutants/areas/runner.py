"""The main job and its score."""

from mutant import Area, mutants_of

AREA = Area(
    "runner",
    (
        "tests/test_runner.py",
        "tests/test_evaluation.py",
        "tests/test_main_job.py",
        "tests/test_window_runner.py",
    ),
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
                "                self._count_refused(refused)\n            if",
                "                pass\n            if",
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
            "edgesvm/prequential/_tally.pyx",
            (
                "self.n > 0 and truth == self._before",
                "truth == self._before",
                "the first label may be one that was there before",
            ),
            ("hit - <int> hits[at]", "hit", "the rolling accuracy forgets nothing"),
            (
                "if self.n == self.window:",
                "if self.n == self.window + 1:",
                "the first window is longer",
            ),
        ),
        *mutants_of(
            "edgesvm/window_runner.py",
            (
                "label if weight > 0 else None",
                "label",
                "a label of weight 0 votes",
            ),
            ("            self.labels_refused += 1\n", "", "labels left out are not counted"),
            (
                "        chain.gap()  #",
                "        pass  #",
                "a window that was saved half full goes on",
            ),
            (
                "            self._samples.begin_again()\n",
                "            pass\n",
                "windows go on over a restart of the node",
            ),
            ("        self._run_from = self.pushed\n", "", "windows begun are counted twice"),
        ),
        *mutants_of(
            "edgesvm/preprocessing/in_order.py",
            ('        if place == "late":\n', "        if False:\n", "late samples are taken in"),
            ('        if place == "gap":\n', "        if False:\n", "windows span gaps"),
            (
                "        self._continuity.broken()\n        self._gap()\n",
                "        pass\n",
                "windows span a refused sample",
            ),
        ),
        *mutants_of(
            "edgesvm/evaluation.py",
            (
                "return sum(recalls) / len(recalls) if recalls else None",
                "return self.accuracy",
                "balanced accuracy is the plain one",
            ),
            (
                "return max(sum(row.values())",
                "return min(sum(row.values())",
                "the majority is the smaller class",
            ),
        ),
    ),
)
