"""learners/gradient: steps that scale themselves, the mean of the weights."""

from mutant import Area, mutants_of

AREA = Area(
    "gradient",
    (
        "tests/learners/gradient",
        "tests/learners/fourier",
        "tests/conformance/test_twin.py",
        "tests/conformance/test_stream.py",
    ),
    (
        *mutants_of(
            "edgesvm/learners/gradient/steps.h",
            ("mean[i] += share * (w[i] - mean[i]);", "mean[i] = w[i];", "the mean is the last"),
        ),
        *mutants_of(
            "edgesvm/learners/gradient/_adagrad_svm.pyx",
            (
                "self.add_score(self.mean if mean_decides(self.lapses) else self.w, x",
                "self.add_score(self.w if mean_decides(self.lapses) else self.mean, x",
                "whichever errs more decides",
            ),
            (
                "cdef double share = 2.0 / (self.n_learned() + 2.0)",
                "cdef double share = 1.0 / (self.n_learned() + 1.0)",
                "the mean does not weigh later steps more",
            ),
            ("+= g * g * square", "+= g * square", "G is a sum of slopes"),
            ("1.0 if y == v else -1.0", "1.0 if y >= v else -1.0", "classes are thresholds"),
            (
                "        if not isfinite(self.G[v] + most):",
                "        if False:",
                "a sum of squares may overflow",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/gradient/gradient_learner.py",
            ("return core.labels.sign * weights", "return weights", "coefficients keep their sign"),
            ("rows[-1:] - rows[:1]", "rows[-1:]", "two of many labels have one class' weights"),
        ),
    ),
)
