"""learners/fourier: random features, and the learner on them."""

from mutant import Area, mutants_of

AREA = Area(
    "fourier",
    (
        "tests/learners/fourier/test_fourier_svm.py",
        "tests/learners/test_blocks_of_decisions.py",
        "tests/preprocessing/test_fourier_features.py",
        "tests/conformance/test_twin.py",
        "tests/conformance/test_stream.py",
    ),
    (
        *mutants_of(
            "edgesvm/learners/fourier/waves_width.h",
            (
                "(UBITS)(first + p)) * (UBITS)0x9E3779B1u + key",
                "(UBITS)p) * (UBITS)0x9E3779B1u + key",
                "all blocks have the first one's directions",
            ),
            ("c *= s + s;", "c *= s;", "sines are half as long"),
            (
                "            turns[j] = (T)scale[j % 4]; ",
                "            turns[j] = (T)scale[0]; ",
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
            (
                "square += a[k] * a[k] * ((",
                "square += 2 * a[k] * a[k] * ((",
                "cosine and sine are 1 each",
            ),
            (
                "return self.ahead + r * self.directions.n",
                "return self.ahead",
                "four rows have the angles of the first",
            ),
            (
                "self.ahead + p, self.directions.n)",
                "self.ahead, self.directions.n)",
                "angles that are found ahead lie over one another",
            ),
            (
                "if memcmp(self.row_ahead + r * size, x, size) == 0:",
                "if r == 0:",
                "any sample has the angles of the first row that was looked ahead at",
            ),
            (
                "c[OF_X] = self.linear_part(x, pull)",
                "c[OF_X] = 0.0",
                "x keeps its amplitude",
            ),
            (
                "fmax(self.tilt[k] - most, -FADED - self.first_tilt[k])",
                "self.tilt[k] - most",
                "an amplitude may fall without end",
            ),
            (
                "self.add_dots(self.mean, 2 * p, f, 2 * n, mean)",
                "self.add_dots(self.w, 2 * p, f, 2 * n, mean)",
                "the mean's lapses are the last weights'",
            ),
        ),
    ),
)
