"""The watch: phases, hysteresis, what is told to the node and to the person."""

from mutant import Area, mutants_of

AREA = Area(
    "watch",
    ("tests/test_watcher.py", "tests/cli/test_watch.py"),
    (
        *mutants_of(
            "edgesvm/alarms.py",
            ("if self.strange >= self.k:", "if strange:", "one strange sample is an alarm"),
            ("elif not self._last:", "else:", "one normal sample ends an alarm"),
        ),
        *mutants_of(
            "edgesvm/watcher.py",
            (
                "learner.learn_one(row) if self.learns or not watching else False",
                "learner.learn_one(row)",
                "it learns on while it watches",
            ),
            (
                "if self.learning_left == 0 and self.learner.n_updates_ >= LEAST_LEARNED:",
                "if self.learning_left == 0:",
                "a threshold of a few rows",
            ),
            (
                "flags |= ALARM if self.episode else 0",
                "pass",
                "the node is not told of an alarm",
            ),
            (
                "(0 if watching else ABSTAIN)",
                "0",
                "the node is not told that it learns",
            ),
            (
                "            self.refused_value += 1\n",
                "",
                "a refused sample is not counted",
            ),
            (
                "self.episode.highest = max(self.episode.highest, self.score)",
                "self.episode.highest = self.score",
                "not the highest score of an alarm but its last",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/watch.py",
            ("return ALARMED if watcher.alarms else 0", "return 0", "no exit code for an alarm"),
            (
                "    if model is not None:\n        saved_model.check_inputs",
                "    if False:\n        saved_model.check_inputs",
                "a saved model is not gone on with",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/watch_report.py",
            ("np.argsort(-e.shares", "np.argsort(e.shares", "the features that stand out least"),
        ),
    ),
)
