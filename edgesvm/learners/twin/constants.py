"""Tolerances and limits of the adiabatic solver and its learners, for the compiled core and the
reference."""

# Differences below these are rounding
EVENT_TOLERANCE = (
    1e-10  # violations of the KT conditions that are not an event, in units of the margin
)
SINGULAR = 1e-12  # a Schur complement below this share of k(x, x) is zero
NULL_TOLERANCE = 1e-9  # a component of a null direction below this is zero
NOISE = 1e-15  # of g, as a share of the terms that it sums
ROUNDING = 1e-12  # of sums of coefficients
DRIFT = 1e-9  # of a decision value from its definition; above it all are recomputed
TIE = 1e-9  # values that differ by less count as equal, and the first is chosen
EDGE = 1e-9  # tolerance of a threshold for a decision value

# How often
REFRESH = 512  # paths between two computations of g from its definition
POLISHES = 3  # paths that only remove offsets
MANY_EXCHANGES = 8  # exchanges for one twin to enter
MANY_EVENTS = 16  # events of a path per twin

# Limits of samples
LARGEST_SQUARE = 1e280  # of x.x: weights times squared distances do not overflow
LARGEST_TARGET = 1e100  # of a regressor
LARGEST_WEIGHT = 1e100  # of all weights: so that sums, products and quotients do not overflow

# Merging
MAX_SHIFT = 1.0  # by which a merge should move the decision function at most, in margins
PLACES = 33  # on the line between two twins, searched in feature space
SECTIONS = 18  # golden sections between the neighbours of the best place
GOLDEN = 0.6180339887498949

# A dictionary of twins
RIDGE = 1e-3  # of the prior's precision, as a share of the largest k(q, q): twins may be alike
