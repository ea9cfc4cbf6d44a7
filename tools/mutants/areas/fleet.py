"""fleet: learners that learned apart become one; data in partitions."""

from mutant import Area, mutants_of

AREA = Area(
    "fleet",
    ("tests/fleet", "tests/core/test_exact_sum.py"),
    (
        *mutants_of(
            "edgesvm/fleet/scales.py",
            ("apart * apart * (self.n * (other.n / n))", "0.0", "the spread between is lost"),
            ("self.mean + apart * (other.n / n)", "self.mean + apart / 2", "all means weigh alike"),
            (
                "np.array_equal(mine[name], theirs[name])",
                "np.allclose(mine[name], theirs[name], rtol=10)",
                "scales that differ are taken for one",
            ),
            ("learner.n_scaled_ >= learner.until and", "True and", "a moving scale is merged"),
            ("w @ (other.mean - self.mean)", "0.0", "a plane stays where the old mean was"),
        ),
        *mutants_of(
            "edgesvm/fleet/averaging.py",
            ("share = n_2 / (n_1 + n_2)", "share = 0.5", "all weigh the same"),
        ),
        *mutants_of(
            "edgesvm/fleet/rounds.py",
            ("s / n * ((s + 1) / (n + 1))", "s / n", "all steps weigh the same in the mean"),
            (
                "(views[name] - before[name], 0.0) * (n - s)",
                "(views[name] - before[name], 0.0)",
                "squares are not averaged by samples",
            ),
            (
                "before[name] + views[name] for name in COUNTERS",
                "views[name] for name in COUNTERS",
                "what the start had learned is not counted",
            ),
            (
                "views[name] - before[name] for name in COUNTERS",
                "views[name] for name in COUNTERS",
                "what the start had learned counts for each",
            ),
            ("labels[: len(first)] != first", "False", "another order of labels is merged"),
            (
                "(learner.core.views[count] < start.core.views[count]).any()",
                "False",
                "a learner younger than its start is merged",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/starting.py",
            ('"n_scaled": statistics.n,', '"n_scaled": statistics.n - 1,', "the scale still moves"),
            ("until=statistics.n)", "until=statistics.n + 1)", "the scale moves once more"),
        ),
        *mutants_of(
            "edgesvm/fleet/merging.py",
            (
                "if n_since(since, learner)]",
                "]",
                "a silent gateway is merged, with no samples to weigh by",
            ),
            (
                "fixed = not has_vectors(inner_of(learner))",
                "fixed = True",
                "a kernel machine keeps its size in a budget",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/federated.py",
            (
                "(model._n_learned / model.n_scaled_)",
                "1.0",
                "the deviation shrinks with the rounds",
            ),
            ("X[chunk.weight > 0]", "X", "rows of no weight count in the statistics"),
        ),
        *mutants_of(
            "edgesvm/fleet/outside.py",
            (
                "np.lexsort((self.numbers, self.rank, self.inside))",
                "np.lexsort((self.rank, self.inside))",
                "equal ranks are told apart by the order of the parts",
            ),
            (
                "np.where(slots == 1, core.labels.sign, -core.labels.sign)",
                "np.where(slots == 1, 1, -1)",
                "classes that came in the other order are on the wrong side",
            ),
            ("first += len(f)", "first += 0", "rows of all chunks have the same numbers"),
            ("& ~np.isin(numbers, in_core)", "", "the core set is searched too"),
            ("(weights > 0.0)", "(weights >= 0.0)", "rows of weight zero are found"),
            (
                "int(machine.seed) << 32) + n_passes",
                "int(machine.seed) << 32)",
                "all passes draw alike",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/surveys.py",
            (
                "per_class[labels.slot_of(label)] += n",
                "per_class[slot] = n",
                "only the last part counts",
            ),
            (
                "labels.closed and slot < 0",
                "False",
                "a label that is none of those fixed is learned",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/enclosing.py",
            (
                "np.searchsorted(rows[-1], chunk)",
                "np.arange(len(chunk))",
                "others than those drawn",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/fitting.py",
            ("back = np.argsort(order)", "back = order", "rows come in another order"),
        ),
        *mutants_of(
            "edgesvm/fleet/workers.py",
            ("at = at[~np.isin(at, held)]", "at = at", "rows of the sample are drawn again"),
        ),
        *mutants_of(
            "edgesvm/core/exact_sum.pxd",
            ("s.limbs[k + 2] += high >> 32", "pass", "the upper bits of a term are lost"),
        ),
    ),
)
