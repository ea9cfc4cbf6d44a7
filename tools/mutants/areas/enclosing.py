"""learners/enclosing: the core set, the ball that is moved, the ball that is solved for."""

from mutant import Area, mutants_of

AREA = Area(
    "enclosing",
    ("tests/learners/enclosing", "tests/conformance/test_twin.py"),
    (
        *mutants_of(
            "edgesvm/learners/papers/enclosing/_enclosing.pyx",
            (
                "cdef double own = 1.0 / (self.C * weight)",
                "cdef double own = 1.0 / self.C",
                "the weight of a sample does not count",
            ),
            (
                "return fmin(slack, fmax(self.margin_tol * self.level(), FINEST * square))",
                "return slack",
                "the margin does not count for the tolerance",
            ),
            (
                "return self.allowed() < self.square[0]",
                "return True",
                "a margin below epsilon's slack is called converged",
            ),
            (
                "return self.allowed() <= self.margin_tol * self.level()",
                "return True",
                "a margin that float32 does not resolve is called converged",
            ),
            (
                "block.f[i] = block.sign[i] * (self.intercept[0] + block.f[i])",
                "block.f[i] = self.intercept[0] + block.f[i]",
                "f without the label",
            ),
            ("self.block.f[0] = y * self.output()", "self.block.f[0] = self.output()", "so alone"),
            (
                'if v["rows"][-(-n // v["rows"].shape[2]):].any():',
                'if v["rows"][n:].any():',
                "rows behind the core vectors are let in",
            ),
            (
                "if t < 0 or not self.is_core(block.number[t]):",
                "if t < 0 or True:",
                "a sample may come into the core set twice",
            ),
            (
                "if block.f[i] < (least if t < 0 else block.f[t]):",
                "if t < 0 and block.f[i] < least:",
                "not the farthest of a block is taken",
            ),
            (
                "if fabs(self.beta[p]) < fabs(self.beta[q]):",
                "if fabs(self.beta[p]) > fabs(self.beta[q]):",
                "the heaviest core vector is given up",
            ),
            (
                "            self.scale_point(1.0 / sqrt(xx))\n",
                "            pass\n",
                "samples are not normalised",
            ),
            (
                "            at[0] += 1\n        return CHANGED",
                "            at[0] += 2\n        return CHANGED",
                "every other row is passed over",
            ),
            (
                "return self.is_full or self.budget <= 0",
                "return self.is_full",
                "max_iter does not end a fit",
            ),
            (
                "if not abs(beta.sum() - self.intercept[0]) < WITHIN:",
                "if False:",
                "a snapshot's intercept may be any",
            ),
            (
                "if not fabs(square - self.square[0]) <= self.rounding():",
                "if False:",
                "a snapshot's centre may be any",
            ),
            (
                "if self.near_margin[above] >= margin:",
                "if self.near_margin[above] <= margin:",
                "the heap of rows near the surface is upside down",
                "which rows are looked at first changes the way and not what is enclosed in the end",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/enclosing/_ball_vector_machine.pyx",
            (
                "self.square[0] = keep * keep * self.square[0] +",
                "self.square[0] = keep * self.square[0] +",
                "|c|^2 after a move",
            ),
            (
                "        if self.streaming:\n            self.widen()\n",
                "",
                "a stream keeps a radius that Algorithm 4 reduced",
            ),
            ("self.lift[0] *= keep * keep", "self.lift[0] *= keep", "the lift after a move"),
            (
                "block.f[i] = keep * block.f[i] + gain * block.sign[i] * (block.row[i] + 1.0)",
                "block.f[i] = keep * block.f[i] + gain * block.sign[i] * block.row[i]",
                "f of the block without the offset",
            ),
            ("self.n_iter[0] += 1", "self.n_iter[0] += 2", "moves are counted twice"),
            (
                "if self.first < 0 or self.f[p] < self.f[self.first]:",
                "if self.first < 0:",
                "a vector just moved to is not looked at",
            ),
            (
                "self.intercept[0] = (self.intercept[0] - self.beta[q]) / rest",
                "self.intercept[0] = self.intercept[0] - self.beta[q]",
                "the intercept after a vector was given up",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/enclosing/_core_vector_machine.pyx",
            (
                "square += self.alpha[p] * (1.0 - self.smo.gradient[p])",
                "square += self.alpha[p] * self.smo.gradient[p]",
                "|c|^2 from the gradient",
            ),
            (
                "self.beta[p] = self.sign[p] * self.alpha[p]",
                "self.beta[p] = self.alpha[p]",
                "coefficients without their labels",
            ),
            (
                "self.settled_at(0.0 if self.n_core[0] == 0 else INFINITY)",
                "pass",
                "a solution to a coarser tolerance is left as it is",
            ),
            (
                "            if self.alpha[p] == 0.0:\n",
                "            if self.alpha[p] >= 0.0:\n",
                "core vectors with a coefficient are given up",
            ),
            (
                "n_pairs = smo_replace(&self.smo, p, last, n_pairs)",
                "smo_replace(&self.smo, p, last, n_pairs)",
                "cached rows keep the columns of vectors that were dropped",
            ),
            (
                "self.smo.n = self.n_held",
                "pass",
                "what the solver had of dropped vectors stays in its scratch",
            ),
            (
                "smo_append_known(&self.smo, 1.0 - f)",
                "smo_append_known(&self.smo, 1.0)",
                "the gradient of vectors added in bulk",
            ),
            (
                "        if loosely:\n            tol",
                "        if True:\n            tol",
                "the last solution is as loose as those before it",
            ),
            (
                'coefficient."""\n        self.wipe()\n        self.drop_idle()\n',
                'coefficient."""\n        self.wipe()\n',
                "a core set of all rows keeps those without a coefficient",
            ),
            (
                "block.f[i] = fmax(block.f[i], least)",
                "pass",
                "a row that was inside is outside now",
                "a row of an old f is at most taken again or late, and met again in any case",
            ),
            (
                'if not (alpha == np.abs(self.views["beta"])).all():',
                "if False:",
                "a snapshot's coefficients contradict one another",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/batch/_smo.pyx",
            (
                "put_row(s.ahead, j, s.point)",
                "put_row(s.ahead, 0, s.point)",
                "kernel rows computed together are those of other samples",
            ),
            (
                "make_signed(s, which[j], 0, s.n_active, row[j])",
                "make_signed(s, i, 0, s.n_active, row[j])",
                "kernel rows computed together have the sign of the first",
            ),
        ),
    ),
)
