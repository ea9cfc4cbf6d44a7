"""learners/batch: sequential minimal optimization, and the store of samples."""

from mutant import Area, mutants_of

AREA = Area(
    "batch",
    ("tests/learners/batch", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/learners/batch/_smo_core.pyx",
            (
                "if noise * sqrt(self.self_kernel(x)) > HIDEABLE * self.smo.tol:",
                "if False:",
                "decisions of large values are those of float32",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/_store_svm.pyx",
            (
                "        self.noise = self.noise_of(&self.smo.rows, support, self.smo.beta)\n",
                "",
                "a loaded model decides otherwise than the saved one",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/_smo.pyx",
            (
                "return noise * sqrt(s.k_max) > HIDEABLE * s.tol",
                "return noise > HIDEABLE * s.tol",
                "convergence is told from rounded kernel rows",
            ),
            (
                "    activate_all(s)\n    refine(s)\n",
                "    activate_all(s)\n",
                "a solution cut short tells the gap of rounded rows",
            ),
            (
                "curvature = <double> s.diagonal[i] + s.diagonal[j] - 2.0 * row_i[j]",
                "curvature = <double> s.diagonal[i] + s.diagonal[j] - row_i[j]",
                "steps are too short",
            ),
            (
                "room = min(high - s.beta[i], s.beta[j] - low)",
                "room = high - s.beta[i]",
                "a coefficient may leave its box",
            ),
            (
                "if s.state[t] <= 0.0 and s.gradient[t] >= s.most:",
                "if s.state[t] < 0.0 and s.gradient[t] >= s.most:",
                "free coefficients are not looked at first",
            ),
            (
                "    s.order[a], s.order[b] = s.order[b], s.order[a]\n",
                "",
                "a swap forgets whose example it is",
            ),
            (
                "s.gradient[t] -= s.beta[i] * row[t]",
                "s.gradient[t] += s.beta[i] * row[t]",
                "the gradient's sign, where it is computed anew",
            ),
            (
                "    compute_gradient(s, s.n_active)\n    s.n_active = s.n",
                "    s.n_active = s.n",
                "what was shrunk keeps an old gradient",
            ),
            (
                "return total / n_free",
                "return total / s.n",
                "the intercept is a mean over the wrong count",
            ),
            ("return -0.5 * total", "return 0.5 * total", "the objective's sign"),
            (
                "return CONVERGED if s.most - s.least < s.tol else STALLED",
                "return CONVERGED",
                "what stalled is called converged",
            ),
            ("        s.n_iter += 1\n", "", "iterations are not counted"),
            (
                "    cache_swap_columns(&s.cache, pairs, n_pairs)\n",
                "",
                "cached rows keep the columns they had",
            ),
            (
                "smo_sign(out + first, s.sign + first, s.sign[i], s.offset, last - first)",
                "smo_sign(out + first, s.sign + first, s.sign[i], 0.0, last - first)",
                "rows of a signed problem without the offset",
            ),
            (
                "memset(s.point, 0, s.rows.width * size)",
                "pass",
                "a row of scratch is left behind",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/smo_passes.h",
            (
                "if (state[t] <= 0.0f && g[t] >= top) { top = g[t]; winner = t; }",
                "if (g[t] >= top) { top = g[t]; winner = t; }",
                "in the tail a coefficient at its upper bound may grow",
            ),
            (
                "better = (smo_i8)(s >= 0.0f) & (smo_i8)(d > 0.0f)",
                "better = (smo_i8)(d > 0.0f)",
                "a coefficient at its lower bound may fall",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/_store_svm.pyx",
            (
                "return n % self.max_samples",
                "return (n + 1) % self.max_samples",
                "not the oldest goes",
            ),
            (
                "draw = rng_below(self.rng, n + 1)",
                "draw = rng_below(self.rng, n)",
                "a newcomer is too likely kept",
            ),
            (
                "self.bound[place] = y * self.C * weight",
                "self.bound[place] = y * self.C",
                "the weight of a sample does not count",
            ),
            (
                "        self.forget_solution()\n        put_row",
                "        put_row",
                "a sample is put among reordered ones",
            ),
            (
                "            return UNCHANGED if place == -1 else FULL",
                "            return UNCHANGED",
                "a full store refuses nothing",
            ),
            (
                "beta[t] *= scale[k] if k else -scale[k]",
                "beta[t] *= 1.0 if k else -1.0",
                "a start does not sum to zero",
            ),
            (
                "if not beta[:support].all() or beta[support:].any():",
                "if False:",
                "a snapshot's support vectors are not in front",
            ),
            (
                "if order[held:].any() or (np.sort(order[:held]) != expected).any():",
                "if order[held:].any():",
                "a snapshot's order may lead outside the store",
            ),
        ),
    ),
)
