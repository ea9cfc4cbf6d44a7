"""Which weights a sample may have. Docstring of `Learner.partial_fit`: the rule for users."""

LEAST_WEIGHT, LARGEST_WEIGHT = 2.0**-40, 2.0**40  # but for zero
MOST_TIMES = 256.0  # the mean so far; the largest weight on the wire, where a weight is mostly 1
# The first weights set the scale, and may be odd ones themselves: of n samples learned, the next
# may have 2^(FIRST_BITS / n) times their mean, so that any weight may follow a single one.
FIRST_BITS = 80
RECENT_WEIGHTS = 1000  # samples that the mean is of, about
# At the end of an arena, of a learner's own and not of a part's; 0: not known yet. Arenas of earlier
# builds do not have it.
MEAN_WEIGHT = ("mean_weight", "f8", ())
MEAN_WEIGHT_BYTES = 8


def complaint(weight: float, mean: float = 0.0) -> str:
    """What is wrong with a weight that was refused; `mean`: of the weights before it, 0 if there
    are none."""
    if not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
        return (
            f"has a weight of {weight:g}: a weight is 0, or from {LEAST_WEIGHT:.1e} to"
            f" {LARGEST_WEIGHT:.1e}"
        )
    if mean > 0.0 and weight > MOST_TIMES * mean:
        return (
            f"has a weight of {weight:g}, more than {MOST_TIMES:g} times the mean of the weights so"
            f" far, {mean:g}; clip or scale the weights"
        )
    return f"has a weight of {weight:g}, with which the model would overflow; give a smaller one"
