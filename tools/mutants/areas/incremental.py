"""learners/incremental: retrained a batch at a time, over all batches or a window of them."""

from mutant import Area, mutants_of

AREA = Area(
    "incremental",
    ("tests/learners/incremental", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/learners/papers/incremental/_retrained_svm.pyx",
            (
                "return yf <= 0.0",
                "return yf <= 1.0",
                "the error-driven scheme keeps the margin too",
            ),
            (
                "return fabs(yf) <= 1.0",
                "return yf <= 1.0",
                "a margin exceeded the wrong way is kept",
            ),
            (
                "self.n_given_up[0] += n_support - self.max_vectors",
                "self.n_given_up[0] += 1",
                "vectors given up are counted once a cycle",
            ),
            ("        self.n_cycles[0] += 1\n", "", "cycles are not counted"),
            (
                "kept = min(max(kept, 1), self.max_vectors - 1)",
                "kept = min(kept, self.max_vectors)",
                "a rare class may be given up whole",
            ),
            ("beta[t] *= down / up", "beta[t] *= up / down", "the heavier class is made heavier"),
            (
                "for t in range(n - n_kept, n):",
                "for t in range(n_kept):",
                "of one class the oldest stay",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/incremental/_incremental_svm.pyx",
            (
                "self.put(self.n_held[0], x, y * self.C * weight)",
                "self.put(self.n_held[0], x, y * self.C)",
                "the weight of a sample does not count",
            ),
            (
                "self.errors_kept if yf <= 0.0 else self.correct_kept)",
                "self.errors_kept if yf > 0.0 else self.correct_kept)",
                "the active scheme's shares are exchanged",
            ),
            (
                "if not self.wants(y * f):",
                "if not self.wants(f):",
                "the scheme does not see the label",
            ),
            (
                "self.n_support[0] if self.n_cycles[0] % FRESH_EVERY else 0",
                "self.n_support[0]",
                "the gradient is never computed anew",
                "what rounding adds up in a stream of tests is less than any tolerance",
            ),
            (
                'if views["beta"][trained:].any():',
                "if False:",
                "a snapshot's waiting sample has a coefficient",
            ),
            (
                "        if self.n_held[0] == self.n_support[0]:\n            return False\n",
                "",
                "an empty batch is a cycle",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/incremental/_windowed_svm.pyx",
            (
                "return self.n_batches[0] % self.window if self.n_batches[0] > self.window else 0",
                "return 0",
                "always the first model answers",
            ),
            (
                "            if m != newest:\n                self.extend_model(m)",
                "            self.extend_model(m)",
                "the model that is begun anew is extended first",
                "it is begun anew right after",
            ),
            (
                "        memset(self.batch, 0, self.batch_size * self.row_bytes)\n",
                "",
                "the batch is left behind",
            ),
            (
                "        self.n_waiting[0] = 0\n",
                "        self.n_waiting[0] = 1\n",
                "a sample of the last batch waits on",
            ),
            (
                "side = 1.0 if self.batch_bound[k] > 0.0 else -1.0",
                "side = 1.0",
                "the scheme does not see the label",
            ),
            (
                "and n_batches * self.batch_size + waiting == self.n_learned()",
                "",
                "a snapshot's batches are not what was learned",
            ),
        ),
    ),
)
