"""learners/stream: one ball, a few balls, the ball in a kernel's space."""

from mutant import Area, mutants_of

AREA = Area(
    "stream",
    (
        "tests/learners/test_stream_svm_average.py",
        "tests/learners/test_stream_svm_blocks.py",
        "tests/learners/test_stream_svm_formulas.py",
        "tests/learners/test_stream_svm_geometry.py",
        "tests/learners/test_stream_svm_merge.py",
        "tests/learners/test_stream_svm_samples.py",
        "tests/learners/test_kernel_stream_svm.py",
        "tests/learners/test_extremes.py",
        "tests/conformance/test_twin.py",
    ),
    (
        *mutants_of(
            "edgesvm/learners/stream/inside.h",
            (
                "(along > 0.0) & (product >= level)",
                "(product >= level)",
                "a row on the wrong side passes by",
            ),
            (
                "test->cc - 2.0 * along + square <= test->RR",
                "test->cc - 2.0 * along + square <= 1.0001 * test->RR",
                "a row just outside passes by where rows are as they are",
            ),
            (
                "!first[0] ? 0 : !first[1] ? 1 :",
                "!first[0] ? 1 : !first[1] ? 1 :",
                "the first of four rows always passes by",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/stream/_ball.pxd",
            (
                "step = 0.5 * (1.0 - (ball.R - z.R) / d)",
                "step = 0.5 * (1.0 + (ball.R - z.R) / d)",
                "the centre goes too far",
            ),
            (
                "ball.R = 0.5 * (ball.R + z.R + d)",
                "ball.R = 0.5 * (ball.R + d)",
                "another ball's radius",
            ),
            (
                "+ step * step * z.xi2\n",
                "+ step * z.xi2\n",
                "the newcomer's own axis is too long",
            ),
            (
                "gain = 0.5 * (d2 - ball.R * ball.R)",
                "gain = d2 - ball.R * ball.R",
                "the dual's step is twice as long",
            ),
            (
                "limit = 0.5 * (test.cc + square - test.RR) + CLEARLY",
                "limit = 0.4999 * (test.cc + square - test.RR) + CLEARLY",
                "a row just outside passes by",
            ),
            ("ball.q += step * (z.square - ball.q)", "ball.q += step * z.square", "q is no mean"),
            (
                "sqrt(fmax(ball.q - ball.ww - ball.xi2, 0.0))",
                "sqrt(fmax(ball.q - ball.ww, 0.0))",
                "the dual radius without own axes",
            ),
            (
                "return not square <= MAX_SQUARE",
                "return square > MAX_SQUARE",
                "NaN is not large",
            ),
            (
                "return BAD_WEIGHT if too_large(z.xi2) else UNCHANGED",
                "return UNCHANGED",
                "a weight too small to divide by is taken",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/stream/_stream_svm.pyx",
            (
                "slots + i)\n                if asked <",
                "slots + i)\n                n_inside = BLOCK\n                if asked <",
                "a row that may move the ball passes by with its block",
            ),
            (
                "            i += n_inside\n            if n_inside < BLOCK:\n",
                "            i += BLOCK\n            if n_inside < BLOCK:\n",
                "a row that may move a part passes by with its block",
            ),
            (
                "                    asked += NOTED\n                i += n_inside",
                "                    asked += 1\n                i += n_inside",
                "other rows are asked of the mean in a block",
            ),
            (
                "self.note_lapses(x + i * width, w, &z)\n                asked += NOTED\n",
                "self.note_lapses(x + i * width, w, &z)\n",
                "a row that is learned alone ends what the mean is asked",
            ),
            (
                "and y * (xu + mean_constant) > doubt):",
                "):",
                "the mean is taken to be right wherever w is",
            ),
            (
                "            counted = i\n",
                "",
                "rows are counted again after a step",
            ),
            (
                "                still = 0\n",
                "                still = 0\n                continue\n",
                "a row that moves the ball is learned twice",
            ),
            (
                "self.note_answers(said[LAST], said[MEAN], n_learned + i)",
                "self.note_answers(said[LAST], said[MEAN], n_learned)",
                "rows of a block are noted as if they came at once",
            ),
            (
                "            if not self.find_scales(xx, own, scale):\n",
                "            if not self.find_scales(xx, own, scale) and False:\n",
                "a row that is not finite is decided in a block",
            ),
            (
                "z.xi2 = 1.0 / weight if self.paper_slack else 1.0 / (self.C * weight)",
                "z.xi2 = 1.0 / weight if self.paper_slack else 1.0 / self.C",
                "the weight of a sample does not count",
            ),
            (
                "z.off = 0.0 if self.paper_slack else z.square - z.zz",
                "z.off = 0.0",
                "a heavy sample is not enclosed",
            ),
            (
                "return (n - s) * (n + s + 1.0) / (n * (n + 1.0)) if n > s else 0.0",
                "return (n - s) / n if n > s else 0.0",
                "each sample counts the same in the average",
            ),
            (
                "        self.take_mean(w)\n        z.scale = sign\n",
                "        z.scale = sign\n",
                "a merge forgets the samples since the last update",
            ),
            (
                "            norm_square += 1.0\n        if self.normalize and",
                "            pass\n        if self.normalize and",
                "the constant feature is not in the norm",
            ),
            (
                "            if self.balls.share[i] > 0.0:\n",
                "            if self.balls.share[i] > 1e-3:\n",
                "small shares are not in the centre",
            ),
            ("self.balls.m[0] = 1\n", "self.balls.m[0] = 2\n", "one ball is counted as two"),
            (
                "if j != last:\n            memcpy(centres + j",
                "if j == last:\n            memcpy(centres + j",
                "the last centre does not move into the gap",
            ),
            (
                "self.n_per_class[1] += other.n_per_class[0 if flipped else 1]",
                "self.n_per_class[1] += other.n_per_class[1]",
                "classes of a flipped ball are counted the wrong way",
            ),
            (
                "if held and not abs(share.sum() - 1.0) < SHARES_WITHIN:",
                "if False:",
                "a snapshot's shares need not sum to one",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/stream/_balls.pyx",
            (
                "balls.pull[k] += value * (gram(balls, k, i) - gram(balls, k, j))",
                "balls.pull[k] += value * gram(balls, k, i)",
                "pulls forget where the share came from",
            ),
            (
                "d2 if lower else sqrt(d2) + balls.radius[i]",
                "d2 if lower else sqrt(d2)",
                "a ball's radius is not reached",
            ),
            (
                "        slope = 2.0 * apart\n",
                "        slope = apart\n",
                "the dual's step is too long",
            ),
            ("    balls.share[i] = share\n", "", "a share is lost in joining"),
            ("    d2 += between(balls, i, j, t)\n", "", "a joint ball's reach is measured wrongly"),
            (
                "    if d2 <= LEVEL * cc:\n        d2 = 0.0\n",
                "    d2 = fmax(d2, 0.0)\n",
                "rounding chooses between pairs of equal reach",
            ),
            (
                "    balls.share[j] = balls.share[last]\n",
                "",
                "the last ball's share does not move with it",
            ),
        ),
        *mutants_of(
            "edgesvm/persist/saved.py",
            (
                "return cls(**{**cls._absent, **given})",
                "return cls(**given)",
                "an old snapshot gets a later default",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/wrapper.py",
            (
                "first = cls._first_default() if named is None else named",
                "first = cls._default() if named is None else named",
                "an old wrapper's snapshot gets a later default",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/stream/_kernel_stream_svm.pyx",
            (
                "            self.share[i] *= 1.0 - step\n",
                "            pass\n",
                "old shares do not shrink",
            ),
            (
                "2 * step * (1 - step) * z.wz",
                "step * (1 - step) * z.wz",
                "|w|^2 with half a cross term",
            ),
            (
                "            ball.R += a * sqrt(apart)\n",
                "            pass\n",
                "R does not grow with a loss",
            ),
            ("        self.share[j] += a\n", "", "the loser's share has no heir"),
            (
                "            if self.n_held[0] == self.slots:",
                "            if self.n_held[0] == self.slots - 1:",
                "one vector fewer is held",
            ),
            (
                "+ 2.0 * a * self.share[j] * self.own[j], 0.0)",
                ", 0.0)",
                "own axes of the heir are forgotten",
            ),
            (
                "        if not y * f < 1.0:\n            return UNCHANGED\n",
                "",
                "samples beyond the margin are learned too",
            ),
            ("        scale = sqrt(penalty)", "        scale = 1.0", "the factor without C"),
            (
                "            self.replace_newest(x, y, weight)\n            return CHANGED\n",
                "            pass\n",
                "a late label has no vector",
            ),
            (
                "self.newton_step(self.sign[j], self.weight[j])",
                "self.newton_step(self.sign[j], 1.0)",
                "the vectors' weights are forgotten",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/stream/_normal_matrix.pxd",
            (
                "            v[j + k] = c * v[j + k] - s * col[k]\n",
                "            pass\n",
                "the rest of a product is not rotated",
            ),
            (
                "        x[j] = (x[j] - dot(col + 1, x + j + 1, n - j - 1)) / col[0]",
                "        x[j] = x[j] / col[0]",
                "half of the backward solution",
            ),
        ),
    ),
)
