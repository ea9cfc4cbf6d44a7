"""learners/twin: the margin set, the path from event to event, merging, unlearning, the checks."""

from mutant import Area, mutants_of

AREA = Area(
    "twin",
    ("tests/learners/twin", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/learners/twin/_margin_set.pyx",
            (
                "return 0 if lower and g < -edge else 4 if upper and g > edge else 2",
                "return 4 if lower and g < -edge else 0 if upper and g > edge else 2",
                "the outer plateaus are exchanged",
            ),
            ("return g + self.solver.b", "return g", "decisions without the intercept"),
            (
                "            self.S[p] -= self.S[p] > i\n",
                "            self.S[p] -= self.S[p] >= i\n",
                "the bound on members of S that move down",
                "the removed twin is not on S any more",
            ),
            (
                "self.g[j] -= move * u[0]",
                "self.g[j] += move * u[0]",
                "an exchange shifts g the wrong way",
            ),
            ("v.n_exchanges += 1", "pass", "exchanges are not counted"),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_simple_svm.pyx",
            (
                "gap = -self.beyond(i) if self.is_spare(i) else self.beyond(i)",
                "gap = -self.beyond(i)",
                "coefficients at their upper bound are kept there",
            ),
            (
                "first, length[0] = p, room / fabs(step)",
                "first, length[0] = p, 1.0",
                "a step goes past the first bound",
            ),
            (
                "if self.violates(x, y) and not self.holds(first + i):",
                "if self.violates(x, y):",
                "a row that is stored is taken in again",
            ),
            ("                    self.remove_spare()\n", "", "a fit keeps what it does not need"),
            (
                "        self.counters.converged = 0\n",
                "",
                "a fit's claim outlives a sample of the stream",
            ),
            (
                "self.beyond(i) > self.beyond(best) + TIE",
                "self.beyond(i) < self.beyond(best) - TIE",
                "the sample nearest to the margin makes room",
            ),
            (
                "memmove(self.number + i, self.number + i + 1, (n - 1 - i) * sizeof(int64_t))",
                "pass",
                "numbers do not move with their samples",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_path.pyx",
            (
                "border[0] = -walk.total - walk.push_sum",
                "border[0] = -walk.total",
                "the rates on plateaus are dropped from the sum of the coefficients",
            ),
            (
                "        self.first_to_leave(walk, event)\n",
                "",
                "twins that reach the end of their step are missed",
            ),
            (
                "        self.first_to_enter(walk, event)\n",
                "",
                "twins that reach a step are missed",
            ),
            ("v.n_overflowed += 1", "pass", "overflows are not counted"),
            (
                "self.walk_back(moves, count, mu_before)",
                "pass",
                "a path that overflowed is not undone",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/twin_passes.h",
            (
                "d *= s * v / (s + v);",
                "d *= s * v;",
                "distortion without the joint weight",
            ),
            (
                "d = PICK_F64((mask_half)(u + v > 0.0) & ((mask_half)b >= 0), d, none);",
                "d = PICK_F64((mask_half)b >= 0, d, none);",
                "a twin without weight bounds the distortion of the new one",
            ),
            (
                "const int64_t sign = above ? 0 : INT64_MIN;",
                "const int64_t sign = 0;",
                "a new twin below the boundary bounds the distortions of those above",
            ),
            (
                "y[i + j] += a[p + c] * k[ROWS_BLOCK * j + c];",
                "y[i + j] += a[p] * k[ROWS_BLOCK * j + c];",
                "rows of a block count as much as its first",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_twin_vector_machine.pyx",
            (
                "<= self.m1 * self.solver.mu * (1.0 + EDGE))",
                "<= self.m2 * self.solver.mu * (1.0 + EDGE))",
                "m2 decides which samples are learned",
            ),
            (
                "total += moves[c].to_minus + moves[c].to_plus - self.s_minus[i] - self.s_plus[i]",
                "total += moves[c].to_minus + moves[c].to_plus",
                "weight that moves is counted twice in C",
            ),
            (
                "self.counters.n_merged = before.n_merged",
                "pass",
                "merges of a path that was undone stay counted",
            ),
            (
                "        self.keep_sides()\n",
                "",
                "a twin that crossed the boundary has the bound of its former side",
            ),
            (
                "        kept.n = 0\n        return best",
                "        return best",
                "the merged twin has the kernel values of another pair",
            ),
            (
                "moves[2].to_plus = self.s_plus[i] + self.s_plus[j]",
                "moves[2].to_plus = self.s_plus[i]",
                "a merge loses weight",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_twin_vector_machine.pyx",
            (
                "return total / (self.C * self.max_twins) if self.control_C else 1.0 / self.C",
                "return total / (self.C * self.max_twins)",
                "C is always controlled",
            ),
            (
                "            after = pairs[count - 1]\n",
                "            return False\n",
                "as printed, only the first pairs are examined",
            ),
            (
                "return STUCK    # the new sample is ignored",
                "return OVERFLOWED",
                "as printed, two margin twins are merged where no pair passes",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_twin_dictionary_svm.pyx",
            (
                "if fabs(f) > self.m1 * (1.0 + EDGE) or y * f >= 1.0:",
                "if y * f >= 1.0:",
                "settled twins learn from samples far on the wrong side",
            ),
            (
                "        factor_add_outer(&self.factor, weight / self.r)\n",
                "        factor_add_outer(&self.factor, 1.0 / self.r)\n",
                "the precision does not see the weight",
            ),
            (
                "v.b += step * v.lift * total",
                "v.b += step * total",
                "the intercept moves without the lift",
            ),
            (
                "if v.mu != 1.0 or not (",
                "if not (",
                "a snapshot's margin is not checked once the twins have settled",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_incremental_decremental_svm.pyx",
            (
                "moves[0].slot = 0 if self.when_full == OLDEST else self.farthest()",
                "moves[0].slot = self.farthest() if self.when_full == OLDEST else 0",
                "oldest and farthest are exchanged",
            ),
            ("self.counters.n_forgotten += 1", "pass", "removed samples are not counted"),
        ),
        *mutants_of(
            "edgesvm/learners/twin/_adiabatic.pyx",
            (
                "if not self.kt_residual() <= 1e-3:",
                "if False:",
                "a snapshot's coefficients are not checked",
            ),
            (
                "if not (L[p] > 0.0 and fabs(ones) < 1e-3):",
                "if False:",
                "a snapshot's factor may have any diagonal",
            ),
        ),
    ),
)
