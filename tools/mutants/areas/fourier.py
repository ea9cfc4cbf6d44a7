"""learners/fourier: random features, and the learner on them."""

from mutant import Area, mutants_of

AREA = Area(
    "fourier",
    (
        "tests/learners/fourier/test_fourier_svm.py",
        "tests/preprocessing/test_fourier_features.py",
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
            (
                "        turns[j] = (T)scale[j % 4];\n    }\n",
                "        turns[j] = (T)scale[0];\n    }\n",
                "all directions are as wide",
            ),
            ("round < 3 * block + 3", "round < 3 * block + 2", "signs are flipped but twice"),
            ("MIX_LANES(a, 4, LANES_4);", "", "a Hadamard transform leaves out lanes"),
            (
                "h < d; h *= 2",
                "2 * h < d; h *= 2",
                "a Hadamard transform leaves out the last pairs",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/fourier/_fourier_svm.pyx",
            ("self.square_ahead = n", "self.square_ahead = 2 * n", "cosine and sine are 1 each"),
            (
                "self.add_dots(self.mean, 2 * p, f, 2 * n, mean)",
                "self.add_dots(self.w, 2 * p, f, 2 * n, mean)",
                "the mean's lapses are the last weights'",
            ),
        ),
    ),
)
