"""learners/novelty: scales, scores and the threshold of what is learned without labels."""

from mutant import Area, mutants_of

AREA = Area(
    "novelty",
    ("tests/learners/novelty",),
    (
        *mutants_of(
            "edgesvm/core/moments.pxd",
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
        ),
        *mutants_of(
            "edgesvm/learners/novelty/_novelty.pyx",
            (
                "if self.learns_all or not (alarm or self.alarmed[0]):",
                "if self.learns_all or alarm or not self.alarmed[0]:",
                "a fault that lasts moves the threshold",
            ),
            (
                "            self.follow(self.tail.held)\n",
                "",
                "a false alarm does not move the threshold",
            ),
            (
                "    return copysign(fmin(CLIP + log_(fmin(fabs(far), 1e300) / CLIP), REACH), far)",
                "    return copysign(CLIP, far)",
                "what is far away is all the same",
            ),
            (
                "if not resting and (self.learns_all or not alarm):",
                "if not resting:",
                "what alarms is learned",
            ),
            (
                "if not resting and (self.learns_all or not alarm):",
                "if self.learns_all or not alarm:",
                "until N does not end",
            ),
            (
                "if self.n_kept() >= SETTLED and not self.is_frozen():",
                "if self.n_kept() >= SETTLED:",
                "the threshold of a frozen learner moves",
            ),
            (
                "CALM if alarm else max(self.alarmed[0] - 1, 0)",
                "1 if alarm else 0",
                "a fault of which half looks normal is learned",
            ),
            (
                "consistent = kept == min(n, self.until) and",
                "consistent =",
                "a frozen snapshot that learned more",
            ),
            (
                "            out[j] = fmax(out[j], 0.0)\n",
                "",
                "negative shares",
            ),
            (
                "            elif far != 0.0:\n                far = copysign(CLIP, far)",
                "            else:\n                far = 0.0",
                "a feature that never varied says nothing",
            ),
            (
                "(alarm / self.rate - 1.0)",
                "(alarm - self.rate)",
                "the threshold hardly follows the alarms",
            ),
            (
                "scale * (self.log_ratio + self.tail.shift)",
                "scale * self.tail.shift",
                "no tail above the level",
            ),
            (
                "self.n_kept() >= self.warm_up and score",
                "score",
                "alarms while it warms up",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/novelty/alarm_rate.py",
            ("alarms / seconds / samples", "alarms / seconds", "alarms a second, not a sample"),
            ("    if rate is None:", "    if False:", "a rate that is not there"),
        ),
        *mutants_of(
            "edgesvm/core/codes.pxd",
            ("rint(z * CODES_PER_UNIT)", "(z * CODES_PER_UNIT)", "codes are cut, not rounded"),
        ),
        *mutants_of(
            "edgesvm/learners/novelty/_gaussian_novelty.pyx",
            (
                "square = (self.n_fitted() + 1) * dot(y, y, D)",
                "square = self.n_fitted() * dot(y, y, D)",
                "the identity does not count as a sample",
            ),
            (
                "            out[j] /= dot(y, y, D)",
                "            pass",
                "shares do not look at how well the others tell a feature",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/novelty/_kernel_novelty.pyx",
            (
                "return count * self.counts[i] / (count + self.counts[i]) * self.square[i]",
                "return self.square[i]",
                "merges do not weigh counts",
            ),
            (
                "        self.leave(p)\n        if self.compact:",
                "        if self.compact:",
                "partners of a centre that has gone",
            ),
            (
                "weight = self.counts[i] * exp_(",
                "weight = exp_(",
                "expected features do not weigh counts",
            ),
            (
                "exp_(-self.gamma * (square[i] - least))",
                "exp_(-self.gamma * square[i])",
                "scores and shares far out are off",
            ),
            (
                "<int16_t> rint(c)",
                "<int16_t> c",
                "means of codes are cut, not rounded",
            ),
            (
                "self.append_row(1.0 + self.noise - ",
                "self.append_row(1.0 + 2.0 * self.noise - ",
                "twice the noise",
            ),
            (
                "share = fmax(fmin(count / total, 1.0), 0.0)",
                "share = 0.5",
                "the mean of two centres does not weigh counts",
            ),
        ),
    ),
)
