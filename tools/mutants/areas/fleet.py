"""fleet: learners that learned apart become one; data in partitions."""

from mutant import Area, mutants_of

AREA = Area(
    "fleet",
    ("tests/fleet",),
    (
        *mutants_of(
            "edgesvm/fleet/scales.py",
            ("apart * apart * (n_1 * (n_2 / n))", "0.0", "the spread between the parts is lost"),
            ("w @ (other.mean - self.mean)", "0.0", "a plane stays where the old mean was"),
        ),
        *mutants_of(
            "edgesvm/fleet/averaging.py",
            ("share = n_2 / (n_1 + n_2)", "share = 0.5", "all weigh the same"),
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
            "edgesvm/fleet/enclosing.py",
            (
                "np.searchsorted(rows[-1], chunk)",
                "np.arange(len(chunk))",
                "others than those drawn",
            ),
            (
                "per_class[labels.slot_of(label)] += n",
                "per_class[slot] = n",
                "only the last part counts",
            ),
        ),
        *mutants_of(
            "edgesvm/fleet/fitting.py",
            ("back = np.argsort(order)", "back = order", "rows come in another order"),
        ),
    ),
)
