"""preprocessing: a learner behind running statistics, or random waves, of its features."""

from mutant import Area, mutants_of

AREA = Area(
    "preprocessing",
    (
        "tests/preprocessing",
        "tests/conformance/test_twin.py",
        "tests/conformance/test_raw.py",
        "tests/conformance/test_snapshots.py",
    ),
    (
        *mutants_of(
            "edgesvm/preprocessing/_standardized.pyx",
            (
                "return UNCHANGED if is_finite else NOT_FINITE",
                "return UNCHANGED",
                "a spread may overflow",
            ),
            (
                'if (self.views["spread"] < 0).any():',
                "if False:",
                "a snapshot's spread may be negative",
            ),
        ),
        *mutants_of(
            "edgesvm/core/moments.h",
            (
                "((x) - (mean)) / sqrt(variance) : 0.0)",
                "((x) - (mean)) / sqrt(variance) : (x))",
                "a feature that has not varied is not zero",
            ),
            (
                "double s = spread[j] + delta * (x[j] - m), variance = s * share; ",
                "double s = spread[j] + delta * (x[j] - m), variance = spread[j] * share; ",
                "the sample is not among those it is scaled by",
            ),
            (
                "spread[j] += delta * (x[j] - mean[j]);",
                "spread[j] += delta * delta;           ",
                "the spread is about the old mean",
            ),
            (
                "mean[j] += delta * share;  ",
                "mean[j] += delta * 0.5;  ",
                "the mean moves half the way",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/_stage.pyx",
            (
                "        if status <= CHANGED:\n",
                "        if True:\n",
                "a refused sample moves the mean",
            ),
            (
                "cdef double n = self.n_learned() + 1",
                "cdef double n = self.n_learned() + 2",
                "the sample is counted twice",
            ),
            (
                'if self.views[self.scratch].view("u1").any():',
                "if False:",
                "a snapshot's scaled sample is left behind",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/_fourier_features.pyx",
            (
                "self.mapped + 2 * p * size)",
                "self.mapped)",
                "all blocks are written to the place of the first",
            ),
            (
                "angles_from(&self.directions, x, p, many, place)",
                "angles_from(&self.directions, x, 0, many, place)",
                "all blocks have the first one's directions",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/fourier_features.py",
            (
                'return hasattr(type(alone), "coef_")',
                "return True",
                "a kernel learner is behind the features",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/_window_features.pyx",
            (
                "of.trend += 0.5 * n * (x - of.mean)",
                "of.trend += n * (x - of.mean)",
                "the slope is twice as steep",
            ),
            (
                "+ 6.0 * step * step * of.m2 - 4.0 * step * of.m3)",
                "+ 6.0 * step * step * of.m2)",
                "the kurtosis forgets that the mean moved",
            ),
            (
                "    of.n_crossings += n > 2.0 and is_above != (of.is_above > 0.0)\n",
                "    of.n_crossings += is_above != (of.is_above > 0.0)\n",
                "the second sample crosses what is no mean yet",
            ),
            (
                "not 0 <= of.n_run <= of.n_pushed < 1 << 62",
                "not 0 <= of.n_run <= of.n_pushed",
                "a count that overflows is read from a snapshot",
            ),
            (
                "            self.counts.n_run = 0\n",
                "",
                "windows span a gap",
            ),
            (
                "delay[0] = delay[1] = -self.sections[2 * b].b * self.sample[s]",
                "delay[0] = delay[1] = 0.0",
                "the filters start from zero",
            ),
            (
                "if age < self.window:",
                "if age <= self.window:",
                "a window that is complete goes on",
            ),
            (
                "self.counts.n_dropped += self.counts.n_run < k * self.hop + self.window",
                "self.counts.n_dropped += 1",
                "a complete window is dropped",
            ),
            (
                "if not fabs(entry(self.is_float32, x, c)) <= MOST:",
                "if fabs(entry(self.is_float32, x, c)) > MOST:",
                "NaN is taken in",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/_chain.pyx",
            (
                "            if votes[slot] > most:",
                "            if votes[slot] >= most and votes[slot]:",
                "of several labels with most votes the last one counts",
            ),
            (
                "if at - k * self.windows.hop < self.windows.window:",
                "if True:",
                "a complete window is voted on",
            ),
            (
                "self.winner = slot if self.last else self.most_votes(at)",
                "self.winner = self.most_votes(at)",
                "the last label does not decide alone",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/bands.py",
            (
                "((-r + u, r - v), (-r - u, r + v))",
                "((-r, r - v), (-r, r + v))",
                "the filter is no Butterworth",
            ),
        ),
        *mutants_of(
            "edgesvm/preprocessing/_robust_standardized.pyx",
            (
                "old.center + copysign(step, x - old.center) if apart else x",
                "x",
                "the center is the last sample",
            ),
            (
                "if apart else n * sqrt(fmax(old.n_apart, 1.0))",
                "if apart else 1e300",
                "a first sample that is a spike leaves a distance for good",
            ),
            (
                "(more if d > old.distance else k)",
                "(2 * more if d > old.distance else k)",
                "the distance is not the median's",
            ),
            (
                "NORMAL * of.distance * sqrt(of.n_apart / n)",
                "NORMAL * of.distance",
                "a rare value is scaled as if it were frequent",
            ),
            (
                "fmin(fmax((x - of.center) / scale, -clip), clip)",
                "fmin((x - of.center) / scale, clip)",
                "a spike below is not clipped",
            ),
        ),
    ),
)
