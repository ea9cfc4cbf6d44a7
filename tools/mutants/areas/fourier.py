"""learners/fourier: random features, steps on them, the mean of the weights."""

from mutant import Area, mutants_of

AREA = Area(
    "fourier",
    (
        "tests/learners/fourier/test_fourier_svm.py",
        "tests/conformance/test_twin.py",
        "tests/conformance/test_stream.py",
    ),
    (
        *mutants_of(
            "edgesvm/learners/fourier/waves_type.h",
            (
                "(UBITS)(first + p)) * (UBITS)0x9E3779B1u + key",
                "(UBITS)p) * (UBITS)0x9E3779B1u + key",
                "all blocks have the first one's directions",
            ),
            ("c *= s + s;", "c *= s;", "sines are half as long"),
            ("turns[j] = (T)scale[j % 4]", "turns[j] = (T)scale[0]", "all directions are as wide"),
            (
                "mean[i] += share * (w[i] - mean[i]);\n    }",
                "mean[i] = w[i];\n    }",
                "the mean is the last weights",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/fourier/_fourier_svm.pyx",
            (
                "self.mean if mean_decides(self.lapses) else self.w",
                "self.w if mean_decides(self.lapses) else self.mean",
                "whichever errs more decides",
            ),
            (
                "cdef double share = 2.0 / (self.n_learned() + 2.0)",
                "cdef double share = 1.0 / (self.n_learned() + 1.0)",
                "the mean does not weigh later steps more",
            ),
            ("g * g * (self.n_directions", "g * (self.n_directions", "G is a sum of slopes"),
            ("1.0 if y == v else -1.0", "1.0 if y >= v else -1.0", "classes are thresholds"),
        ),
    ),
)
