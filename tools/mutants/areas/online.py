"""learners/online: the systems that the papers compare with."""

from mutant import Area, mutants_of

AREA = Area(
    "online",
    ("tests/learners/online", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/learners/papers/online/_linear.pyx",
            ("        sum_[n] += step\n", "        sum_[n] = step\n", "the intercept forgets"),
            (
                "if not norm * norm <= self.most_ww:",
                "if False:",
                "a weight that overflows the plane is taken",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_perceptron.pyx",
            ("if y * wx > 0.0:", "if y * wx >= 0.0:", "a sample on the plane is no mistake"),
            ("self.move(weight * y,", "self.move(y,", "a mistake counts the same at any weight"),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_passive_aggressive.pyx",
            (
                "return loss / (xx + 0.5 / C)",
                "return loss / (xx + 1.0 / C)",
                "PA-II with half its C",
            ),
            ("return fmin(C, loss / xx)", "return loss / xx", "PA-I is as aggressive as PA"),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_pegasos.pyx",
            ("if y * wx < 1.0:", "if y * wx <= 0.0:", "the loss has no margin"),
            (
                "1.0 / (self.lambda_ * t * self.batch_size)",
                "1.0 / (self.lambda_ * t)",
                "the sum of a batch for its mean",
            ),
            ("self.ww[0] > 1.0 / self.lambda_", "False", "no projection"),
            ("        self.n_waiting[0] = 0\n", "", "only the first batch has k samples"),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_kernel_perceptron.pyx",
            (
                "self.oldest[0] = (i + 1) % self.capacity",
                "self.oldest[0] = i",
                "the newest is replaced",
            ),
            (
                "return rng_below(self.rng, self.capacity)",
                "return rng_below(self.rng, self.capacity - 1)",
                "the last slot is never replaced",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_forgetron.pyx",
            (
                "f_r = self.project(x_r) + coef * k_rx",
                "f_r = self.project(x_r)",
                "the margin of the oldest without the newest",
            ),
            ("            self.coef[i] *= phi\n", "            pass\n", "nothing shrinks"),
            (
                "self.Q[0] += psi(phi * sigma, phi * y_r * f_r)",
                "self.Q[0] += psi(phi * sigma, y_r * f_r)",
                "Q with the margin before shrinking",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/online/_lasvm.pyx",
            (
                "curvature = self.row[i] + self.other_row[j] - 2.0 * self.row[j]",
                "curvature = self.row[i] + self.other_row[j]",
                "steps too short",
            ),
            (
                "self.gradient[s] >= g_i if self.bound[s] < 0.0",
                "self.gradient[s] <= g_i if self.bound[s] < 0.0",
                "samples still needed are removed",
            ),
            (
                "other = self.highest(0) if self.coef[0] > 0.0 else self.lowest(0)",
                "other = self.lowest(0) if self.coef[0] < 0.0 else self.n_held[0] - 1",
                "the newest inherits",
            ),
            (
                "return a > b + LEVEL * (1.0 + fabs(b))",
                "return a >= b - LEVEL * (1.0 + fabs(b))",
                "of equal gradients the last is taken",
            ),
            (
                "self.gradient[k] -= self.coef[i] * self.row[i]",
                "self.gradient[k] += self.coef[i] * self.row[i]",
                "a newcomer's gradient has the wrong sign",
            ),
        ),
    ),
)
