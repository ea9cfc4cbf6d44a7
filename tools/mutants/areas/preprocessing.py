"""preprocessing: a learner behind a running standardizer."""

from mutant import Area, mutants_of

AREA = Area(
    "preprocessing",
    ("tests/preprocessing", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/preprocessing/_standardized.pyx",
            (
                "spread[0] = old_spread + delta * (x - mean[0])",
                "spread[0] = old_spread + delta * delta",
                "the spread is about the old mean",
            ),
            (
                "mean[0] = old_mean + delta * share",
                "mean[0] = old_mean + 0.5 * delta * share",
                "the mean moves half the way",
            ),
            (
                "return (x - mean) / sqrt(variance) if variance > 0.0 else 0.0",
                "return (x - mean) / sqrt(variance) if variance > 0.0 else x",
                "a feature that has not varied is not zero",
            ),
            (
                "        if status <= CHANGED:\n",
                "        if True:\n",
                "a refused sample moves the mean",
            ),
            (
                "cdef int64_t j, n = self.n_learned() + 1",
                "cdef int64_t j, n = self.n_learned() + 2",
                "the sample is counted twice",
            ),
            (
                "            if not isfinite(spread):\n                return NOT_FINITE\n",
                "",
                "a spread may overflow",
            ),
            (
                'if self.views["scaled"].any():',
                "if False:",
                "a snapshot's scaled sample is left behind",
            ),
            (
                'if (self.views["spread"] < 0).any():',
                "if False:",
                "a snapshot's spread may be negative",
            ),
        ),
    ),
)
