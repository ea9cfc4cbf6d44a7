"""Numbers that both cores of the novelty learners share."""

REACH = 24.0  # deviations that a feature can count for
CLIP = 8.0  # deviations: a feature that is farther out says little more
SETTLED = 10  # samples that only the scales learn
SCALED = 20  # samples after which a value counts as at most CLIP deviations
LEAST_UNTIL = 2 * SETTLED
TINY = 1e-300
FARTHEST = 1e100  # largest score: its square is a number
CODES_PER_UNIT = 1365  # of centres in 16 bits, as in core/codes.pxd

# The threshold. Scores are held against a normal distribution's tenth from above, a place that many
# samples settle; what lies above it has an exponential tail.
ABOVE = 0.1  # share of the samples above the level
Z_ABOVE = 1.2815515655446004  # that quantile of the standard normal distribution
DENSITY = 0.17549833193248682  # and its density there
FIRST_EXCESS = 0.5  # mean excess above the level, in deviations, before any is seen
LEVEL_AFTER, EXCESS_AFTER = 20.0, 4.0  # samples that the first guesses count for
MOST_LEVEL = 1e3  # deviations; the steps of 2^63 samples add up to 420
LEAST_RATE, MOST_RATE = 1e-9, 0.05  # of alarms; the tail begins at `ABOVE`

# What stops a feature that used to change with nearly every sample from being learned.
STUCK_AFTER = 50  # samples of the same value; there are seven such places in NAB's 58 series
COSTS = 9  # changes that make up for one sample without: nine of ten are lively
MOST_LIVELY = 30_000  # changes in a row that are remembered

# Alarms. Chosen over 16 quiet series in time order, NAB's 58 and faults of a simulated machine.
ALARM = (  # what the core keeps of them, in its order
    *("integral", "share", "on", "owed", "calm"),
    *("since", "lost", "back", "n_lost", "n_stuck"),
)
GAIN = 2.0  # mean excesses by which one more alarm lifts the threshold
CALM, LEAST_CALM, MOST_CALM = 0.05, 5.0, 60.0  # samples that end an alarm: CALM / rate, within
APART, MOST_APART = 0.1, 100.0  # samples between two alarms that count: APART / rate, at most
LATELY = 0.0027725887222397811  # log(2) / 250: half of what is recent is alarms after 250 of them
LOST = 0.5  # that share, from which the learner is lost
RELEARNED = 250  # scores before it raises the next alarm
BACK = 50  # samples in a row after which the former model is back
