"""fleet: learners that learned apart become one; data in partitions."""

from mutant import Area, mutants_of

AREA = Area(
    "fleet",
    ("tests/fleet", "tests/core/test_exact_sum.py"),
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
