"""Tolerances and limits of the adiabatic solver and its learners, for compiled core and twin."""

# Below which differences are rounding
HAIR = 1e-10  # violations of the KT conditions that no event is made for, in units of the margin
SINGULAR = 1e-12  # a Schur complement below this share of k(x, x) is zero
NOTHING = 1e-9  # a share in a null direction below this is zero
NOISE = 1e-15  # of g, as a share of what it is the sum of
ROUNDING = 1e-12  # of sums of coefficients
DRIFT = 1e-9  # of a decision value from its definition, for which all are computed anew
TIE = 1e-9  # of two values that differ by less, the first is taken
EDGE = 1e-9  # of a decision value that is at a threshold

# How often
REFRESH = 512  # paths between two computations of g from its definition
POLISHES = 3  # paths that do nothing but bring offsets to 0
MANY_EXCHANGES = 8  # for one twin to enter
MANY_EVENTS = 16  # events of a path for each twin held

# Of what comes in
LARGEST_NORM = 1e100  # of k(x, x): its square is still a number
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # of which sums, products and quotients are numbers

# Merging
MAX_SHIFT = 1.0  # what a merge should not move the decision function by, in margins
PLACES = 33  # on the line between two twins, where feature space is searched
SECTIONS = 18  # golden sections between the neighbours of the best place
GOLDEN = 0.6180339887498949
