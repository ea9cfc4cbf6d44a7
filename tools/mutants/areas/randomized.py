"""learners/randomized: the working set of RandSVM, drawn pass by pass."""

from mutant import Area, mutants_of

AREA = Area(
    "randomized",
    ("tests/learners/randomized",),
    (
        *mutants_of(
            "edgesvm/learners/papers/randomized/rand_svm.py",
            (
                'return "optimal" if self.solver_.converged_ else "unsolved"',
                'return "optimal"',
                "a solver that was cut short is called optimal",
            ),
            (
                'if best.primal < primal and stop != "optimal" and self.returns == "best":',
                'if best.primal < primal and stop != "optimal":',
                "the last solution cannot be had",
            ),
        ),
        *mutants_of(
            "edgesvm/learners/papers/randomized/projections.py",
            ("radius) ** 2", "radius)", "the theorems' k with L instead of its square"),
            ("/ math.sqrt(R.shape[1])", "", "an extension decides otherwise"),
        ),
        *mutants_of(
            "edgesvm/learners/papers/randomized/_rand_svm.pyx",
            (
                "exact_add(&self.losses, w * max(0.0, 1.0 - yf))",
                "exact_add(&self.losses, max(0.0, 1.0 - yf))",
                "the loss without weights",
            ),
            ("if yf >= margin:", "if yf > margin:", "a row on the margin violates"),
            (
                "yf = f[i] if slot[i] else -f[i]",
                "yf = f[i]",
                "margins without labels",
            ),
            (
                "place = rng_below(self.draws, self.n_offered)",
                "place = rng_below(self.draws, self.room)",
                "later rows are drawn for certain",
            ),
            (
                "if self.was_held(first + i) == self.recalling:",
                "if True:",
                "rows held before are drawn once more",
            ),
            ("        self.numbers[place] = number\n", "", "rows lose their numbers"),
            (
                "self.n_kept, self.n_drawn, self.room = n_kept, 0, size - n_kept",
                "self.n_kept, self.n_drawn, self.room = n_kept, 0, size",
                "more rows are drawn than there is room for",
            ),
        ),
    ),
)
